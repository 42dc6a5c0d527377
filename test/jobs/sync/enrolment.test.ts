import { expect, test } from 'vitest'
import { expireEnrolment } from '../../../src/store/sync/enrolments.ts'
import { numbered } from '../../support/changes.ts'
import { withSyncBench } from './support.ts'

const bench = withSyncBench()

test('an enrolment that ends and one that begins are reported once each, however often and by whomever it is asked', async () => {
  const { sellerId, sync } = await bench.seller()
  const enrol = (multichannel: boolean) =>
    bench.sandbox.control('PUT', '/enrolment', { sellerId, multichannel, answer: 'content-not-found' })
  const ask = () => sync('sales-channels', 'all')
  const askedByPerson = async () => {
    await expireEnrolment(bench.database, sellerId, 'sales-channels')
    await ask()
  }
  const told = async () =>
    (
      await (
        await numbered(bench.database)
      ).query<{ enrolled: boolean }>(
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

test('the 404 of the framework is believed when it comes three times in a row, a page of the gateway never', async () => {
  const { sellerId, once, state, sync } = await bench.seller()
  const enrol = (multichannel: boolean) =>
    bench.sandbox.control('PUT', '/enrolment', { sellerId, multichannel, answer: 'spring' })
  const run = () => once('sales-channels', 'all')
  const enrolments = () => bench.database.query('SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1', sellerId)
  for (let time = 0; time < 4; time += 1) {
    await bench.sandbox.next({ fault: 'html', status: time % 2 === 0 ? 404 : 403, sellerId, operation: 'sales-channels.list' })
    await expect(run()).rejects.toMatchObject({ kind: 'unavailable' })
  }
  expect(await enrolments()).toEqual([])
  await enrol(false)
  for (let time = 0; time < 2; time += 1) await expect(run()).rejects.toMatchObject({ kind: 'unavailable', httpStatus: 404 })
  // An answer in between: the row begins anew.
  await enrol(true)
  await sync('sales-channels', 'all')
  expect(await enrolments()).toEqual([{ enrolled: true }])
  await enrol(false)
  for (let time = 0; time < 2; time += 1) await expect(run()).rejects.toMatchObject({ kind: 'unavailable', httpStatus: 404 })
  expect(await state('all')).toMatchObject({
    failures: 2,
    last_error: expect.stringContaining('not from the marketplace itself'),
  })
  expect(await run()).toEqual({ done: true })
  expect(await enrolments()).toEqual([{ enrolled: false }])
  expect(await state('all')).toMatchObject({ failures: 0, last_error: null })
})
