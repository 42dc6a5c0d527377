import { type SellerMode, sellerModes } from '../../domain/shadow/mode.ts'
import { raiseAlarm, resolveAlarm } from '../alarms/alarms.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { Database, SqlRunner, Transaction } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, isOrAny, type ListPage } from '../db/page.ts'
import type { Prisma } from '../generated/client.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { deleteRejections, findAcceptedByOthers, recordRejected, type SellerCredentials } from './seller-credentials.ts'
import { isSingleSeller, type SellerFilter, sellerCondition } from './seller-filter.ts'

/** `stopped`: the marketplace rejects its credentials. `paused`: by a person. In both states nothing of the seller runs. */
export const sellerStates = ['active', 'stopped', 'paused'] as const
/** See {@link sellerStates}. */
export type SellerState = (typeof sellerStates)[number]

/** A configured seller. Only settings that determine whether its credentials are accepted change the fingerprint. */
export interface SellerFingerprint extends SellerCredentials {
  /** Its setting; left out: live. */
  readonly mode?: SellerMode
}

/** A seller as this process knows it. */
export interface ConfiguredSeller extends SellerFingerprint {
  /** The number of its resumes known to this process; rejections from before the last resume do not count. */
  readonly resumes: number
}

/** The status of a seller. */
export interface SellerStatus {
  readonly sellerId: string
  readonly state: SellerState
  /** Why it is stopped or paused; null: it is active. */
  readonly reason: string | null
  /** Since when it is stopped or paused. */
  readonly since: Date | null
  readonly pausedBy: string | null
  /** When the next token is requested; null: it is not stopped. */
  readonly probeAt: Date | null
  /** See {@link ConfiguredSeller}. */
  readonly resumes: number
  /** When a person removed it; null: it is not removed, or a process has loaded it again since. */
  readonly removedAt: Date | null
  readonly removedBy: string | null
  readonly mode: SellerMode
  /** When the mode began. */
  readonly modeSince: Date
  /** Who decided on the mode; null: the setting. */
  readonly modeBy: string | null
}

/** What resumed a seller: the start of a process, reread settings, the probe, or a person. */
export type ResumedBy =
  | { readonly by: 'start' | 'settings' | 'probe' }
  | { readonly by: 'person'; readonly actor: string; readonly reason: string | null }

/** The channel of notifications about changed states of sellers. */
export const sellersChannel = 'tallyman_sellers'

const columns = {
  sellerId: true,
  state: true,
  stoppedReason: true,
  stoppedAt: true,
  pausedBy: true,
  probeAt: true,
  resumes: true,
  removedAt: true,
  removedBy: true,
  mode: true,
  modeSince: true,
  modeBy: true,
} as const satisfies Prisma.SellerSelect

const fromRow = (row: Prisma.SellerGetPayload<{ select: typeof columns }>): SellerStatus => ({
  sellerId: row.sellerId,
  state: parseEnumColumn(sellerStates, row.state),
  reason: row.stoppedReason,
  since: row.stoppedAt,
  pausedBy: row.pausedBy,
  probeAt: row.probeAt,
  resumes: row.resumes,
  removedAt: row.removedAt,
  removedBy: row.removedBy,
  mode: parseEnumColumn(sellerModes, row.mode),
  modeSince: row.modeSince,
  modeBy: row.modeBy,
})

/** Notifies every process, with the commit, that states of sellers have changed. */
export const notifySellers = (transaction: Transaction): Promise<number> =>
  transaction.execute(`SELECT pg_notify('${sellersChannel}', '')`)

const alarmKey = (sellerId: string) => ({ sellerId, kind: 'credentials-refused', subject: 'credentials' }) as const

/** Activates a seller that is in one of these states, and records the change; false: it is in none of them. */
const resume = async (
  transaction: Transaction,
  sellerId: string,
  from: readonly SellerState[],
  resumed: ResumedBy,
): Promise<boolean> => {
  const updated = await transaction.execute(
    `UPDATE tallyman.sellers SET state = 'active', stopped_reason = NULL, stopped_at = NULL, paused_by = NULL, probe_at = NULL,
       resumes = resumes + 1, updated_at = now()
     WHERE seller_id = $1 AND state = ANY ($2::text[])`,
    sellerId,
    from,
  )
  if (updated === 0) return false
  await deleteRejections(transaction, sellerId)
  await resolveAlarm(transaction, alarmKey(sellerId))
  transaction.record({ sellerId, type: 'seller.resumed', data: { ...resumed } })
  await notifySellers(transaction)
  return true
}

