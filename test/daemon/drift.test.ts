import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { cli } from '../cli/run.ts'
import { everyPoll, startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { reportRateLimits, sandboxSeller } from './support.ts'

// What the answers of the live marketplace (profile `walmart-us`) have that is not published, through the whole daemon.

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon

const start = async (): Promise<void> => {
  daemon = await startTestDaemon({
    ...sandboxSeller,
    ...everyPoll,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MARKETPLACE_URL: sandbox.url,
    MARKETPLACE_PROFILE: 'walmart-us',
    POLL_ORDERS: '1s',
    RATE_LIMITS: reportRateLimits,
  })
}

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-drift-'))
  databaseUrl = await postgres.database()
  await sandbox.control('POST', '/inventory', { sellerId: sandboxSeller.SELLER_ID, skus: 5, entriesPerSku: 4, replace: true })
  await sandbox.placeRandom(20)
  await start()
})
afterAll(async () => {
  await daemon.program.stop()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const waitMs = 60_000
const timeout = waitMs + 10_000

const driftSchema = z.object({
  items: z.array(z.object({ operation: z.string(), kind: z.string(), path: z.string(), example: z.string() })),
})
const listDrift = async (filter = ''): Promise<readonly string[]> => {
  const { items } = driftSchema.parse((await daemon.call('GET', `/v1/drift?limit=1000${filter}`)).body)
  return items.map(({ operation, kind, path: place, example }) => `${operation} ${kind} ${place}: ${example}`).sort()
}
const alarmSchema = z.object({ items: z.array(z.object({ id: z.string(), subject: z.string() })) })
const listAlarms = async (kind: string) => alarmSchema.parse((await daemon.call('GET', `/v1/alarms?kind=${kind}`)).body).items

const line = 'orderLines.orderLine[]'
const ofReleased = (places: readonly string[]): readonly string[] => places.map((place) => `orders.released ${place}`)
/** What the faults `unknownValue` and `changedType` change in every new order … */
const planted = ofReleased([
  'field futureFlag: boolean',
  'field giftOptions: list of 0',
  'field loyaltyTier: object',
  `field ${line}.charges.charge[].futureField: text of 7 characters`,
  `field ${line}.futureField: text of 7 characters`,
  `field ${line}.orderLineStatuses.orderLineStatus[].futureField: text of 7 characters`,
  `type ${line}.item.productName: object in place of text`,
  `value ${line}.orderLineStatuses.orderLineStatus[].status: OnHold`,
])
/** … and in some. */
const plantedInSome = ofReleased(['value shippingInfo.methodCode: Drone', 'value shippingInfo.postalAddress.addressType: LOCKER'])

test('new fields, values and types are recorded, and nothing else of all that was read', { timeout }, async () => {
  await eventually(async () => {
    const [{ resources } = { resources: 0 }] = await query<{ resources: number }>(
      databaseUrl,
      `SELECT count(DISTINCT resource)::int AS resources FROM tallyman.sync_states WHERE last_success_at IS NOT NULL`,
    )
    expect(resources).toBeGreaterThan(5)
  }, waitMs)
  await sandbox.control('PUT', '/faults', { rules: [{ operation: 'orders.released', unknownValue: 1, changedType: 1 }] })
  await sandbox.placeRandom(1)
  await eventually(async () => expect(await listDrift()).toEqual(expect.arrayContaining([...planted])), waitMs)
  expect((await listDrift()).filter((place) => ![...planted, ...plantedInSome].includes(place))).toEqual([])
  expect(await listDrift('&kind=value&operation=orders.list')).toEqual([])
  const { out } = await cli(['drift', '--kind', 'value'], { TALLYMAN_URL: daemon.url })
  expect(out).toMatch(/orders\.released\s+value\s+orderLines\.orderLine\[\]\.\S+\.status\s+OnHold/)
})

test('each new place has one alarm, and a resolved one does not open again', { timeout: 2 * timeout }, async () => {
  const opened = await eventually(async () => {
    const alarms = await listAlarms('marketplace-drift')
    expect(alarms).toHaveLength((await listDrift()).length)
    return alarms
  })
  const [first] = opened
  const resolved = await daemon.call('POST', `/v1/alarms/${first?.id}/resolve`, { reason: 'announced' })
  expect(resolved.status).toBe(200)
  const countRecords = async (): Promise<number> => {
    const [row] = await query<{ records: number }>(databaseUrl, 'SELECT sum(count)::int AS records FROM tallyman.drift')
    return row?.records ?? 0
  }
  // The end of a process records its counts; the next process finds the same places.
  await daemon.program.stop()
  const records = await countRecords()
  await start()
  await eventually(async () => expect(await countRecords()).toBeGreaterThan(records), waitMs)
  const subjects = (await listAlarms('marketplace-drift')).map(({ subject }) => subject)
  expect(subjects).toEqual(opened.slice(1).map(({ subject }) => subject))
})

test('announced ends of operations and unknown statuses are recorded, each operation with one alarm', { timeout }, async () => {
  await sandbox.control('PUT', '/faults', {
    rules: [{ operation: 'orders.released', deprecated: 1 }],
    next: [{ fault: 'serverErrorBefore', status: 599, operation: 'orders.list' }],
  })
  const wanted = [
    'orders.list status 599: HTTP 599',
    'orders.released header deprecation: true',
    'orders.released header sunset: Sat, 27 Mar 2027 00:00:00 GMT',
    'orders.released header x-deprecation-state: ANNOUNCED',
  ]
  await eventually(async () => expect(await listDrift()).toEqual(expect.arrayContaining(wanted)), waitMs)
  await eventually(async () =>
    expect((await listAlarms('operation-deprecated')).map(({ subject }) => subject)).toEqual(['orders.released']),
  )
})
