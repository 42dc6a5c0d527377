import type { Change } from '../../domain/changes/change.ts'
import type { SqlRunner } from '../db/database.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

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

/** Retention has removed some of the requested changes. A reader that continued would miss them without noticing. */
export class ChangesRemoved extends Error {
  override readonly name = 'ChangesGone'
  /** The highest removed number; all later changes are stored. */
  readonly removedUpTo: bigint
  constructor(after: bigint, removedUpTo: bigint) {
    super(`changes ${after + 1n} to ${removedUpTo} are no longer stored`)
    this.removedUpTo = removedUpTo
  }
}

/** The position is beyond the end of the feed: the database is another one, or an older state of it. */
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

/** Changes, and the position up to which the feed was read: no later change up to it fits the filter. */
export interface ChangesRead {
  readonly changes: readonly Change[]
  readonly position: bigint
}

/** A page of the feed as SQL, with its parameters. */
const buildPage = (after: bigint, limit: number, { types, sellerId, purchaseOrderId }: ChangeFilter) => {
  const parameters: unknown[] = [after, limit]
  const place = (value: unknown, type: string): string => {
    parameters.push(value)
    return `$${parameters.length}::${type}`
  }
  // A range of one value instead of an equality: otherwise the planner may use the primary key, and read every change of the others.
  const sellers = toSellerIds(sellerId)
  const [only, ...others] = sellers ?? []
  const ofSellers = (): string => (sellers === null ? '' : `AND seller_id = ANY(${place(sellers, 'text[]')})`)
  const ofTypes = (): string => (types === null ? '' : `AND type = ANY(${place(types, 'text[]')})`)
  const by = (column: string, value: string, rest: readonly string[]): string => {
    const placed = place(value, 'text')
    return `SELECT ${columns} FROM warehouse.changes WHERE (${column}, seq) > (${placed}, $1::bigint) AND ${column} <= ${placed}
      ${rest.join(' ')} ORDER BY ${column}, seq LIMIT $2::int`
  }
  // Reads the next changes of each value, and returns the first of all of them.
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
 * Changes after this number that fit the filter, in order. A reader that continues at the returned position misses none: only one numbering runs at a
 * time (`change-numbers.ts`), so no change appears below a visible one.
 * @throws ChangesGone if retention has removed the next change, whether it fits the filter or not
 * @throws PositionBeyondEnd if there has never been a change of this number
 */
export const readChanges = async (
  sql: SqlRunner,
  after: bigint,
  limit: number,
  filter: ChangeFilter = everyChange,
): Promise<ChangesRead> => {
  const page = buildPage(after, limit, filter)
  // One statement: a change that was removed or added between two statements would be missed.
  const rows = await sql.query<
    (ChangeRow | { readonly seq: null }) & { readonly removed_up_to: bigint; readonly last_seq: bigint }
  >(
    `SELECT p.removed_up_to, k.last_seq, c.* FROM tallyman.retention_passes p CROSS JOIN tallyman.change_counter k
     LEFT JOIN (${page.text}) c ON true WHERE p.data = 'changes' ORDER BY c.seq`,
    ...page.parameters,
  )
  const [first] = rows
  if (first === undefined) throw new Error('the feed has no record of its retention')
  if (after < first.removed_up_to) throw new ChangesRemoved(after, first.removed_up_to)
  if (after > first.last_seq) throw new PositionBeyondEnd(after, first.last_seq)
  const changes = rows.flatMap((row) => (row.seq === null ? [] : [fromRow(row)]))
  const last = changes.at(-1)
  return { changes, position: last !== undefined && changes.length >= limit ? last.seq : first.last_seq }
}

/** The number of the last change; 0 while there was none. */
export const findLastChange = async ({ prisma }: SqlRunner): Promise<bigint> =>
  (await prisma.changeCounter.findFirst({ select: { lastSeq: true } }))?.lastSeq ?? 0n

/** The number before the oldest stored change; 0: none has been removed. */
export const findFirstKeptChange = async ({ prisma }: SqlRunner): Promise<bigint> => {
  const pass = await prisma.retentionPass.findUnique({ where: { data: 'changes' }, select: { removedUpTo: true } })
  return pass?.removedUpTo ?? 0n
}

/** The newest changes of one order, oldest first. `until`: only those that had occurred by then. */
export const readChangesOfOrder = async (
  { prisma }: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
  limit: number,
  until: Date | null = null,
): Promise<readonly Change[]> => {
  const where = { sellerId, purchaseOrderId, ...(until === null ? {} : { occurredAt: { lte: until } }) }
  return (await prisma.change.findMany({ where, orderBy: { seq: 'desc' }, take: limit })).reverse()
}
