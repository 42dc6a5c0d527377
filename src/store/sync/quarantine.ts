import { unreadableOrdersMessage } from '../../domain/alarms/alarm-rules.ts'
import { erasedRawText } from '../../domain/values/redaction.ts'
import { unreadableOrders } from '../alarms/alarm-conditions.ts'
import { raiseAlarm, resolveAlarm } from '../alarms/alarms.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { prepared } from '../db/prepared-statements.ts'
import { Prisma } from '../generated/client.ts'
import { reviewUnreadLog } from '../inventory/unread-log.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { blockErasures, buyerResources, isErased } from '../privacy/erased-records.ts'
import { rawHash, storageFaultPrefix } from '../versioned/versions.ts'
import type { StoredWindow, SyncKey, SyncWindow } from './sync-states.ts'
import { parseWindow } from './sync-states.ts'

/** A record that could not be parsed or stored, as it was received. */
export interface FaultyRecord {
  /** Its identity; null: it could not be read. */
  readonly key: string | null
  readonly rawText: string
  /** Why, without personal data. */
  readonly fault: string
  /** Not a record, but a skipped part of a list or a skipped order, which cannot be read; `rawText` describes it. */
  readonly skipped?: { readonly window: SyncWindow | null }
  /** When it was created; null: it could not be read. */
  readonly createdAt?: Date | null
}

/** The states of a record in quarantine. */
export const quarantineStates = ['open', 'replayed', 'superseded', 'dismissed'] as const
/** See {@link quarantineStates}. */
export type QuarantineState = (typeof quarantineStates)[number]

/** A record in quarantine. */
export interface QuarantinedRecord extends FaultyRecord {
  readonly id: bigint
  readonly sellerId: string
  readonly resource: string
  readonly state: QuarantineState
  /** Not a record, but a skipped part of a list or a skipped order. */
  readonly isSkip: boolean
  /** On the marketplace's clock. */
  readonly observedAt: Date
}

/** The result of parsing a record in quarantine again. */
export type ReplayOutcome =
  | { readonly outcome: 'replayed' }
  /** It is readable now, but a newer version is stored already. */
  | { readonly outcome: 'superseded' }
  | { readonly outcome: 'still-malformed'; readonly fault: string }
  | { readonly outcome: 'not-found' }
  /** It was settled before. */
  | { readonly outcome: 'already-settled'; readonly state: QuarantineState }

const openFilter = (sellerId: string, resource: string) => ({ state: 'open', sellerId, resource })

/** A faulty record that must be stored: new, seen again after an hour, or seen again after it was settled. */
export interface NewlyFaulty extends FaultyRecord {
  /** SHA-1 of the raw text, hexadecimal. */
  readonly hash: string
}

/**
 * The faulty records of a page that must be stored. The same text counts as seen at most once an hour, so that a poll every minute does not write each
 * time.
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

/** A text that Postgres can store: escapes NUL characters, which JSON may not contain unescaped. */
const toStorable = (text: string): string => text.toWellFormed().replaceAll('\0', '\\u0000')

