import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startTestDaemon } from '../support/daemon.ts'
import { accepted } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import { placeOrder, post, sandboxSeller, untilEffects, untilSettled } from './support.ts'

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

test('an event whose order cannot be read at once waits with its reason, and is decided when it can be read', async () => {
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-lookups-'))
  stops.push(
    () => rm(folder, { recursive: true, force: true }),
    () => postgres.stop(),
    () => sandbox.stop(),
  )
  const databaseUrl = await postgres.database()
  const daemon = await startTestDaemon({
    ...sandboxSeller,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: 'off',
    POLL_RETURNS: 'off',
  })
  stops.push(() => daemon.program.kill())
  await sandbox.control('PUT', '/faults', { rules: [{ operation: 'orders.get', method: 'GET', serverErrorBefore: 1 }] })
  const order = await placeOrder(sandbox, 1)
  expect(await post(daemon, accepted(order))).toBe(202)
  // How long it waits is tried where time can be set (`test/jobs/events/waiting.test.ts`): on a slow machine the first look itself comes late.
  await eventually(async () => {
    const rows = await query<{ state: string; waits: string }>(
      databaseUrl,
      `SELECT status AS state, waits_for AS waits FROM tallyman.erp_event WHERE waits_for IS NOT NULL`,
    )
    expect(rows).toEqual([{ state: 'received', waits: expect.any(String) }])
  })
  await sandbox.control('PUT', '/faults', { rules: [] })
  await untilEffects(sandbox, order, ['acknowledged'])
  expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 1 })
  expect(await daemon.program.stop()).toBe(0)
}, 90_000)
