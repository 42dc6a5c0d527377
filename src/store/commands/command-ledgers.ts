import { type CommandState, isReleased, type OrderCommandContent } from '../../domain/commands/command.ts'
import type { OrderBaseline } from '../../domain/commands/evidence.ts'
import { buildProof, type Confirmed, parseBaseline } from '../../domain/commands/proof.ts'
import type { LineUnits, PurchaseOrder } from '../../domain/orders/order.ts'
import { refundedByReturnLine } from '../../domain/orders/returned-units.ts'
import { buildLedgers, type LedgerCommand, type LineLedger } from '../../domain/orders/units.ts'
import type { StatusWords } from '../../domain/values/vocabulary.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { listConfirmed, parseParts, readContent } from './command-content.ts'

const unitsByLine = (baseline: OrderBaseline | null): Record<string, LineUnits> | null =>
  baseline === null ? null : Object.fromEntries(baseline.lines.map((line) => [line.lineNumber, line.units]))

/** A command of an order, or a part of a command that a person has decided. */
interface CommandOfOrder {
  readonly content: OrderCommandContent
  readonly state: CommandState
  readonly baseline: OrderBaseline | null
}

/** The units in our commands on an order. */
export interface OrderWork {
  /** In the order of the commands. */
  readonly ledgerCommands: readonly LedgerCommand[]
  /** Applied commands, with the state of the order before each. */
  readonly confirmed: readonly Confirmed[]
  /** Since when the seller is in shadow mode; null: it is not. */
  readonly shadowSince: Date | null
}

interface WorkRow {
  readonly id: string
  readonly eventSource: string | null
  readonly eventId: string | null
  readonly kind: string
  readonly state: CommandState
  readonly payload: unknown
  readonly parts: unknown
  readonly baseline: unknown
  readonly createdAt: Date
}

// A command that was never sent has no attempt. A further attempt was made only after the order had shown that the earlier ones changed nothing, so the
// baseline of the latest attempt counts. OFFSET 0 forces one lookup for each order, regardless of statistics.
const selectWork = prepared(
  `SELECT k.place::int AS place,
     (SELECT s.mode_since FROM tallyman.sellers s WHERE s.seller_id = k.seller_id AND s.mode = 'shadow') AS "shadowSince", c.id, c.kind, c.state, c.payload, c.parts, c.event_source AS "eventSource", c.event_id AS "eventId",
     c.created_at AS "createdAt",
     (SELECT a.baseline FROM tallyman.command_attempts a
      WHERE a.command_id = c.id AND a.outcome IS DISTINCT FROM 'not-sent' ORDER BY a.attempt DESC LIMIT 1) AS baseline
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   LEFT JOIN LATERAL (SELECT * FROM tallyman.commands c
     WHERE c.seller_id = k.seller_id AND c.purchase_order_id = k.purchase_order_id AND (c.state NOT IN ('rejected', 'withdrawn') OR c.parts IS NOT NULL)
     OFFSET 0) c ON true
   ORDER BY k.place, c.sequence`,
)

/** One row for each command of an order, or one row without a command. */
type FoundRow = { readonly place: number; readonly shadowSince: Date | null } & (WorkRow | { readonly id: null })

interface FoundWork {
  readonly shadowSince: Date | null
  readonly rows: readonly WorkRow[]
}

const isCommand = (row: FoundRow): row is Extract<FoundRow, WorkRow> => row.id !== null

const queryWork = async (
  sql: SqlRunner,
  keys: readonly { readonly sellerId: string; readonly purchaseOrderId: string }[],
): Promise<readonly FoundWork[]> => {
  const rows = await sql.query<FoundRow>(
    selectWork,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return keys.map((_, index) => {
    const found = byPlace.get(index + 1) ?? []
    return { shadowSince: found[0]?.shadowSince ?? null, rows: found.filter(isCommand) }
  })
}
const readWork = batchQuery(queryWork)

/**
 * The units in our commands on an order. The caller holds the order's row lock (`lockOrder`), as every transaction that reserves or sends units does.
 * `except` omits one command, so that it can be checked against all others; parts of it that a person has confirmed still count.
 */
export const readOrderWork = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
  except: string | null = null,
): Promise<OrderWork> => buildOrderWork(sql, sellerId, await readWork(sql, { sellerId, purchaseOrderId }), except)

/** The units in our commands on each of these orders, by one statement and without locks: for lists, not for reservations. */
export const readWorkOfOrders = async (
  sql: SqlRunner,
  keys: readonly { readonly sellerId: string; readonly purchaseOrderId: string }[],
): Promise<readonly OrderWork[]> => {
  const found = await queryWork(sql, keys)
  return Promise.all(
    keys.map(({ sellerId }, index) => buildOrderWork(sql, sellerId, found[index] ?? { shadowSince: null, rows: [] }, null)),
  )
}

const buildOrderWork = async (
  sql: SqlRunner,
  sellerId: string,
  { rows, shadowSince }: FoundWork,
  except: string | null,
): Promise<OrderWork> => {
  const { statuses } = sql.findVocabulary(sellerId)
  const commands: CommandOfOrder[] = []
  const ledgerCommands: LedgerCommand[] = []
  for (const row of rows) {
    const { decided, nothingOpen } = parseDecision(row)
    const ofRow = [...decided]
    if (!nothingOpen && row.id !== except) {
      const { content } = await readContent(sql, row)
      if (content.kind !== 'create-shipping-settings') ofRow.push(buildOpenPart(row, content, decided, statuses))
    }
    commands.push(...ofRow)
    const event = row.eventSource === null || row.eventId === null ? null : { source: row.eventSource, id: row.eventId }
    for (const { content, state, baseline } of ofRow)
      ledgerCommands.push({
        ...content,
        state,
        baseline: unitsByLine(baseline),
        returnBaseline: refundedByReturnLine(baseline),
        createdAt: row.createdAt,
        event,
      })
  }
  return { ledgerCommands, confirmed: commands.filter(({ state }) => state === 'confirmed'), shadowSince }
}

/** The parts of a command that a person has confirmed, and whether nothing else of it is open. */
const parseDecision = (
  row: Pick<WorkRow, 'kind' | 'state' | 'parts'>,
): { readonly decided: readonly CommandOfOrder[]; readonly nothingOpen: boolean } => {
  const parts = parseParts(row.parts)
  const decided = listConfirmed(row.kind, parts).map((part): CommandOfOrder => ({ ...part, state: 'confirmed' }))
  return { decided, nothingOpen: isReleased(row.state) || (parts !== null && parts.open === null) }
}

/** The open part of a command. Its baseline includes the parts that a person has confirmed, which may have the same attempt. */
const buildOpenPart = (
  { state, baseline }: Pick<WorkRow, 'state' | 'baseline'>,
  content: OrderCommandContent,
  decided: readonly CommandOfOrder[],
  statuses: StatusWords,
): CommandOfOrder => ({
  content,
  state,
  baseline: baseline === null ? null : parseBaseline(statuses, baseline, buildProof(statuses, decided)),
})

/** The unit ledgers of an order; see {@link readOrderWork}. */
export const readLedgers = async (
  sql: SqlRunner,
  sellerId: string,
  order: PurchaseOrder,
  except: string | null = null,
): Promise<LineLedger[]> => {
  const { ledgerCommands, shadowSince } = await readOrderWork(sql, sellerId, order.purchaseOrderId, except)
  return buildLedgers(order, ledgerCommands, shadowSince)
}
