import { erasedRawText } from '../domain/redaction.ts'
import { raiseAlarm, resolveAlarm } from './alarms.ts'
import { type Acting, recordAct } from './audit.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { dueNow } from './due-now.ts'
import { holdErasuresBack, namesErased, resourcesWithBuyers } from './erased-records.ts'
import { Prisma } from './generated/client.ts'
import { prepared } from './prepared.ts'
import type { StoredWindow, SyncKey, SyncWindow } from './sync-states.ts'
import { windowOf } from './sync-states.ts'
import { together } from './together.ts'
import { rawHash, storageFaultPrefix } from './versions.ts'

/** A record that could not be understood or stored, as it came. */
export interface FaultyRecord {
  /** Its identity, where that much could be read. */
  readonly key: string | null
  readonly rawText: string
  /** Why, in a sentence without personal data. */
  readonly fault: string
  /** Not a record but what was passed over because it cannot be had; its `rawText` names it. */
  readonly skipped?: { readonly window: SyncWindow | null }
  /** When it was created, where that much could be read. */
  readonly createdAt?: Date | null
}

/** Where a record in quarantine stands. */
export const quarantineStates = ['open', 'replayed', 'superseded', 'dismissed'] as const
/** See {@link quarantineStates}. */
export type QuarantineState = (typeof quarantineStates)[number]

/** A record in quarantine. */
export interface QuarantinedRecord extends FaultyRecord {
  readonly id: bigint
  readonly sellerId: string
  readonly resource: string
  readonly state: QuarantineState
  /** Not a record but what was passed over. */
  readonly isSkip: boolean
  /** On the marketplace's clock. */
  readonly observedAt: Date
}

/** What became of a record in quarantine that was read again. */
export type ReplayOutcome =
  | { readonly outcome: 'replayed' }
  /** It can be read now, but something newer is stored already. */
  | { readonly outcome: 'superseded' }
  | { readonly outcome: 'still-malformed'; readonly fault: string }
  | { readonly outcome: 'not-found' }
  /** It was settled before. */
  | { readonly outcome: 'already-settled'; readonly state: QuarantineState }

const openOf = (sellerId: string, resource: string) => ({ state: 'open', sellerId, resource })

/** A faulty record that must be written down: new, seen again after an hour, or back after it was settled. */
export interface NewlyFaulty extends FaultyRecord {
  /** SHA-1 of the raw text, hexadecimal. */
  readonly hash: string
}

/**
 * Those of a page's faulty records that must be written down. The same text again counts as seen at most once an hour, so that a
 * poll that meets it every minute writes nothing.
 */
export const findNewlyFaulty = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  observedAt: Date,
  records: readonly FaultyRecord[],
): Promise<readonly NewlyFaulty[]> => {
  if (records.length === 0) return []
  const byHash = new Map(records.map((record) => [rawHash(record.rawText), record]))
  const rows = await sql.query<{ hash: string }>(
    `SELECT encode(raw_hash, 'hex') AS hash FROM tallyman.quarantined_records
     WHERE seller_id = $1 AND resource = $2 AND raw_hash IN (SELECT decode(h, 'hex') FROM unnest($3::text[]) AS h)
       AND (CASE state WHEN 'open' THEN last_seen_at > now() - interval '1 hour' WHEN 'dismissed' THEN true
         ELSE observed_at >= $4::timestamptz END)`,
    sellerId,
    resource,
    [...byHash.keys()],
    observedAt.toISOString(),
  )
  const settled = new Set(rows.map((row) => row.hash))
  return [...byHash].filter(([hash]) => !settled.has(hash)).map(([hash, record]) => ({ ...record, hash }))
}

/** A text as Postgres can keep it: a NUL that was not escaped, which no JSON may hold, is escaped. */
const keepable = (text: string): string => text.toWellFormed().replaceAll('\0', '\\u0000')

/**
 * Writes faulty records down, or that they were seen again; `stream`: which way of reading has brought them; `createdFrom`: before which
 * moment none of them was created, as the question says that brought them; a record that says itself when it was created is believed.
 */