/** The time of the transaction, in the precision of the table. */
const databaseTime = async (sql: SqlRunner): Promise<Date> => {
  const [row] = await sql.query<{ at: Date }>('SELECT now()::timestamptz(3) AS at')
  if (row === undefined) throw new Error('Postgres returned no time')
  return row.at
}

/** Ends the removal of sellers. */
const restoreRemoved = async (
  transaction: Transaction,
  sellerIds: readonly string[],
  by: 'start' | 'settings',
): Promise<void> => {
  const returned = await transaction.query<{ seller_id: string }>(
    `UPDATE tallyman.sellers SET removed_at = NULL, removed_by = NULL WHERE seller_id IN (
       SELECT seller_id FROM tallyman.sellers WHERE seller_id = ANY ($1::text[]) AND removed_at IS NOT NULL
       ORDER BY seller_id FOR NO KEY UPDATE)
     RETURNING seller_id`,
    sellerIds,
  )
  for (const { seller_id: sellerId } of returned) transaction.record({ sellerId, type: 'seller.returned', data: { by } })
}

/**
 * Stores the configured sellers as served from now; returns when, by the database's clock. The removal of a seller ends. A stopped seller is resumed if
 * its settings have changed, or a person requested the reread. At a start with unchanged settings the probe tries its credentials first, because an added
 * or replaced process does not mean that they are valid now. The setting puts a seller in shadow mode unless a person has decided on its mode; it never ends
 * that mode. `inSameTransaction` writes in the same transaction.
 */
export const recordSellers = async (
  database: Database,
  sellers: readonly SellerFingerprint[],
  by: 'start' | 'settings' = 'start',
  inSameTransaction: (transaction: Transaction) => Promise<void> = async () => undefined,
): Promise<Date> =>
  database.transaction(async (transaction) => {
    const sellerIds = sellers.map(({ sellerId }) => sellerId)
    // Blocks only removals until the commit; a removal that locks a seller later finds the stored rows.
    await transaction.query(
      `SELECT seller_id FROM tallyman.sellers WHERE seller_id = ANY ($1::text[]) ORDER BY seller_id FOR KEY SHARE`,
      sellerIds,
    )
    await inSameTransaction(transaction)
    await restoreRemoved(transaction, sellerIds, by)
    const marks = new Map(sellers.map(({ sellerId, credentialsFingerprint }) => [sellerId, credentialsFingerprint]))
    const stopped = await transaction.query<{ seller_id: string; credentials_fingerprint: string | null }>(
      `SELECT seller_id, credentials_fingerprint FROM tallyman.sellers WHERE state = 'stopped' AND seller_id = ANY ($1::text[])
       ORDER BY seller_id FOR NO KEY UPDATE`,
      [...marks.keys()],
    )
    await transaction.execute(
      `INSERT INTO tallyman.sellers AS s (seller_id, state, credentials_fingerprint, served_at, mode)
       SELECT t.seller_id, 'active', t.fingerprint, now(), t.mode
       FROM unnest($1::text[], $2::text[], $3::text[]) AS t(seller_id, fingerprint, mode) ORDER BY t.seller_id
       ON CONFLICT (seller_id) DO UPDATE SET credentials_fingerprint = excluded.credentials_fingerprint, served_at = now(),
         mode = CASE WHEN s.mode_by IS NULL AND excluded.mode = 'shadow' THEN 'shadow' ELSE s.mode END,
         mode_since = CASE WHEN s.mode_by IS NULL AND excluded.mode = 'shadow' AND s.mode = 'live' THEN now() ELSE s.mode_since END,
         updated_at = CASE WHEN s.credentials_fingerprint IS DISTINCT FROM excluded.credentials_fingerprint THEN now()
           ELSE s.updated_at END`,
      sellerIds,
      sellers.map(({ credentialsFingerprint }) => credentialsFingerprint),
      sellers.map(({ mode = 'live' }) => mode),
    )
    const isSame = (row: (typeof stopped)[number]): boolean => row.credentials_fingerprint === marks.get(row.seller_id)
    const [probed, resumed] = [
      stopped.filter((row) => by === 'start' && isSame(row)),
      stopped.filter((row) => by !== 'start' || !isSame(row)),
    ]
    for (const { seller_id: sellerId } of resumed) await resume(transaction, sellerId, ['stopped'], { by })
    if (probed.length > 0)
      await transaction.execute(
        `UPDATE tallyman.sellers SET probe_at = now() WHERE seller_id = ANY ($1::text[])`,
        probed.map((row) => row.seller_id),
      )
    return databaseTime(transaction)
  })

