import { expect, test } from 'vitest'
import { findJobSeller } from '../../src/jobs/dispatch/job-properties.ts'
import type { PlainJob } from '../../src/queues/jobs.ts'
import { insertEvents } from '../../src/store/events/events.ts'
import { createWebhook } from '../../src/store/webhooks/webhook-endpoints.ts'
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
  const findSeller = (job: PlainJob) => findJobSeller(database, job)
  const deliver = (endpointId: string) => findSeller({ name: 'webhook.deliver', data: { endpointId, deliveryId: '1' } })
  const event = (id: string) => findSeller({ name: 'event.process', data: { source: 'urn:erp', id } })
  expect(await findSeller({ name: 'command.run', data: { commandId } })).toBe('s-1')
  expect(await findSeller({ name: 'command.run', data: { commandId: crypto.randomUUID() } })).toBeNull()
  expect([await event('1'), await event('2'), await event('3')]).toEqual(['s-2', null, null])
  expect([await deliver('wh_1'), await deliver('wh_2'), await deliver('wh_3')]).toEqual(['s-3', null, null])
  expect(await findSeller({ name: 'sync.run', data: { sellerId: 's-4', resource: 'orders', stream: 'all' } })).toBe('s-4')
  expect(await findSeller({ name: 'seller.probe', data: { sellerId: 's-5' } })).toBe('s-5')
  expect(await findSeller({ name: 'maintenance.run', data: { task: 'trim' } })).toBeNull()
})
