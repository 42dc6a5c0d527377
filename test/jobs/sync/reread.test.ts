import { expect, test } from 'vitest'
import { daysAgo, withSyncBench } from './support.ts'

const bench = withSyncBench()

const nodeTypes = ['SellerFulfilled', 'WFSFulfilled', '3PLFulfilled'] as const

test('orders of every node type that the lists show later than the look-back come with the daily reading by creation', async () => {
  const one = await bench.seller()
  const shown: string[] = []
  const late: string[] = []
  const past = { createdFrom: daysAgo(20), createdTo: daysAgo(2), history: false }
  for (const shipNodeType of nodeTypes) {
    shown.push(...(await one.place(5, { ...past, shipNodeType })))
    late.push(...(await one.place(4, { ...past, shipNodeType })))
  }
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ ids: late, forMs: 86_400_000 }] })
  const follow = async (): Promise<void> => {
    for (const nodeType of nodeTypes) await one.sync('orders', `changed:${nodeType}`)
  }
  await follow()
  expect(await one.storedOrders()).toEqual([...shown].sort())
  await bench.advance('25h')
  await follow()
  expect(await one.storedOrders()).toEqual([...shown].sort())
  await one.sync('orders', 'reread')
  expect(await one.storedOrders()).toEqual([...shown, ...late].sort())
  const before = (await one.changes()).length
  await one.sync('orders', 'reread')
  expect((await one.changes()).length).toBe(before)
})

test('the depth of the reading is what the settings say', async () => {
  const one = await bench.seller()
  const near = await one.place(3, {
    createdFrom: daysAgo(5),
    createdTo: daysAgo(4),
    shipNodeType: 'SellerFulfilled',
    history: false,
  })
  await one.place(3, { createdFrom: daysAgo(30), createdTo: daysAgo(20), shipNodeType: 'SellerFulfilled', history: false })
  const { now } = (await bench.sandbox.control('GET', '/clock')) as { now: string }
  const depth = Date.parse(now) - Date.parse(daysAgo(7))
  await one.sync('orders', 'reread', { settings: { ...one.deps.settings, rereadDepthMs: depth } })
  expect(await one.storedOrders()).toEqual([...near].sort())
})

test('returns that their list shows late come with it as well', async () => {
  const one = await bench.seller()
  const placed = await one.place(400, { shipNodeType: 'SellerFulfilled', createdFrom: daysAgo(30), createdTo: daysAgo(29) })
  expect(placed).toHaveLength(400)
  await bench.advance('1m')
  const count = async (): Promise<number> => {
    const [row] = await bench.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM warehouse.returns WHERE seller_id = $1',
      one.sellerId,
    )
    return row?.count ?? 0
  }
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ records: 'returns', share: 0.5, forMs: 86_400_000 }] })
  await one.sync('returns', 'changed')
  const atFirst = await count()
  await bench.advance('25h')
  await one.sync('returns', 'changed')
  expect(await count()).toBe(atFirst)
  await one.sync('returns', 'reread')
  expect(await count()).toBeGreaterThan(atFirst)
})

test('a record without a key that a complete reading does not bring again is settled by it', async () => {
  const one = await bench.seller()
  await one.place(4, { shipNodeType: 'SellerFulfilled' })
  await bench.database.execute(
    `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at, stream, last_seen_at, created_from)
     VALUES ($1, 'orders', '\\x01', '[]', 'not an object', now(), 'released', now() - interval '3 hours', NULL),
            ($1, 'orders', '\\x02', '[1]', 'not an object', now(), 'changed:SellerFulfilled', now() - interval '3 hours', now() - interval '40 days'),
            ($1, 'orders', '\\x03', '[2]', 'not an object', now(), 'changed:SellerFulfilled', now() - interval '3 hours', now() - interval '50 days'),
            ($1, 'orders', '\\x04', '[3]', 'not an object', now(), 'reread', now() - interval '3 hours', now() - interval '50 days')`,
    one.sellerId,
  )
  const open = async (): Promise<readonly string[]> =>
    (
      await bench.database.query<{ raw_text: string }>(
        `SELECT raw_text FROM tallyman.quarantined_records WHERE seller_id = $1 AND state = 'open' ORDER BY raw_text`,
        one.sellerId,
      )
    ).map((row) => row.raw_text)
  await one.sync('orders', 'released')
  expect(await open()).toEqual(['[1]', '[2]', '[3]'])
  await one.sync('orders', 'reread')
  // What is perhaps older than what was read was not met by it, whatever stream had brought it.
  expect(await open()).toEqual(['[2]', '[3]'])
})
