import { alarmThresholds } from '../../domain/alarms/alarm-rules.ts'
import { maxReachDays } from '../../domain/sync/windows.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { isSingleSeller, type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { sellerIsServed } from '../sellers/sellers.ts'

/** A stream of a resource of a seller. At most one process runs it at a time. */
export interface SyncKey {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
}

/** A period to read, on the marketplace's clock. `part`: the part of the list, if one query cannot cover the whole list. */
export interface SyncWindow {
  readonly from: Date
  readonly to: Date
  readonly part: string | null
  /** A period of the record's other time (creation, if windows use the last change): only if one second has too many records. */
  readonly across?: { readonly from: Date; readonly to: Date }
  /** Page size, if smaller than usual. */
  readonly limit?: number
  /** A part of a window that could not be read as a whole. */
  readonly narrowed?: true
  /** It could not be read and was postponed behind other windows, because no record was known to be readable. */
  readonly putOff?: true
  /** It was skipped before and is retried: the id of its row in quarantine. */
  readonly skippedAs?: string
  /** It is longer than one query; slices of this length are read one after another. */
  readonly sliceMs?: number
}

/** The position of an import: the step, what it imports, and the progress of the step in its own format. */
export interface ImportPosition {
  readonly step: string
  readonly of: string
  readonly after: string
}

/** Counts and state of a stream. */
export interface SyncTotals {
  readonly windowsTotal: number
  readonly windowsDone: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  /** Records of the current window, and the total that its first page reported. */
  readonly windowSeen: number
  readonly windowTotal: number | null
  /** Results of earlier passes of the current window, each `seen of total`. */
  readonly windowPasses: readonly string[]
  /** Records that this pass of the current window has written. */
  readonly windowChanged: number
  /** How many times the current window was restarted because of an invalid cursor. */
  readonly windowRestarts: number
  /** The cursor of the last failed request, or `first`, and its number of failures in a row. */
  readonly failedAt: string | null
  readonly failedTimes: number
  /** The position of the import of the current window; null: before its first step, or the window is read page by page. */
  readonly importAt: ImportPosition | null
  /** Readings of windows with a cursor loop (pages without new records), since the last run without one. */
  readonly endlessWindows: number
  /** Skipped windows since the stream began. */
  readonly skipped: number
  /** ISO; the requested period before this is older than the marketplace can return. */
  readonly outOfReachBefore: string | null
  /** ISO, by the clock of the database: when the current reading was planned. */
  readonly plannedAt: string | null
  /** ISO, on the marketplace's clock: the beginning of the planned period; null: parts of it are excluded. */
  readonly plannedFrom: string | null
}

/** The progress of a stream. The first pending window is the current one; `cursor` and `pages` belong to it. */
export interface SyncProgress {
  /** Everything up to this time is stored. */
  readonly watermark: Date | null
  readonly pending: readonly SyncWindow[]
  readonly cursor: string | null
  readonly pages: number
  readonly totals: SyncTotals
}

/** The right to run a stream. The next holder has a higher fence, and writes of the previous holder fail. */
export interface SyncLease extends SyncKey {
  readonly owner: string
  readonly fence: bigint
  readonly startedAt: Date
}

/** The lease, or until when another process holds it. */
export type LeaseClaim =
  | { readonly taken: true; readonly lease: SyncLease; readonly progress: SyncProgress }
  | { readonly taken: false; readonly until: Date; readonly unfinished: boolean }

/** The result of one run; a row of `tallyman.sync_runs`. */
export interface SyncRun {
  readonly windowFrom: Date | null
  readonly windowTo: Date | null
  readonly pages: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  readonly error: string | null
}

/** Another process runs this stream; this one must stop writing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor(key: SyncKey) {
    super(`another process has taken over ${key.resource}/${key.stream} of seller ${key.sellerId}`)
  }
}

/** A window as JSON. */
export interface StoredWindow extends Omit<SyncWindow, 'from' | 'to' | 'across'> {
  readonly from: string
  readonly to: string
  readonly across?: { readonly from: string; readonly to: string }
}

