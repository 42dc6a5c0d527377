import { raiseAlarm, resolveAlarm } from './alarms.ts'
import { type Acting, recordAct } from './audit.ts'
import type { Database, SqlRunner, Transaction } from './database.ts'
import { dueNow } from './due-now.ts'
import type { Prisma } from './generated/client.ts'
import { oneOf } from './one-of.ts'
import { isOrAny, type ListPage, pageOf } from './page.ts'
import { acceptedElsewhere, type CredentialsMark, forgetRefusals, noteRefused } from './seller-credentials.ts'
import { namesOne, ofSellers, type SellerFilter } from './seller-filter.ts'
import { together } from './together.ts'

/** `stopped`: the marketplace refuses its credentials. `paused`: a person wants it so. Either way nothing of it runs. */
export const sellerStates = ['active', 'stopped', 'paused'] as const
/** See {@link sellerStates}. */
export type SellerState = (typeof sellerStates)[number]

/** A seller as configured. The fingerprint changes with what decides whether its credentials are accepted, and with nothing else. */
export type SellerSettingsMark = CredentialsMark

/** A seller as this process works with it. */
export interface ConfiguredSeller extends SellerSettingsMark {
  /** How often it had been resumed when this process last heard: refusals that are remembered from before that do not count any more. */
  readonly resumes: number
}

/** How a seller stands. */
export interface SellerStanding {
  readonly sellerId: string
  readonly state: SellerState
  /** Why it is stopped or paused; null while it is active. */
  readonly reason: string | null
  /** Since when it is stopped or paused. */
  readonly since: Date | null
  readonly pausedBy: string | null
  /** When a token is asked for the next time; null unless it is stopped. */
  readonly probeAt: Date | null
  /** See {@link ConfiguredSeller}. */
  readonly resumes: number
  /** When a person removed it; null: nobody has, or a process has loaded it again since. */
  readonly removedAt: Date | null
  readonly removedBy: string | null
}

/** What made a seller active again: the start of a process, settings that were read again, the probe, or a person. */
export type ResumedBy =
  | { readonly by: 'start' | 'settings' | 'probe' }
  | { readonly by: 'person'; readonly actor: string; readonly reason: string | null }

/** Notified whenever a seller's standing changes. */
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
} as const satisfies Prisma.SellerSelect

const fromRow = (row: Prisma.SellerGetPayload<{ select: typeof columns }>): SellerStanding => ({
  sellerId: row.sellerId,
  state: oneOf(sellerStates, row.state),
  reason: row.stoppedReason,
  since: row.stoppedAt,
  pausedBy: row.pausedBy,
  probeAt: row.probeAt,
  resumes: row.resumes,
  removedAt: row.removedAt,
  removedBy: row.removedBy,
})

/** Tells every process, with the commit, that sellers stand otherwise. */
export const notifySellers = (transaction: Transaction): Promise<number> =>
  transaction.execute(`SELECT pg_notify('${sellersChannel}', '')`)

const alarmOf = (sellerId: string) => ({ sellerId, kind: 'credentials-refused', subject: 'credentials' }) as const

/** Activates a seller that is in one of these states, and records that; false when it is in none of them. */
const resume = async (
  transaction: Transaction,
  sellerId: string,
  from: readonly SellerState[],
  resumed: ResumedBy,
): Promise<boolean> => {
  const touched = await transaction.execute(
    `UPDATE tallyman.sellers SET state = 'active', stopped_reason = NULL, stopped_at = NULL, paused_by = NULL, probe_at = NULL,
       resumes = resumes + 1, updated_at = now()
     WHERE seller_id = $1 AND state = ANY ($2::text[])`,
    sellerId,
    from,
  )
  if (touched === 0) return false
  await forgetRefusals(transaction, sellerId)
  await resolveAlarm(transaction, alarmOf(sellerId))
  transaction.record({ sellerId, type: 'seller.resumed', data: { ...resumed } })
  await notifySellers(transaction)
  return true
}

