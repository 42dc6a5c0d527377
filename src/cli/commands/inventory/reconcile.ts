import { z } from 'zod'
import { formatAmount } from '../../../domain/values/money.ts'
import type { CliContext } from '../../context.ts'
import { count, print, printJson, printMessage, printTable } from '../../output/terminal.ts'

const discrepancySchema = z.looseObject({
  sellerId: z.string(),
  sku: z.string(),
  kind: z.string(),
  reportUnits: z.number(),
  expectedUnits: z.number(),
  difference: z.number(),
  log: z
    .looseObject({ verdict: z.string(), certainty: z.string(), entries: z.array(z.looseObject({ id: z.string() })) })
    .nullable(),
  earliestDay: z.string(),
  value: z.string().nullable(),
  currency: z.string().nullable(),
})

const claimedSchema = z.looseObject({
  units: z.number(),
  values: z.array(z.looseObject({ amount: z.string(), currency: z.string() })),
  unpricedUnits: z.number(),
})

const claimSchema = z.looseObject({
  sellerId: z.string(),
  skus: z.number(),
  skusCompared: z.number(),
  lost: claimedSchema,
  damaged: claimedSchema,
  found: claimedSchema,
  unexplained: claimedSchema,
  uncertain: claimedSchema,
  total: claimedSchema,
  net: claimedSchema,
})

type ShownDiscrepancy = z.infer<typeof discrepancySchema>
type ShownClaim = z.infer<typeof claimSchema>

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Maximum number of log ids in a line of the table. */
const maxIds = 3

const formatLog = (log: ShownDiscrepancy['log']): string => {
  if (log === null) return ''
  const ids = log.entries.slice(0, maxIds).map(({ id }) => id)
  const rest = log.entries.length > maxIds ? ', …' : ''
  return ids.length === 0 ? log.verdict : `${log.verdict}, ${log.certainty}: ${ids.join(', ')}${rest}`
}

const formatSigned = (units: number): string => (units > 0 ? `+${units}` : String(units))

const printClaim = ({ terminal }: CliContext, claim: ShownClaim): void => {
  print(
    terminal,
    `\n${claim.sellerId}: ${count(claim.skus, 'SKU')} in the report, ${claim.skusCompared.toLocaleString('en-US')} compared with the log`,
  )
  const parts = [
    ['lost', claim.lost],
    ['damaged', claim.damaged],
    ['found', claim.found],
    ['unexplained', claim.unexplained],
    ['lost, damaged and unexplained', claim.total],
    ['less found units', claim.net],
    ['uncertain, excluded from both sums', claim.uncertain],
  ] as const
  printTable(
    terminal,
    [
      { heading: 'claim' },
      { heading: 'units', align: 'right' },
      { heading: 'value', align: 'right' },
      { heading: 'units without price', align: 'right' },
    ],
    parts.map(([name, { units, values, unpricedUnits }]) => [
      name,
      String(units),
      values.map(({ amount, currency }) => formatAmount(amount, currency)).join(' + '),
      String(unpricedUnits),
    ]),
  )
}

/** `tallyman reconcile`: discrepancies of the inventory reports of a month (`YYYY-MM`), and possible claims. */
export const runReconcile = async (
  context: CliContext,
  { month, sellerId }: { readonly month: string; readonly sellerId: string | null },
): Promise<void> => {
  const { terminal, daemon } = context
  const query = { month, sellerId }
  const items = await collect(daemon.list('/v1/discrepancies', discrepancySchema, { query }))
  const claims = await collect(daemon.list('/v1/claims', claimSchema, { query }))
  if (terminal.json) return printJson(terminal, { month, items, claims })
  if (claims.length === 0 && items.length === 0) return printMessage(terminal, `there is no inventory report of ${month} yet`)
  printTable(
    terminal,
    [
      { heading: 'sku' },
      { heading: 'kind' },
      { heading: 'report', align: 'right' },
      { heading: 'expected', align: 'right' },
      { heading: 'difference', align: 'right' },
      { heading: 'value', align: 'right' },
      { heading: 'since' },
      { heading: 'log' },
      { heading: 'seller' },
    ],
    items.map((one) => [
      one.sku,
      one.kind,
      String(one.reportUnits),
      String(one.expectedUnits),
      { text: formatSigned(one.difference), tone: 'warning' },
      one.value === null ? '' : formatAmount(one.value, one.currency),
      one.earliestDay,
      formatLog(one.log),
      one.sellerId,
    ]),
  )
  const skus = new Set(items.map(({ sellerId: seller, sku }) => `${seller} ${sku}`)).size
  print(terminal, `\n${count(items.length, 'difference')} of ${count(skus, 'SKU')} in ${month}`)
  for (const claim of claims) printClaim(context, claim)
}

const gtinReportSchema = z.looseObject({
  month: z.string(),
  generatedAt: z.string().nullable(),
  rows: z.array(
    z.looseObject({
      sku: z.string(),
      beginningQuantity: z.number(),
      endingQuantity: z.number(),
      compared: z.boolean(),
      differences: z.array(
        z.looseObject({ kind: z.string(), reportUnits: z.number(), expectedUnits: z.number(), difference: z.number() }),
      ),
    }),
  ),
})

/** `tallyman reconcile --gtin`: one item of the marketplace's report of the current month, and its discrepancies. */
export const runReconcileGtin = async (
  { terminal, daemon }: CliContext,
  { gtin, sellerId }: { readonly gtin: string; readonly sellerId: string | null },
): Promise<void> => {
  const report = await daemon.get(`/v1/reconciliation/${encodeURIComponent(gtin)}`, gtinReportSchema, { query: { sellerId } })
  if (terminal.json) return printJson(terminal, report)
  if (report.rows.length === 0) return printMessage(terminal, `the report of ${report.month} has no row for ${gtin}`)
  for (const row of report.rows) {
    const log = row.compared ? 'compared with the log' : 'the log has not been read far enough'
    print(terminal, `${row.sku} in ${report.month}: beginning ${row.beginningQuantity}, ending ${row.endingQuantity}; ${log}`)
    printTable(
      terminal,
      [
        { heading: 'kind' },
        { heading: 'report', align: 'right' },
        { heading: 'expected', align: 'right' },
        { heading: 'difference', align: 'right' },
      ],
      row.differences.map((one) => [
        one.kind,
        String(one.reportUnits),
        String(one.expectedUnits),
        { text: formatSigned(one.difference), tone: 'warning' },
      ]),
    )
  }
}