/** A seller counts as served for this time after its last heartbeat, which is longer than the restart of a process. */
export const servedForMs = 120_000
/** Minimum interval of written heartbeats of a seller; a process sends one every 15 seconds. */
const heartbeatWriteMs = 25_000
/** A seller may be served again within this time, the longest time that an event waits. */
const returnsWithinMs = 7 * 86_400_000

const ago = (milliseconds: number): string => `now() - ${milliseconds} * interval '1 millisecond'`
/** SQL: a process serves the seller of the row of `tallyman.sellers`. */
export const sellerIsServed = (row: string): string => `${row}.served_at > ${ago(servedForMs)}`
const isServed = sellerIsServed('sellers')
/** SQL: the seller of the row is not removed. */
export const isSellerNotRemoved = (row: string): string =>
  `NOT EXISTS (SELECT FROM tallyman.sellers removed WHERE removed.seller_id = ${row}.seller_id AND removed.removed_at IS NOT NULL)`

/**
 * The heartbeat of the sellers that this process serves; returns its time by the database's clock, and those of the sellers that were removed
 * meanwhile. Locked rows are skipped until the next heartbeat.
 */
export const sendSellersHeartbeat = async (
  sql: SqlRunner,
  sellerIds: readonly string[],
): Promise<{ readonly at: Date; readonly removed: readonly string[] }> => {
  await sql.execute(
    `UPDATE tallyman.sellers SET served_at = now() WHERE seller_id IN (
       SELECT seller_id FROM tallyman.sellers
       WHERE seller_id = ANY ($1::text[]) AND removed_at IS NULL AND (served_at IS NULL OR served_at <= ${ago(heartbeatWriteMs)})
       ORDER BY seller_id FOR NO KEY UPDATE SKIP LOCKED)`,
    sellerIds,
  )
  const [row] = await sql.query<{ at: Date; removed: readonly string[] }>(
    `SELECT now()::timestamptz(3) AS at, ARRAY(SELECT a.seller_id FROM unnest($1::text[]) AS a(seller_id)
       WHERE NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = a.seller_id AND s.removed_at IS NULL)) AS removed`,
    sellerIds,
  )
  if (row === undefined) throw new Error('Postgres returned no time')
  return row
}

/** Sellers that a process serves now. */
export const findServedSellers = async (sql: SqlRunner): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ seller_id: string }>(`SELECT seller_id FROM tallyman.sellers WHERE ${isServed}`)
  return new Set(rows.map((row) => row.seller_id))
}

/** The number of served sellers in each state. */
export const countServedSellers = async (sql: SqlRunner): Promise<Readonly<Record<SellerState, number>>> => {
  const rows = await sql.query<{ state: string; count: number }>(
    `SELECT state, count(*)::int AS count FROM tallyman.sellers WHERE ${isServed} GROUP BY state`,
  )
  const counts = { active: 0, stopped: 0, paused: 0 }
  for (const { state, count } of rows) counts[parseEnumColumn(sellerStates, state)] = count
  return counts
}

/** Whether a process serves this seller now. */
export const isSellerServed = async (sql: SqlRunner, sellerId: string): Promise<boolean> =>
  (await sql.query(`SELECT 1 AS served FROM tallyman.sellers WHERE seller_id = $1 AND ${isServed}`, sellerId)).length > 0

/** Whether sellers other than a given one are served. */
export interface OtherSellers {
  /** Another seller had a recent heartbeat. */
  readonly served: boolean
  /** Another seller was served within the last days, so a process may serve it again. */
  readonly mayReturn: boolean
  /** When this was read, by the database's clock. */
  readonly at: Date
}

/** Whether sellers other than this one are served, by heartbeats after `since`. */
export const readOtherSellers = async (sql: SqlRunner, sellerId: string, since: Date): Promise<OtherSellers> => {
  const [row] = await sql.query<{ served: boolean; may_return: boolean; at: Date }>(
    `SELECT COALESCE(bool_or(${isServed} AND served_at > $2::timestamptz), false) AS served,
       COALESCE(bool_or(served_at > ${ago(returnsWithinMs)}), false) AS may_return, now()::timestamptz(3) AS at
     FROM tallyman.sellers WHERE seller_id <> $1`,
    sellerId,
    since,
  )
  if (row === undefined) throw new Error('Postgres returned no row about served sellers')
  return { served: row.served, mayReturn: row.may_return, at: row.at }
}

