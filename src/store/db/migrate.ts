import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type pg from 'pg'
import { SteadyClient } from '../../util/net/postgres-client.ts'
import { applyGrants, isDenied } from './grants.ts'
import { isSessionLock, lockMigrations, type MigrationWait } from './migration-lock.ts'
import { openSchemaEngine } from './schema-engine.ts'

const migrationsDirectory = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))
const schemaFile = fileURLToPath(new URL('../../../prisma/schema.prisma', import.meta.url))

/** A migration failed; the database is as it was before that migration. */
export class MigrationFailed extends Error {
  override readonly name = 'MigrationFailed'
}

/** The message of a thrown value: the engine throws plain objects too. */
const readMessage = (thrown: unknown): string => {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  const message = 'message' in thrown ? thrown.message : undefined
  return typeof message === 'string' && message !== '' ? message : JSON.stringify(thrown).slice(0, 2_000)
}

const newClient = (url: string, options: pg.ClientConfig = {}): pg.Client =>
  new SteadyClient({ connectionString: url, application_name: 'tallyman migrate', ...options })

/** Timeout for reading the state of the migrations: readiness is checked often, and connections must not accumulate. */
const readTimeoutMs = 5_000

const listMigrationNames = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()

const readMigrations = async (directory: string) =>
  Promise.all(
    (await listMigrationNames(directory)).map(async (name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok' as const, value: await readFile(`${directory}/${name}/migration.sql`, 'utf8') },
      },
    })),
  )

// The adapter splits a script at each semicolon, which breaks function bodies and comments, and runs each part in a transaction of its own. One simple
// query runs the script in one transaction.
const withUnsplitScripts = (
  factory: SqlMigrationAwareDriverAdapterFactory,
  client: pg.Client,
  opened: SqlDriverAdapter[],
): SqlMigrationAwareDriverAdapterFactory => ({
  provider: factory.provider,
  adapterName: factory.adapterName,
  connectToShadowDb: () => factory.connectToShadowDb(),
  connect: async () => {
    const adapter = await factory.connect()
    opened.push(adapter)
    const executeRaw = adapter.executeRaw.bind(adapter)
    adapter.executeRaw = (query) => (isSessionLock(query.sql) ? Promise.resolve(0) : executeRaw(query))
    adapter.executeScript = async (script) => {
      await client.query(script)
    }
    return adapter
  },
})

/** The login of migrations need not own every table, nor have the right to create roles: `tallyman grants` reports what is missing. */
const grantIfAllowed = async (url: string): Promise<void> => {
  const client = newClient(url)
  await client.connect()
  try {
    await applyGrants(client)
  } catch (error) {
    if (!isDenied(error)) throw error
  } finally {
    await client.end()
  }
}

const waitWithoutLimit: MigrationWait = { signal: new AbortController().signal, onWaiting: () => undefined }

/**
 * Applies the missing migrations of `prisma/migrations` in order, under an advisory lock; returns the names of the applied ones, or null if the signal
 * fired before it had the lock. It uses the ordinary `_prisma_migrations` table, so `prisma migrate deploy` works on the same database. Afterwards it
 * creates roles and grants, as far as this login may ({@link applyGrants}).
 * @throws MigrationFailed with the name of the migration and the message of the database
 */
export const migrateUnlessStopped = async (
  url: string,
  wait: MigrationWait,
  directory: string = migrationsDirectory,
): Promise<readonly string[] | null> => {
  const lock = newClient(url)
  await lock.connect()
  const scripts = newClient(url)
  const opened: SqlDriverAdapter[] = []
  try {
    if (!(await lockMigrations(lock, wait))) return null
    if (await isComplete(lock, directory)) return []
    await scripts.connect()
    const factory = new PrismaPg({ connectionString: url, max: 2, application_name: 'tallyman migrate', Client: SteadyClient })
    const engine = await openSchemaEngine(await readFile(schemaFile, 'utf8'), withUnsplitScripts(factory, scripts, opened))
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: {
          baseDir: directory,
          lockfile: { path: 'migration_lock.toml', content: await readFile(`${directory}/migration_lock.toml`, 'utf8') },
          shadowDbInitScript: '',
          migrationDirectories: await readMigrations(directory),
        },
        filters: { externalTables: [], externalEnums: [] },
      })
      // The grants of an earlier version do not include the new tables and roles.
      if (appliedMigrationNames.length > 0 && directory === migrationsDirectory) await grantIfAllowed(url)
      return appliedMigrationNames
    } finally {
      engine.free()
    }
  } catch (error) {
    throw new MigrationFailed(`a database migration failed: ${readMessage(error)}`, { cause: error })
  } finally {
    for (const adapter of opened) await adapter.dispose()
    await scripts.end()
    await lock.end()
  }
}

/** As {@link migrateUnlessStopped}, but waits for the lock without a limit. */
export const migrate = async (url: string, directory?: string): Promise<readonly string[]> =>
  (await migrateUnlessStopped(url, waitWithoutLimit, directory)) ?? []

/** Names of the migrations of the database that were not rolled back, and whether each is finished; none if it has never been migrated. */
const readRecorded = async (client: pg.Client): Promise<readonly { readonly name: string; readonly finished: boolean }[]> => {
  const { rows: table } = await client.query("SELECT to_regclass('_prisma_migrations') AS found")
  if (table[0]?.found === null) return []
  const { rows } = await client.query<{ name: string; finished: boolean }>(
    'SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  return rows
}

/** Names of the finished migrations of the database; none if it has never been migrated. */
export const finishedMigrations = async (url: string): Promise<readonly string[]> => {
  const client = newClient(url, { connectionTimeoutMillis: readTimeoutMs, query_timeout: readTimeoutMs })
  await client.connect()
  try {
    return (await readRecorded(client)).flatMap(({ name, finished }) => (finished ? [name] : []))
  } finally {
    await client.end()
  }
}

/** Whether every migration is finished and none has failed: then Prisma's engine, whose loading takes a fifth of a start, has nothing to do. */
const isComplete = async (client: pg.Client, directory: string): Promise<boolean> => {
  const recorded = await readRecorded(client)
  const names = recorded.map(({ name }) => name)
  return recorded.every(({ finished }) => finished) && (await missingMigrations(names, directory)).length === 0
}

/** Names of the migrations of this program that the database has not finished. */
export const missingMigrations = async (
  finished: readonly string[],
  directory: string = migrationsDirectory,
): Promise<readonly string[]> => {
  const done = new Set(finished)
  return (await listMigrationNames(directory)).filter((name) => !done.has(name))
}