/** Parses a window. */
export const parseWindow = ({ from, to, across, ...rest }: StoredWindow): SyncWindow => ({
  ...rest,
  from: new Date(from),
  to: new Date(to),
  ...(across === undefined ? {} : { across: { from: new Date(across.from), to: new Date(across.to) } }),
})

interface StateRow {
  readonly watermark: Date | null
  readonly cursor: string | null
  readonly pages: number
  /** Null: too many to load. */
  readonly pending: readonly StoredWindow[] | null
  readonly totals: Partial<SyncTotals>
}

const noTotals: SyncTotals = {
  windowsTotal: 0,
  windowsDone: 0,
  seen: 0,
  changed: 0,
  quarantined: 0,
  windowSeen: 0,
  windowTotal: null,
  windowPasses: [],
  windowChanged: 0,
  windowRestarts: 0,
  failedAt: null,
  failedTimes: 0,
  importAt: null,
  endlessWindows: 0,
  skipped: 0,
  outOfReachBefore: null,
  plannedAt: null,
  plannedFrom: null,
}

const sameValue = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Totals without default values, because the row is written with every run and should be short. */
const storedTotals = (totals: SyncTotals): Partial<SyncTotals> => ({
  ...Object.fromEntries(Object.entries(totals).filter(([name, value]) => !sameValue(value, Reflect.get(noTotals, name)))),
  windowsTotal: totals.windowsTotal,
  windowsDone: totals.windowsDone,
})

const toProgress = (row: StateRow): SyncProgress => ({
  watermark: row.watermark,
  cursor: row.cursor,
  pages: row.pages,
  pending: (row.pending ?? []).map(parseWindow),
  totals: { ...noTotals, ...row.totals },
})

/** Current backfills have fewer windows; backfills of earlier versions may have more, of years that cannot be read. */
const maxWindows = 5_000
const loadedPending = `CASE WHEN s.stream LIKE 'backfill:%' AND jsonb_array_length(s.pending) > ${maxWindows} THEN NULL ELSE s.pending END AS pending`

/**
 * Removes the windows of a backfill that are not within the last ten years. Postgres does it, because loading a very long list would stop the process.
 * Bounds are compared as text, because a year may be out of Postgres' range.
 */
const dropUnreachable = async (sql: SqlRunner, { sellerId, resource, stream, fence }: SyncLease): Promise<StateRow> => {
  const [row] = await sql.query<StateRow>(
    `WITH bounds AS (
       SELECT to_char((now() - interval '${maxReachDays} days') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') COLLATE "C" AS oldest,
         to_char((now() + interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') COLLATE "C" AS newest
     ), kept AS (
       SELECT coalesce(jsonb_agg(w.value ORDER BY w.place), '[]') AS pending, count(*) AS windows
       FROM tallyman.sync_states s, bounds, jsonb_array_elements(s.pending) WITH ORDINALITY AS w(value, place)
       WHERE s.seller_id = $1 AND s.resource = $2 AND s.stream = $3
         AND (w.value ->> 'to') COLLATE "C" > oldest AND (w.value ->> 'from') COLLATE "C" < newest
     )
     UPDATE tallyman.sync_states s SET cursor = NULL, pages = 0, pending = kept.pending,
       totals = s.totals || jsonb_build_object('windowsDone', 0, 'windowsTotal', kept.windows, 'outOfReachBefore', bounds.oldest,
         'windowSeen', 0, 'windowTotal', NULL, 'windowChanged', 0, 'failedAt', NULL, 'failedTimes', 0, 'importAt', NULL)
     FROM kept, bounds
     WHERE s.seller_id = $1 AND s.resource = $2 AND s.stream = $3 AND s.lease_fence = $4::bigint
     RETURNING s.watermark, s.cursor, s.pages, s.pending, s.totals`,
    sellerId,
    resource,
    stream,
    fence,
  )
  if (row === undefined) throw new LeaseLost({ sellerId, resource, stream })
  return row
}

interface LeaseRequest {
  readonly key: SyncKey
  readonly owner: string
  readonly leaseMs: number
}

const buildName = ({ sellerId, resource, stream }: SyncKey): string => JSON.stringify([sellerId, resource, stream])

