import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'

/** Whether a seller is enrolled in the program of a resource, according to the marketplace. */
interface Enrolment {
  readonly sellerId: string
  readonly resource: string
  readonly enrolled: boolean
  /** Why it counts as not enrolled, and what to do; null: it is enrolled. */
  readonly detail: string | null
}

type EnrolmentState = 'enrolled' | 'not enrolled' | 'unknown'

const selectEnrolments = prepared(
  `SELECT a.place::int AS place, e.enrolled, e.checked_at > now() - make_interval(secs => a.within_ms / 1000) AS recent
   FROM unnest($1::text[], $2::text[], $3::float8[]) WITH ORDINALITY AS a(seller_id, resource, within_ms, place)
   JOIN tallyman.enrolments e USING (seller_id, resource)`,
)

const readEach = batchQuery(
  async (
    sql: SqlRunner,
    requests: readonly { readonly sellerId: string; readonly resource: string; readonly withinMs: number }[],
  ): Promise<readonly EnrolmentState[]> => {
    const rows = await sql.query<{ place: number; enrolled: boolean; recent: boolean }>(
      selectEnrolments,
      requests.map(({ sellerId }) => sellerId),
      requests.map(({ resource }) => resource),
      requests.map(({ withinMs }) => withinMs),
    )
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return requests.map((_one, index) => {
      const row = byPlace.get(index + 1)
      if (row?.enrolled === true) return 'enrolled'
      return row?.recent === true ? 'not enrolled' : 'unknown'
    })
  },
)

/** The stored enrolment of a seller and a resource. "not enrolled" expires after `withinMs`; then it is unknown, and must be requested again. */
export const readEnrolment = (sql: SqlRunner, sellerId: string, resource: string, withinMs: number): Promise<EnrolmentState> =>
  readEach(sql, { sellerId, resource, withinMs })

/**
 * Stores the enrolment, and records a change if it differs from the stored one, or is a first "not enrolled". Call {@link readEnrolment} first: this
 * locks, and so writes, also an unchanged row.
 */
export const recordEnrolment = async (tx: Transaction, { sellerId, resource, enrolled, detail }: Enrolment): Promise<void> => {
  const [stored] = await tx.query<{ isChange: boolean }>(
    `INSERT INTO tallyman.enrolments AS e (seller_id, resource, enrolled, detail) VALUES ($1, $2, $3, $4)
     ON CONFLICT (seller_id, resource) DO UPDATE
     SET enrolled = excluded.enrolled, detail = excluded.detail, checked_at = now(),
       changed_at = CASE WHEN e.enrolled = excluded.enrolled THEN e.changed_at ELSE now() END
     WHERE e.enrolled IS DISTINCT FROM excluded.enrolled OR NOT excluded.enrolled
     RETURNING changed_at = checked_at AND (xmax <> 0 OR NOT enrolled) AS "isChange"`,
    sellerId,
    resource,
    enrolled,
    detail,
  )
  if (stored?.isChange === true) tx.record({ sellerId, type: 'seller.enrolment_changed', data: { resource, enrolled } })
}

/** Expires a stored "not enrolled", so that the next run requests it again. It stays stored until then. */
export const expireEnrolment = async ({ prisma }: SqlRunner, sellerId: string, resource: string): Promise<void> => {
  await prisma.enrolment.updateMany({ where: { sellerId, resource, enrolled: false }, data: { checkedAt: new Date(0) } })
}