export const quarantine = async (
  tx: Transaction,
  sellerId: string,
  resource: string,
  observedAt: Date,
  records: readonly NewlyFaulty[],
  stream: string | null = null,
  createdFrom: Date | null = null,
): Promise<void> => {
  if (records.length === 0) return
  await holdErasuresBack(tx, sellerId)
  await tx.execute(
    `INSERT INTO tallyman.quarantined_records AS q (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at, stream, created_from, skipped, retry_at)
     SELECT $1, $2, key, decode(hash, 'hex'),
       CASE WHEN skipped IS NULL AND $2 IN (${resourcesWithBuyers}) AND ${namesErased('$1', 't.key', 't."rawText"')} THEN '${erasedRawText}'
         ELSE "rawText" END, fault, $3::timestamptz, $5, coalesce("createdAt", $6::timestamptz), skipped,
       CASE WHEN jsonb_typeof(skipped -> 'window') = 'object' THEN now() + interval '1 hour' END
     FROM json_to_recordset($4::json) AS t(key text, hash text, "rawText" text, fault text, skipped jsonb, "createdAt" timestamptz) ORDER BY hash
     ON CONFLICT (seller_id, resource, raw_hash) DO UPDATE
     SET state = 'open', fault = excluded.fault, record_key = excluded.record_key, last_seen_at = now(),
       -- Neighbouring windows share a second: what spoils it is passed over more than once before it is tried again.
       seen_count = q.seen_count + CASE WHEN q.state = 'open' AND q.retry_at > ${dueNow} THEN 0 ELSE 1 END,
       observed_at = greatest(q.observed_at, excluded.observed_at), stream = excluded.stream,
       created_from = excluded.created_from, skipped = excluded.skipped,
       retry_at = CASE WHEN excluded.retry_at IS NULL THEN NULL WHEN q.state = 'open' AND q.retry_at > ${dueNow} THEN q.retry_at
         ELSE now() + least(interval '1 day', interval '1 hour' * power(2, least(q.seen_count, 10))) END
     WHERE q.state <> 'dismissed'`,
    sellerId,
    resource,
    observedAt.toISOString(),
    JSON.stringify(
      records.map(({ key, hash, rawText, fault, skipped, createdAt }) => ({
        key: key === null ? null : keepable(key),
        hash,
        rawText: keepable(rawText),
        fault,
        skipped: skipped ?? null,
        createdAt: createdAt ?? null,
      })),
    ),
    stream,
    createdFrom?.toISOString() ?? null,
  )
}

/** Keys of records that are in quarantine now, the newest 10,000. */
export const openQuarantineKeys = async ({ prisma }: SqlRunner, sellerId: string, resource: string): Promise<Set<string>> => {
  const rows = await prisma.quarantinedRecord.findMany({
    where: { ...openOf(sellerId, resource), recordKey: { not: null } },
    orderBy: { id: 'desc' },
    take: 10_000,
    select: { recordKey: true },
  })
  return new Set(rows.flatMap(({ recordKey }) => recordKey ?? []))
}

/**
 * Texts of these records that Postgres refused before and that are still in quarantine for it: trying them again with every
 * poll would fail every time.
 */
export const findRefusedTexts = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  records: readonly { readonly rawText: string }[],
): Promise<ReadonlySet<string>> => {
  if (records.length === 0) return new Set()
  const byHash = new Map(records.map((record) => [rawHash(record.rawText), record.rawText]))
  const rows = await sql.query<{ hash: string }>(
    `SELECT encode(raw_hash, 'hex') AS hash FROM tallyman.quarantined_records
     WHERE seller_id = $1 AND resource = $2 AND raw_hash IN (SELECT decode(h, 'hex') FROM unnest($3::text[]) AS h)
       AND state = 'open' AND starts_with(fault, $4)`,
    sellerId,
    resource,
    [...byHash.keys()],
    storageFaultPrefix,
  )
  return new Set(rows.flatMap((row) => byHash.get(row.hash) ?? []))
}

/** Settles quarantined versions of records of which a later version was understood. */
export const supersedeQuarantined = async (
  { prisma }: Transaction,
  sellerId: string,
  resource: string,
  observedAt: Date,
  keys: readonly string[],
): Promise<number> => {
  const { count } = await prisma.quarantinedRecord.updateMany({
    where: { ...openOf(sellerId, resource), recordKey: { in: [...keys] }, observedAt: { lt: observedAt } },
    data: { state: 'superseded' },
  })
  return count
}

/** A quarantined record, locked until the transaction ends; null when there is none. */
export const lockQuarantined = async (tx: Transaction, id: bigint): Promise<QuarantinedRecord | null> => {
  const [row] = await tx.query<QuarantinedRecord>(
    `SELECT id, seller_id AS "sellerId", resource, record_key AS key, raw_text AS "rawText", fault, state, observed_at AS "observedAt",
       skipped IS NOT NULL AS "isSkip"
     FROM tallyman.quarantined_records WHERE id = $1::bigint FOR UPDATE`,
    id,
  )
  return row ?? null
}

/** Why a record cannot be dismissed. */
export type DismissRefusal = 'not-found' | 'already-settled'

/**
 * Settles an open record by a person's word: it is not to be had, or not wanted. The same text seen later stays dismissed.
 * Answers null when it is done.
 */