/** The moment of the transaction, or of a statement outside of one, in the precision of the table. */
const databaseTime = async (sql: SqlRunner): Promise<Date> => {
  const [row] = await sql.query<{ at: Date }>('SELECT now()::timestamptz(3) AS at')
  if (row === undefined) throw new Error('Postgres has not said its time')
  return row.at
}

/** Lists those again that a person had removed. */
const takeBack = async (transaction: Transaction, sellerIds: readonly string[], by: 'start' | 'settings'): Promise<void> => {
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
 * Records the configured sellers, as served from now on; returns when, by the database's clock. One that was removed is listed again. One that
 * stood stopped is taken up again where its settings have changed, or a person had them read again. At a start with the same settings its
 * credentials are tried first: a process that is added or replaced says nothing of them. What `alongside` does is stored with it, or none of both.
 */
export const recordSellers = async (
  database: Database,
  sellers: readonly SellerSettingsMark[],
  by: 'start' | 'settings' = 'start',
  alongside: (transaction: Transaction) => Promise<void> = async () => undefined,
): Promise<Date> =>
  database.transaction(async (transaction) => {
    const sellerIds = sellers.map(({ sellerId }) => sellerId)
    // Keeps removals away until the commit, and nobody else: one that locks a seller later finds what is stored here.
    await transaction.query(
      `SELECT seller_id FROM tallyman.sellers WHERE seller_id = ANY ($1::text[]) ORDER BY seller_id FOR KEY SHARE`,
      sellerIds,
    )
    await alongside(transaction)
    await takeBack(transaction, sellerIds, by)
    const marks = new Map(sellers.map(({ sellerId, credentialsFingerprint }) => [sellerId, credentialsFingerprint]))
    const stopped = await transaction.query<{ seller_id: string; credentials_fingerprint: string | null }>(
      `SELECT seller_id, credentials_fingerprint FROM tallyman.sellers WHERE state = 'stopped' AND seller_id = ANY ($1::text[])
       ORDER BY seller_id FOR NO KEY UPDATE`,
      [...marks.keys()],
    )
    await transaction.execute(
      `INSERT INTO tallyman.sellers AS s (seller_id, state, credentials_fingerprint, served_at)
       SELECT t.seller_id, 'active', t.fingerprint, now() FROM unnest($1::text[], $2::text[]) AS t(seller_id, fingerprint) ORDER BY t.seller_id
       ON CONFLICT (seller_id) DO UPDATE SET credentials_fingerprint = excluded.credentials_fingerprint, served_at = now(),
         updated_at = CASE WHEN s.credentials_fingerprint IS DISTINCT FROM excluded.credentials_fingerprint THEN now()
           ELSE s.updated_at END`,
      sellerIds,
      sellers.map(({ credentialsFingerprint }) => credentialsFingerprint),
    )
    const isSame = (row: (typeof stopped)[number]): boolean => row.credentials_fingerprint === marks.get(row.seller_id)
    const [tried, resumed] = [
      stopped.filter((row) => by === 'start' && isSame(row)),
      stopped.filter((row) => by !== 'start' || !isSame(row)),
    ]
    for (const { seller_id: sellerId } of resumed) await resume(transaction, sellerId, ['stopped'], { by })
    if (tried.length > 0)
      await transaction.execute(
        `UPDATE tallyman.sellers SET probe_at = now() WHERE seller_id = ANY ($1::text[])`,
        tried.map((row) => row.seller_id),
      )
    return databaseTime(transaction)
  })

/** A seller counts as served until so long after a process last said that it serves it: longer than a process takes to start again. */
export const servedForMs = 120_000
/** A process that says it every 15 seconds writes it down every other time, and not right after another one. */
const saidAnewMs = 25_000
/** A seller that nobody serves any more may come back until then, the longest time that an event waits. */
const returnsWithinMs = 7 * 86_400_000

const within = (milliseconds: number): string => `now() - ${milliseconds} * interval '1 millisecond'`
/** True, in SQL, of a row of `tallyman.sellers` whose seller some process serves now. */
export const sellerIsServed = (row: string): string => `${row}.served_at > ${within(servedForMs)}`
const isServed = sellerIsServed('sellers')
/** True, in SQL, of a row whose seller no person has removed. */
export const isOfNoRemovedSeller = (row: string): string =>
  `NOT EXISTS (SELECT FROM tallyman.sellers gone WHERE gone.seller_id = ${row}.seller_id AND gone.removed_at IS NOT NULL)`

/**
 * Says that this process serves these sellers; answers when, by the database's clock, and which of them have been removed meanwhile. A row that is
 * locked is left for the next time.
 */
export const saySellersServed = async (
  sql: SqlRunner,
  sellerIds: readonly string[],
): Promise<{ readonly at: Date; readonly removed: readonly string[] }> => {
  await sql.execute(
    `UPDATE tallyman.sellers SET served_at = now() WHERE seller_id IN (
       SELECT seller_id FROM tallyman.sellers
       WHERE seller_id = ANY ($1::text[]) AND removed_at IS NULL AND (served_at IS NULL OR served_at <= ${within(saidAnewMs)})
       ORDER BY seller_id FOR NO KEY UPDATE SKIP LOCKED)`,
    sellerIds,
  )
  const [row] = await sql.query<{ at: Date; removed: readonly string[] }>(
    `SELECT now()::timestamptz(3) AS at, ARRAY(SELECT a.seller_id FROM unnest($1::text[]) AS a(seller_id)
       WHERE NOT EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = a.seller_id AND s.removed_at IS NULL)) AS removed`,
    sellerIds,
  )
  if (row === undefined) throw new Error('Postgres has not said its time')
  return row
}

/** Sellers that some process serves now. */
export const servedSellers = async (sql: SqlRunner): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ seller_id: string }>(`SELECT seller_id FROM tallyman.sellers WHERE ${isServed}`)
  return new Set(rows.map((row) => row.seller_id))
}

