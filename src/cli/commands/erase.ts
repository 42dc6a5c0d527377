import { z } from 'zod'
import { Failed, Misused } from '../../api-client/errors.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { count, print, printJson, printMessage, printTable } from '../output/terminal.ts'
import { sellerSchema } from './sellers.ts'

const erasureSchema = z.looseObject({
  sellerId: z.string(),
  customerOrderId: z.string(),
  purchaseOrderIds: z.array(z.string()),
  returnOrderIds: z.array(z.string()),
  openPurchaseOrderIds: z.array(z.string()),
  rows: z.record(z.string(), z.number()),
  auditId: z.union([z.string(), z.number()]).nullable(),
})

/** Options of `tallyman erase`: the customer order, who requests it, why, and how to proceed. */
export interface EraseOptions {
  readonly customerOrderId: string
  /** Null: the only seller. */
  readonly sellerId: string | null
  readonly actor: string
  readonly reason: string
  readonly dryRun: boolean
  /** No confirmation is requested. */
  readonly yes: boolean
}

const findOnlySeller = async ({ daemon }: CliContext): Promise<string> => {
  const { items } = await readList(daemon, '/v1/sellers', sellerSchema, 2)
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
    const ids = openPurchaseOrderIds.join(', ')
    printMessage(terminal, `not completely shipped or cancelled yet; the address is still needed for shipping: ${ids}`)
  }
  printTable(
    terminal,
    [{ heading: 'table' }, { heading: 'rows with data', align: 'right' }],
    Object.entries(rows)
      .filter(([, number]) => number > 0)
      .map(([table, number]) => [table, String(number)]),
  )
}

/**
 * `tallyman erase`: shows what would be erased, asks for confirmation, and erases the buyer of a customer order.
 * @throws Misused when confirmation is impossible and --yes is missing
 */
export const runErase = async (
  context: CliContext,
  { customerOrderId, sellerId: named, actor, reason, dryRun, yes }: EraseOptions,
  readLine: () => Promise<string>,
): Promise<void> => {
  const { terminal, daemon } = context
  if (terminal.json && !dryRun && !yes) throw new Misused('with --json no confirmation is possible: use --yes or --dry-run')
  const sellerId = named ?? (await findOnlySeller(context))
  const body = { sellerId, customerOrderId, reason, actor }
  const preview = await daemon.post('/v1/erasures', erasureSchema, { query: { dryRun: 'true' }, body })
  if (terminal.json && dryRun) return printJson(terminal, preview)
  if (!terminal.json) show(context, preview)
  if (dryRun) return print(terminal, 'nothing was erased')
  if (!yes) {
    printMessage(terminal, 'Erase it? It cannot be undone. Type yes:')
    if ((await readLine()).trim().toLowerCase() !== 'yes') throw new Failed('nothing was erased; --yes skips the confirmation')
  }
  const erased = await daemon.post('/v1/erasures', erasureSchema, { body, timeoutMs: 120_000 })
  if (terminal.json) return printJson(terminal, erased)
  const rows = Object.values(erased.rows).reduce((sum, number) => sum + number, 0)
  print(terminal, `erased from ${count(rows, 'row')}; entry ${erased.auditId} of the audit`)
  printMessage(
    terminal,
    'the files of Postgres contain it until `tallyman vacuum`, backups for longer: docs/operations.md, "Erasing a buyer"',
  )
}