/**
 * Stores faulty records, or that they were seen again.
 * @param stream the stream that read them
 * @param createdFrom lower bound of their time of creation, according to the request; a record's own time of creation takes precedence
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
  await blockErasures(tx, sellerId)
  await tx.execute(
    `INSERT INTO tallyman.quarantined_records AS q (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at, stream, created_from, skipped, retry_at)
     SELECT $1, $2, key, decode(hash, 'hex'),
       CASE WHEN skipped IS NULL AND $2 IN (${buyerResources}) AND ${isErased('$1', 't.key', 't."rawText"')} THEN '${erasedRawText}'
         ELSE "rawText" END, fault, $3::timestamptz, $5, coalesce("createdAt", $6::timestamptz), skipped,
       CASE WHEN jsonb_typeof(skipped -> 'window') = 'object' THEN now() + interval '1 hour' END
     FROM json_to_recordset($4::json) AS t(key text, hash text, "rawText" text, fault text, skipped jsonb, "createdAt" timestamptz) ORDER BY hash
     ON CONFLICT (seller_id, resource, raw_hash) DO UPDATE
     SET state = 'open', fault = excluded.fault, record_key = excluded.record_key, last_seen_at = now(),
       -- Adjacent windows share a second, so a faulty second may be skipped more than once before it is retried.
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
        key: key === null ? null : toStorable(key),
        hash,
        rawText: toStorable(rawText),
        fault,
        skipped: skipped ?? null,
        createdAt: createdAt ?? null,
      })),
    ),
    stream,
    createdFrom?.toISOString() ?? null,
  )
  // The alarm is raised immediately, because the buyer waits. The review of alarms closes it.
  if (resource === 'orders' && records.some(({ skipped }) => skipped === undefined)) {
    for (const { keys } of await unreadableOrders(tx, sellerId))
      await raiseAlarm(tx, { sellerId, kind: 'order-unreadable', subject: 'orders' }, unreadableOrdersMessage(keys))
  }
}

/** The id of the quarantined record with this text; null: there is none. */
export const findQuarantinedId = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  rawText: string,
): Promise<bigint | null> => {
  const [row] = await sql.query<{ id: bigint }>(
    `SELECT id FROM tallyman.quarantined_records WHERE seller_id = $1 AND resource = $2 AND raw_hash = decode($3, 'hex')`,
    sellerId,
    resource,
    rawHash(rawText),
  )
  return row?.id ?? null
}

/** Keys of open records in quarantine, the newest 10,000. */
export const readOpenQuarantineKeys = async ({ prisma }: SqlRunner, sellerId: string, resource: string): Promise<Set<string>> => {
  const rows = await prisma.quarantinedRecord.findMany({
    where: { ...openFilter(sellerId, resource), recordKey: { not: null } },
    orderBy: { id: 'desc' },
    take: 10_000,
    select: { recordKey: true },
  })
  return new Set(rows.flatMap(({ recordKey }) => recordKey ?? []))
}

/** Texts of these records that Postgres could not store, and that are still in quarantine. Storing them again with each poll would fail each time. */
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

/** Settles quarantined versions of records whose later version was parsed. */
export const supersedeQuarantined = async (
  { prisma }: Transaction,
  sellerId: string,
  resource: string,
  observedAt: Date,
  keys: readonly string[],
): Promise<number> => {
  const { count } = await prisma.quarantinedRecord.updateMany({
    where: { ...openFilter(sellerId, resource), recordKey: { in: [...keys] }, observedAt: { lt: observedAt } },
    data: { state: 'superseded' },
  })
  return count
}

/** A quarantined record, locked until the transaction ends; null: there is none. */
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

/** Settles an open record on behalf of a person, who does not need it. The same text seen later stays dismissed. Returns null on success. */
export const dismissQuarantined = async (
  tx: Transaction,
  id: bigint,
  by: Actor & { readonly reason: string },
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
  if (resource === 'inventory-log') await reviewUnreadLog(tx, sellerId, record.key)
  await recordAct(tx, { by, action: 'record.dismissed', sellerId, subject: String(id), reason: by.reason, details: { resource } })
  return null
}

/**
 * Settles records without a key that a complete reading has not returned again: they are readable now, or no longer exist. Skipped parts stay open.
 * @param covered which records the reading covered: those that its own stream has read, or those that were created within its period
 * @param since when the reading was planned, ISO
 * @returns the number of settled records
 */
export const expireKeyless = async (
  tx: Transaction,
  sellerId: string,
  resource: string,
  covered: { readonly stream: string } | { readonly createdFrom: string },
  since: string,
): Promise<number> => {
  const { count } = await tx.prisma.quarantinedRecord.updateMany({
    where: {
      ...openFilter(sellerId, resource),
      recordKey: null,
      skipped: { equals: Prisma.DbNull },
      ...('stream' in covered ? { stream: covered.stream } : { createdFrom: { gte: new Date(covered.createdFrom) } }),
      // `lastSeenAt` is updated at most once an hour.
      lastSeenAt: { lt: new Date(Date.parse(since) - 3_600_000) },
    },
    data: { state: 'superseded' },
  })
  return count
}