const acquireLeases = prepared(
  `INSERT INTO tallyman.sync_states AS s (seller_id, resource, stream, lease_owner, lease_fence, lease_until, last_started_at)
   SELECT a.seller_id, a.resource, a.stream, a.owner, 1, now() + make_interval(secs => a.lease_ms / 1000), now()
   FROM jsonb_to_recordset($1::jsonb) AS a(seller_id text, resource text, stream text, owner text, lease_ms float8)
   ORDER BY a.seller_id, a.resource, a.stream
   ON CONFLICT (seller_id, resource, stream) DO UPDATE
   SET lease_owner = excluded.lease_owner, lease_fence = s.lease_fence + 1, lease_until = excluded.lease_until, last_started_at = now()
   WHERE s.lease_until IS NULL OR s.lease_until <= now()
   RETURNING s.seller_id AS "sellerId", s.resource, s.stream, s.watermark, s.cursor, s.pages, s.totals, ${loadedPending},
     s.lease_fence AS fence, s.last_started_at AS started_at`,
)

/** The row of each stream whose lease was acquired; null: another process holds it. The statement fails if a stream occurs twice. */
const acquireEach = batchQuery(async (sql: SqlRunner, requests: readonly LeaseRequest[]) => {
  const rows = await sql.query<SyncKey & StateRow & { fence: bigint; started_at: Date }>(
    acquireLeases,
    JSON.stringify(
      requests.map(({ key: { sellerId, resource, stream }, owner, leaseMs }) => ({
        ...{ seller_id: sellerId, resource, stream, owner },
        lease_ms: leaseMs,
      })),
    ),
  )
  const acquired = new Map(rows.map((row) => [buildName(row), row]))
  return requests.map(({ key }) => acquired.get(buildName(key)) ?? null)
})

/** Acquires the lease of a stream for `leaseMs`, by the database's clock, unless another process holds it. */
export const acquireLease = async (sql: SqlRunner, key: SyncKey, owner: string, leaseMs: number): Promise<LeaseClaim> => {
  const row = await acquireEach(sql, { key, owner, leaseMs })
  if (row !== null) {
    const { sellerId, resource, stream } = key
    const lease: SyncLease = { sellerId, resource, stream, owner, fence: row.fence, startedAt: row.started_at }
    return { taken: true, lease, progress: toProgress(row.pending === null ? await dropUnreachable(sql, lease) : row) }
  }
  const [held] = await sql.query<{ until: Date | null; unfinished: boolean }>(
    `SELECT lease_until AS until, pending <> '[]' AS unfinished FROM tallyman.sync_states
     WHERE seller_id = $1 AND resource = $2 AND stream = $3`,
    key.sellerId,
    key.resource,
    key.stream,
  )
  // If it was released in between, the caller may retry now.
  return { taken: false, until: held?.until ?? new Date(), unfinished: held?.unfinished ?? false }
}

const setProgress = `watermark = $5::timestamptz, pending = $6::jsonb, window_from = ($6::jsonb -> 0 ->> 'from')::timestamptz,
  window_to = ($6::jsonb -> 0 ->> 'to')::timestamptz, cursor = $7, pages = $8::int, totals = $9::jsonb`

const progressParameters = (lease: SyncLease, progress: SyncProgress): readonly unknown[] => [
  lease.sellerId,
  lease.resource,
  lease.stream,
  lease.fence,
  progress.watermark?.toISOString() ?? null,
  JSON.stringify(progress.pending),
  progress.cursor,
  progress.pages,
  JSON.stringify(storedTotals(progress.totals)),
]

/**
 * Stores the progress of a stream and renews its lease. In the transaction of a page, it commits the page and its cursor together.
 * @throws LeaseLost if another process has acquired the lease
 */
export const saveProgress = async (sql: SqlRunner, lease: SyncLease, progress: SyncProgress, leaseMs: number): Promise<void> => {
  const moved = await sql.execute(
    `UPDATE tallyman.sync_states SET ${setProgress}, lease_until = now() + make_interval(secs => $10::float8 / 1000)
     WHERE seller_id = $1 AND resource = $2 AND stream = $3 AND lease_fence = $4::bigint`,
    ...progressParameters(lease, progress),
    leaseMs,
  )
  if (moved === 0) throw new LeaseLost(lease)
}

