import type { SqlRunner } from './database.ts'

/** One row of the change feed. `seq` follows the order of commits, without gaps. */
export interface Change {
  readonly seq: bigint
  readonly sellerId: string
  readonly type: string
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly returnOrderId: string | null
  readonly commandId: string | null
  readonly data: unknown
  /** When the transaction that made the change began. */
  readonly occurredAt: Date
}

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

/**
 * Changes after this number, in order. A reader that goes on from the last number it saw misses none: numbers are given out
 * under a row lock that is held until the commit, so none appears below one that is visible.
 * @throws ChangesGone when the next one is no longer kept
 */
export const readChanges = async (sql: SqlRunner, after: bigint, limit: number): Promise<readonly Change[]> => {
  // One statement: what goes between two of them would be missed.
  const rows = await sql.query<(ChangeRow | { readonly seq: null }) & { readonly removed_up_to: bigint }>(
    `SELECT p.removed_up_to, c.* FROM tallyman.retention_passes p LEFT JOIN LATERAL (
       SELECT ${columns} FROM warehouse.changes WHERE seq > $1::bigint ORDER BY seq LIMIT $2::int
     ) c ON true WHERE p.data = 'changes' ORDER BY c.seq`,
    after,
    limit,
  )
  const removedUpTo = rows[0]?.removed_up_to ?? 0n
  if (after < removedUpTo) throw new ChangesGone(after, removedUpTo)
  return rows.flatMap((row) => (row.seq === null ? [] : [fromRow(row)]))
}

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
