import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'

const maxWaitMs = 120_000

let folder: string
let postgres: TestPostgres
let daemon: TestDaemon

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-trouble-'))
  await chmod(folder, 0o755)
  postgres = await startTestPostgres()
  daemon = await startTestDaemon({
    ...{ SANDBOX_PORT: '0', DATA_DIR: folder, DATABASE_URL: await postgres.database() },
    ...{ REQUEST_TIMEOUT: '1s', SETTLE_TIME: '2s' },
  })
})
afterAll(async () => {
  await daemon?.program.stop()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

const read = async (route: string): Promise<string> => JSON.stringify((await daemon.call('GET', route)).body)

test('a demonstration makes trouble to look at: a late order, a rejected event, a record in quarantine and a held shipment', {
  timeout: maxWaitMs + 30_000,
}, async () => {
  const { status, body } = await daemon.call('POST', '/v1/demonstration/trouble')
  expect([status, JSON.stringify(body)]).toEqual([201, expect.any(String)])
  const { heldOrder, lateOrder } = z.object({ heldOrder: z.string(), lateOrder: z.string() }).parse(body)
  await eventually(async () => {
    expect(await read('/v1/orders?late=true')).toContain(lateOrder)
    expect(await read('/v1/events?state=rejected')).toContain(lateOrder)
    expect(await read('/v1/quarantine?state=open')).toContain('"resource":"returns"')
    expect(await read('/v1/commands?state=held')).toContain(heldOrder)
  }, maxWaitMs)
  const [held] = z
    .object({ items: z.array(z.object({ lines: z.array(z.object({ quantity: z.number() })), evidence: z.unknown() })) })
    .parse((await daemon.call('GET', '/v1/commands?state=held')).body).items
  expect(JSON.stringify(held?.evidence)).toContain('2 of 4 units')
})