interface HeldLease {
  readonly lease: SyncLease
  readonly leaseMs: number
}

// SKIP LOCKED: a transaction that stores a page locks the row, and renews the lease itself.
const renewLeases = prepared(
  `WITH given AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(seller_id text, resource text, stream text, fence bigint, lease_ms float8)
   ), free AS MATERIALIZED (
     SELECT s.seller_id, s.resource, s.stream FROM given g JOIN tallyman.sync_states s USING (seller_id, resource, stream)
     FOR NO KEY UPDATE OF s SKIP LOCKED
   )
   UPDATE tallyman.sync_states s SET lease_until = now() + make_interval(secs => g.lease_ms / 1000)
   FROM given g JOIN free f USING (seller_id, resource, stream)
   WHERE s.seller_id = g.seller_id AND s.resource = g.resource AND s.stream = g.stream AND s.lease_fence = g.fence
     AND s.lease_owner IS NOT NULL`,
)

const renewEach = batchQuery(async (sql: SqlRunner, held: readonly HeldLease[]) => {
  await sql.execute(
    renewLeases,
    JSON.stringify(
      held.map(({ lease, leaseMs }) => ({
        ...{ seller_id: lease.sellerId, resource: lease.resource, stream: lease.stream, fence: String(lease.fence) },
        lease_ms: leaseMs,
      })),
    ),
  )
  return held.map(() => null)
})

/** Renews the lease of a stream for `leaseMs` from now. It does not report a lost lease; the next write for the stream does. */
export const renewLease = async (sql: SqlRunner, lease: SyncLease, leaseMs: number): Promise<void> => {
  await renewEach(sql, { lease, leaseMs })
}

/** The end of a run. `finished`: nothing is left to read. */
export interface RunEnd {
  readonly finished: boolean
  /** Counts as a failure of the stream. */
  readonly failed: boolean
  /** Null: it made no request, and is not stored. */
  readonly run: SyncRun | null
}

interface EndRequest {
  readonly lease: SyncLease
  readonly progress: SyncProgress
  readonly end: RunEnd
}

const endAll = prepared(
  `WITH asked AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(seller_id text, resource text, stream text, fence bigint, watermark timestamptz,
       pending jsonb, cursor text, pages int, totals jsonb, finished boolean, failed boolean, run jsonb, started_at timestamptz)
   ), moved AS (
     UPDATE tallyman.sync_states s SET watermark = a.watermark, pending = a.pending, window_from = (a.pending -> 0 ->> 'from')::timestamptz,
       window_to = (a.pending -> 0 ->> 'to')::timestamptz, cursor = a.cursor, pages = a.pages, totals = a.totals,
       lease_owner = NULL, lease_until = NULL, last_success_at = CASE WHEN a.finished THEN now() ELSE s.last_success_at END,
       failures = CASE WHEN a.failed THEN s.failures + 1 WHEN a.finished THEN 0 ELSE s.failures END,
       last_error = CASE WHEN a.run ->> 'error' IS NOT NULL THEN a.run ->> 'error' WHEN a.finished THEN NULL ELSE s.last_error END
     FROM asked a
     WHERE s.seller_id = a.seller_id AND s.resource = a.resource AND s.stream = a.stream AND s.lease_fence = a.fence
     RETURNING s.seller_id, s.resource, s.stream, a.run, a.started_at
   ), run AS MATERIALIZED (
     SELECT m.seller_id, m.resource, m.stream, m.started_at, r.*, clock_timestamp()::timestamptz(3) AS ended,
       r.changed = 0 AND r.quarantined = 0 AND r.error IS NULL AS idle,
       (SELECT n.id FROM tallyman.sync_runs n WHERE n.seller_id = m.seller_id AND n.resource = m.resource AND n.stream = m.stream
        ORDER BY n.id DESC LIMIT 1) AS last
     FROM moved m, jsonb_to_record(m.run) AS r("windowFrom" timestamptz, "windowTo" timestamptz, pages int, seen int, changed int,
       quarantined int, error text)
     WHERE r.pages IS NOT NULL
   ), joined AS (
     UPDATE tallyman.sync_runs u SET runs = u.runs + 1, pages = u.pages + s.pages, seen = u.seen + s.seen, finished_at = s.ended,
       window_from = least(u.window_from, s."windowFrom"), window_to = greatest(u.window_to, s."windowTo")
     FROM run s WHERE s.idle AND u.id = s.last AND u.changed = 0 AND u.quarantined = 0 AND u.error IS NULL
       AND u.started_at > s.ended - interval '1 day'
     RETURNING s.seller_id, s.resource, s.stream
   ), recorded AS (
     INSERT INTO tallyman.sync_runs (seller_id, resource, stream, window_from, window_to, pages, seen, changed, quarantined,
       started_at, finished_at, error)
     SELECT s.seller_id, s.resource, s.stream, s."windowFrom", s."windowTo", s.pages, s.seen, s.changed, s.quarantined, s.started_at,
       s.ended, s.error
     FROM run s WHERE NOT EXISTS (SELECT FROM joined j WHERE (j.seller_id, j.resource, j.stream) = (s.seller_id, s.resource, s.stream))
   )
   SELECT seller_id AS "sellerId", resource, stream FROM moved`,
)

