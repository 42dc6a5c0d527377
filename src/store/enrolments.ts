import type { SqlRunner, Transaction } from './database.ts'
import { prepared } from './prepared.ts'
import { together } from './together.ts'

/** What the marketplace said of a seller and a resource. */
interface Enrolment {
  readonly sellerId: string
  readonly resource: string
  readonly enrolled: boolean
  /** Why it counts as not enrolled, with what to do; null while it is enrolled. */
  readonly detail: string | null
}

/** What is known of a seller and a resource. */
type Known = 'enrolled' | 'not enrolled' | 'unknown'

const selectEnrolments = prepared(
  `SELECT a.place::int AS place, e.enrolled, e.checked_at > now() - make_interval(secs => a.within_ms / 1000) AS recent
   FROM unnest($1::text[], $2::text[], $3::float8[]) WITH ORDINALITY AS a(seller_id, resource, within_ms, place)
   JOIN tallyman.enrolments e USING (seller_id, resource)`,
)

const readEach = together(
  async (
    sql: SqlRunner,
    asked: readonly { readonly sellerId: string; readonly resource: string; readonly withinMs: number }[],
  ): Promise<readonly Known[]> => {
    const rows = await sql.query<{ place: number; enrolled: boolean; recent: boolean }>(
      selectEnrolments,
      asked.map(({ sellerId }) => sellerId),
      asked.map(({ resource }) => resource),
      asked.map(({ withinMs }) => withinMs),
    )
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return asked.map((_one, index) => {
      const row = byPlace.get(index + 1)
      if (row?.enrolled === true) return 'enrolled'
      return row?.recent === true ? 'not enrolled' : 'unknown'
    })
  },
)

/** What is known of a seller and a resource: a "not enrolled" counts for `withinMs`, then it is to be asked again. */
export const readEnrolment = (sql: SqlRunner, sellerId: string, resource: string, withinMs: number): Promise<Known> =>
  readEach(sql, { sellerId, resource, withinMs })

/**
 * Stores what the marketplace said, and records a change when it differs from before, or is a first no. Ask {@link readEnrolment} first: also a row
 * that stays as it is gets locked here, which is a write.
 */
export const recordEnrolment = async (tx: Transaction, { sellerId, resource, enrolled, detail }: Enrolment): Promise<void> => {
  const [stored] = await tx.query<{ turned: boolean }>(
    `INSERT INTO tallyman.enrolments AS e (seller_id, resource, enrolled, detail) VALUES ($1, $2, $3, $4)
     ON CONFLICT (seller_id, resource) DO UPDATE
     SET enrolled = excluded.enrolled, detail = excluded.detail, checked_at = now(),
       changed_at = CASE WHEN e.enrolled = excluded.enrolled THEN e.changed_at ELSE now() END
     WHERE e.enrolled IS DISTINCT FROM excluded.enrolled OR NOT excluded.enrolled
     RETURNING changed_at = checked_at AND (xmax <> 0 OR NOT enrolled) AS turned`,
    sellerId,
    resource,
    enrolled,
    detail,
  )
  if (stored?.turned === true) tx.record({ sellerId, type: 'seller.enrolment_changed', data: { resource, enrolled } })
}

/** Lets the answer that a seller is not enrolled count as old: somebody wants it to be asked now. It stands until there is another one. */
export const askEnrolmentAgain = async ({ prisma }: SqlRunner, sellerId: string, resource: string): Promise<void> => {
  await prisma.enrolment.updateMany({ where: { sellerId, resource, enrolled: false }, data: { checkedAt: new Date(0) } })
}