/** Whether a resource has open entries in quarantine without a key. */
interface Keyless {
  /** Skipped parts. */
  readonly skips: boolean
  /** Records whose key cannot be read. */
  readonly keyless: boolean
}

const selectKeyless = prepared(
  `SELECT a.place::int AS place, bool_or(q.skipped IS NOT NULL) AS skips, bool_or(q.skipped IS NULL AND q.record_key IS NULL) AS keyless
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a(seller_id, resource, place)
   JOIN tallyman.quarantined_records q ON q.seller_id = a.seller_id AND q.resource = a.resource AND q.state = 'open'
     AND (q.skipped IS NOT NULL OR q.record_key IS NULL)
   GROUP BY a.place`,
)

const readKeyless = batchQuery(
  async (
    sql: SqlRunner,
    requests: readonly { readonly sellerId: string; readonly resource: string }[],
  ): Promise<readonly Keyless[]> => {
    const rows = await sql.query<Keyless & { place: number }>(
      selectKeyless,
      requests.map(({ sellerId }) => sellerId),
      requests.map(({ resource }) => resource),
    )
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return requests.map((_one, index) => byPlace.get(index + 1) ?? { skips: false, keyless: false })
  },
)

/** Whether a part of a resource is skipped. */
export const hasSkips = async (sql: SqlRunner, sellerId: string, resource: string): Promise<boolean> =>
  (await readKeyless(sql, { sellerId, resource })).skips

/** Whether a resource has an open record without a key in quarantine. */
export const hasKeyless = async (sql: SqlRunner, sellerId: string, resource: string): Promise<boolean> =>
  (await readKeyless(sql, { sellerId, resource })).keyless

/** Maximum number of windows that one run retries. */
const maxRetries = 500

/** Skipped windows of a stream that are due to be requested again. */
export const findDueSkippedWindows = async (
  sql: SqlRunner,
  sellerId: string,
  resource: string,
  stream: string,
): Promise<readonly SyncWindow[]> => {
  const rows = await sql.query<{ id: bigint; window: StoredWindow }>(
    `SELECT id, skipped -> 'window' AS window FROM tallyman.quarantined_records
     WHERE state = 'open' AND seller_id = $1 AND resource = $2 AND stream = $3 AND record_key IS NULL AND jsonb_typeof(skipped -> 'window') = 'object'
       AND retry_at <= ${dueNow}
     ORDER BY retry_at, id LIMIT ${maxRetries}`,
    sellerId,
    resource,
    stream,
  )
  return rows.map(({ id, window }) => ({ ...parseWindow(window), skippedAs: String(id) }))
}

/** Streams with skipped parts that are due to be requested again. */
export const findStreamsWithDueSkips = (sql: SqlRunner): Promise<readonly SyncKey[]> =>
  sql.query<SyncKey>(
    `SELECT DISTINCT q.seller_id AS "sellerId", q.resource, q.stream FROM tallyman.quarantined_records q
     JOIN tallyman.sync_states s USING (seller_id, resource, stream)
     WHERE q.state = 'open' AND q.record_key IS NULL AND q.retry_at <= ${dueNow} AND s.failures = 0
       AND (s.lease_until IS NULL OR s.lease_until <= now())`,
  )

/** Maximum number of skipped windows that are excluded from other windows. */
const maxHoles = 1_000

