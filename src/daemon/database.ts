import { withoutPassword } from '../embedded/address.ts'
import { makeDataDir } from '../embedded/data-dir.ts'
import { startEmbeddedPostgres } from '../embedded/postgres.ts'
import { lockFolder } from '../embedded/process-lock.ts'
import { unprivilegedUser } from '../embedded/unprivileged-user.ts'
import { storeBiTimeZone } from '../store/bi/bi-time-zone.ts'
import { type Database, openDatabase } from '../store/db/database.ts'
import { missingMigrations } from '../store/db/migrate.ts'
import { migrateWhenAvailable } from '../store/db/migrate-when-available.ts'
import type { DaemonContext } from './context.ts'

/** A sync stores one page while it plans the next; the others of the process need a connection now and then. */
export const databaseConnections = 20
/** Readers of the change feed wait no longer for what a process has committed and not numbered before it died. */
const numberEveryMs = 1_000

/** The database of the daemon, migrated. */
export interface DatabasePart {
  readonly database: Database
  /** Where each connection is a session of its own: past a pooler, where there is one. */
  readonly sessionUrl: string
  /** Its address without the password: `psql` takes it as it is. */
  readonly shownUrl: string
  /** Every migration of this version, by its name. */
  readonly migrations: readonly string[]
}

/**
 * Locks DATA_DIR where it is used, starts the Postgres that we bring along where no other is configured, waits for the database, migrates and opens it.
 * Null: the process was stopped meanwhile.
 * @throws what keeps the database from being used
 */
export const startDatabase = async ({
  config,
  log,
  quiet,
  vocabularies,
  stop,
  shutdownHooks,
}: DaemonContext): Promise<DatabasePart | null> => {
  const isEmbedded = config.databaseUrl === null
  if (isEmbedded || config.sandbox !== null) {
    const owner = isEmbedded ? await unprivilegedUser() : null
    await makeDataDir(config.dataDir, { owner, say: (line) => log.info(line) })
    const lock = await lockFolder(config.dataDir)
    shutdownHooks.add('the lock of DATA_DIR', () => lock.release())
  }
  let url = config.databaseUrl
  let shownUrl = url === null ? '' : withoutPassword(url)
  if (url === null) {
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, say: (line) => log.info(line) })
    shutdownHooks.add('the embedded Postgres', () => postgres.stop())
    url = postgres.url
    shownUrl = postgres.shownUrl
    if (stop.aborted) return null
  }
  const migrations = await missingMigrations([])
  const sessionUrl = config.databaseDirectUrl ?? url
  const applied = await migrateWhenAvailable(sessionUrl, { quiet, stop, mayBePooled: !isEmbedded })
  if (applied === null) return null
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  let closing = false
  const database = openDatabase({
    url,
    findVocabulary: vocabularies.of,
    connections: databaseConnections,
    prepare: config.preparedStatements,
    pooled: config.databaseDirectUrl !== null,
    numberEveryMs,
    onUnnumbered: (error) =>
      quiet.warn('numbering', { err: error }, 'changes could not be numbered yet; it is tried again each second'),
    onError: (error) => {
      // The pool counts as closed a moment before its connections are; what they still say is no news.
      if (!closing) quiet.warn('pool', { err: error }, 'a database connection was lost')
    },
  })
  shutdownHooks.add('the database', () => {
    closing = true
    return database.close()
  })
  await storeBiTimeZone(database, config.biTimeZone)
  return { database, sessionUrl, shownUrl, migrations }
}
