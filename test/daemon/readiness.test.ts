import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { sandboxSeller, untilReady } from './support.ts'

// What /readyz says while nothing can be written, and what it costs to ask for it.

const execute = promisify(execFile)
let postgres: TestPostgres
let sandbox: TestSandbox
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})
afterAll(() => Promise.all([postgres.stop(), sandbox.stop()]))

const start = async (databaseUrl: string): Promise<TestDaemon> => {
  const daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: '1s',
    POLL_RETURNS: 'off',
  })
  cleanUps.push(() => daemon.program.kill())
  return daemon
}

const administer = async (...statements: readonly string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const healthSchema = z.object({ checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().optional() })) })

/** Waits until `/readyz` says why Postgres cannot do its work. */
const untilSaid = (daemon: TestDaemon, detail: string): Promise<void> =>
  eventually(async () => {
    const { status, body } = await daemon.call('GET', '/readyz')
    const found = healthSchema.parse(body).checks.find(({ name }) => name === 'postgres')
    expect({ status, detail: found?.detail }).toEqual({ status: 503, detail })
  })

const outOfService = async (daemon: TestDaemon): Promise<void> => {
  await eventually(async () => expect((await daemon.call('POST', '/v1/syncs/orders/run')).status).toBe(503))
  expect((await daemon.call('GET', '/livez')).status).toBe(200)
}

const backInService = async (daemon: TestDaemon): Promise<void> => {
  await untilReady(daemon)
  await eventually(async () => expect((await daemon.call('POST', '/v1/syncs/orders/run')).status).toBe(202))
  expect(daemon.program.child.exitCode).toBeNull()
}

test('three hundred clients that ask all the time take no connection, and all are answered', async () => {
  const databaseUrl = await postgres.database()
  const daemon = await start(databaseUrl)
  const sessions = async (): Promise<number> => {
    const rows = await query<{ sessions: number }>(
      postgres.url,
      `SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE datname = '${new URL(databaseUrl).pathname.slice(1)}'`,
    )
    return rows[0]?.sessions ?? 0
  }
  let most = 0
  for (let round = 0; round < 3; round += 1) {
    let answered = false
    const asked = Promise.all(Array.from({ length: 300 }, () => daemon.call('GET', '/readyz'))).finally(() => {
      answered = true
    })
    while (!answered) most = Math.max(most, await sessions())
    for (const { status } of await asked) expect(status).toBe(200)
  }
  // The pools of the daemon and of its queues, full.
  expect(most).toBeLessThan(60)
})

test('a Postgres that has become read-only is named, and the daemon heals with it', async () => {
  const daemon = await start(await postgres.database())
  await administer('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()')
  cleanUps.push(() =>
    administer(
      'SET default_transaction_read_only = off',
      'ALTER SYSTEM RESET default_transaction_read_only',
      'SELECT pg_reload_conf()',
    ),
  )
  await untilSaid(daemon, 'Postgres takes no writes: it is read-only')
  await outOfService(daemon)
  await cleanUps.pop()?.()
  await backInService(daemon)
})

test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'a full disk is named, and the daemon heals when there is room again',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-disk-'))
    await execute('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder])
    cleanUps.push(async () => {
      await execute('umount', [folder])
      await rm(folder, { recursive: true, force: true })
    })
    // Postgres owns its tablespaces.
    await chown(folder, (await stat(`/proc/${postgres.pid()}`)).uid, -1)
    await postgres.database()
    await administer(
      `CREATE TABLESPACE small LOCATION '${folder}'`,
      'CREATE DATABASE on_small TEMPLATE migrated TABLESPACE small',
    )
    const databaseUrl = postgres.url.replace(/\/tallyman$/, '/on_small')
    cleanUps.push(() => administer('DROP DATABASE on_small WITH (FORCE)', 'DROP TABLESPACE small'))
    const daemon = await start(databaseUrl)
    await query(databaseUrl, 'CREATE TABLE filler AS SELECT 1 AS n')
    for (const rows of [100_000, 10_000, 1_000, 200]) {
      for (;;) {
        const full = await query(databaseUrl, `INSERT INTO filler SELECT generate_series(1, ${rows})`).then(
          () => false,
          (error: unknown) => {
            expect(error).toMatchObject({ code: '53100' })
            return true
          },
        )
        if (full) break
      }
    }
    await untilSaid(daemon, 'the disk of Postgres is full')
    await query(databaseUrl, 'DROP TABLE filler')
    await backInService(daemon)
  },
)
