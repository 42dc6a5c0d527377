import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problemKinds } from '../src/http/problems.ts'
import { processReceivedEvent } from '../src/jobs/events/process.ts'
import { createLogger, createQuietLog } from '../src/observability/log.ts'
import { createQueueBackend } from '../src/queues/backend/backend.ts'
import { type Database, openDatabase } from '../src/store/db/database.ts'
import { marketplace, parts } from './jobs/events/support.ts'
import { orderLine, purchaseOrder } from './support/orders.ts'
import { startTestPostgres, type TestPostgres } from './support/postgres.ts'
import { seedOrder } from './support/store.ts'
import { findVocabulary } from './support/vocabulary.ts'

// The statements of docs/events.md, as they stand there.

const page = readFileSync(path.resolve(import.meta.dirname, '../docs/events.md'), 'utf8')

const formatSection = (heading: string): string => {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`docs/events.md has no section "${heading}"`)
  return section
}
const listSql = (heading: string): readonly string[] =>
  [...formatSection(heading).matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) => sql ?? '')

let postgres: TestPostgres
let url: string
let database: Database
beforeAll(async () => {
  // Its roles are of the cluster: a server of its own.
  postgres = await startTestPostgres()
  url = await postgres.database()
  database = openDatabase({ url, findVocabulary })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

/** Runs a TypeScript module by itself, beside our node_modules. */
const playScript = (script: string) =>
  promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', script], { timeout: 30_000 })

const run = async (sql: string, at = url): Promise<readonly pg.QueryResult[]> => {
  const client = new pg.Client({ connectionString: at })
  await client.connect()
  try {
    const result: pg.QueryResult | pg.QueryResult[] = await client.query(sql)
    return [result].flat()
  } finally {
    await client.end()
  }
}
const asErp = (name: string): string => {
  const address = new URL(url)
  address.username = name
  address.password = 'change-me'
  return address.href
}

describe('the SQL inbox as documented', () => {
  const [createRole = '', grants = '', insert = '', select = ''] = listSql('Over SQL')

  test('works with the role, from the first statement to the commands', async () => {
    await seedOrder(database, 's-1', purchaseOrder('1796277083022', [orderLine('1', 'KETTLE-RED', 2)]))
    await run(createRole)
    const erp = asErp('my_erp')
    const [inserted] = await run(insert, erp)
    expect(inserted?.rowCount).toBe(1)
    const [again] = await run(insert, erp)
    expect(again?.rowCount).toBe(0)
    const shop = parts(database, marketplace())
    await processReceivedEvent(shop, { source: '/erp', id: 'dispatch-4711' }, AbortSignal.timeout(10_000))
    const [event, commands] = await run(select, erp)
    expect(event?.rows).toEqual([{ status: 'accepted', problem: null, waits_for: null }])
    expect(commands?.rows).toEqual([{ id: expect.any(String), kind: 'ship', state: 'pending', reason: null }])
  })

  test('works with the rights granted directly', async () => {
    await run("CREATE ROLE another_erp LOGIN PASSWORD 'change-me'")
    await run(grants.replaceAll('my_erp', 'another_erp'))
    const erp = asErp('another_erp')
    expect((await run(insert.replaceAll('4711', '4712'), erp))[0]?.rowCount).toBe(1)
    const [event, commands] = await run(select.replaceAll('4711', '4712'), erp)
    expect(event?.rows).toMatchObject([{ status: 'received' }])
    expect(commands?.rows).toEqual([])
  })

  test('gives an unknown member the fault that a post gets', async () => {
    await run(insert.replaceAll('4711', '4713').replace('"trackingNumber"', '"trackingNo"'), asErp('my_erp'))
    const key = { source: '/erp', id: 'dispatch-4713' }
    await processReceivedEvent(parts(database, marketplace()), key, AbortSignal.timeout(10_000))
    const [event] = await run(select.replaceAll('4711', '4713'), asErp('my_erp'))
    expect(event?.rows).toMatchObject([{ status: 'rejected' }])
    expect(event?.rows[0]?.problem.errors).toContainEqual({
      path: 'data.parcels[0].trackingNo',
      message: expect.stringContaining('is unknown (did you mean trackingNumber?)'),
    })
  })
})

test('the rights for the queue suffice to add a job as the documented producer does', async () => {
  const log = createLogger({ level: 'silent', format: 'json', destination: { write: () => undefined } })
  const backend = createQueueBackend({ redisUrl: null, databaseUrl: url, quiet: createQuietLog(log) })
  await backend.open()
  await backend.close()
  await run("CREATE ROLE queue_erp LOGIN PASSWORD 'change-me'")
  for (const sql of listSql('By BullMQ job')) await run(sql.replaceAll('my_erp', 'queue_erp'))
  const [, example = ''] = /^```ts\n(.*?)^```/ms.exec(formatSection('By BullMQ job')) ?? []
  const script = example.replace('process.env.DATABASE_URL', JSON.stringify(asErp('queue_erp'))).concat('await queue.close()\n')
  await playScript(script)
  const [jobs] = await run("SELECT name, data FROM bullmq.job WHERE queue = 'erp-events'")
  expect(jobs?.rows).toMatchObject([{ name: 'event', data: { id: 'dispatch-4712', type: 'erp.order.accepted' } }])
})

test('every answer of POST /v1/events is documented', () => {
  const told = new Set([...formatSection('Over HTTP').matchAll(/^\| (\d{3})/gm)].map(([, status]) => Number(status)))
  for (const code of [
    'malformed-json',
    'invalid-request',
    'unknown-parameter',
    'invalid-signature',
    'unauthenticated',
    'host-refused',
    'origin-refused',
    'event-conflict',
    'body-too-large',
    'unsupported-media-type',
    'invalid-event',
    'internal',
    'unavailable',
  ] as const)
    expect(told, code).toContain(problemKinds[code].status)
  for (const status of [200, 202, 429]) expect(told).toContain(status)
})
