import { describe, expect, test } from 'vitest'
import { createNarrowing } from '../../src/jobs/monitoring/drift-recorder.ts'
import { closeAlarm } from '../../src/store/alarms/alarms.ts'
import { listDrift, recordDrift, type SeenDrift } from '../../src/store/sync/drift.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

const field: SeenDrift = {
  ...{ sellerId: 's-1', operation: 'orders.list', kind: 'field', path: 'loyaltyTier', value: '', example: 'object', count: 2 },
}
const status: SeenDrift = {
  ...{
    sellerId: 's-1',
    operation: 'orders.list',
    kind: 'value',
    path: 'lines[].status',
    value: 'OnHold',
    example: 'OnHold',
    count: 1,
  },
}

const record = (...seen: readonly SeenDrift[]): Promise<void> => recordDrift(stage.database, seen)
const list = async (filter: Partial<Parameters<typeof listDrift>[1]> = {}) =>
  (await listDrift(stage.database, { sellerId: null, operation: null, kind: null, ...filter }, null, 100)).items
const places = async (filter: Parameters<typeof list>[0] = {}) =>
  (await list(filter)).map(({ sellerId, path, value, count }) => `${sellerId} ${path} ${value} ${count}`)
const alarms = () =>
  stage.database.query<{ id: bigint; subject: string; message: string }>(
    `SELECT id, subject, message FROM tallyman.alarms WHERE kind = 'marketplace-drift' AND seller_id = '' AND resolved_at IS NULL ORDER BY id`,
  )
const subjects = async () => (await alarms()).map(({ subject }) => subject)

describe('recorded drift', () => {
  test('counts a place that is seen again, and keeps when it was first seen', async () => {
    await record(field)
    const [first] = await list()
    await record({ ...field, example: 'number', count: 3 }, status)
    expect(await places()).toEqual(['s-1 lines[].status OnHold 1', 's-1 loyaltyTier  5'])
    const [, again] = await list()
    expect(again).toMatchObject({ example: 'object', firstSeenAt: first?.firstSeenAt })
    expect(again?.lastSeenAt.getTime()).toBeGreaterThanOrEqual(first?.lastSeenAt.getTime() ?? Number.NaN)
  })

  test('opens one alarm for each place, whatever sellers have it', async () => {
    await record(field, status, { ...field, sellerId: 's-2' })
    await record({ ...field, sellerId: 's-3' }, { ...status, value: 'Lost', example: 'Lost' })
    expect(await subjects()).toEqual([
      'orders/field/loyaltyTier',
      'orders/value/lines[].status=OnHold',
      'orders/value/lines[].status=Lost',
    ])
    // Other operations return the same record.
    await record({ ...field, operation: 'orders.get' }, { ...status, operation: 'orders.acknowledge' })
    expect(await subjects()).toHaveLength(3)
    expect(await list({ operation: 'orders.get' })).toHaveLength(1)
    await record({ ...field, operation: 'returns.list' })
    expect((await subjects()).at(-1)).toBe('returns/field/loyaltyTier')
    const [{ message } = { message: '' }] = await alarms()
    expect(message).toBe('records of orders have the unknown field loyaltyTier (object), seen first in answers of orders.list')
  })

  test('opens no other alarm for a place whose alarm a person has resolved', async () => {
    await record(field)
    const [{ id } = { id: 0n }] = await alarms()
    await closeAlarm(stage.database, { id, by: { actor: 'kim' }, reason: 'announced' })
    await record(field, { ...field, sellerId: 's-2' })
    expect([await subjects(), await places()]).toEqual([[], ['s-2 loyaltyTier  2', 's-1 loyaltyTier  4']])
  })

  test('opens one alarm for an operation with announcements, again for another date', async () => {
    const header: SeenDrift = { ...field, kind: 'header', path: 'sunset', value: 'Sat, 27 Mar 2027', example: 'Sat, 27 Mar 2027' }
    const deprecated = () =>
      stage.database.query<{ id: bigint; subject: string; message: string }>(
        `SELECT id, subject, message FROM tallyman.alarms WHERE kind = 'operation-deprecated' AND resolved_at IS NULL`,
      )
    await record(header, { ...header, path: 'deprecation', value: 'true', example: 'true' }, { ...header, sellerId: 's-2' })
    const [alarm, ...others] = await deprecated()
    expect([alarm?.subject, alarm?.message, others]).toEqual([
      'orders.list',
      'the marketplace announces the end of orders.list: deprecation: true, sunset: Sat, 27 Mar 2027',
      [],
    ])
    await closeAlarm(stage.database, { id: alarm?.id ?? 0n, by: { actor: 'kim' }, reason: 'planned' })
    await record(header)
    expect(await deprecated()).toEqual([])
    await record({ ...header, value: 'Sun, 28 Mar 2027', example: 'Sun, 28 Mar 2027' })
    expect(await deprecated()).toHaveLength(1)
    expect(await subjects()).toEqual([])
  })

  test('is listed by seller, operation and kind, in pages', async () => {
    await record(field, status, { ...field, sellerId: 's-2', operation: 'returns.list' })
    expect(await places({ sellerId: 's-2' })).toEqual(['s-2 loyaltyTier  2'])
    expect(await places({ operation: 'orders.list', kind: 'field' })).toEqual(['s-1 loyaltyTier  2'])
    const filter = { sellerId: null, operation: null, kind: null }
    const { items, next } = await listDrift(stage.database, filter, null, 2)
    expect([items.length, (await listDrift(stage.database, filter, next, 2)).items.length]).toEqual([2, 1])
  })
})

test('names of an object that is keyed by data are told apart up to a limit', () => {
  const narrow = createNarrowing()
  const paths = Array.from({ length: 25 }, (_, at) => narrow({ ...field, path: `stock.SKU-${at}` }).path)
  expect(paths.slice(18, 22)).toEqual(['stock.SKU-18', 'stock.SKU-19', 'stock.*', 'stock.*'])
  expect(narrow({ ...field, path: 'stock.SKU-3' }).path).toBe('stock.SKU-3')
  expect(narrow({ ...field, path: 'other.SKU-30' }).path).toBe('other.SKU-30')
  const words = Array.from({ length: 25 }, (_, at) => narrow({ ...status, value: `Word${'a'.repeat(at)}` }).value)
  expect(new Set(words).size).toBe(21)
})