export const dismissQuarantined = async (
  tx: Transaction,
  id: bigint,
  by: Acting & { readonly reason: string },
): Promise<DismissRefusal | null> => {
  const record = await lockQuarantined(tx, id)
  if (record === null) return 'not-found'
  if (record.state !== 'open') return 'already-settled'
  await tx.prisma.quarantinedRecord.update({
    where: { id },
    data: { state: 'dismissed', dismissedBy: by.actor, dismissedReason: by.reason, retryAt: null },
    select: { id: true },
  })
  await reviewSkipAlarm(tx, record.sellerId, record.resource)
  const { sellerId, resource } = record
  await recordAct(tx, { by, action: 'record.dismissed', sellerId, subject: String(id), reason: by.reason, details: { resource } })
  return null
}

/**
 * Settles records without a key that a complete reading has not brought again: at their place there is something readable now, or
 * nothing. `met`: which the reading would have met, those that its own stream had brought, or those that were surely created within its
 * reach, whatever stream had brought them. `since`: when the reading was planned, ISO. What was passed over is not settled by it. Returns
 * how many were.
 */
export const expireKeyless = async (
  tx: Transaction,
  sellerId: string,
  resource: string,
  met: { readonly stream: string } | { readonly createdFrom: string },
  since: string,
): Promise<number> => {
  const { count } = await tx.prisma.quarantinedRecord.updateMany({
    where: {
      ...openOf(sellerId, resource),
      recordKey: null,
      skipped: { equals: Prisma.DbNull },
      ...('stream' in met ? { stream: met.stream } : { createdFrom: { gte: new Date(met.createdFrom) } }),
      // A record that is seen again and again is noted once an hour only.
      lastSeenAt: { lt: new Date(Date.parse(since) - 3_600_000) },
    },
    data: { state: 'superseded' },
  })
  return count
}

/** What of a resource stands in quarantine that no record names. */
interface Nameless {
  /** What is passed over. */
  readonly skips: boolean
  /** Records whose key cannot be read. */
  readonly keyless: boolean
}

const selectNameless = prepared(
  `SELECT a.place::int AS place, bool_or(q.skipped IS NOT NULL) AS skips, bool_or(q.skipped IS NULL AND q.record_key IS NULL) AS keyless
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a(seller_id, resource, place)
   JOIN tallyman.quarantined_records q ON q.seller_id = a.seller_id AND q.resource = a.resource AND q.state = 'open'
     AND (q.skipped IS NOT NULL OR q.record_key IS NULL)
   GROUP BY a.place`,
)

/** Asked after every complete reading: there is hardly ever anything. */
const namelessOfEach = together(
  async (
    sql: SqlRunner,
    asked: readonly { readonly sellerId: string; readonly resource: string }[],
  ): Promise<readonly Nameless[]> => {
    const rows = await sql.query<Nameless & { place: number }>(
      selectNameless,
      asked.map(({ sellerId }) => sellerId),
      asked.map(({ resource }) => resource),
    )
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return asked.map((_one, index) => byPlace.get(index + 1) ?? { skips: false, keyless: false })
  },
)

/** Whether anything of a resource is passed over now. */
export const hasSkips = async (sql: SqlRunner, sellerId: string, resource: string): Promise<boolean> =>
  (await namelessOfEach(sql, { sellerId, resource })).skips

/** Whether any record without a key is in quarantine. */
export const hasKeyless = async (sql: SqlRunner, sellerId: string, resource: string): Promise<boolean> =>
  (await namelessOfEach(sql, { sellerId, resource })).keyless

/** Windows tried again by one run. */
const retriesAtOnce = 500

/** Windows that a stream has passed over and that are due to be asked for again. */
export const dueSkippedWindows = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  stream: string,
): Promise<readonly SyncWindow[]> => {
  const rows = await sql.query<{ id: bigint; window: StoredWindow }>(
    `SELECT id, skipped -> 'window' AS window FROM tallyman.quarantined_records
     WHERE state = 'open' AND seller_id = $1 AND resource = $2 AND stream = $3 AND record_key IS NULL AND jsonb_typeof(skipped -> 'window') = 'object'
       AND retry_at <= ${dueNow}
     ORDER BY retry_at, id LIMIT ${retriesAtOnce}`,
    sellerId,
    resource,
    stream,
  )
  return rows.map(({ id, window }) => ({ ...windowOf(window), skippedAs: String(id) }))
}

/** Streams that have passed over something which is due to be asked for again. */
export const streamsWithDueSkips = (sql: SqlRunner): Promise<readonly SyncKey[]> =>
  sql.query<SyncKey>(
    `SELECT DISTINCT q.seller_id AS "sellerId", q.resource, q.stream FROM tallyman.quarantined_records q
     JOIN tallyman.sync_states s USING (seller_id, resource, stream)
     WHERE q.state = 'open' AND q.record_key IS NULL AND q.retry_at <= ${dueNow} AND s.failures = 0
       AND (s.lease_until IS NULL OR s.lease_until <= now())`,
  )