const selectSkipped = prepared(
  `SELECT a.place::int AS place, w.skipped AS "window"
   FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS a(seller_id, resource, stream, ended_after, place)
   CROSS JOIN LATERAL (
     SELECT q.skipped -> 'window' AS skipped FROM tallyman.quarantined_records q
     WHERE q.seller_id = a.seller_id AND q.resource = a.resource AND q.stream = a.stream AND q.record_key IS NULL
       AND jsonb_typeof(q.skipped -> 'window') = 'object' AND (q.state = 'open'
         OR (q.state = 'dismissed' AND (q.skipped -> 'window' ->> 'to')::timestamptz > a.ended_after::timestamptz))
     ORDER BY q.state = 'open' DESC, q.id DESC LIMIT ${maxHoles}
   ) w`,
)

const readSkipped = batchQuery(
  async (
    sql: SqlRunner,
    requests: readonly (SyncKey & { readonly from: Date })[],
  ): Promise<readonly (readonly SyncWindow[])[]> => {
    const rows = await sql.query<{ place: number; window: StoredWindow }>(
      selectSkipped,
      requests.map(({ sellerId }) => sellerId),
      requests.map(({ resource }) => resource),
      requests.map(({ stream }) => stream),
      requests.map(({ from }) => from.toISOString()),
    )
    const byPlace = Map.groupBy(rows, ({ place }) => place)
    return requests.map((_stream, index) => (byPlace.get(index + 1) ?? []).map(({ window }) => parseWindow(window)))
  },
)

/** Skipped windows of a stream, due or not, and dismissed ones that end after `from`, which a person has declared unreadable. */
export const findSkippedWindows = (sql: SqlRunner, key: SyncKey, from: Date): Promise<readonly SyncWindow[]> =>
  readSkipped(sql, { ...key, from })

/** Settles a skipped window that has been read; returns 0 if it was settled before. */
export const settleSkippedWindow = async ({ prisma }: Transaction, id: string): Promise<number> => {
  const where = { id: BigInt(id), state: 'open' }
  return (await prisma.quarantinedRecord.updateMany({ where, data: { state: 'superseded', retryAt: null } })).count
}

/** Makes a skipped part due, so that the next run of its stream requests it again. */
export const makeSkippedDue = async (tx: Transaction, id: bigint): Promise<void> => {
  await tx.execute('UPDATE tallyman.quarantined_records SET retry_at = now() WHERE id = $1::bigint', id)
}

/** Stops the retries of a skipped window that is older than the marketplace can return; it stays open. */
export const stopSkippedRetries = (sql: SqlRunner, id: string): Promise<number> =>
  sql.execute(
    `UPDATE tallyman.quarantined_records SET retry_at = NULL, fault = fault || '; now older than the marketplace can return'
     WHERE id = $1::bigint AND state = 'open' AND retry_at IS NOT NULL`,
    id,
  )

/** Raises the alarm for skipped parts of a resource, and resolves it when none is left. */
export const reviewSkipAlarm = async (sql: SqlRunner, sellerId: string, resource: string): Promise<void> => {
  const where = { ...openFilter(sellerId, resource), skipped: { not: Prisma.DbNull } }
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
    `${count} ${count === 1 ? 'part' : 'parts'} of ${resource} cannot be read and ${count === 1 ? 'was' : 'were'} skipped; the first: ${first.rawText} (${first.fault}). They are retried automatically; \`tallyman quarantine list\` lists them`,
  )
}

/** Marks a locked record as replayed (it was parsed and stored), or as superseded (a newer version is stored). */
export const markReplayed = async (
  tx: Transaction,
  { id, sellerId, resource }: Pick<QuarantinedRecord, 'id' | 'sellerId' | 'resource'>,
  state: 'replayed' | 'superseded',
  key: string,
): Promise<void> => {
  await tx.execute(
    'UPDATE tallyman.quarantined_records SET state = $2, record_key = $3, replayed_at = now() WHERE id = $1::bigint',
    id,
    state,
    key,
  )
  if (resource === 'inventory-log') await reviewUnreadLog(tx, sellerId, key)
}

/** Stores why a locked record still cannot be parsed. */
export const recordFault = async ({ prisma }: Transaction, id: bigint, fault: string): Promise<void> => {
  await prisma.quarantinedRecord.update({ where: { id }, data: { fault }, select: { id: true } })
}
