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

interface Place extends Pick<SeenDrift, 'operation' | 'kind' | 'path' | 'value' | 'example'> {
  /** What it belongs to: the record that several operations return; of a status or a header the operation. */
  readonly record: string
}

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

/** One alarm for each record and place, for all sellers. */
const raiseDriftAlarm = (tx: Transaction, place: Place): Promise<void> => {
  const { record, operation, kind, path, value } = place
  if (kind === 'header') return raiseDeprecation(tx, operation)
  const subject = `${record}/${kind}/${path}${value === '' ? '' : `=${value}`}`
  return raiseAlarm(
    tx,
    { sellerId: '', kind: 'marketplace-drift', subject },
    kind === 'status'
      ? `answers of ${operation} have ${sentences[kind](place)}`
      : `records of ${record} have ${sentences[kind](place)}, seen first in answers of ${operation}`,
  )
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** SQL: the record of a place. All operations of a resource return the same one. */
const selectRecord = (operation: string, kind: string): string =>
  `CASE WHEN ${kind} IN ('status', 'header') THEN ${operation} ELSE split_part(${operation}, '.', 1) END`

/** Records seen places in one statement, and raises an alarm for each that no record had before. A place whose alarm was resolved raises no other. */
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
       SELECT DISTINCT ON (record, kind, path, value) record, operation, kind, path, value, example
       FROM (SELECT *, ${selectRecord('operation', 'kind')} AS record FROM recorded) r
       WHERE is_new AND NOT EXISTS (SELECT FROM tallyman.drift d
         WHERE (${selectRecord('d.operation', 'd.kind')}, d.kind, d.path, d.value) = (r.record, r.kind, r.path, r.value))
       ORDER BY record, kind, path, value, operation`,
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