/**
 * The result of stopping a seller. `other-process`: it stays active, because another process has a token for it with other credentials. `outdated`: it
 * is not active, or has been resumed since the rejection.
 */
export type Stop = 'stopped' | 'other-process' | 'outdated'

/** Stops a seller whose credentials the marketplace rejects, and raises an alarm. `process`: the process with these credentials. */
export const stopSeller = async (
  database: Database,
  seller: ConfiguredSeller,
  reason: string,
  process: string | null = null,
): Promise<Stop> => {
  const stop = await stopInTransaction(database, seller, reason, process)
  // Not under the lock of the seller: a process that stores its settings locks these rows before the seller.
  if (process !== null && stop !== 'outdated') await recordRejected(database, process, seller)
  return stop
}

const stopInTransaction = async (
  database: Database,
  seller: ConfiguredSeller,
  reason: string,
  process: string | null,
): Promise<Stop> =>
  database.transaction(async (transaction) => {
    const [active] = await transaction.query(
      `SELECT 1 AS found FROM tallyman.sellers WHERE seller_id = $1 AND state = 'active' AND resumes = $2 FOR NO KEY UPDATE`,
      seller.sellerId,
      seller.resumes,
    )
    if (active === undefined) return 'outdated'
    if ((await findAcceptedByOthers(transaction, process, [seller])).has(seller.sellerId)) return 'other-process'
    const [stopped] = await transaction.query<{ stopped_at: Date }>(
      `UPDATE tallyman.sellers SET state = 'stopped', stopped_reason = $3, stopped_at = now(), updated_at = now(),
         credentials_fingerprint = $2, probe_at = now() + $4::float8 * interval '1 millisecond'
       WHERE seller_id = $1
       RETURNING stopped_at`,
      seller.sellerId,
      seller.credentialsFingerprint,
      reason,
      probeIntervalMs,
    )
    if (stopped === undefined) throw new Error(`the row of seller ${seller.sellerId} disappeared while it was locked`)
    await raiseAlarm(transaction, alarmKey(seller.sellerId), `stopped since ${stopped.stopped_at.toISOString()}: ${reason}`)
    transaction.record({ sellerId: seller.sellerId, type: 'seller.stopped', data: { reason } })
    await notifySellers(transaction)
    return 'stopped'
  })

/** The status of one seller; null: there is none. */
export const readSeller = async ({ prisma }: SqlRunner, sellerId: string): Promise<SellerStatus | null> => {
  const row = await prisma.seller.findUnique({ where: { sellerId }, select: columns })
  return row === null ? null : fromRow(row)
}

/**
 * Resumes a stopped or paused seller on behalf of a person. For an active seller it deletes the rejections so far, so that every process tries its
 * credentials now. Null: there is no such seller.
 */
export const resumeSeller = async (
  database: Database,
  { sellerId, reason, ...by }: Actor & { readonly sellerId: string; readonly reason: string | null },
): Promise<SellerStatus | null> =>
  database.transaction(async (transaction) => {
    if (!(await resume(transaction, sellerId, ['stopped', 'paused'], { by: 'person', actor: by.actor, reason }))) {
      await transaction.prisma.seller.updateMany({ where: { sellerId }, data: { resumes: { increment: 1 } } })
      await deleteRejections(transaction, sellerId)
      await notifySellers(transaction)
    }
    const status = await readSeller(transaction, sellerId)
    if (status !== null) await recordAct(transaction, { by, action: 'seller.resumed', sellerId, subject: sellerId, reason })
    return status
  })

/** Pauses a seller on behalf of a person; neither a start nor the probe resumes it. Null: there is no such seller. */
export const pauseSeller = async (
  database: Database,
  { sellerId, reason, ...by }: Actor & { readonly sellerId: string; readonly reason: string },
): Promise<SellerStatus | null> =>
  database.transaction(async (transaction) => {
    const updated = await transaction.execute(
      `UPDATE tallyman.sellers SET state = 'paused', stopped_reason = $2, paused_by = $3, probe_at = NULL, updated_at = now(),
         stopped_at = CASE WHEN state = 'paused' THEN stopped_at ELSE now() END
       WHERE seller_id = $1 AND (state, stopped_reason, paused_by) IS DISTINCT FROM ('paused', $2, $3)`,
      sellerId,
      reason,
      by.actor,
    )
    if (updated > 0) {
      transaction.record({ sellerId, type: 'seller.paused', data: { actor: by.actor, reason } })
      await notifySellers(transaction)
    }
    const status = await readSeller(transaction, sellerId)
    if (status !== null) await recordAct(transaction, { by, action: 'seller.paused', sellerId, subject: sellerId, reason })
    return status
  })