/** Whether each run still held its lease. */
const endEach = batchQuery(async (sql: SqlRunner, requests: readonly EndRequest[]): Promise<readonly boolean[]> => {
  const rows = await sql.query<SyncKey>(
    endAll,
    JSON.stringify(
      requests.map(({ lease, progress, end }) => ({
        ...{ seller_id: lease.sellerId, resource: lease.resource, stream: lease.stream, fence: String(lease.fence) },
        ...{ watermark: progress.watermark, pending: progress.pending, cursor: progress.cursor, pages: progress.pages },
        ...{
          totals: storedTotals(progress.totals),
          finished: end.finished,
          failed: end.failed,
          run: end.run ?? {},
          started_at: lease.startedAt,
        },
      })),
    ),
  )
  const moved = new Set(rows.map(buildName))
  return requests.map(({ lease }) => moved.has(buildName(lease)))
})

/**
 * Releases the lease, and stores the progress of the stream and the result of the run, in one statement. Successive runs that changed nothing share one
 * row a day: a stream that runs every minute would otherwise store half a million empty rows a year.
 * @throws LeaseLost if another process has acquired the lease
 */
export const endRun = async (sql: SqlRunner, lease: SyncLease, progress: SyncProgress, end: RunEnd): Promise<void> => {
  if (!(await endEach(sql, { lease, progress, end }))) throw new LeaseLost(lease)
}

/** The status of a stream that may be due. */
export interface StreamStatus {
  /** Its seller is stopped or paused. */
  readonly atRest: boolean
  /** A process runs it. */
  readonly running: boolean
  /** Its last run has failed or has left windows; another job runs it. */
  readonly unfinished: boolean
  /** It has failed, and its pause is not over. */
  readonly pausing: boolean
  /** Time since its last run began, by the database's clock; null: it has never run. */
  readonly startedAgoMs: number | null
}

/** SQL: the stream has failed, and its pause, which doubles from ten seconds to ten minutes, is not over. */
export const pausesAfterFailure = (row: string): string =>
  `(${row}.failures > 0 AND ${row}.last_started_at + least(interval '10 minutes', interval '5 seconds' * power(2, least(${row}.failures, 10))) > now())`

const selectStatus = prepared(
  `SELECT coalesce(l.state, 'active') <> 'active' AS "atRest", coalesce(s.lease_until > now(), false) AS running,
     coalesce(s.failures > 0 OR s.pending <> '[]', false) AS unfinished, coalesce(${pausesAfterFailure('s')}, false) AS pausing,
     (extract(epoch FROM now() - s.last_started_at) * 1000)::float8 AS "startedAgoMs"
   FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS a(seller_id, resource, stream, place)
   LEFT JOIN tallyman.sellers l ON l.seller_id = a.seller_id
   LEFT JOIN tallyman.sync_states s ON s.seller_id = a.seller_id AND s.resource = a.resource AND s.stream = a.stream
   ORDER BY a.place`,
)

