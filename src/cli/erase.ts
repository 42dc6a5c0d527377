import { z } from 'zod'
import type { CliContext } from './context.ts'
import { Failed, Misused } from './faults.ts'
import { take } from './lists.ts'
import { sellerSchema } from './sellers.ts'
import { count, print, printJson, printTable, say } from './terminal.ts'

const erasureSchema = z.looseObject({
  sellerId: z.string(),
  customerOrderId: z.string(),
  purchaseOrderIds: z.array(z.string()),
  returnOrderIds: z.array(z.string()),
  openPurchaseOrderIds: z.array(z.string()),
  rows: z.record(z.string(), z.number()),
  auditId: z.union([z.string(), z.number()]).nullable(),
})

/** Whose buyer `tallyman erase` takes out, who wants it, why, and how far to go. */
export interface EraseOptions {
  readonly customerOrderId: string
  /** Null: the only seller there is. */
  readonly sellerId: string | null
  readonly actor: string
  readonly reason: string
  readonly dryRun: boolean
  /** Nobody is asked. */
  readonly yes: boolean
}

const onlySeller = async ({ daemon }: CliContext): Promise<string> => {
  const { items } = await take(daemon, '/v1/sellers', sellerSchema, 2)
  const [only, other] = items
  if (only === undefined || other !== undefined) throw new Misused('name the seller (--seller): there is not exactly one')
  return only.sellerId
}

const show = ({ terminal }: CliContext, erasure: z.infer<typeof erasureSchema>): void => {
  const { purchaseOrderIds, returnOrderIds, openPurchaseOrderIds, rows } = erasure
  print(terminal, `customer order ${erasure.customerOrderId} of seller ${erasure.sellerId}`)
  print(terminal, `purchase orders: ${purchaseOrderIds.join(', ') || 'none'}`)
  print(terminal, `returns: ${returnOrderIds.join(', ') || 'none'}`)
  if (openPurchaseOrderIds.length > 0) {
    const which = openPurchaseOrderIds.join(', ')
    say(terminal, `not wholly shipped or cancelled yet, whoever ships needs the address from elsewhere: ${which}`)
  }
  printTable(
    terminal,
    [{ heading: 'table' }, { heading: 'rows that hold something', align: 'right' }],
    Object.entries(rows)
      .filter(([, number]) => number > 0)
      .map(([table, number]) => [table, String(number)]),
  )
}

/**
 * `tallyman erase`: shows what would be erased, asks, and erases the buyer of a customer order.
 * @throws Misused when nobody can be asked and --yes is missing
 */
export const runErase = async (
  context: CliContext,
  { customerOrderId, sellerId: named, actor, reason, dryRun, yes }: EraseOptions,
  readLine: () => Promise<string>,
): Promise<void> => {
  const { terminal, daemon } = context
  if (terminal.json && !dryRun && !yes) throw new Misused('with --json nobody can be asked: give --yes, or --dry-run')
  const sellerId = named ?? (await onlySeller(context))
  const body = { sellerId, customerOrderId, reason, actor }
  const looked = await daemon.post('/v1/erasures', erasureSchema, { query: { dryRun: 'true' }, body })
  if (terminal.json && dryRun) return printJson(terminal, looked)
  if (!terminal.json) show(context, looked)
  if (dryRun) return print(terminal, 'nothing was erased')
  if (!yes) {
    say(terminal, 'Erase it? It cannot be undone. Type yes:')
    if ((await readLine()).trim().toLowerCase() !== 'yes') throw new Failed('nothing was erased; --yes asks nobody')
  }
  const erased = await daemon.post('/v1/erasures', erasureSchema, { body, timeoutMs: 120_000 })
  if (terminal.json) return printJson(terminal, erased)
  const rows = Object.values(erased.rows).reduce((sum, number) => sum + number, 0)
  print(terminal, `erased from ${count(rows, 'row')}; entry ${erased.auditId} of the audit`)
  say(terminal, 'files of Postgres and backups keep it for a while: docs/operations.md, "Erasing a buyer"')
}
