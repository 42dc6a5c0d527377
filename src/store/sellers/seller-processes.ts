import type { Database, SqlRunner } from '../db/database.ts'
import { processTimeoutMs } from './seller-credentials.ts'
import { sellersChannel } from './sellers.ts'

/** A process, as it announces itself to the other processes of the database. */
export interface SellerProcess {
  /** Its name, unique in the database. */
  readonly process: string
  readonly roles: readonly string[]
  /** The sellers that it serves. */
  readonly sellerIds: readonly string[]
  /** The errors of its settings at the last request to reread them; with errors it keeps its previous sellers. */
  readonly faults: readonly string[]
}

/** A process with the time of the last reread request that it has processed. */
export interface ListedSellerProcess extends SellerProcess {
  readonly takenAt: Date
}

/** The row of a process without a heartbeat for this time is deleted. */
const keptForMs = 3_600_000
/** Minimum interval of written heartbeats: every second one, since a process sends one every 15 seconds. */
const heartbeatWriteMs = 25_000

const ago = (milliseconds: number): string => `now() - ${milliseconds} * interval '1 millisecond'`

/** Announces a process that read its settings `readAgoMs` ago; returns that time by the database's clock. */
export const announceProcess = async (database: Database, process: SellerProcess, readAgoMs: number): Promise<Date> => {
  await database.execute(`DELETE FROM tallyman.seller_processes WHERE said_at < ${ago(keptForMs)}`)
  return announceSellers(database, process, readAgoMs)
}

/** Announces the sellers that a process serves, as {@link announceProcess}; in the transaction that stores the sellers, so that none is removed. */
export const announceSellers = async (
  sql: SqlRunner,
  { process, roles, sellerIds, faults }: SellerProcess,
  readAgoMs: number,
): Promise<Date> => {
  const [row] = await sql.query<{ taken_at: Date }>(
    `INSERT INTO tallyman.seller_processes (process, roles, seller_ids, faults, taken_at, said_at)
     VALUES ($1, $2::text[], $3::text[], $4::text[], now() - $5::float8 * interval '1 millisecond', now())
     ON CONFLICT (process) DO UPDATE SET roles = excluded.roles, seller_ids = excluded.seller_ids, said_at = excluded.said_at
     RETURNING taken_at`,
    process,
    roles,
    sellerIds,
    faults,
    readAgoMs,
  )
  if (row === undefined) throw new Error('Postgres returned no row for this process')
  return row.taken_at
}

/** The heartbeat of a process: its sellers, and the last reread request that it has processed. Written if they changed, or at an interval. */
export const sendProcessHeartbeat = async (
  sql: SqlRunner,
  { process, roles, sellerIds, faults, takenAt }: ListedSellerProcess,
): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.seller_processes AS p (process, roles, seller_ids, faults, taken_at, said_at)
     VALUES ($1, $2::text[], $3::text[], $4::text[], $5::timestamptz, now())
     ON CONFLICT (process) DO UPDATE
     SET roles = excluded.roles, seller_ids = excluded.seller_ids, faults = excluded.faults, taken_at = excluded.taken_at, said_at = now()
     WHERE p.said_at <= ${ago(heartbeatWriteMs)} OR (p.seller_ids, p.faults, p.taken_at) IS DISTINCT FROM
       (excluded.seller_ids, excluded.faults, excluded.taken_at)`,
    process,
    roles,
    sellerIds,
    faults,
    takenAt.toISOString(),
  )
}

/** Announces the changed sellers of a process. */
export const updateAnnouncedSellers = async (
  { prisma }: SqlRunner,
  process: string,
  sellerIds: readonly string[],
): Promise<void> => {
  await prisma.sellerProcess.updateMany({ where: { process }, data: { sellerIds: [...sellerIds] } })
}

/** Requests the other processes to reread their sellers, as this one has; returns the time of the request by the database's clock. */
export const requestReread = async (database: Database, { process, roles, sellerIds }: SellerProcess): Promise<Date> =>
  database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ asked_at: Date }>(
      `INSERT INTO tallyman.seller_processes (process, roles, seller_ids, faults, taken_at, asked_at, said_at)
       VALUES ($1, $2::text[], $3::text[], '{}', now(), now(), now())
       ON CONFLICT (process) DO UPDATE
       SET seller_ids = excluded.seller_ids, faults = '{}', taken_at = now(), asked_at = now(), said_at = now()
       RETURNING asked_at`,
      process,
      roles,
      sellerIds,
    )
    if (row === undefined) throw new Error('Postgres returned no row for this process')
    await transaction.execute(`SELECT pg_notify('${sellersChannel}', '')`)
    return row.asked_at
  })

/** The time of the last reread request of another process; null: there is none. */
export const readLastRereadRequest = async ({ prisma }: SqlRunner, process: string): Promise<Date | null> =>
  (await prisma.sellerProcess.aggregate({ where: { process: { not: process } }, _max: { askedAt: true } }))._max.askedAt

/** Deletes the row of a process that ends. */
export const removeProcess = async ({ prisma }: SqlRunner, process: string): Promise<void> => {
  await prisma.sellerProcess.deleteMany({ where: { process } })
}

/** The running processes by name: those with a recent heartbeat. */
export const listSellerProcesses = async (sql: SqlRunner): Promise<readonly ListedSellerProcess[]> => {
  const rows = await sql.query<{ process: string; roles: string[]; seller_ids: string[]; faults: string[]; taken_at: Date }>(
    `SELECT process, roles, seller_ids, faults, taken_at FROM tallyman.seller_processes WHERE said_at > ${ago(processTimeoutMs)} ORDER BY process`,
  )
  return rows.map(({ process, roles, seller_ids: sellerIds, faults, taken_at: takenAt }) => ({
    ...{ process, roles, sellerIds, faults },
    takenAt,
  }))
}

/** The result of a reread request in another process. */
export interface OtherReread {
  readonly process: string
  readonly roles: readonly string[]
  /** The sellers that it serves now. */
  readonly sellers: readonly string[]
  readonly state: 'reread' | 'faulty' | 'unanswered'
  /** The errors of its settings. */
  readonly faults: readonly string[]
}
