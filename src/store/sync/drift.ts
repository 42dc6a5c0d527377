import { type Drift, type DriftKind, driftKinds } from '../../domain/drift/shape.ts'
import { raiseAlarm } from '../alarms/alarms.ts'
import type { Database, SqlRunner, Transaction } from '../db/database.ts'
import { buildPage, isOrAny, type ListPage } from '../db/page.ts'
import { type SellerFilter, sellerCondition } from '../sellers/seller-filter.ts'

/** A place of the answers of an operation that differs from what is published, and how many times it was seen since it was last recorded. */
export interface SeenDrift extends Drift {
  readonly sellerId: string
  readonly operation: string
  readonly count: number
}

/** A recorded place. */
export interface RecordedDrift extends SeenDrift {
  readonly id: bigint
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
}

/** Which places to list; null: any. */
export interface DriftFilter {
  readonly sellerId: SellerFilter
  readonly operation: string | null
  readonly kind: DriftKind | null
}

type Place = Pick<SeenDrift, 'operation' | 'kind' | 'path' | 'value' | 'example'>

const sentences: Readonly<Record<Exclude<DriftKind, 'header'>, (place: Place) => string>> = {
  field: ({ path, example }) => `the unknown field ${path} (${example})`,
  value: ({ path, example }) => `an unknown value in ${path}: ${example}`,
  type: ({ path, example }) => `another type in ${path === '' ? 'the record' : path}: ${example}`,
  status: ({ path }) => `the unknown HTTP status ${path}`,
}

/** One alarm for each operation, with all its announcements. */
const raiseDeprecation = async (tx: Transaction, operation: string): Promise<void> => {
  const [row] = await tx.query<{ announced: string }>(
    `SELECT string_agg(DISTINCT path || ': ' || example, ', ' ORDER BY path || ': ' || example) AS announced
     FROM tallyman.drift WHERE operation = $1 AND kind = 'header'`,
    operation,
  )
  await raiseAlarm(
    tx,
    { sellerId: '', kind: 'operation-deprecated', subject: operation },
    `the marketplace announces the end of ${operation}: ${row?.announced ?? ''}`,
  )
}

/** One alarm for each place, for all sellers. */
const raiseDriftAlarm = (tx: Transaction, place: Place): Promise<void> => {
  const { operation, kind, path, value } = place
  if (kind === 'header') return raiseDeprecation(tx, operation)
  const subject = `${operation}/${kind}/${path}${value === '' ? '' : `=${value}`}`
  return raiseAlarm(
    tx,
    { sellerId: '', kind: 'marketplace-drift', subject },
    `answers of ${operation} have ${sentences[kind](place)}`,
  )
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** Records seen places in one statement, and raises an alarm for each that no seller had before. A place whose alarm was resolved raises no other. */
export const recordDrift = (database: Database, seen: readonly SeenDrift[]): Promise<void> =>
  database.transaction(async (tx) => {
    // In one order, so that two processes do not wait for each other.
    const sorted = [...seen].sort((one, other) =>
      compareTexts(
        [one.sellerId, one.operation, one.kind, one.path, one.value].join('\n'),
        [other.sellerId, other.operation, other.kind, other.path, other.value].join('\n'),
      ),
    )
    const fresh = await tx.query<Place>(
      `WITH recorded AS (
         INSERT INTO tallyman.drift (seller_id, operation, kind, path, value, example, count)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
         ON CONFLICT (seller_id, operation, kind, path, value) DO UPDATE SET count = drift.count + excluded.count, last_seen_at = now()
         RETURNING operation, kind, path, value, example, xmax = 0 AS is_new
       )
       SELECT DISTINCT ON (operation, kind, path, value) operation, kind, path, value, example FROM recorded r
       WHERE is_new AND NOT EXISTS (SELECT FROM tallyman.drift d WHERE (d.operation, d.kind, d.path, d.value) = (r.operation, r.kind, r.path, r.value))
       ORDER BY operation, kind, path, value`,
      sorted.map(({ sellerId }) => sellerId),
      sorted.map(({ operation }) => operation),
      sorted.map(({ kind }) => kind),
      sorted.map(({ path }) => path),
      sorted.map(({ value }) => value),
      sorted.map(({ example }) => example),
      sorted.map(({ count }) => count),
    )
    for (const place of fresh) await raiseDriftAlarm(tx, place)
  })

const isDriftKind = (kind: string): kind is DriftKind => driftKinds.some((known) => known === kind)

/** Recorded places, newest first, before this id. */
export const listDrift = async (
  { prisma }: Pick<SqlRunner, 'prisma'>,
  { sellerId, operation, kind }: DriftFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<RecordedDrift, bigint>> => {
  const rows = await prisma.drift.findMany({
    where: {
      sellerId: sellerCondition(sellerId),
      operation: isOrAny(operation),
      kind: isOrAny(kind),
      ...(before === null ? {} : { id: { lt: before } }),
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  })
  const places = rows.map((row): RecordedDrift => {
    if (!isDriftKind(row.kind)) throw new TypeError(`the table of drift has the kind ${row.kind}`)
    return { ...row, kind: row.kind, count: Number(row.count) }
  })
  return buildPage(places, limit, ({ id }) => id)
}
