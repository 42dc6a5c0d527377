import { afterAll, beforeAll, expect, test } from 'vitest'
import { askEnrolmentAgain } from '../../../src/store/enrolments.ts'
import { type SyncBench, startSyncBench } from './support.ts'

let bench: SyncBench
beforeAll(async () => {
  bench = await startSyncBench()
})
afterAll(async () => {
  await bench.stop()
})

test('an enrolment that ends and one that begins are told once each, however often and by whomever it is asked', async () => {
  const { sellerId, sync } = await bench.seller()
  const enrol = (multichannel: boolean) => bench.sandbox.control('PUT', '/enrolment', { sellerId, multichannel })
  const ask = () => sync('sales-channels', 'all')
  const askedByPerson = async () => {
    await askEnrolmentAgain(bench.database, sellerId, 'sales-channels')
    await ask()
  }
  const told = async () =>
    (
      await bench.database.query<{ enrolled: boolean }>(
        `SELECT (data ->> 'enrolled')::boolean AS enrolled FROM warehouse.changes
         WHERE seller_id = $1 AND type = 'seller.enrolment_changed' ORDER BY seq`,
        sellerId,
      )
    ).map(({ enrolled }) => enrolled)
  await ask()
  await ask()
  expect(await told()).toEqual([])
  await enrol(false)
  await ask()
  expect(await told()).toEqual([false])
  await bench.database.execute(
    `UPDATE tallyman.enrolments SET checked_at = checked_at - interval '8 days' WHERE seller_id = $1`,
    sellerId,
  )
  await ask()
  await askedByPerson()
  await askedByPerson()
  expect(await told()).toEqual([false])
  await enrol(true)
  await ask()
  expect(await told()).toEqual([false])
  await askedByPerson()
  await askedByPerson()
  expect(await told()).toEqual([false, true])
})