/** The status of each stream, in the order of the keys. */
export const readStreamStatus = (sql: SqlRunner, keys: readonly SyncKey[]): Promise<readonly StreamStatus[]> =>
  sql.query<StreamStatus>(
    selectStatus,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ resource }) => resource),
    keys.map(({ stream }) => stream),
  )

/** Adds windows to a stream unless it has windows already, so that a repeated request has no effect. Returns whether windows were added. */
export const requestWindows = async (
  sql: SqlRunner,
  key: SyncKey,
  windows: readonly SyncWindow[],
  totals: Pick<SyncTotals, 'windowsTotal' | 'outOfReachBefore'> = { windowsTotal: windows.length, outOfReachBefore: null },
): Promise<boolean> => {
  const added = await sql.execute(
    `INSERT INTO tallyman.sync_states AS s (seller_id, resource, stream, pending, window_from, window_to, totals)
     VALUES ($1, $2, $3, $4::jsonb, ($4::jsonb -> 0 ->> 'from')::timestamptz, ($4::jsonb -> 0 ->> 'to')::timestamptz, $5::jsonb)
     ON CONFLICT (seller_id, resource, stream) DO UPDATE
     SET pending = excluded.pending, window_from = excluded.window_from, window_to = excluded.window_to, cursor = NULL, pages = 0,
       totals = excluded.totals, last_error = NULL, failures = 0
     WHERE s.pending = '[]' AND (s.lease_until IS NULL OR s.lease_until <= now())`,
    key.sellerId,
    key.resource,
    key.stream,
    JSON.stringify(windows),
    JSON.stringify({ ...noTotals, ...totals }),
  )
  return added > 0
}

/** The number of failed runs of a stream in a row. */
export const readFailures = async ({ prisma }: SqlRunner, { sellerId, resource, stream }: SyncKey): Promise<number> => {
  const where = { sellerId_resource_stream: { sellerId, resource, stream } }
  return (await prisma.syncState.findUnique({ where, select: { failures: true } }))?.failures ?? 0
}

/**
 * Restarts the current window of a stream, because the person who requests a run may know that the cursor is invalid. No effect while a process runs the
 * stream. Returns whether there was a cursor.
 */
export const dropCursor = async (sql: SqlRunner, key: SyncKey): Promise<boolean> => {
  const dropped = await sql.execute(
    `UPDATE tallyman.sync_states SET cursor = NULL, pages = 0,
       totals = totals || '{"windowSeen": 0, "windowTotal": null, "windowChanged": 0, "failedAt": null, "failedTimes": 0, "importAt": null}'
     WHERE seller_id = $1 AND resource = $2 AND stream = $3 AND (cursor IS NOT NULL OR totals ->> 'importAt' IS NOT NULL)
       AND (lease_until IS NULL OR lease_until <= now())`,
    key.sellerId,
    key.resource,
    key.stream,
  )
  return dropped > 0
}

/** A stream for operators. */
export interface SyncOverview extends SyncKey {
  readonly watermark: Date | null
  readonly windowFrom: Date | null
  readonly windowTo: Date | null
  readonly cursor: string | null
  readonly pages: number
  readonly windowsPending: number
  readonly totals: SyncTotals
  readonly running: boolean
  readonly lastStartedAt: Date | null
  readonly lastSuccessAt: Date | null
  readonly lastError: string | null
  readonly failures: number
  /** Why the seller is not enrolled in the program of the resource; null: it is enrolled, or unknown. */
  readonly notEnrolled: string | null
  /** Time since the last successful run, in ms of the database's clock; null: there was none. */
  readonly lagMs: number | null
  /** It is scheduled, and has had no successful run for too long: see {@link isStreamBehind}. */
  readonly behind: boolean
  /** It has never had a successful run, and is not a backfill. */
  readonly unread: boolean
}

/** The interval of a scheduled stream. */
export interface StreamPace {
  readonly resource: string
  readonly stream: string
  readonly everyMs: number
}

