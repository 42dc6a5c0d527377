import { expect, test } from 'vitest'
import { sellerOfJob } from '../../src/daemon/seller-of-job.ts'
import { insertEvents } from '../../src/store/events.ts'
import { createWebhook } from '../../src/store/webhook-endpoints.ts'
import { acknowledgement, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

const received = (id: string, sellerId: string | null) => ({
  source: 'urn:erp',
  id,
  type: 'erp.order.accepted',
  data: { purchaseOrderId: '1' },
  bodyHash: 'ab'.repeat(32),
  sellerId,
  state: 'received' as const,
})

test('whose work a job is stands in its data, or in the row that it is about', async () => {
  const { database } = stage
  const commandId = await storeCommand(database, { sellerId: 's-1', purchaseOrderId: '1' }, acknowledgement)
  await database.transaction(async (tx) => {
    await insertEvents(tx, [received('1', 's-2'), received('2', null)])
    const endpoint = { url: 'https://erp.example/hook', types: [], secret: 'x'.repeat(32), after: 0n }
    await createWebhook(tx, { ...endpoint, id: 'wh_1', sellerId: 's-3' })
    await createWebhook(tx, { ...endpoint, id: 'wh_2', sellerId: null })
  })
  const sellerOf = sellerOfJob(database)
  const deliver = (endpointId: string) => sellerOf({ name: 'webhook.deliver', data: { endpointId, deliveryId: '1' } })
  const event = (id: string) => sellerOf({ name: 'event.process', data: { source: 'urn:erp', id } })
  expect(await sellerOf({ name: 'command.run', data: { commandId } })).toBe('s-1')
  expect(await sellerOf({ name: 'command.run', data: { commandId: crypto.randomUUID() } })).toBeNull()
  expect([await event('1'), await event('2'), await event('3')]).toEqual(['s-2', null, null])
  expect([await deliver('wh_1'), await deliver('wh_2'), await deliver('wh_3')]).toEqual(['s-3', null, null])
  expect(await sellerOf({ name: 'sync.run', data: { sellerId: 's-4', resource: 'orders', stream: 'all' } })).toBe('s-4')
  expect(await sellerOf({ name: 'seller.probe', data: { sellerId: 's-5' } })).toBe('s-5')
  expect(await sellerOf({ name: 'housekeeping.run', data: { task: 'trim' } })).toBeNull()
})
