import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../../src/clients/marketplace/shipping-settings.ts'
import { parseShippingSettings } from '../../../src/clients/marketplace/shipping-settings-record.ts'
import { shippingSettingsSchema } from '../../../src/domain/campaigns/shipping-settings.ts'
import { storeShippingSettings } from '../../../src/store/campaigns/shipping-settings.ts'
import { sendJson, startClient, startMarketplace } from '../../clients/servers.ts'
import { settings } from '../../domain/support/shipping-settings.ts'
import { type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const resource = 'shipping-settings'
const path = '/v3/settings/shipping/simplifiedshippingsettings'
const buildRow = async ({ sellerId }: TestSeller) =>
  (
    await bench.database.query(
      'SELECT shipping_priority, source, missing_since IS NOT NULL AS missing FROM warehouse.shipping_settings WHERE seller_id = $1',
      sellerId,
    )
  )[0]
const readEnrolment = ({ sellerId }: TestSeller) =>
  bench.database.query('SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1 AND resource = $2', sellerId, resource)
const create = async ({ client }: TestSeller, overrides: object = {}): Promise<void> => {
  const request = client.of(shippingSettingsEndpoint).prepare(shippingSettingsSchema.parse(settings(overrides)))
  await client
    .writer(shippingSettingsWrites)
    .send(request, { signal: AbortSignal.timeout(10_000), correlationId: crypto.randomUUID() })
}
const remove = async ({ sellerId }: TestSeller): Promise<void> => {
  const answer = await fetch(`${bench.sandbox.url}/_sandbox/sellers/${sellerId}/shipping-settings`, { method: 'DELETE' })
  if (!answer.ok) throw new Error(await answer.text())
}
const types = async (seller: TestSeller) => (await seller.changes()).map((change) => change.type)

describe('the sync of shipping settings', () => {
  test('stores what exists, notes what is gone, and writes nothing for what it knows', async () => {
    const seller = await bench.seller()
    await seller.sync(resource, 'current')
    expect(await buildRow(seller)).toBeUndefined()
    await create(seller)
    await seller.sync(resource, 'current')
    expect(await buildRow(seller)).toEqual({ shipping_priority: 'FASTEST', source: 'found', missing: false })
    await seller.sync(resource, 'current')
    expect(await seller.runs('current')).toMatchObject([
      { pages: 1, seen: 0, changed: 0 },
      { pages: 1, seen: 1, changed: 1 },
      { pages: 1, seen: 1, changed: 0 },
    ])
    await remove(seller)
    await seller.sync(resource, 'current')
    expect(await buildRow(seller)).toMatchObject({ missing: true })
    await create(seller, { shippingPriority: 'COST_SAVINGS' })
    await seller.sync(resource, 'current')
    expect(await buildRow(seller)).toEqual({ shipping_priority: 'COST_SAVINGS', source: 'found', missing: false })
    expect((await types(seller)).filter((type) => type.startsWith('shipping_settings'))).toEqual([
      'shipping_settings.created',
      'shipping_settings.missing',
      'shipping_settings.created',
    ])
    expect(await readEnrolment(seller)).toEqual([{ enrolled: true }])
  })

  test('does not undo what was stored while the answer "none" was in progress', async () => {
    const seller = await bench.seller()
    const asked = Promise.withResolvers<void>()
    const mayAnswer = Promise.withResolvers<void>()
    let held = false
    const server = await startMarketplace(async (_request, response) => {
      if (held) {
        asked.resolve()
        await mayAnswer.promise
      }
      sendJson(response, 200, { simplifiedShippingSettings: null })
    })
    const { client } = startClient(server.url, { connection: { sellerId: seller.sellerId } })
    // From now on the marketplace's clock is known.
    expect(await client.of(shippingSettingsEndpoint).get({ signal: AbortSignal.timeout(10_000) })).toBeNull()
    held = true
    const run = seller.once(resource, 'current', { client: () => client })
    await asked.promise
    const record = parseShippingSettings(JSON.stringify(settings()))
    if (!record.ok) throw new Error(record.fault)
    const later = new Date(client.clock().now().getTime() + 1)
    await bench.database.transaction((tx) => storeShippingSettings(tx, seller.sellerId, later, record))
    await delay(20)
    mayAnswer.resolve()
    expect(await run).toEqual({ done: true })
    expect(await buildRow(seller)).toMatchObject({ missing: false })
  })

  test('does not ask every day where the marketplace has no such read', async () => {
    const seller = await bench.seller()
    await bench.sandbox.next({
      operation: 'shipping-settings.get',
      sellerId: seller.sellerId,
      fault: 'okWithErrors',
      status: 404,
    })
    await seller.sync(resource, 'current')
    expect(await readEnrolment(seller)).toEqual([{ enrolled: false }])
    await seller.sync(resource, 'current')
    expect((await seller.requests()).filter((request) => request === `GET ${path}`)).toHaveLength(1)
    expect(await buildRow(seller)).toBeUndefined()
  })
})