/**
 * SQL: the stream `s` has had no successful run for five of its intervals and for half an hour, and no process runs it.
 * @param everyMs its interval
 * @param since when its last successful run ended, or a later time from which to count
 */
export const isStreamBehind = (everyMs: string, since = 's.last_success_at'): string =>
  `(s.last_success_at IS NOT NULL AND (s.lease_until IS NULL OR s.lease_until < now())
    AND ${since} < now() - make_interval(secs => greatest(${everyMs} * ${alarmThresholds.missedIntervals}, ${alarmThresholds.behindForMs}) / 1000))`

/**
 * SQL: the streams `s` of the sellers `$1`, with their interval `t` by `$2` and their seller `o`. `t.newest`: no stream of the resource has a shorter
 * interval, so this one sees changes first.
 */
const pacedStreams = `tallyman.sync_states s LEFT JOIN tallyman.sellers o ON o.seller_id = s.seller_id
  LEFT JOIN (SELECT *, "everyMs" = min("everyMs") OVER (PARTITION BY resource) AS newest
    FROM jsonb_to_recordset($2::jsonb) AS p(resource text, stream text, "everyMs" float8)) t ON t.resource = s.resource AND t.stream = s.stream`
const isAllowed = '($1::text[] IS NULL OR s.seller_id = ANY ($1::text[]))'
/** SQL: the seller has not been removed, or `$3`: the caller has named it. */
const isShown = '($3::boolean OR o.removed_at IS NULL)'
/** SQL: a process runs the stream, so that its lag is meaningful. */
const isRun = `coalesce(o.state = 'active' AND ${sellerIsServed('o')}, false)`
const isBehind = `coalesce(${isRun} AND t."everyMs" IS NOT NULL AND ${isStreamBehind('t."everyMs"')}, false)`
/** SQL: the stream reads a past period once. */
const isBackfill = `starts_with(s.stream, 'backfill:')`
/** SQL: the stream has never had a successful run. */
const isUnread = `(s.last_success_at IS NULL AND NOT ${isBackfill})`
const lagMs = '(extract(epoch FROM now() - s.last_success_at) * 1000)::float8'

/** The lag of the streams of a resource, over all sellers. */
export interface ResourceLag {
  readonly resource: string
  readonly streams: number
  /** Streams whose last run failed. */
  readonly failing: number
  /** Streams that are behind. */
  readonly behind: number
  /** Streams that have never had a successful run, without backfills. */
  readonly unread: number
  /**
   * The age of the newest data, in ms: the longest lag of the streams with the shortest interval. Slower ones, such as a daily reread, do not count;
   * they are behind when they stop. Null: no stream has had a successful run.
   */
  readonly lagMs: number | null
  /** The stream with that lag. */
  readonly furthest: Pick<SyncKey, 'sellerId' | 'stream'> | null
}

/** The lag of each resource: failing, behind and unread ones first, then by lag. */
export const readResourceLags = async (
  sql: SqlRunner,
  paces: readonly StreamPace[],
  sellers: SellerFilter = null,
): Promise<readonly ResourceLag[]> => {
  const rows = await sql.query<
    Omit<ResourceLag, 'furthest'> & { readonly sellerId: string | null; readonly stream: string | null }
  >(
    `SELECT resource, count(*)::int AS streams, (count(*) FILTER (WHERE failing))::int AS failing, (count(*) FILTER (WHERE behind))::int AS behind,
       (count(*) FILTER (WHERE unread))::int AS unread, max(lag) AS "lagMs",
       (array_agg(seller_id ORDER BY lag DESC, seller_id, stream) FILTER (WHERE lag IS NOT NULL))[1] AS "sellerId",
       (array_agg(stream ORDER BY lag DESC, seller_id, stream) FILTER (WHERE lag IS NOT NULL))[1] AS stream
     FROM (SELECT s.seller_id, s.resource, s.stream, s.failures > 0 AS failing, ${isBehind} AS behind,
             ${isUnread} AS unread,
             CASE WHEN ${isRun} AND NOT ${isBackfill} AND t.newest THEN ${lagMs} END AS lag
           FROM ${pacedStreams} WHERE ${isAllowed} AND ${isShown}) s
     GROUP BY resource
     ORDER BY bool_or(failing) DESC, bool_or(behind) DESC, bool_or(unread) DESC, max(lag) DESC NULLS LAST, resource`,
    toSellerIds(sellers),
    JSON.stringify(paces),
    isSingleSeller(sellers),
  )
  return rows.map(({ sellerId, stream, ...row }) => ({
    ...row,
    furthest: sellerId === null || stream === null ? null : { sellerId, stream },
  }))
}

