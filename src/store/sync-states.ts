import { alarmThresholds } from '../domain/alarm-rules.ts'
import { mostReachDays } from '../domain/windows.ts'
import type { SqlRunner } from './database.ts'
import { prepared } from './prepared.ts'
import { namesOne, type SellerFilter, sellersIn } from './seller-filter.ts'
import { sellerIsServed } from './sellers.ts'
import { together } from './together.ts'

/** One stream of one resource of one seller; at most one run of it at a time, over all processes. */
export interface SyncKey {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
}

/** A stretch of time to read, on the marketplace's clock. `part` names which share of it, where one query cannot cover all. */
export interface SyncWindow {
  readonly from: Date
  readonly to: Date
  readonly part: string | null
  /** What is asked for of the other time of a record (creation where windows go by last change): only when a second holds too much. */
  readonly across?: { readonly from: Date; readonly to: Date }
  /** Records of a page, where fewer than usual are asked for. */
  readonly limit?: number
  /** A part of a window that could not be read as a whole. */
  readonly narrowed?: true
  /** It could not be read, and others were read before it, for nothing was known to have rows. */
  readonly putOff?: true
  /** It was passed over before and is tried again: its row in quarantine. */
  readonly skippedAs?: string
  /** Longer than one query: slices of this length are cut off it as they are needed. */
  readonly sliceMs?: number
}

/** Where an import stands: at which step of what, and how far that step has come, in words of its own. */
export interface ImportPlace {
  readonly step: string
  readonly of: string
  readonly after: string
}

/** What a stream has done so far. */
export interface SyncTotals {
  readonly windowsTotal: number
  readonly windowsDone: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  /** Records of the current window, and how many its first page announced. */
  readonly windowSeen: number
  readonly windowTotal: number | null
  /** What earlier passes over the current window found, each `seen of announced`. */
  readonly windowPasses: readonly string[]
  /** Records that this pass over the current window has written. */
  readonly windowChanged: number
  /** How often the current window was restarted because its cursor led nowhere. */
  readonly windowRestarts: number
  /** Where the last request failed (its cursor, or `first`), and how often in a row it did. */
  readonly failedAt: string | null
  readonly failedTimes: number
  /** Where the import of the current window stands; null before its first step, and where windows are read page by page. */
  readonly importAt: ImportPlace | null
  /** Windows that were passed over since the stream began to read. */
  readonly skipped: number
  /** ISO; everything before this was asked for and is older than the marketplace answers for. */
  readonly outOfReachBefore: string | null
  /** ISO, by the clock of the database: when the reading that is under way was planned. */
  readonly plannedAt: string | null
  /** ISO, on the marketplace's clock: where what was planned begins; null where parts of it are left out. */
  readonly plannedFrom: string | null
}

/** Where a stream stands. The first pending window is the one under way; `cursor` and `pages` belong to it. */
export interface SyncProgress {
  /** Everything up to here is stored. */
  readonly watermark: Date | null
  readonly pending: readonly SyncWindow[]
  readonly cursor: string | null
  readonly pages: number
  readonly totals: SyncTotals
}

/** The right to run a stream. The next process to take it has a higher fence, and the writes of the one before fail. */
export interface SyncLease extends SyncKey {
  readonly owner: string
  readonly fence: bigint
  readonly startedAt: Date
}

/** The lease, or who has it until when. */
export type LeaseClaim =
  | { readonly taken: true; readonly lease: SyncLease; readonly progress: SyncProgress }
  | { readonly taken: false; readonly until: Date; readonly unfinished: boolean }

/** What one run did; a row of `tallyman.sync_runs`. */
export interface SyncRun {
  readonly windowFrom: Date | null
  readonly windowTo: Date | null
  readonly pages: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  readonly error: string | null
}

/** Someone else runs this stream now: nothing may be written any more. */
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

/** A window of its JSON. */
export const windowOf = ({ from, to, across, ...rest }: StoredWindow): SyncWindow => ({
  ...rest,
  from: new Date(from),
  to: new Date(to),
  ...(across === undefined ? {} : { across: { from: new Date(across.from), to: new Date(across.to) } }),
})

interface StateRow {
  readonly watermark: Date | null
  readonly cursor: string | null
  readonly pages: number
  /** Null: too many to be loaded. */
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
  skipped: 0,
  outOfReachBefore: null,
  plannedAt: null,
  plannedFrom: null,
}

const sameValue = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Totals without what they are anyway: the row of a stream that has nothing to tell is written with every run, and is to be short. */
const storedTotals = (totals: SyncTotals): Partial<SyncTotals> => ({
  ...Object.fromEntries(Object.entries(totals).filter(([name, value]) => !sameValue(value, Reflect.get(noTotals, name)))),
  windowsTotal: totals.windowsTotal,
  windowsDone: totals.windowsDone,
})

