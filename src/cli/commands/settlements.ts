import { z } from 'zod'
import { formatAmount, padAmount } from '../../domain/values/money.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { printJson, printMessage, printTable } from '../output/terminal.ts'

const differenceSchema = z.looseObject({
  sellerId: z.string(),
  kind: z.string(),
  purchaseOrderId: z.string().nullable(),
  lineNumber: z.string().nullable(),
  sku: z.string().nullable(),
  reportDate: z.string().nullable(),
  expectedAmount: z.string(),
  paidAmount: z.string(),
  difference: z.string(),
  currency: z.string().nullable(),
})

/** Which differences to show; null: any. */
export interface SettlementFilter {
  readonly sellerId: string | null
  readonly kind: string | null
  readonly purchaseOrderId: string | null
  readonly limit: number
}

/** `tallyman settlements differences`: open differences between settlement reports and orders. */
export const showSettlementDifferences = async (
  { terminal, daemon }: CliContext,
  { limit, ...filter }: SettlementFilter,
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/settlement-differences', differenceSchema, limit, filter)
  if (terminal.json) return printJson(terminal, { items, more })
  if (items.length === 0) return printMessage(terminal, 'settlement reports and orders agree, as far as they have been compared')
  printTable(
    terminal,
    [
      { heading: 'kind' },
      { heading: 'order' },
      { heading: 'line' },
      { heading: 'sku' },
      { heading: 'expected', align: 'right' },
      { heading: 'paid', align: 'right' },
      { heading: 'difference', align: 'right' },
      { heading: 'report' },
      { heading: 'seller' },
    ],
    items.map((one) => [
      one.kind,
      one.purchaseOrderId ?? '',
      one.lineNumber ?? '',
      one.sku ?? '',
      padAmount(one.expectedAmount, one.currency),
      padAmount(one.paidAmount, one.currency),
      { text: formatAmount(one.difference, one.currency), tone: 'warning' },
      one.reportDate ?? '',
      one.sellerId,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}
