import { expect, test } from 'vitest'
import { type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const rows = <Row>(one: TestSeller, sql: string) => bench.database.query<Row>(sql, one.sellerId)
const channels = (one: TestSeller, items: readonly object[], more: object = {}) =>
  bench.sandbox.control('PUT', '/channels', { sellerId: one.sellerId, items, ...more })
const stored = (one: TestSeller) =>
  rows<{ id: string; name: string; methods: string | null; active: boolean | null; there: boolean }>(
    one,
    `SELECT order_channel_id AS id, order_channel_name AS name, shipping_methods AS methods, active, missing_since IS NULL AS there
     FROM warehouse.sales_channels WHERE seller_id = $1 ORDER BY 1`,
  )
const sync = (one: TestSeller) => one.sync('sales-channels', 'all')
const enrolment = (one: TestSeller) =>
  rows<{ enrolled: boolean }>(
    one,
    `SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1 AND resource = 'sales-channels'`,
  )

test('all channels come in, an unchanged poll writes nothing, a channel that is no longer listed is marked missing', async () => {
  const one = await bench.seller()
  await channels(one, [
    { orderChannelId: 'A', orderChannelName: 'Web shop' },
    { orderChannelId: 'B', active: 'N' },
  ])
  await sync(one)
  expect(await stored(one)).toEqual([
    { id: 'A', name: 'Web shop', methods: expect.stringContaining('Standard'), active: true, there: true },
    { id: 'B', name: 'Channel B', methods: expect.stringContaining('Standard'), active: false, there: true },
  ])
  expect(await enrolment(one)).toEqual([{ enrolled: true }])
  const marks = () => rows(one, 'SELECT xmin::text FROM warehouse.sales_channels WHERE seller_id = $1 ORDER BY order_channel_id')
  const before = await marks()
  const told = (await one.changes()).length
  await sync(one)
  expect(await marks()).toEqual(before)
  expect(await one.changes()).toHaveLength(told)
  await channels(one, [{ orderChannelId: 'A', orderChannelName: 'Web shop' }], { shippingField: 'shipping' })
  await sync(one)
  expect(await stored(one)).toMatchObject([
    { id: 'A', methods: expect.stringContaining('Standard'), there: true },
    { id: 'B', there: false },
  ])
  await channels(one, [{ orderChannelId: 'A', orderChannelName: 'Web shop' }, { orderChannelId: 'B' }])
  await sync(one)
  expect(await stored(one)).toMatchObject([
    { id: 'A', there: true },
    { id: 'B', active: true, there: true },
  ])
})

test.each(['spring', 'content-not-found'])(
  'a seller who is not enrolled (%s) is remembered and not asked again',
  async (answer) => {
    const one = await bench.seller()
    await bench.sandbox.control('PUT', '/enrolment', { sellerId: one.sellerId, multichannel: false, answer })
    // The framework's own 404 is believed the third time.
    const doubts = answer === 'spring' ? 2 : 0
    for (let run = 0; run < doubts; run += 1) await expect(one.once('sales-channels', 'all')).rejects.toThrow('404')
    await sync(one)
    expect(await enrolment(one)).toEqual([{ enrolled: false }])
    const calls = (await one.requests()).length
    await sync(one)
    expect(await one.requests()).toHaveLength(calls)
    expect(await one.state('all')).toMatchObject({ failures: 0, last_error: null })
  },
)

test('an answer that is a failure in disguise makes nothing gone', async () => {
  const one = await bench.seller()
  await sync(one)
  const before = await stored(one)
  expect(before.length).toBeGreaterThan(0)
  for (const fault of ['okWithErrors', 'html', 'emptyBody', 'truncatedJson', 'serverErrorBefore'] as const) {
    await bench.sandbox.next({ fault, sellerId: one.sellerId, operation: 'sales-channels.list' })
    await expect(one.once('sales-channels', 'all')).rejects.toThrow()
    expect(await stored(one)).toEqual(before)
  }
})

test('a channel that does not parse is kept aside and makes none gone', async () => {
  const one = await bench.seller()
  await sync(one)
  const before = await stored(one)
  await bench.sandbox.next({ fault: 'malformedRecord', sellerId: one.sellerId, operation: 'sales-channels.list' })
  await one.once('sales-channels', 'all')
  expect(await stored(one)).toEqual(before)
  expect(await rows(one, 'SELECT 1 AS aside FROM tallyman.quarantined_records WHERE seller_id = $1')).toHaveLength(1)
})