/** Which sellers to list; null: any. */
export interface SellersFilter {
  readonly state: SellerState | null
  readonly mode?: SellerMode | null
  readonly sellers: SellerFilter
  /** Whether they are removed. Null: those that are not removed, and a removed one if the filter names it. */
  readonly removed: boolean | null
}

const isRemoved = (removed: boolean): Prisma.SellerWhereInput => ({ removedAt: removed ? { not: null } : null })

/** The status of sellers that were ever configured, by id. */
export const listSellers = async (
  { prisma }: SqlRunner,
  after: string | null,
  limit: number,
  { state, mode = null, sellers, removed }: SellersFilter = { state: null, sellers: null, removed: null },
): Promise<ListPage<SellerStatus, string>> => {
  const position = after === null ? {} : { sellerId: { gt: after } }
  const hidden = removed === null && isSingleSeller(sellers) ? {} : isRemoved(removed ?? false)
  const where = { AND: [{ state: isOrAny(state), mode: isOrAny(mode), sellerId: sellerCondition(sellers) }, position, hidden] }
  const rows = await prisma.seller.findMany({ where, orderBy: { sellerId: 'asc' }, take: limit + 1, select: columns })
  return buildPage(rows.map(fromRow), limit, ({ sellerId }) => sellerId)
}

/** The status of every seller. */
export const readSellers = async ({ prisma }: SqlRunner): Promise<readonly SellerStatus[]> =>
  (await prisma.seller.findMany({ select: columns })).map(fromRow)

/** Sellers that a person has removed. */
export const findRemovedSellers = async ({ prisma }: SqlRunner): Promise<ReadonlySet<string>> => {
  const rows = await prisma.seller.findMany({ where: isRemoved(true), select: { sellerId: true } })
  return new Set(rows.map(({ sellerId }) => sellerId))
}

/** The sellers whose open work a list excludes, because nothing works on it: removed ones, unless the filter names one seller. */
export const listExcludedSellers = async (sql: SqlRunner, filter: SellerFilter): Promise<readonly string[]> =>
  isSingleSeller(filter) ? [] : [...(await findRemovedSellers(sql))]

const isInactive = { state: { not: 'active' } } as const

/** Stopped and paused sellers, by id. */
export const readInactiveSellers = async ({ prisma }: SqlRunner): Promise<ReadonlyMap<string, SellerStatus>> => {
  const rows = await prisma.seller.findMany({ where: isInactive, select: columns })
  return new Map(rows.map((row) => [row.sellerId, fromRow(row)]))
}

const areInactive = batchQuery(async ({ prisma }: SqlRunner, sellerIds: readonly string[]): Promise<readonly boolean[]> => {
  const rows = await prisma.seller.findMany({
    where: { ...isInactive, sellerId: { in: [...sellerIds] } },
    select: { sellerId: true },
  })
  const inactive = new Set(rows.map(({ sellerId }) => sellerId))
  return sellerIds.map((sellerId) => inactive.has(sellerId))
})

/** Whether a seller is stopped or paused now. */
export const isSellerInactive = (sql: SqlRunner, sellerId: string): Promise<boolean> => areInactive(sql, sellerId)

/** Interval of token requests for a stopped seller. It is long, because usually a person must fix the credentials. */
export const probeIntervalMs = 900_000

const probeIsDue = `state = 'stopped' AND (probe_at IS NULL OR probe_at <= ${dueNow})`

/** Stopped sellers whose probe (a token request) is due. */
export const findDueProbes = async (sql: SqlRunner): Promise<readonly string[]> =>
  (await sql.query<{ seller_id: string }>(`SELECT seller_id FROM tallyman.sellers WHERE ${probeIsDue}`)).map(
    (row) => row.seller_id,
  )

/** Claims the due probe of a seller, so that no other process makes it; false: it is not due any longer. */
export const claimProbe = async (sql: SqlRunner, sellerId: string): Promise<boolean> =>
  (await sql.execute(
    `UPDATE tallyman.sellers SET probe_at = now() + $2::float8 * interval '1 millisecond' WHERE seller_id = $1 AND ${probeIsDue}`,
    sellerId,
    probeIntervalMs,
  )) > 0

/** Resumes a stopped seller whose probe succeeded; false: it is no longer stopped. */
export const resumeProbed = (database: Database, sellerId: string): Promise<boolean> =>
  database.transaction((transaction) => resume(transaction, sellerId, ['stopped'], { by: 'probe' }))
