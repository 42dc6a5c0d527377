import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
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

/** Starts one. fsync is off: the tests kill processes, never the machine. */
export const startTestPostgres = async (): Promise<TestPostgres> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-postgres-'))
  await chmod(folder, 0o755)
  const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined, settings: ['fsync=off'] })
  const named = (name: string) => server.url.replace(/\/tallyman$/, `/${name}`)
  const create = async (template: string): Promise<string> => {
    const name = `test_${randomBytes(6).toString('hex')}`
    await administer(server.url, `CREATE DATABASE ${name} TEMPLATE ${template}`)
    return named(name)
  }
  let template: Promise<void> | undefined
  return {
    url: server.url,
    database: async () => {
      template ??= administer(server.url, 'CREATE DATABASE migrated').then(async () => void (await migrate(named('migrated'))))
      await template
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