/** How many of the sellers that some process serves are in each state. */
export const countServedSellers = async (sql: SqlRunner): Promise<Readonly<Record<SellerState, number>>> => {
  const rows = await sql.query<{ state: string; count: number }>(
    `SELECT state, count(*)::int AS count FROM tallyman.sellers WHERE ${isServed} GROUP BY state`,
  )
  const counts = { active: 0, stopped: 0, paused: 0 }
  for (const { state, count } of rows) counts[oneOf(sellerStates, state)] = count
  return counts
}

/** Whether some process serves this seller now. */
export const isSellerServed = async (sql: SqlRunner, sellerId: string): Promise<boolean> =>
  (await sql.query(`SELECT 1 AS served FROM tallyman.sellers WHERE seller_id = $1 AND ${isServed}`, sellerId)).length > 0

/** What other processes serve, as far as one process can know. */
export interface OtherSellers {
  /** Some process has said since then, and not long ago, that it serves another seller. */
  readonly served: boolean
  /** Another seller was served within the last days: a process that serves it may be about to start. */
  readonly mayReturn: boolean
  /** When this was read, by the database's clock. */
  readonly at: Date
}

/** Whether sellers other than this one are served, judged by what has been said since `since`. */
export const readOtherSellers = async (sql: SqlRunner, sellerId: string, since: Date): Promise<OtherSellers> => {
  const [row] = await sql.query<{ served: boolean; may_return: boolean; at: Date }>(
    `SELECT COALESCE(bool_or(${isServed} AND served_at > $2::timestamptz), false) AS served,
       COALESCE(bool_or(served_at > ${within(returnsWithinMs)}), false) AS may_return, now()::timestamptz(3) AS at
     FROM tallyman.sellers WHERE seller_id <> $1`,
    sellerId,
    since,
  )
  if (row === undefined) throw new Error('Postgres does not answer which sellers are served')
  return { served: row.served, mayReturn: row.may_return, at: row.at }
}

/**
 * What became of stopping a seller. `elsewhere`: it stays active, since another process has a token for it by other credentials. `outdated`: it is not
 * active, or has been resumed since this process learned of the refusals.
 */
export type Stop = 'stopped' | 'elsewhere' | 'outdated'

