import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts'
import { migrate } from '../../src/store/migrate.ts'

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

const administer = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-postgres-'))
  await chmod(folder, 0o755)
  return folder
}

// fsync is off: the tests kill processes, never the machine.
const startIn = (folder: string) => startEmbeddedPostgres({ dataDir: folder, say: () => undefined, settings: ['fsync=off'] })

const named = (url: string, name: string): string => url.replace(/\/tallyman$/, `/${name}`)

const makeMigrated = async (url: string): Promise<void> => {
  await administer(url, 'CREATE DATABASE migrated')
  await migrate(named(url, 'migrated'))
}

/** Makes a cluster with a migrated database, at rest; answers its folder. */
export const makeCluster = async (): Promise<string> => {
  const folder = await makeFolder()
  const server = await startIn(folder)
  await makeMigrated(server.url)
  await server.stop()
  return folder
}

/** Starts one; a copy of the cluster that was made for all tests (`cluster-template.ts`), where there is one. */
export const startTestPostgres = async (): Promise<TestPostgres> => {
  const folder = await makeFolder()
  const clusterTemplate = process.env['TALLYMAN_TEST_CLUSTER']
  // With owners and modes, which Postgres insists on.
  if (clusterTemplate !== undefined) await promisify(execFile)('cp', ['-a', `${clusterTemplate}/.`, folder])
  const server = await startIn(folder)
  let migrated = clusterTemplate === undefined ? undefined : Promise.resolve()
  const create = async (template: string): Promise<string> => {
    const name = `test_${randomBytes(6).toString('hex')}`
    await administer(server.url, `CREATE DATABASE ${name} TEMPLATE ${template}`)
    return named(server.url, name)
  }
  return {
    url: server.url,
    database: async () => {
      migrated ??= makeMigrated(server.url)
      await migrated
      return create('migrated')
    },
    emptyDatabase: () => create('template0'),
    pid: () => server.pid(),
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
