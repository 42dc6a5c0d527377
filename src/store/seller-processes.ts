import type { Database, SqlRunner } from './database.ts'
import { thereForMs } from './seller-credentials.ts'
import { sellersChannel } from './sellers.ts'

/** What a process says of itself to the others that share its database. */
export interface SellerProcess {
  /** Its name among all that share the database. */
  readonly process: string
  readonly roles: readonly string[]
  /** The sellers that it serves. */
  readonly sellerIds: readonly string[]
  /** What was wrong with its settings when it was last asked to read them again; it serves the sellers from before then. */
  readonly faults: readonly string[]
}

/** A process with the last request to read the sellers again that it has met. */
export interface ListedSellerProcess extends SellerProcess {
  readonly takenAt: Date
}

/** One that has said nothing for so long has ended; its row goes. */
const keptForMs = 3_600_000
/** A process that says it every 15 seconds writes it down every other time. */
const saidAnewMs = 25_000

const ago = (milliseconds: number): string => `now() - ${milliseconds} * interval '1 millisecond'`

/** Says that a process is there that has read its settings so long ago; answers when that was, by the database's clock. */
export const joinProcesses = async (database: Database, process: SellerProcess, readAgoMs: number): Promise<Date> => {
  await database.execute(`DELETE FROM tallyman.seller_processes WHERE said_at < ${ago(keptForMs)}`)
  return claimSellers(database, process, readAgoMs)
}

/** Says which sellers a process serves from now on, as {@link joinProcesses}: in the transaction that stores them, so that none is removed. */
export const claimSellers = async (
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
  if (row === undefined) throw new Error('Postgres has not taken the row of this process')
  return row.taken_at
}

/** Says again what a process serves, and which request it has met; written when it is something else, or now and then. */
export const sayProcess = async (
  sql: SqlRunner,
  { process, roles, sellerIds, faults, takenAt }: ListedSellerProcess,
): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.seller_processes AS p (process, roles, seller_ids, faults, taken_at, said_at)
     VALUES ($1, $2::text[], $3::text[], $4::text[], $5::timestamptz, now())
     ON CONFLICT (process) DO UPDATE
     SET roles = excluded.roles, seller_ids = excluded.seller_ids, faults = excluded.faults, taken_at = excluded.taken_at, said_at = now()
     WHERE p.said_at <= ${ago(saidAnewMs)} OR (p.seller_ids, p.faults, p.taken_at) IS DISTINCT FROM
       (excluded.seller_ids, excluded.faults, excluded.taken_at)`,
    process,
    roles,
    sellerIds,
    faults,
    takenAt.toISOString(),
  )
}

/** Says which sellers a process serves by now, at once. */
export const sayServes = async ({ prisma }: SqlRunner, process: string, sellerIds: readonly string[]): Promise<void> => {
  await prisma.sellerProcess.updateMany({ where: { process }, data: { sellerIds: [...sellerIds] } })
}

/** Asks the other processes to read their sellers again, as this one has; answers when it was asked, by the database's clock. */
export const askForReread = async (database: Database, { process, roles, sellerIds }: SellerProcess): Promise<Date> =>
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
    if (row === undefined) throw new Error('Postgres has not taken the row of this process')
    await transaction.execute(`SELECT pg_notify('${sellersChannel}', '')`)
    return row.asked_at
  })

/** When a process other than this one asked last; null: none has. */
export const rereadAskedAt = async ({ prisma }: SqlRunner, process: string): Promise<Date | null> =>
  (await prisma.sellerProcess.aggregate({ where: { process: { not: process } }, _max: { askedAt: true } }))._max.askedAt

/** Removes what a process has said: it ends. */
export const leaveProcesses = async ({ prisma }: SqlRunner, process: string): Promise<void> => {
  await prisma.sellerProcess.deleteMany({ where: { process } })
}

/** The processes that are there, by their names: those that have said so not long ago. */
export const listSellerProcesses = async (sql: SqlRunner): Promise<readonly ListedSellerProcess[]> => {
  const rows = await sql.query<{ process: string; roles: string[]; seller_ids: string[]; faults: string[]; taken_at: Date }>(
    `SELECT process, roles, seller_ids, faults, taken_at FROM tallyman.seller_processes WHERE said_at > ${ago(thereForMs)} ORDER BY process`,
  )
  return rows.map(({ process, roles, seller_ids: sellerIds, faults, taken_at: takenAt }) => ({
    ...{ process, roles, sellerIds, faults },
    takenAt,
  }))
}
