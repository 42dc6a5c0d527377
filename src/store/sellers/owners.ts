import type { SqlRunner } from '../db/database.ts'
import { eventSellerExpression } from '../events/event-queries.ts'

/** A kind of object that has an id of its own and belongs to one seller. */
export type OwnedThing = 'command' | 'quarantined' | 'alarm' | 'claim' | 'proposal'

const wholeNumber = /^\d{1,18}$/

/** The seller of a command, a quarantined record, an alarm, a claim or a proposal; null: there is no such object. It never changes, except for alarms of erased events. */
export const findSeller = async ({ prisma }: SqlRunner, thing: OwnedThing, id: string): Promise<string | null> => {
  const select = { sellerId: true }
  if (thing === 'command') return (await prisma.command.findUnique({ where: { id }, select }))?.sellerId ?? null
  if (!wholeNumber.test(id)) return null
  const where = { id: BigInt(id) }
  if (thing === 'claim') return (await prisma.claim.findUnique({ where, select }))?.sellerId ?? null
  if (thing === 'proposal') return (await prisma.eventProposal.findUnique({ where, select }))?.sellerId ?? null
  const row =
    thing === 'alarm'
      ? await prisma.alarm.findUnique({ where, select })
      : await prisma.quarantinedRecord.findUnique({ where, select })
  return row?.sellerId ?? null
}

/** The seller of an event; null: there is no such event, or its seller is unknown. */
export const findEventSeller = async (sql: SqlRunner, source: string, id: string): Promise<string | null> => {
  const [row] = await sql.query<{ seller_id: string | null }>(
    `SELECT ${eventSellerExpression} AS seller_id FROM tallyman.erp_event e WHERE e.source = $1 AND e.id = $2`,
    source,
    id,
  )
  return row?.seller_id ?? null
}
