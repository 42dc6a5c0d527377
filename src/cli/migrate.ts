import { finishedMigrations, migrateUnlessStopped, missingMigrations } from '../store/migrate.ts'
import { type LockHolder, waitingForLock } from '../store/migration-lock.ts'
import type { CliContext } from './context.ts'
import { Failed, Misused, wordsOf } from './faults.ts'
import { count, print, printJson, say, type Terminal } from './terminal.ts'

/** `tallyman migrate`: applies missing migrations to DATABASE_URL; returns the exit code. */
export const runMigrate = async ({ terminal, settings, signal }: CliContext): Promise<void> => {
  const { sessionUrl: databaseUrl } = settings
  if (databaseUrl === null) {
    throw new Misused('DATABASE_URL is unset; the daemon migrates the embedded Postgres when it starts')
  }
  const missing = await missingMigrations(await finished(databaseUrl))
  if (missing.length > 0) say(terminal, `applying ${count(missing.length, 'migration')}`)
  // Another process may apply them meanwhile; what is reported is what this call applied.
  const applied = await migrateUnlessStopped(databaseUrl, { signal, onWaiting: sayOnce(terminal) })
  if (applied === null) throw new Failed('interrupted while another session held the lock of migrations')
  if (terminal.json) printJson(terminal, { applied })
  else if (applied.length === 0) print(terminal, 'nothing to apply, the database is up to date')
  else for (const name of applied) print(terminal, `applied ${name}`)
}

/** One line for each session that holds the lock. */
const sayOnce = (terminal: Terminal): ((holder: LockHolder | null) => void) => {
  let told: number | null = null
  return (holder) => {
    if (holder === null || holder.pid === told) return
    told = holder.pid
    say(terminal, waitingForLock(holder))
  }
}

const finished = async (databaseUrl: string): Promise<readonly string[]> => {
  try {
    return await finishedMigrations(databaseUrl)
  } catch (error) {
    throw new Failed(`the database cannot be reached: ${wordsOf(error)}`, ['check DATABASE_URL, and that Postgres runs there'], {
      cause: error,
    })
  }
}