const toProgress = (row: StateRow): SyncProgress => ({
  watermark: row.watermark,
  cursor: row.cursor,
  pages: row.pages,
  pending: (row.pending ?? []).map(windowOf),
  totals: { ...noTotals, ...row.totals },
})

/** No backfill that is asked for today has so many windows; earlier ones may, of years that cannot be reached. */
const mostWindows = 5_000
const loadedPending = `CASE WHEN s.stream LIKE 'backfill:%' AND jsonb_array_length(s.pending) > ${mostWindows} THEN NULL ELSE s.pending END AS pending`

/**
 * Leaves of a backfill's windows only those within ten years before now, in Postgres: a list that is too long to be loaded would stop the
 * process. Bounds are compared as text, since a year that Postgres does not know may be among them.
 */
const dropUnreachable = async (sql: SqlRunner, { sellerId, resource, stream, fence }: SyncLease): Promise<StateRow> => {
  const [row] = await sql.query<StateRow>(
    `WITH bounds AS (
       SELECT to_char((now() - interval '${mostReachDays} days') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') COLLATE "C" AS oldest,
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

interface AskedLease {
  readonly key: SyncKey
  readonly owner: string
  readonly leaseMs: number
}

const nameOf = ({ sellerId, resource, stream }: SyncKey): string => JSON.stringify([sellerId, resource, stream])

const takeAll = prepared(
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

/** Of each stream asked for the row whose lease was taken; null: somebody holds it. The same stream twice fails as a whole. */
const takeEach = together(async (sql: SqlRunner, asked: readonly AskedLease[]) => {
  const rows = await sql.query<SyncKey & StateRow & { fence: bigint; started_at: Date }>(
    takeAll,
    JSON.stringify(
      asked.map(({ key: { sellerId, resource, stream }, owner, leaseMs }) => ({
        ...{ seller_id: sellerId, resource, stream, owner },
        lease_ms: leaseMs,
      })),
    ),
  )
  const taken = new Map(rows.map((row) => [nameOf(row), row]))
  return asked.map(({ key }) => taken.get(nameOf(key)) ?? null)
})

/** Takes the lease of a stream for `leaseMs`, by the database's clock, unless someone holds it. */
export const takeLease = async (sql: SqlRunner, key: SyncKey, owner: string, leaseMs: number): Promise<LeaseClaim> => {
  const taken = await takeEach(sql, { key, owner, leaseMs })
  if (taken !== null) {
    const { sellerId, resource, stream } = key
    const lease: SyncLease = { sellerId, resource, stream, owner, fence: taken.fence, startedAt: taken.started_at }
    return { taken: true, lease, progress: toProgress(taken.pending === null ? await dropUnreachable(sql, lease) : taken) }
  }
  const [held] = await sql.query<{ until: Date | null; unfinished: boolean }>(
    `SELECT lease_until AS until, pending <> '[]' AS unfinished FROM tallyman.sync_states
     WHERE seller_id = $1 AND resource = $2 AND stream = $3`,
    key.sellerId,
    key.resource,
    key.stream,
  )
  // Given back in between: now is a good moment to try again.
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
 * Moves a stream on and renews its lease. Within the transaction of a page, this ties the page to its cursor.
 * @throws LeaseLost when the lease has been taken by someone else
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

// A row that is locked is passed over: that of a page that is being stored renews it by itself.
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

const renewEach = together(async (sql: SqlRunner, held: readonly HeldLease[]) => {
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

/** Holds the lease of a stream for so long from now on, unless another process has taken it; whoever writes for the stream learns of that. */
export const renewLease = async (sql: SqlRunner, lease: SyncLease, leaseMs: number): Promise<void> => {
  await renewEach(sql, { lease, leaseMs })
}

/** How a run ended: `finished` when nothing was left to read. */
export interface RunEnd {
  readonly finished: boolean
  /** Counts as a failure of the stream. */
  readonly failed: boolean
  /** Null: not worth a row, nothing was asked. */
  readonly run: SyncRun | null
}

interface AskedEnd {
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
   ), said AS MATERIALIZED (
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
     FROM said s WHERE s.idle AND u.id = s.last AND u.changed = 0 AND u.quarantined = 0 AND u.error IS NULL
       AND u.started_at > s.ended - interval '1 day'
     RETURNING s.seller_id, s.resource, s.stream
   ), recorded AS (
     INSERT INTO tallyman.sync_runs (seller_id, resource, stream, window_from, window_to, pages, seen, changed, quarantined,
       started_at, finished_at, error)
     SELECT s.seller_id, s.resource, s.stream, s."windowFrom", s."windowTo", s.pages, s.seen, s.changed, s.quarantined, s.started_at,
       s.ended, s.error
     FROM said s WHERE NOT EXISTS (SELECT FROM joined j WHERE (j.seller_id, j.resource, j.stream) = (s.seller_id, s.resource, s.stream))
   )
   SELECT seller_id AS "sellerId", resource, stream FROM moved`,
)

/** Of each run whether its lease still was its own. */
const endEach = together(async (sql: SqlRunner, asked: readonly AskedEnd[]): Promise<readonly boolean[]> => {
  const rows = await sql.query<SyncKey>(
    endAll,
    JSON.stringify(
      asked.map(({ lease, progress, end }) => ({
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
  const moved = new Set(rows.map(nameOf))
  return asked.map(({ lease }) => moved.has(nameOf(lease)))
})

/**
 * Gives the lease back, with where the stream stands and the record of the run, in one statement. Runs one after another that changed nothing are
 * one row a day: a stream that is asked every minute would leave half a million rows a year that say nothing.
 * @throws LeaseLost when the lease has been taken by someone else
 */
export const endRun = async (sql: SqlRunner, lease: SyncLease, progress: SyncProgress, end: RunEnd): Promise<void> => {
  if (!(await endEach(sql, { lease, progress, end }))) throw new LeaseLost(lease)
}

/** How a stream stands that is due. */
export interface DueStanding {
  /** Its seller is stopped or paused. */
  readonly atRest: boolean
  /** Some process runs it. */
  readonly running: boolean
  /** Its last run has failed, or has left something over: its next one is somebody's job already. */
  readonly unfinished: boolean
  /** It has failed, and is not to be tried again yet. */
  readonly pausing: boolean
  /** Since its last run began, in milliseconds by the database's clock; null: it has never run. */
  readonly startedAgoMs: number | null
}

/** SQL: the stream has failed, and its pause, which doubles from ten seconds to ten minutes, is not over. */
const pausesAfterFailure = (row: string): string =>
  `(${row}.failures > 0 AND ${row}.last_started_at + least(interval '10 minutes', interval '5 seconds' * power(2, least(${row}.failures, 10))) > now())`

const selectStanding = prepared(
  `SELECT coalesce(l.state, 'active') <> 'active' AS "atRest", coalesce(s.lease_until > now(), false) AS running,
     coalesce(s.failures > 0 OR s.pending <> '[]', false) AS unfinished, coalesce(${pausesAfterFailure('s')}, false) AS pausing,
     (extract(epoch FROM now() - s.last_started_at) * 1000)::float8 AS "startedAgoMs"
   FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS a(seller_id, resource, stream, place)
   LEFT JOIN tallyman.sellers l ON l.seller_id = a.seller_id
   LEFT JOIN tallyman.sync_states s ON s.seller_id = a.seller_id AND s.resource = a.resource AND s.stream = a.stream
   ORDER BY a.place`,
)

/** How streams stand that are due, in their order. */
export const standingOf = (sql: SqlRunner, keys: readonly SyncKey[]): Promise<readonly DueStanding[]> =>
  sql.query<DueStanding>(
    selectStanding,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ resource }) => resource),
    keys.map(({ stream }) => stream),
  )

/**
 * Gives a stream windows to read, unless it still has some: asking twice for the same work does it once. Returns whether
 * windows were given.
 */
export const requestWindows = async (
  sql: SqlRunner,
  key: SyncKey,
  windows: readonly SyncWindow[],
  totals: Pick<SyncTotals, 'windowsTotal' | 'outOfReachBefore'> = { windowsTotal: windows.length, outOfReachBefore: null },
): Promise<boolean> => {
  const given = await sql.execute(
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
  return given > 0
}

/** How many runs of a stream have failed in a row. */
export const failuresOf = async ({ prisma }: SqlRunner, { sellerId, resource, stream }: SyncKey): Promise<number> => {
  const where = { sellerId_resource_stream: { sellerId, resource, stream } }
  return (await prisma.syncState.findUnique({ where, select: { failures: true } }))?.failures ?? 0
}

/**
 * Restarts the window that a stream is reading: somebody asks for the stream, and may know that its cursor leads nowhere. Nothing
 * happens while a process runs it. Returns whether there was something to drop.
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

/** A stream as people look at it. */
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
  /** Why the marketplace counts the seller as not enrolled in what the resource belongs to; null while it is not so. */
  readonly notEnrolled: string | null
  /** Since the last run that read everything there was, in ms on the database's clock; null before the first. */
  readonly lagMs: number | null
  /** It runs by itself, and has not ended well for too long: see {@link isStreamBehind}. */
  readonly behind: boolean
  /** It has never read everything; a backfill is not unread. */
  readonly unread: boolean
}

/** How often a stream runs by itself. */
export interface StreamPace {
  readonly resource: string
  readonly stream: string
  readonly everyMs: number
}

/**
 * SQL: the stream `s` has not ended well for five of its intervals, and for half an hour. One that a process is at right now is not behind.
 * `since`: when it last ended well, or the moment from which on that counts. `everyMs`: its interval.
 */
export const isStreamBehind = (everyMs: string, since = 's.last_success_at'): string =>
  `(s.last_success_at IS NOT NULL AND (s.lease_until IS NULL OR s.lease_until < now())
    AND ${since} < now() - make_interval(secs => greatest(${everyMs} * ${alarmThresholds.missedIntervals}, ${alarmThresholds.behindForMs}) / 1000))`

/** SQL: the streams `s` of sellers that `$1` allows, with their pace `t` by `$2` and their seller `o`. */
const pacedStreams = `tallyman.sync_states s LEFT JOIN tallyman.sellers o ON o.seller_id = s.seller_id
  LEFT JOIN jsonb_to_recordset($2::jsonb) AS t(resource text, stream text, "everyMs" float8) ON t.resource = s.resource AND t.stream = s.stream`
const isAllowed = '($1::text[] IS NULL OR s.seller_id = ANY ($1::text[]))'
/** SQL: the seller has not been removed, or `$3` says that it was named. */
const isShown = '($3::boolean OR o.removed_at IS NULL)'
/** SQL: somebody runs the stream, so that its lag says something. */
const isRun = `coalesce(o.state = 'active' AND ${sellerIsServed('o')}, false)`
const isBehind = `coalesce(${isRun} AND t."everyMs" IS NOT NULL AND ${isStreamBehind('t."everyMs"')}, false)`
/** SQL: the stream reads a stretch of the past once, and then never again. */
const isBackfill = `starts_with(s.stream, 'backfill:')`
/** SQL: the stream has never read everything. */
const isUnread = `(s.last_success_at IS NULL AND NOT ${isBackfill})`
const lagMs = '(extract(epoch FROM now() - s.last_success_at) * 1000)::float8'

/** How far the streams of a resource are, of all sellers. */
export interface ResourceLag {
  readonly resource: string
  readonly streams: number
  /** Streams whose last run failed. */
  readonly failing: number
  /** Streams that are behind. */
  readonly behind: number
  /** Streams that have never read everything; backfills do not count. */
  readonly unread: number
  /** The furthest behind of the streams that run, in ms; null: none has read everything yet. */
  readonly lagMs: number | null
  /** Which stream that is. */
  readonly furthest: Pick<SyncKey, 'sellerId' | 'stream'> | null
}

/** How far each resource is, what is in trouble first, then the longest lag. */
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
             CASE WHEN ${isRun} AND NOT ${isBackfill} AND t."everyMs" IS NOT NULL THEN ${lagMs} END AS lag
           FROM ${pacedStreams} WHERE ${isAllowed} AND ${isShown}) s
     GROUP BY resource
     ORDER BY bool_or(failing) DESC, bool_or(behind) DESC, bool_or(unread) DESC, max(lag) DESC NULLS LAST, resource`,
    sellersIn(sellers),
    JSON.stringify(paces),
    namesOne(sellers),
  )
  return rows.map(({ sellerId, stream, ...row }) => ({
    ...row,
    furthest: sellerId === null || stream === null ? null : { sellerId, stream },
  }))
}

/** All streams, or those of a seller, with how far behind they are. `paces`: of the streams that run by themselves; without, none is behind. */
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
    sellersIn(sellerId),
    JSON.stringify(paces),
    namesOne(sellerId),
  )
  return rows.map((row) => ({ ...row, totals: { ...noTotals, ...row.totals } }))
}

/**
 * Streams with work left over that nobody is doing: after a crash, a lost job or a failure whose pause is over.
 */
export const unfinishedSyncs = (sql: SqlRunner): Promise<readonly SyncKey[]> =>
  sql.query<SyncKey>(
    `SELECT seller_id AS "sellerId", resource, stream FROM tallyman.sync_states
     WHERE pending <> '[]' AND (lease_until IS NULL OR lease_until <= now())
       AND NOT ${pausesAfterFailure('sync_states')}
     ORDER BY seller_id, resource, stream`,
  )
