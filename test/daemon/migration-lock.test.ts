import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { cli } from '../cli/run.ts'
import { withDatabase } from '../support/database.ts'
import { type Program, startProgram } from '../support/process.ts'

const migrated = withDatabase({ each: 'test' })

const programs: Program[] = []
const clients: pg.Client[] = []
afterEach(async () => {
  for (const program of programs.splice(0)) await program.kill()
  for (const client of clients.splice(0)) await client.end()
})

/** A session that holds the lock as one of a pooler keeps it: idle, and nobody's any more. */
const holdLock = async (key: number): Promise<{ readonly pid: number; release(): Promise<unknown> }> => {
  const client = new pg.Client({ connectionString: migrated.url, application_name: 'of yesterday' })
  await client.connect()
  clients.push(client)
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid, pg_advisory_lock($1)::text', [key])
  return { pid: rows[0]?.pid ?? 0, release: () => client.query('SELECT pg_advisory_unlock_all()') }
}

const start = (): Program => {
  const program = startProgram('src/main.ts', {
    PORT: '0',
    LOG_FORMAT: 'json',
    DATABASE_URL: migrated.url,
    MARKETPLACE_URL: 'http://127.0.0.1:1',
    SELLER_ID: 's-1',
    CLIENT_ID: 'c',
    CLIENT_SECRET: 's',
  })
  programs.push(program)
  return program
}

/** What the program took before, and what Prisma takes. */
const keys = [7_255_311, 72_707_369]

test.each(keys)('a start says who holds the lock of migrations (%i), and ends when it is told to', async (key) => {
  const { pid } = await holdLock(key)
  const program = start()
  const [line] = await program.says(/^.*waiting for the lock of migrations.*$/m)
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    holder_pid: pid,
    holder_application: 'of yesterday',
    holder_state: 'idle',
    holder_since: expect.stringMatching(/^\d{4}-.*Z$/),
    msg: expect.stringMatching(
      new RegExp(`session ${pid} of Postgres \\(of yesterday\\) holds, idle since .*RECONNECT.*pg_terminate_backend\\(${pid}\\)`),
    ),
  })
  expect(await program.stop()).toBe(0)
})

test('a start goes on as soon as the lock of migrations is free', async () => {
  const { release } = await holdLock(7_255_311)
  const program = start()
  await program.says('waiting for the lock of migrations')
  await release()
  await program.says('the lock of migrations was free')
  await program.says('tallyman is running')
  expect(await program.stop()).toBe(0)
})

test('`tallyman migrate` says who holds the lock, once, and ends when it is told to', async () => {
  const { pid } = await holdLock(7_255_311)
  const interruption = new AbortController()
  const run = await cli(
    ['migrate'],
    { DATABASE_URL: migrated.url },
    { signal: interruption.signal, onTalk: () => interruption.abort() },
  )
  expect(run).toMatchObject({ code: 130, out: '' })
  expect(run.messages).toMatch(
    new RegExp(`^waiting for the lock of migrations, which session ${pid} of Postgres \\(of yesterday\\) holds.*\n$`),
  )
})
