import type { SqlRunner } from './database.ts'
import { sellerOfEventRow } from './event-queries.ts'

/** What is named by an id of its own and belongs to one seller. */
export type OwnedThing = 'command' | 'quarantined' | 'alarm'

const wholeNumber = /^\d{1,18}$/

/** The seller of a command, a quarantined record or an alarm; null: there is no such thing. It never changes, but for alarms of erased events. */
export const sellerOf = async ({ prisma }: SqlRunner, thing: OwnedThing, id: string): Promise<string | null> => {
  const select = { sellerId: true }
  if (thing === 'command') return (await prisma.command.findUnique({ where: { id }, select }))?.sellerId ?? null
  if (!wholeNumber.test(id)) return null
  const where = { id: BigInt(id) }
  const row =
    thing === 'alarm'
      ? await prisma.alarm.findUnique({ where, select })
      : await prisma.quarantinedRecord.findUnique({ where, select })
  return row?.sellerId ?? null
}

/** The seller of an event, as far as it is known; null: there is no such event, or its seller is not known. */
export const sellerOfEvent = async (sql: SqlRunner, source: string, id: string): Promise<string | null> => {
  const [row] = await sql.query<{ seller_id: string | null }>(
    `SELECT ${sellerOfEventRow} AS seller_id FROM tallyman.erp_event e WHERE e.source = $1 AND e.id = $2`,
    source,
    id,
  )
  return row?.seller_id ?? null
}