/** Stops a seller whose credentials the marketplace refuses, with an alarm; `process`: to whom. */
export const stopSeller = async (
  database: Database,
  seller: ConfiguredSeller,
  reason: string,
  process: string | null = null,
): Promise<Stop> => {
  const stop = await stopOrLeave(database, seller, reason, process)
  // Not under the lock of the seller: a process that stores its settings has these rows before it.
  if (process !== null && stop !== 'outdated') await noteRefused(database, process, seller)
  return stop
}

const stopOrLeave = async (database: Database, seller: ConfiguredSeller, reason: string, process: string | null): Promise<Stop> =>
  database.transaction(async (transaction) => {
    const [active] = await transaction.query(
      `SELECT 1 AS found FROM tallyman.sellers WHERE seller_id = $1 AND state = 'active' AND resumes = $2 FOR NO KEY UPDATE`,
      seller.sellerId,
      seller.resumes,
    )
    if (active === undefined) return 'outdated'
    if ((await acceptedElsewhere(transaction, process, [seller])).has(seller.sellerId)) return 'elsewhere'
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
    if (stopped === undefined) throw new Error(`seller ${seller.sellerId} has vanished while its row was locked`)
    await raiseAlarm(transaction, alarmOf(seller.sellerId), `stopped since ${stopped.stopped_at.toISOString()}: ${reason}`)
    transaction.record({ sellerId: seller.sellerId, type: 'seller.stopped', data: { reason } })
    await notifySellers(transaction)
    return 'stopped'
  })

const readOne = async ({ prisma }: SqlRunner, sellerId: string): Promise<SellerStanding | null> => {
  const row = await prisma.seller.findUnique({ where: { sellerId }, select: columns })
  return row === null ? null : fromRow(row)
}

/**
 * Makes a stopped or paused seller active because a person says so. For one that is active it makes every process forget the refusals
 * so far, so that its credentials are tried at once. Null when there is no such seller.
 */
export const resumeSeller = async (
  database: Database,
  { sellerId, reason, ...by }: Acting & { readonly sellerId: string; readonly reason: string | null },
): Promise<SellerStanding | null> =>
  database.transaction(async (transaction) => {
    if (!(await resume(transaction, sellerId, ['stopped', 'paused'], { by: 'person', actor: by.actor, reason }))) {
      await transaction.prisma.seller.updateMany({ where: { sellerId }, data: { resumes: { increment: 1 } } })
      await forgetRefusals(transaction, sellerId)
      await notifySellers(transaction)
    }
    const standing = await readOne(transaction, sellerId)
    if (standing !== null) await recordAct(transaction, { by, action: 'seller.resumed', sellerId, subject: sellerId, reason })
    return standing
  })

/** Pauses a seller because a person says so; neither a start nor the probe takes it up again. Null when there is no such seller. */
export const pauseSeller = async (
  database: Database,
  { sellerId, reason, ...by }: Acting & { readonly sellerId: string; readonly reason: string },
): Promise<SellerStanding | null> =>
  database.transaction(async (transaction) => {
    const touched = await transaction.execute(
      `UPDATE tallyman.sellers SET state = 'paused', stopped_reason = $2, paused_by = $3, probe_at = NULL, updated_at = now(),
         stopped_at = CASE WHEN state = 'paused' THEN stopped_at ELSE now() END
       WHERE seller_id = $1 AND (state, stopped_reason, paused_by) IS DISTINCT FROM ('paused', $2, $3)`,
      sellerId,
      reason,
      by.actor,
    )
    if (touched > 0) {
      transaction.record({ sellerId, type: 'seller.paused', data: { actor: by.actor, reason } })
      await notifySellers(transaction)
    }
    const standing = await readOne(transaction, sellerId)
    if (standing !== null) await recordAct(transaction, { by, action: 'seller.paused', sellerId, subject: sellerId, reason })
    return standing
  })

/** Which sellers to list; null: any. */
export interface SellersFilter {
  readonly state: SellerState | null
  readonly sellers: SellerFilter
  /** Whether a person has removed them. Null: those that are not removed, and a removed one where the filter names it. */
  readonly removed: boolean | null
}

