import type { Change } from '../domain/changes/change.ts'
import type { SqlRunner } from './database.ts'
import { type SellerFilter, sellersIn } from './seller-filter.ts'

interface ChangeRow {
  readonly seq: bigint
  readonly seller_id: string
  readonly type: string
  readonly purchase_order_id: string | null
  readonly line_number: string | null
  readonly return_order_id: string | null
  readonly command_id: string | null
  readonly data: unknown
  readonly occurred_at: Date
}

const fromRow = (row: ChangeRow): Change => ({
  seq: row.seq,
  sellerId: row.seller_id,
  type: row.type,
  purchaseOrderId: row.purchase_order_id,
  lineNumber: row.line_number,
  returnOrderId: row.return_order_id,
  commandId: row.command_id,
  data: row.data,
  occurredAt: row.occurred_at,
})

const columns = 'seq, seller_id, type, purchase_order_id, line_number, return_order_id, command_id, data, occurred_at'

/** Changes were asked for of which some are no longer kept: whoever went on would miss them without knowing. */
export class ChangesGone extends Error {
  override readonly name = 'ChangesGone'
  /** The highest number that went; all above it are there. */
  readonly removedUpTo: bigint
  constructor(after: bigint, removedUpTo: bigint) {
    super(`changes ${after + 1n} to ${removedUpTo} are kept no more`)
    this.removedUpTo = removedUpTo
  }
}

/** A position was named that the feed has not reached: the database is another one, or an older state of it. */
export class PositionBeyondEnd extends Error {
  override readonly name = 'PositionBeyondEnd'
  /** The number of the last change. */
  readonly end: bigint
  constructor(after: bigint, end: bigint) {
    super(`position ${after} is beyond the end of the feed, which is ${end}`)
    this.end = end
  }
}

/** Which changes to read; null: any. */
export interface ChangeFilter {
  /** Not empty. */
  readonly types: readonly string[] | null
  readonly sellerId: SellerFilter
  readonly purchaseOrderId: string | null
}

/** Every change. */
export const everyChange: ChangeFilter = { types: null, sellerId: null, purchaseOrderId: null }

/** Changes, and how far the feed has been read for them: none behind them, up to this number, fits the filter. */
export interface ChangesRead {
  readonly changes: readonly Change[]
  readonly position: bigint
}

/** A page of the feed as SQL, with its parameters. */
const pageOf = (after: bigint, limit: number, { types, sellerId, purchaseOrderId }: ChangeFilter) => {
  const parameters: unknown[] = [after, limit]
  const place = (value: unknown, type: string): string => {
    parameters.push(value)
    return `$${parameters.length}::${type}`
  }
  // A range of one value instead of an equality: otherwise the planner may go by the primary key, and pass every change of the others.
  const sellers = sellersIn(sellerId)
  const [only, ...others] = sellers ?? []
  const ofSellers = (): string => (sellers === null ? '' : `AND seller_id = ANY(${place(sellers, 'text[]')})`)
  const ofTypes = (): string => (types === null ? '' : `AND type = ANY(${place(types, 'text[]')})`)
  const by = (column: string, value: string, rest: readonly string[]): string => {
    const placed = place(value, 'text')
    return `SELECT ${columns} FROM warehouse.changes WHERE (${column}, seq) > (${placed}, $1::bigint) AND ${column} <= ${placed}
      ${rest.join(' ')} ORDER BY ${column}, seq LIMIT $2::int`
  }
  // The next ones of each value, and of these the first ones.
  const byEach = (column: string, values: readonly string[], rest: string): string =>
    `SELECT ${columns} FROM warehouse.changes WHERE seq = ANY(ARRAY(
      SELECT found.seq FROM unnest(${place(values, 'text[]')}) AS wanted(value) CROSS JOIN LATERAL (
        SELECT seq FROM warehouse.changes WHERE (${column}, seq) > (wanted.value, $1::bigint) AND ${column} <= wanted.value ${rest}
        ORDER BY ${column}, seq LIMIT $2::int
      ) found ORDER BY found.seq LIMIT $2::int))`
  const text = (): string => {
    if (purchaseOrderId !== null) return by('purchase_order_id', purchaseOrderId, [ofSellers(), ofTypes()])
    if (only !== undefined && others.length === 0) return by('seller_id', only, [ofTypes()])
    if (sellers !== null) return byEach('seller_id', sellers, ofTypes())
    if (types !== null) return byEach('type', types, '')
    return `SELECT ${columns} FROM warehouse.changes WHERE seq > $1::bigint ORDER BY seq LIMIT $2::int`
  }
  return { text: text(), parameters }
}

/**
 * Changes after this number that fit the filter, in order. A reader that goes on from the returned position misses none: numbers are given out
 * under a row lock that is held until the commit, so none appears below one that is visible.
 * @throws ChangesGone when the next one, whether it fits or not, is no longer kept
 * @throws PositionBeyondEnd when there has never been a change of this number
 */
export const readChanges = async (
  sql: SqlRunner,
  after: bigint,
  limit: number,
  filter: ChangeFilter = everyChange,
): Promise<ChangesRead> => {
  const page = pageOf(after, limit, filter)
  // One statement: what goes or comes between two of them would be missed.
  const rows = await sql.query<
    (ChangeRow | { readonly seq: null }) & { readonly removed_up_to: bigint; readonly last_seq: bigint }
  >(
    `SELECT p.removed_up_to, k.last_seq, c.* FROM tallyman.retention_passes p CROSS JOIN tallyman.change_counter k
     LEFT JOIN (${page.text}) c ON true WHERE p.data = 'changes' ORDER BY c.seq`,
    ...page.parameters,
  )
  const [first] = rows
  if (first === undefined) throw new Error('the feed has no record of its retention')
  if (after < first.removed_up_to) throw new ChangesGone(after, first.removed_up_to)
  if (after > first.last_seq) throw new PositionBeyondEnd(after, first.last_seq)
  const changes = rows.flatMap((row) => (row.seq === null ? [] : [fromRow(row)]))
  const last = changes.at(-1)
  return { changes, position: last !== undefined && changes.length >= limit ? last.seq : first.last_seq }
}

/** The number of the last change; 0 while there was none. */
export const endOfChanges = async ({ prisma }: SqlRunner): Promise<bigint> =>
  (await prisma.changeCounter.findFirst({ select: { lastSeq: true } }))?.lastSeq ?? 0n

/** The number after which the oldest change stands that is kept; 0 while none has gone. */
export const beginningOfChanges = async ({ prisma }: SqlRunner): Promise<bigint> => {
  const pass = await prisma.retentionPass.findUnique({ where: { data: 'changes' }, select: { removedUpTo: true } })
  return pass?.removedUpTo ?? 0n
}

/** The newest changes of one order, oldest first. */
export const readChangesOfOrder = async (
  { prisma }: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
  limit: number,
): Promise<readonly Change[]> =>
  (await prisma.change.findMany({ where: { sellerId, purchaseOrderId }, orderBy: { seq: 'desc' }, take: limit })).reverse()
