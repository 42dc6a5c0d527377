import { finishedMigrations, migrate, missingMigrations } from '../store/migrate.ts'
import type { CliContext } from './context.ts'
import { Failed, Misused, wordsOf } from './faults.ts'
import { count, print, printJson, say } from './terminal.ts'

/** `tallyman migrate`: applies missing migrations to DATABASE_URL; returns the exit code. */
export const runMigrate = async ({ terminal, settings }: CliContext): Promise<void> => {
  const { sessionUrl: databaseUrl } = settings
  if (databaseUrl === null) {
    throw new Misused('DATABASE_URL is unset; the daemon migrates the embedded Postgres when it starts')
  }
  const missing = await missingMigrations(await finished(databaseUrl))
  if (missing.length > 0) say(terminal, `applying ${count(missing.length, 'migration')}`)
  // Another process may apply them meanwhile; what is reported is what this call applied.
  const applied = await migrate(databaseUrl)
  if (terminal.json) printJson(terminal, { applied })
  else if (applied.length === 0) print(terminal, 'nothing to apply, the database is up to date')
  else for (const name of applied) print(terminal, `applied ${name}`)
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
