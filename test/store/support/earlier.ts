import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrate } from '../../../src/store/db/migrate.ts'
import type { TestPostgres } from '../../support/postgres.ts'

/** Creates a database in the state before this migration; returns its URL. `migrate` applies the remaining migrations. */
export const databaseBefore = async (postgres: TestPostgres, migration: string): Promise<string> => {
  const url = await postgres.emptyDatabase()
  const directory = await mkdtemp(path.join(tmpdir(), 'tallyman-migrations-'))
  for (const name of await readdir('prisma/migrations')) {
    if (name < migration || name.endsWith('.toml'))
      await cp(path.resolve('prisma/migrations', name), path.join(directory, name), { recursive: true })
  }
  await migrate(url, directory)
  await rm(directory, { recursive: true })
  return url
}
