import type { CommandState, OrderCommandContent } from '../domain/command.ts'
import { type OrderBaseline, orderBaselineSchema } from '../domain/evidence.ts'
import type { LineUnits, PurchaseOrder } from '../domain/order.ts'
import { type Confirmed, proofOf, raiseBaseline } from '../domain/proof.ts'
import { type LedgerCommand, type LineLedger, ledgersOf } from '../domain/units.ts'
import type { StatusWords } from '../domain/vocabulary.ts'
import { appliedOf, partsOf, readContent } from './command-content.ts'
import type { SqlRunner } from './database.ts'
import { prepared } from './prepared.ts'
import { together } from './together.ts'

const unitsByLine = (baseline: OrderBaseline | null): Record<string, LineUnits> | null =>
  baseline === null ? null : Object.fromEntries(baseline.lines.map((line) => [line.lineNumber, line.units]))

/** A command of an order, or a part of one that a person has decided. */
interface CommandOfOrder {
  readonly content: OrderCommandContent
  readonly state: CommandState
  readonly baseline: OrderBaseline | null
}

/** What our commands on an order say of its units. */
export interface OrderWork {
  /** In the order of the commands. */
  readonly ledgerCommands: readonly LedgerCommand[]
  /** Those that were applied, with how the order stood before each. */
  readonly confirmed: readonly Confirmed[]
}

interface WorkRow {
  readonly place: number
  readonly id: string
  readonly kind: string
  readonly state: CommandState
  readonly payload: unknown
  readonly parts: unknown
  readonly baseline: unknown
}

// A command that was never sent has no attempt. Each attempt but the first was made only after the order had shown that those
// before it changed nothing, so the baseline of the latest one counts. OFFSET 0: one lookup for each order, whatever the statistics say.
const selectWork = prepared(
  `SELECT k.place::int AS place, c.id, c.kind, c.state, c.payload, c.parts,
     (SELECT a.baseline FROM tallyman.command_attempts a
      WHERE a.command_id = c.id AND a.outcome IS DISTINCT FROM 'not-sent' ORDER BY a.attempt DESC LIMIT 1) AS baseline
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   CROSS JOIN LATERAL (SELECT * FROM tallyman.commands c
     WHERE c.seller_id = k.seller_id AND c.purchase_order_id = k.purchase_order_id AND (c.state <> 'rejected' OR c.parts IS NOT NULL)
     OFFSET 0) c
   ORDER BY k.place, c.sequence`,
)

const readWork = together(
  async (
    sql: SqlRunner,
    keys: readonly { readonly sellerId: string; readonly purchaseOrderId: string }[],
  ): Promise<readonly (readonly WorkRow[])[]> => {
    const rows = await sql.query<WorkRow>(
      selectWork,
      keys.map(({ sellerId }) => sellerId),
      keys.map(({ purchaseOrderId }) => purchaseOrderId),
    )
    const byPlace = Map.groupBy(rows, ({ place }) => place)
    return keys.map((_, index) => byPlace.get(index + 1) ?? [])
  },
)

/**
 * Our commands on an order, as far as units go. Take them under the order's row lock (`lockOrder`): whoever reserves or sends units holds
 * it. `except` leaves one command out, so that it can be checked against all others; what a person says was applied of it still counts.
 */
export const readOrderWork = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
  except: string | null = null,
): Promise<OrderWork> => {
  const rows = await readWork(sql, { sellerId, purchaseOrderId })
  const { statuses } = sql.vocabularyOf(sellerId)
  const commands: CommandOfOrder[] = []
  for (const row of rows) {
    const { decided, nothingOpen } = decidedOf(row)
    commands.push(...decided)
    if (nothingOpen || row.id === except) continue
    const { content } = await readContent(sql, row)
    if (content.kind !== 'create-shipping-settings') commands.push(openPartOf(row, content, decided, statuses))
  }
  return {
    ledgerCommands: commands.map(
      ({ content, state, baseline }): LedgerCommand => ({ ...content, state, baseline: unitsByLine(baseline) }),
    ),
    confirmed: commands.filter(({ state }) => state === 'confirmed'),
  }
}

/** What of a command a person says was applied, and whether nothing is left beside it. */
const decidedOf = (
  row: Pick<WorkRow, 'kind' | 'state' | 'parts'>,
): { readonly decided: readonly CommandOfOrder[]; readonly nothingOpen: boolean } => {
  const parts = partsOf(row.parts)
  const decided = appliedOf(row.kind, parts).map((part): CommandOfOrder => ({ ...part, state: 'confirmed' }))
  return { decided, nothingOpen: row.state === 'rejected' || (parts !== null && parts.open === null) }
}

/** The rest of a command. What a person says was applied stands before it, which may go by the baseline of the very same attempt. */
const openPartOf = (
  { state, baseline }: Pick<WorkRow, 'state' | 'baseline'>,
  content: OrderCommandContent,
  decided: readonly CommandOfOrder[],
  words: StatusWords,
): CommandOfOrder => ({
  content,
  state,
  baseline: baseline === null ? null : raiseBaseline(words, orderBaselineSchema.parse(baseline), proofOf(words, decided)),
})

/** The unit ledgers of an order; see {@link readOrderWork}. */
export const readLedgers = async (
  sql: SqlRunner,
  sellerId: string,
  order: PurchaseOrder,
  except: string | null = null,
): Promise<LineLedger[]> => ledgersOf(order, (await readOrderWork(sql, sellerId, order.purchaseOrderId, except)).ledgerCommands)
