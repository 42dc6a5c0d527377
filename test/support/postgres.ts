import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { portFile, startEmbeddedPostgres } from '../../src/embedded/postgres.ts'
import { migrate } from '../../src/store/db/migrate.ts'

/** A Postgres of the tests' own, in a temporary folder. */
export interface TestPostgres {
  /** Address of an empty database. */
  readonly url: string
  /** Makes a database of its own, with the migrations applied; answers its address. Cheap: copied from a template. */
  database(): Promise<string>
  /** Makes an empty database; answers its address. */
  emptyDatabase(): Promise<string>
  pid(): number | null
  stop(): Promise<void>
}

const named = (url: string, name: string): string => url.replace(/\/[^/]+$/, `/${name}`)

const administer = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

const memory = '/dev/shm'
const plentyBytes = 4_000_000_000

/** Where clusters are: in memory, where the machine has a file system there with room, since most of a test's time goes into the files of its database. */
const baseFolder = async (): Promise<string> => {
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    // There is none.
    () => 0,
  )
  return free < plentyBytes ? tmpdir() : memory
}

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(await baseFolder(), 'tallyman-postgres-'))
  await chmod(folder, 0o755)
  return folder
}

/** Starts the server of a cluster. fsync is off: the tests kill processes, never the machine. */
export const startIn = (folder: string, settings: readonly string[] = []) =>
  startEmbeddedPostgres({ dataDir: folder, say: () => undefined, settings: ['fsync=off', ...settings] })

const makeMigrated = async (url: string): Promise<void> => {
  await administer(url, 'CREATE DATABASE migrated')
  await migrate(named(url, 'migrated'))
}

const copyInto = async (cluster: string, folder: string): Promise<void> => {
  // With owners and modes, which Postgres insists on.
  await promisify(execFile)('cp', ['-a', `${cluster}/.`, folder])
  // Each copy has a port of its own.
  await rm(path.join(folder, portFile), { force: true })
}

/** A copy of a cluster that is at rest; answers its folder. */
export const readCopy = async (cluster: string): Promise<string> => {
  const folder = await makeFolder()
  await copyInto(cluster, folder)
  return folder
}

/** Puts the cluster that was made for all tests into a DATA_DIR: a daemon that starts there need not make its database. */
export const copyCluster = async (dataDir: string): Promise<void> => {
  const cluster = process.env['TALLYMAN_TEST_CLUSTER']
  if (cluster !== undefined) await copyInto(cluster, dataDir)
}

/** Makes a cluster with a migrated database, at rest; answers its folder. */
export const makeCluster = async (): Promise<string> => {
  const folder = await makeFolder()
  const server = await startIn(folder)
  // The files open thousands of connections, and each client derives the key of its password anew.
  const { username, password } = new URL(server.url)
  await administer(server.url, `SET scram_iterations = 1; ALTER ROLE ${username} PASSWORD '${decodeURIComponent(password)}'`)
  await makeMigrated(server.url)
  await server.stop()
  return folder
}

/** Makes a database in a server; answers its address. Its files are copied: without fsync that takes half the time of copying by WAL. */
const createDatabase = async (url: string, template: string): Promise<string> => {
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(url, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  return named(url, name)
}

/**
 * A Postgres of a file's own, for what touches the whole server: its roles, its connections, its life. Anything else takes a database
 * of the server that all files share (`database.ts`). A copy of the cluster that was made for all tests, where there is one.
 * @param settings further settings of the server, `name=value`
 */
export const startTestPostgres = async (settings: readonly string[] = []): Promise<TestPostgres> => {
  const cluster = process.env['TALLYMAN_TEST_CLUSTER']
  const folder = cluster === undefined ? await makeFolder() : await readCopy(cluster)
  const server = await startIn(folder, settings)
  let migrated = cluster === undefined ? undefined : Promise.resolve()
  return {
    url: server.url,
    database: async () => {
      migrated ??= makeMigrated(server.url)
      await migrated
      return createDatabase(server.url, 'migrated')
    },
    emptyDatabase: () => createDatabase(server.url, 'template0'),
    pid: () => server.pid(),
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const serverOfAll = (): string => {
  const shared = process.env['TALLYMAN_TEST_POSTGRES']
  if (shared === undefined) throw new Error('the Postgres of the tests is started by the runner (test/support/shared-servers.ts)')
  return shared
}

/** Makes a migrated database in the server that all files share; answers its address. */
export const makeDatabase = async (): Promise<string> => createDatabase(serverOfAll(), 'migrated')

/** Drops one of them, with the connections that are still open. */
export const dropDatabase = async (url: string): Promise<void> =>
  administer(serverOfAll(), `DROP DATABASE IF EXISTS ${url.slice(url.lastIndexOf('/') + 1)} WITH (FORCE)`)
