import { describeError, Failed, Misused } from '../../api-client/errors.ts'
import { finishedMigrations, migrateUnlessStopped, missingMigrations } from '../../store/db/migrate.ts'
import { describeLockWait, type LockHolder } from '../../store/db/migration-lock.ts'
import type { CliContext } from '../context.ts'
import { count, print, printJson, printMessage, type Terminal } from '../output/terminal.ts'

/** `tallyman migrate`: applies missing migrations to DATABASE_URL; returns the exit code. */
export const runMigrate = async ({ terminal, settings, signal }: CliContext): Promise<void> => {
  const { sessionUrl: databaseUrl } = settings
  if (databaseUrl === null) {
    throw new Misused('DATABASE_URL is unset; the daemon migrates the embedded Postgres when it starts')
  }
  const missing = await missingMigrations(await readFinished(databaseUrl))
  if (missing.length > 0) printMessage(terminal, `applying ${count(missing.length, 'migration')}`)
  // Another process may apply them at the same time; only the migrations that this call applied are reported.
  const applied = await migrateUnlessStopped(databaseUrl, { signal, onWaiting: reportHolders(terminal) })
  if (applied === null) throw new Failed('interrupted while another session held the lock of migrations')
  if (terminal.json) printJson(terminal, { applied })
  else if (applied.length === 0) print(terminal, 'nothing to apply, the database is up to date')
  else for (const name of applied) print(terminal, `applied ${name}`)
}

/** Writes one line for each session that holds the lock. */
const reportHolders = (terminal: Terminal): ((holder: LockHolder | null) => void) => {
  let reportedPid: number | null = null
  return (holder) => {
    if (holder === null || holder.pid === reportedPid) return
    reportedPid = holder.pid
    printMessage(terminal, describeLockWait(holder))
  }
}

const readFinished = async (databaseUrl: string): Promise<readonly string[]> => {
  try {
    return await finishedMigrations(databaseUrl)
  } catch (error) {
    throw new Failed(
      `the database cannot be reached: ${describeError(error)}`,
      ['check DATABASE_URL, and that Postgres runs there'],
      {
        cause: error,
      },
    )
  }
}