/** The streams of these sellers with their lag. `paces`: the intervals of scheduled streams; without them, none is behind. */
export const listSyncs = async (
  sql: SqlRunner,
  sellerId: SellerFilter = null,
  paces: readonly StreamPace[] = [],
): Promise<readonly SyncOverview[]> => {
  const rows = await sql.query<Omit<SyncOverview, 'totals'> & { totals: Partial<SyncTotals> }>(
    `SELECT s.seller_id AS "sellerId", s.resource, s.stream, watermark, window_from AS "windowFrom", window_to AS "windowTo", cursor, pages,
       CASE WHEN pending @? '$[*].sliceMs'
         THEN greatest(jsonb_array_length(pending), (totals ->> 'windowsTotal')::int - (totals ->> 'windowsDone')::int)
         ELSE jsonb_array_length(pending) END AS "windowsPending", totals, coalesce(lease_until > now(), false) AS running,
       last_started_at AS "lastStartedAt", last_success_at AS "lastSuccessAt", last_error AS "lastError", failures,
       CASE WHEN NOT e.enrolled THEN coalesce(e.detail, 'not enrolled') END AS "notEnrolled",
       ${lagMs} AS "lagMs", ${isBehind} AS behind, ${isUnread} AS unread
     FROM ${pacedStreams} LEFT JOIN tallyman.enrolments e ON e.seller_id = s.seller_id AND e.resource = s.resource
     WHERE ${isAllowed} AND ${isShown}
     ORDER BY s.seller_id, s.resource, s.stream`,
    toSellerIds(sellerId),
    JSON.stringify(paces),
    isSingleSeller(sellerId),
  )
  return rows.map((row) => ({ ...row, totals: { ...noTotals, ...row.totals } }))
}

/** Streams with pending windows that no process runs: after a crash, a lost job, or a failure whose pause is over. */
export const findUnfinishedSyncs = (sql: SqlRunner): Promise<readonly SyncKey[]> =>
  sql.query<SyncKey>(
    `SELECT seller_id AS "sellerId", resource, stream FROM tallyman.sync_states
     WHERE pending <> '[]' AND (lease_until IS NULL OR lease_until <= now())
       AND NOT ${pausesAfterFailure('sync_states')}
     ORDER BY seller_id, resource, stream`,
  )

/** A backfill with pending windows. */
export interface OpenBackfill extends SyncKey {
  readonly windows: readonly SyncWindow[]
  readonly windowsDone: number
  readonly seen: number
  readonly windowSeen: number
  readonly windowTotal: number | null
}

/** Unfinished backfills of these sellers. */
export const readOpenBackfills = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly OpenBackfill[]> => {
  const rows = await sql.query<Omit<OpenBackfill, 'windows'> & { windows: readonly StoredWindow[] }>(
    `SELECT seller_id AS "sellerId", resource, stream, pending AS windows, coalesce((totals ->> 'windowsDone')::int, 0) AS "windowsDone",
       coalesce((totals ->> 'seen')::int, 0) AS seen, coalesce((totals ->> 'windowSeen')::int, 0) AS "windowSeen",
       (totals ->> 'windowTotal')::int AS "windowTotal"
     FROM tallyman.sync_states
     WHERE seller_id = ANY ($1::text[]) AND stream LIKE 'backfill:%' AND pending <> '[]'
     ORDER BY seller_id, resource, stream`,
    sellerIds,
  )
  return rows.map((row) => ({ ...row, windows: row.windows.map(parseWindow) }))
}
