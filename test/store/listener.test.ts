import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { openListener } from '../../src/store/db/listener.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { findVocabulary } from '../support/vocabulary.ts'

let postgres: TestPostgres
let database: Database
let url: string

beforeAll(async () => {
  postgres = await startTestPostgres()
  url = await postgres.database()
  database = openDatabase({ findVocabulary, url })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
})

const recorder = () => {
  const lines: string[] = []
  return {
    lines,
    info: (_: object, message: string) => lines.push(message),
    warn: (_: object, message: string) => lines.push(message),
  }
}
const notify = (channel: string) => database.query(`SELECT pg_notify($1, '')::text`, channel)
const backoffMs = { first: 5, max: 20 }

test('notifies each callback of its channel until it unsubscribes', async () => {
  const listener = openListener({ url, channels: ['one', 'Two'], log: recorder(), backoffMs })
  const notified = { one: 0, two: 0 }
  const forget = listener.on('one', () => {
    notified.one += 1
  })
  listener.on('Two', () => {
    notified.two += 1
  })
  await expect.poll(() => listener.connected()).toBe(true)
  // Each connect notifies, because notifications may have been missed.
  expect(notified).toEqual({ one: 1, two: 1 })
  await notify('one')
  await expect.poll(() => notified.one).toBe(2)
  forget()
  await notify('one')
  await notify('Two')
  await expect.poll(() => notified.two).toBe(2)
  expect(notified.one).toBe(2)
  expect(() => listener.on('three', () => undefined)).toThrow(/three/)
  await listener.close()
  expect(listener.connected()).toBe(false)
})

test('reconnects after its connection is lost, notifies all, and logs it once', async () => {
  const log = recorder()
  const listener = openListener({ url, channels: ['one'], log, backoffMs })
  let notified = 0
  listener.on('one', () => {
    notified += 1
  })
  await expect.poll(() => listener.connected()).toBe(true)
  await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tallyman listener'`)
  await expect.poll(() => notified).toBe(2)
  expect(listener.connected()).toBe(true)
  await notify('one')
  await expect.poll(() => notified).toBe(3)
  expect(log.lines).toHaveLength(2)
  await listener.close()
})

test('keeps trying without a flood of log lines while Postgres is unavailable, and closes immediately', async () => {
  const log = recorder()
  const nowhere = new URL(url)
  nowhere.port = '1'
  const listener = openListener({
    url: nowhere.href,
    channels: ['one'],
    log,
    backoffMs,
  })
  await expect.poll(() => log.lines).toHaveLength(1)
  expect(listener.connected()).toBe(false)
  await listener.close()
  expect(log.lines).toHaveLength(1)
})

test('detects a dead connection that reports no error', async () => {
  const log = recorder()
  const listener = openListener({ url, channels: ['one'], log, backoffMs, heartbeatMs: 10 })
  await expect.poll(() => listener.connected()).toBe(true)
  // Heartbeats go on: the server sees a statement of the listener other than LISTEN.
  await expect
    .poll(async () => {
      const rows = await database.query<{ query: string }>(
        `SELECT query FROM pg_stat_activity WHERE application_name = 'tallyman listener' AND datname = current_database()`,
      )
      return rows.map((row) => row.query)
    })
    .toContain('SELECT 1')
  await listener.close()
})