const isRemoved = (removed: boolean): Prisma.SellerWhereInput => ({ removedAt: removed ? { not: null } : null })

/** How sellers stand that were ever configured, by id. */
export const listSellers = async (
  { prisma }: SqlRunner,
  after: string | null,
  limit: number,
  { state, sellers, removed }: SellersFilter = { state: null, sellers: null, removed: null },
): Promise<ListPage<SellerStanding, string>> => {
  const behind = after === null ? {} : { sellerId: { gt: after } }
  const hidden = removed === null && namesOne(sellers) ? {} : isRemoved(removed ?? false)
  const where = { AND: [{ state: isOrAny(state), sellerId: ofSellers(sellers) }, behind, hidden] }
  const rows = await prisma.seller.findMany({ where, orderBy: { sellerId: 'asc' }, take: limit + 1, select: columns })
  return pageOf(rows.map(fromRow), limit, ({ sellerId }) => sellerId)
}

/** How every seller stands. */
export const readSellers = async ({ prisma }: SqlRunner): Promise<readonly SellerStanding[]> =>
  (await prisma.seller.findMany({ select: columns })).map(fromRow)

/** Sellers that a person has removed. */
export const removedSellers = async ({ prisma }: SqlRunner): Promise<ReadonlySet<string>> => {
  const rows = await prisma.seller.findMany({ where: isRemoved(true), select: { sellerId: true } })
  return new Set(rows.map(({ sellerId }) => sellerId))
}

/** Whose open work a list of these sellers leaves out, since nobody does it any more: of the removed ones, unless it names one. */
export const leftOutOf = async (sql: SqlRunner, filter: SellerFilter): Promise<readonly string[]> =>
  namesOne(filter) ? [] : [...(await removedSellers(sql))]

const isAtRest = { state: { not: 'active' } } as const

/** Sellers that are stopped or paused now, by their ids. */
export const sellersAtRest = async ({ prisma }: SqlRunner): Promise<ReadonlyMap<string, SellerStanding>> => {
  const rows = await prisma.seller.findMany({ where: isAtRest, select: columns })
  return new Map(rows.map((row) => [row.sellerId, fromRow(row)]))
}

const restOfEach = together(async ({ prisma }: SqlRunner, sellerIds: readonly string[]): Promise<readonly boolean[]> => {
  const rows = await prisma.seller.findMany({
    where: { ...isAtRest, sellerId: { in: [...sellerIds] } },
    select: { sellerId: true },
  })
  const atRest = new Set(rows.map(({ sellerId }) => sellerId))
  return sellerIds.map((sellerId) => atRest.has(sellerId))
})

/** Whether a seller is stopped or paused now. */
export const isSellerAtRest = (sql: SqlRunner, sellerId: string): Promise<boolean> => restOfEach(sql, sellerId)

/** How often a token is asked for while a seller is stopped: seldom, for a refusal that lasts is a person's to mend. */
export const probeIntervalMs = 900_000

const probeIsDue = `state = 'stopped' AND (probe_at IS NULL OR probe_at <= ${dueNow})`

/** Stopped sellers for which a token should be asked now. */
export const dueProbes = async (sql: SqlRunner): Promise<readonly string[]> =>
  (await sql.query<{ seller_id: string }>(`SELECT seller_id FROM tallyman.sellers WHERE ${probeIsDue}`)).map(
    (row) => row.seller_id,
  )

/** Takes the probe that is due, so that no other process makes it; false when none is due any more. */
export const claimProbe = async (sql: SqlRunner, sellerId: string): Promise<boolean> =>
  (await sql.execute(
    `UPDATE tallyman.sellers SET probe_at = now() + $2::float8 * interval '1 millisecond' WHERE seller_id = $1 AND ${probeIsDue}`,
    sellerId,
    probeIntervalMs,
  )) > 0

/** Makes a stopped seller active whose credentials a probe has found accepted; false when it is no longer stopped. */
export const resumeProbed = (database: Database, sellerId: string): Promise<boolean> =>
  database.transaction((transaction) => resume(transaction, sellerId, ['stopped'], { by: 'probe' }))