/** So many windows that are passed over are left out of others. */
const mostHoles = 1_000

const selectPassedOver = prepared(
  `SELECT a.place::int AS place, w.passed AS "window"
   FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS a(seller_id, resource, stream, ended_after, place)
   CROSS JOIN LATERAL (
     SELECT q.skipped -> 'window' AS passed FROM tallyman.quarantined_records q
     WHERE q.seller_id = a.seller_id AND q.resource = a.resource AND q.stream = a.stream AND q.record_key IS NULL
       AND jsonb_typeof(q.skipped -> 'window') = 'object' AND (q.state = 'open'
         OR (q.state = 'dismissed' AND (q.skipped -> 'window' ->> 'to')::timestamptz > a.ended_after::timestamptz))
     ORDER BY q.state = 'open' DESC, q.id DESC LIMIT ${mostHoles}
   ) w`,
)

const passedOverOfEach = together(
  async (sql: SqlRunner, asked: readonly (SyncKey & { readonly from: Date })[]): Promise<readonly (readonly SyncWindow[])[]> => {
    const rows = await sql.query<{ place: number; window: StoredWindow }>(
      selectPassedOver,
      asked.map(({ sellerId }) => sellerId),
      asked.map(({ resource }) => resource),
      asked.map(({ stream }) => stream),
      asked.map(({ from }) => from.toISOString()),
    )
    const byPlace = Map.groupBy(rows, ({ place }) => place)
    return asked.map((_stream, index) => (byPlace.get(index + 1) ?? []).map(({ window }) => windowOf(window)))
  },
)

/**
 * Windows that a stream passes over now, due or not; besides those that a person has dismissed, which end after `from`: by that word they
 * are not to be had.
 */
export const windowsPassedOver = (sql: SqlRunner, key: SyncKey, from: Date): Promise<readonly SyncWindow[]> =>
  passedOverOfEach(sql, { ...key, from })

/** A window that had been passed over has been read. */
export const settleSkipped = async ({ prisma }: Transaction, id: string): Promise<number> => {
  const where = { id: BigInt(id), state: 'open' }
  return (await prisma.quarantinedRecord.updateMany({ where, data: { state: 'superseded', retryAt: null } })).count
}

/** What was passed over is asked for again with the next run of its stream. */
export const askSkippedAgain = async (tx: Transaction, id: bigint): Promise<void> => {
  await tx.execute('UPDATE tallyman.quarantined_records SET retry_at = now() WHERE id = $1::bigint', id)
}

/** What was passed over lies before all that the marketplace answers for: it is not asked for any more, and stays open. */
export const giveUpSkipped = (sql: SqlRunner, id: string): Promise<number> =>
  sql.execute(
    `UPDATE tallyman.quarantined_records SET retry_at = NULL, fault = fault || '; by now older than the marketplace answers for'
     WHERE id = $1::bigint AND state = 'open' AND retry_at IS NOT NULL`,
    id,
  )

/** Raises the alarm of what was passed over of a resource, and resolves it once nothing of it is left. */
export const reviewSkipAlarm = async (sql: SqlRunner, sellerId: string, resource: string): Promise<void> => {
  const where = { ...openOf(sellerId, resource), skipped: { not: Prisma.DbNull } }
  const { _count: count, _min: min } = await sql.prisma.quarantinedRecord.aggregate({ where, _count: true, _min: { id: true } })
  const first =
    min.id === null
      ? null
      : await sql.prisma.quarantinedRecord.findUnique({ where: { id: min.id }, select: { rawText: true, fault: true } })
  const key = { sellerId, kind: 'reading-skipped', subject: resource } as const
  if (first === null) return resolveAlarm(sql, key)
  await raiseAlarm(
    sql,
    key,
    `${count} ${count === 1 ? 'part' : 'parts'} of ${resource} cannot be read and ${count === 1 ? 'was' : 'were'} passed over; the first: ${first.rawText} (${first.fault}). They are tried again by themselves; \`tallyman quarantine list\` names all of them`,
  )
}

/** Marks a locked record as replayed: it was understood now and stored, or a newer version stands already. */
export const markReplayed = async (tx: Transaction, id: bigint, state: 'replayed' | 'superseded', key: string): Promise<void> => {
  await tx.execute(
    'UPDATE tallyman.quarantined_records SET state = $2, record_key = $3, replayed_at = now() WHERE id = $1::bigint',
    id,
    state,
    key,
  )
}

/** Notes why a locked record still is not understood. */
export const noteFault = async ({ prisma }: Transaction, id: bigint, fault: string): Promise<void> => {
  await prisma.quarantinedRecord.update({ where: { id }, data: { fault }, select: { id: true } })
}
