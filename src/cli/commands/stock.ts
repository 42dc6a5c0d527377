import { z } from 'zod'
import { formatAmount } from '../../domain/values/money.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { printJson, printMessage, printTable } from '../output/terminal.ts'

const stockSchema = z.looseObject({
  sellerId: z.string(),
  sku: z.string(),
  itemName: z.string().nullish(),
  availableUnits: z.number(),
  reservedUnits: z.number().nullish(),
  onHandUnits: z.number().nullish(),
  inboundUnits: z.number().nullish(),
  stockStatus: z.string().nullish(),
  missingSince: z.string().nullish(),
})

const differenceSchema = z.looseObject({
  sellerId: z.string(),
  sku: z.string(),
  countedUnits: z.number(),
  balanceUnits: z.number(),
  difference: z.number(),
  asOf: z.string(),
  value: z.string().nullable(),
  currency: z.string().nullable(),
  firstSeenAt: z.string(),
})

/** Which rows to show; null: any. */
export interface StockFilter {
  readonly sellerId: string | null
  readonly sku: string | null
  readonly limit: number
}

const formatUnits = (units: number | null | undefined): string => (units === null || units === undefined ? '' : String(units))

/** `tallyman stock list`: the stock on hand of each SKU. */
export const showStock = async ({ terminal, daemon }: CliContext, { sellerId, sku, limit }: StockFilter): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/stock', stockSchema, limit, { sellerId, sku })
  if (terminal.json) return printJson(terminal, { items, more })
  if (items.length === 0) return printMessage(terminal, 'no stock on hand is stored')
  printTable(
    terminal,
    [
      { heading: 'sku' },
      { heading: 'item' },
      { heading: 'available', align: 'right' },
      { heading: 'reserved', align: 'right' },
      { heading: 'on hand', align: 'right' },
      { heading: 'inbound', align: 'right' },
      { heading: 'status' },
      { heading: 'seller' },
    ],
    items.map((stock) => [
      stock.sku,
      stock.itemName ?? '',
      String(stock.availableUnits),
      formatUnits(stock.reservedUnits),
      formatUnits(stock.onHandUnits),
      formatUnits(stock.inboundUnits),
      stock.stockStatus ?? '',
      stock.sellerId,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** `tallyman stock differences`: open differences between the stock on hand and the inventory log. */
export const showStockDifferences = async (
  { terminal, daemon }: CliContext,
  { sellerId, sku, limit }: StockFilter,
): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/stock-differences', differenceSchema, limit, { sellerId, sku })
  if (terminal.json) return printJson(terminal, { items, more })
  if (items.length === 0)
    return printMessage(terminal, 'stock on hand and inventory log agree, as far as they have been compared')
  printTable(
    terminal,
    [
      { heading: 'sku' },
      { heading: 'on hand', align: 'right' },
      { heading: 'by the log', align: 'right' },
      { heading: 'difference', align: 'right' },
      { heading: 'value', align: 'right' },
      { heading: 'as of' },
      { heading: 'first seen' },
      { heading: 'seller' },
    ],
    items.map((one) => [
      one.sku,
      String(one.countedUnits),
      String(one.balanceUnits),
      { text: one.difference > 0 ? `+${one.difference}` : String(one.difference), tone: 'warning' },
      one.value === null ? '' : formatAmount(one.value, one.currency),
      one.asOf,
      one.firstSeenAt,
      one.sellerId,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}
