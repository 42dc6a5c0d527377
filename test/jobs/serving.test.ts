import { expect, test } from 'vitest'
import { requeue } from '../../src/jobs/dispatch/requeue.ts'
import { createServing } from '../../src/jobs/sellers/serving.ts'
import { findDueCommands } from '../../src/store/commands/commands.ts'
import { readWaitingSubject } from '../../src/store/events/events.ts'
import { isSellerServed } from '../../src/store/sellers/sellers.ts'
import { acknowledgement, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'

const stage = withDatabase({ each: 'test', connections: 4 })

/** What one process says of the sellers that it serves. */
const serving = (...sellerIds: readonly string[]) =>
  createServing({
    database: stage.database,
    sellers: {
      ids: () => sellerIds,
      only: () => (sellerIds.length === 1 ? (sellerIds[0] ?? null) : null),
      configured: (sellerId) => ({ sellerId, credentialsFingerprint: 'f', resumes: 0 }),
    },
  })
/** As if so much time had passed since anybody said that he serves a seller. */
const silentFor = (sellerId: string, seconds: number) =>
  stage.database.execute(
    `UPDATE tallyman.sellers SET served_at = now() - $2::float8 * interval '1 second' WHERE seller_id = $1`,
    sellerId,
    seconds,
  )

test('a job of a seller whom another process serves goes back for less than a second, any number of times', async () => {
  await serving('s-1').begin('start')
  for (const random of [0, 0.999]) {
    const before = Date.now()
    const outcome = await requeue({ database: stage.database, random: () => random }, 's-1', 499)
    if (!('runAgainAt' in outcome)) throw new Error('it is not requeued')
    expect(outcome.runAgainAt.getTime()).toBeGreaterThanOrEqual(before + 500)
    expect(outcome.runAgainAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000)
  }
  // The queue would fail it after too many starts; the relay brings it again instead.
  expect(await requeue({ database: stage.database }, 's-1', 500)).toEqual({ done: true })
})

test('a job of a seller whom nobody serves ends, and its commands are derived again when somebody does', async () => {
  const one = serving('s-1')
  await one.begin('start')
  await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 1)]))
  const commandId = await storeCommand(stage.database, { sellerId: 's-1', purchaseOrderId: '1' }, acknowledgement)
  expect(await findDueCommands(stage.database, 10)).toEqual([commandId])
  await silentFor('s-1', 121)
  expect(await requeue({ database: stage.database }, 's-1')).toEqual({ done: true })
  expect(await requeue({ database: stage.database }, 'never-seen')).toEqual({ done: true })
  expect(await findDueCommands(stage.database, 10)).toEqual([])
  await one.say()
  expect(await findDueCommands(stage.database, 10)).toEqual([commandId])
})

test('each process speaks for its own sellers', async () => {
  const [one, two] = [serving('s-1'), serving('s-2')]
  await one.begin('start')
  await two.begin('start')
  await silentFor('s-1', 121)
  await silentFor('s-2', 121)
  const served = () => Promise.all(['s-1', 's-2'].map((sellerId) => isSellerServed(stage.database, sellerId)))
  expect(await served()).toEqual([false, false])
  await two.say()
  expect(await served()).toEqual([false, true])
  await one.begin('settings')
  expect(await served()).toEqual([true, true])
})

test('of a waiting event it is known at the first look whether anybody serves its seller', async () => {
  await serving('s-1').begin('start')
  await stage.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data)
     SELECT '/inbox', seller, 'erp.order.accepted', jsonb_build_object('sellerId', seller, 'purchaseOrderId', '1') FROM unnest(ARRAY['s-1', 's-2']) seller`,
  )
  const isServed = async (id: string) => (await readWaitingSubject(stage.database, { source: '/inbox', id }))?.isServed
  expect([await isServed('s-1'), await isServed('s-2')]).toEqual([true, false])
  await silentFor('s-1', 121)
  expect(await isServed('s-1')).toBe(false)
})
