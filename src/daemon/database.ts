import { withoutPassword } from '../embedded/address.ts'
import { makeDataDir } from '../embedded/data-dir.ts'
import { startEmbeddedPostgres } from '../embedded/postgres.ts'
import { lockFolder } from '../embedded/process-lock.ts'
import { unprivilegedUser } from '../embedded/unprivileged-user.ts'
import type { QuietLog } from '../observability/log.ts'
import { pause } from '../pause.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { describeAway, isDatabaseAway, isTurnedAway } from '../store/faults.ts'
import { finishedMigrations, migrateUnlessStopped, missingMigrations } from '../store/migrate.ts'
import { type LockHolder, waitingForLock } from '../store/migration-lock.ts'
import { sharedSessions, sharesSessions } from '../store/pooler.ts'
import type { DaemonContext } from './context.ts'

/** A sync stores one page while it plans the next; the others of the process need a connection now and then. */
export const databaseConnections = 20
/** A database that does not answer at the start is waited for; a supervisor may start both together. */
const startPatienceMs = 60_000
/** … but one that answers and lets us in not only for as long as another program may take to make the role or the database. */
const turnedAwayPatienceMs = 10_000

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
 * Null: told to stop meanwhile.
 * @throws what keeps the database from being used
 */
export const startDatabase = async ({
  config,
  log,
  quiet,
  vocabularies,
  stop,
  closers,
}: DaemonContext): Promise<DatabasePart | null> => {
  const isEmbedded = config.databaseUrl === null
  if (isEmbedded || config.sandbox !== null) {
    const owner = isEmbedded ? await unprivilegedUser() : null
    await makeDataDir(config.dataDir, { owner, say: (line) => log.info(line) })
    const lock = await lockFolder(config.dataDir)
    closers.add('the lock of DATA_DIR', () => lock.release())
  }
  let url = config.databaseUrl
  let shownUrl = url === null ? '' : withoutPassword(url)
  if (url === null) {
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, say: (line) => log.info(line) })
    closers.add('the embedded Postgres', () => postgres.stop())
    url = postgres.url
    shownUrl = postgres.shownUrl
    if (stop.aborted) return null
  }
  const migrations = await missingMigrations([])
  const sessionUrl = config.databaseDirectUrl ?? url
  const applied = await migrateWithPatience(sessionUrl, { quiet, stop, mayBePooled: !isEmbedded })
  if (applied === null) return null
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  let closing = false
  const database = openDatabase({
    url,
    vocabularyOf: vocabularies.of,
    connections: databaseConnections,
    prepare: config.preparedStatements,
    pooled: config.databaseDirectUrl !== null,
    onError: (error) => {
      // The pool counts as closed a moment before its connections are; what they still say is no news.
      if (!closing) quiet.warn('pool', { err: error }, 'a database connection was lost')
    },
  })
  closers.add('the database', () => {
    closing = true
    return database.close()
  })
  return { database, sessionUrl, shownUrl, migrations }
}

const fieldsOf = ({ pid, applicationName, clientAddress, state, since }: LockHolder): object => ({
  holder_pid: pid,
  holder_application: applicationName,
  holder_address: clientAddress,
  holder_state: state,
  holder_since: since,
})

/** Answers what was applied; null: told to stop before Postgres answered, or while another session held the lock. */
const migrateWithPatience = async (
  url: string,
  { quiet, stop, mayBePooled }: { readonly quiet: QuietLog; readonly stop: AbortSignal; readonly mayBePooled: boolean },
): Promise<readonly string[] | null> => {
  const beganMs = performance.now()
  const onWaiting = (holder: LockHolder | null): void =>
    quiet.warn('lock of migrations', holder === null ? {} : fieldsOf(holder), waitingForLock(holder))
  for (;;) {
    try {
      if (mayBePooled && (await sharesSessions(url)))
        quiet.warn('pooler', {}, `${sharedSessions}: set DATABASE_DIRECT_URL to an address past it`)
      const applied = await migrateUnlessStopped(url, { signal: stop, onWaiting })
      quiet.recovered('start', 'Postgres answers')
      if (applied !== null) quiet.recovered('lock of migrations', 'the lock of migrations was free')
      return applied
    } catch (error) {
      const away = await finishedMigrations(url).then(
        () => null,
        (cause: unknown) => ({ cause, turnedAway: isTurnedAway(cause) }),
      )
      // It may have come up between the two looks.
      if (away === null && !isDatabaseAway(error)) throw error
      if (stop.aborted) return null
      const { cause, turnedAway } = away ?? { cause: error, turnedAway: false }
      const patienceMs = turnedAway ? turnedAwayPatienceMs : startPatienceMs
      if (performance.now() - beganMs > patienceMs) {
        const seconds = Math.round(patienceMs / 1_000)
        throw new Error(`${describeAway(cause)}, for ${seconds} seconds now: check DATABASE_URL`, { cause })
      }
      if (turnedAway) quiet.warn('turned away', {}, `${describeAway(cause)}; trying again for some seconds`)
      else quiet.warn('start', {}, 'Postgres does not answer yet; waiting for it')
      await pause(1_000, stop)
    }
  }
}
