import { expect, test } from 'vitest'
import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import type { Page } from '../../src/clients/http/record.ts'
import { campaignsEndpoint } from '../../src/clients/marketplace/campaigns.ts'
import { inventoryLogEndpoint } from '../../src/clients/marketplace/inventory-log.ts'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { specification } from '../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../src/clients/marketplace/profiles/profile.ts'
import { replenishmentEndpoint } from '../../src/clients/marketplace/replenishment.ts'
import { reconciliationEndpoint } from '../../src/clients/marketplace/reports/reconciliation-report.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import { salesChannelsEndpoint } from '../../src/clients/marketplace/sales-channels.ts'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../src/clients/marketplace/shipping-settings.ts'
import { shippingSettingsSchema } from '../../src/domain/campaigns/shipping-settings.ts'
import { readDisplaySettings } from '../clients/display/support.ts'
import { forever } from '../clients/servers.ts'
import { createMangler } from '../contract/mangler.ts'
import { buildFailure, rehearse } from '../contract/rehearse.ts'
import { settings } from '../domain/support/shipping-settings.ts'

// What the specification gives in several spellings, and where everything is asked: the client over the sandbox.

const dayMs = 86_400_000
const options = () => ({ signal: forever() })
const asWrite = () => ({ signal: forever(), correlationId: crypto.randomUUID() })

const lastMonth = (): string => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
}

const buildKeys = (page: Page<unknown> | null): readonly (string | null)[] => {
  for (const record of page?.records ?? []) if (!record.ok) throw new Error(record.fault)
  return page?.records.map(({ key }) => key) ?? []
}

const readReport = async (client: MarketplaceClient): Promise<string> => {
  const report = await client.of(reconciliationEndpoint).download({ month: lastMonth() }, options())
  const pieces: Uint8Array[] = []
  for await (const piece of report?.body ?? []) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

test('every operation is asked at the path that the specification gives, the version in it', async () => {
  const mangler = createMangler()
  const { client, sandbox } = await rehearse(specification, { between: mangler.between })
  const asked: string[] = []
  mangler.mangle((_body, { method, path }) => {
    asked.push(`${method} ${path}`)
    return null
  })
  const id = await sandbox.place([{ sku: 'MUG-ENAMEL-12', quantity: 3, unitPrice: '10.00' }])
  const window = { createdFrom: new Date(Date.now() - dayMs), createdTo: new Date(Date.now() + dayMs), limit: 10 }
  const range = { startIndex: 0, count: 10 }
  const { prepare } = client.of(ordersEndpoint)
  const reason = 'SELLER_CANCEL_OUT_OF_STOCK'
  const parcel = {
    quantity: 2,
    carrier: 'UPS',
    trackingNumber: 'T1',
    trackingUrl: null,
    methodCode: 'Standard',
    shippedAt: new Date(),
  }
  const charge = { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-10.00', currency: 'USD', tax: null }
  const log = { sku: 'MUG-ENAMEL-12', gtin: null, from: window.createdFrom, to: new Date(), limit: 50, offset: 0 }

  await readDisplaySettings(client).taxonomies.list(range, options())
  await readDisplaySettings(client).contextual.list(range, options())
  await client.of(campaignsEndpoint).get('SEM-1001', options())
  await client
    .writer(shippingSettingsWrites)
    .send(client.of(shippingSettingsEndpoint).prepare(shippingSettingsSchema.parse(settings())), asWrite())
  await client.of(replenishmentEndpoint).recommend({ skus: [log.sku] }, options())
  await readReport(client)
  await client.of(inventoryLogEndpoint).page(log, options())
  await client.of(salesChannelsEndpoint).list(options())
  await client.of(ordersEndpoint).list({ shipNodeType: 'SellerFulfilled', ...window }, options())
  await client.of(ordersEndpoint).listReleased(window, options())
  await client.of(ordersEndpoint).get(id, options())
  await client.writer(orderWrites).send(prepare.acknowledge(id), asWrite())
  await client
    .writer(orderWrites)
    .send(prepare.ship({ purchaseOrderId: id, lines: [{ lineNumber: '1', shipments: [parcel] }] }), asWrite())
  await client
    .writer(orderWrites)
    .send(prepare.cancel({ purchaseOrderId: id, lines: [{ lineNumber: '1', quantity: 1, reason }] }), asWrite())
  const refunded = { lineNumber: '1', quantity: 1, reason: 'DamagedItem', charges: [charge] }
  await client.writer(orderWrites).send(prepare.refund({ purchaseOrderId: id, lines: [refunded] }), asWrite())
  await client.of(returnsEndpoint).list(window, options())

  expect(asked.filter((request) => request !== 'POST /v3/token')).toEqual([
    'POST /api/v1/taxonomies/list',
    'POST /api/v2/targeting/list',
    'GET /v3/advertising/sem/campaigns/SEM-1001',
    'POST /v3/settings/shipping/simplifiedshippingsettings/account',
    'POST /v3/wfs/recommendation/shipment-quantity',
    'GET /v3/report/wfs/InventoryReconciliationReport',
    'GET /v3/fulfillment/inventory-log',
    'GET /v3/fulfillment/orders-fulfillments/channel-details',
    'GET /v3/orders',
    'GET /v3/orders/released',
    `GET /v3/orders/${id}`,
    `POST /v3/orders/${id}/acknowledge`,
    `POST /v3/orders/${id}/shipping`,
    `POST /v3/orders/${id}/cancel`,
    `POST /v3/orders/${id}/refund`,
    'GET /v3/returns',
  ])
})

test('a recommendation is given on both paths, for SKUs in the body or in the query', async () => {
  const { replenishmentRequest, ...others } = specification
  const inbound = '/v3/wfs/recommendations/inbound'
  const variants: readonly Profile[] = [
    specification,
    { ...specification, replenishmentPath: inbound },
    { ...others, replenishmentRequest: { ...replenishmentRequest, keysIn: 'query' } },
    { ...others, replenishmentPath: inbound, replenishmentRequest: { ...replenishmentRequest, keysIn: 'query' } },
  ]
  for (const profile of variants) {
    const { client } = await rehearse(profile)
    const page = await client.of(replenishmentEndpoint).recommend({ skus: ['MUG-ENAMEL-12', 'TENT-2P'] }, options())
    expect([...buildKeys(page)].sort()).toEqual(['MUG-ENAMEL-12', 'TENT-2P'])
  }
})

test('the report is the same on both paths', async () => {
  const rows: number[] = []
  for (const reconciliationPath of [specification.reconciliationPath, '/v3/report/wfs/inventory-reconciliation-report']) {
    const { client } = await rehearse({ ...specification, reconciliationPath })
    const text = await readReport(client)
    expect(text).toMatch(/^"?GTIN/)
    rows.push(text.trimEnd().split('\n').length)
  }
  expect(rows[0]).toBeGreaterThan(10)
  expect(rows[1]).toBe(rows[0])
})

test('channel details are given with either spelling of the header names', async () => {
  for (const headerSpelling of ['underscored', 'plain'] as const) {
    const { client } = await rehearse({
      ...specification,
      channelDetails: { ...specification.channelDetails, headerSpelling },
    })
    expect(buildKeys(await client.of(salesChannelsEndpoint).list(options())).length).toBeGreaterThan(0)
  }
})

test('filters of a taxonomy combine, one name or several, and too many are a refusal by its name', async () => {
  const { client, sandbox } = await rehearse()
  const { taxonomies } = readDisplaySettings(client)
  const all = { startIndex: 0, count: 2_000 }
  const ask = async (query: object) => buildKeys(await taxonomies.list({ ...all, ...query }, options()))
  const whole = await ask({})
  const books = await ask({ filters: { department: ['Books'] } })
  expect(books).toEqual(whole.filter((key) => key?.startsWith('3 | Books | ')))
  expect(await ask({ filters: { department: ['Books'], category: ['History'] } })).toEqual(
    books.filter((key) => key?.startsWith('3 | Books | History | ')),
  )
  expect(await ask({ level: 2, filters: { department: ['Books'], category: ['History'] } })).toEqual(['2 | Books | History'])
  expect(await ask({ level: 1, filters: { category: ['History'] } })).toEqual(['1 | Books'])
  const ofBrand = await ask({ filters: { brandName: ['Arvale'] } })
  expect(ofBrand.length).toBeGreaterThan(0)
  expect(ofBrand.length).toBeLessThan(whole.length)
  await sandbox.control('PUT', '/display', { maxFilterValues: 1 })
  const failure = await buildFailure(taxonomies.list({ ...all, filters: { department: ['Books', 'Pets'] } }, options()))
  expect(failure).toMatchObject({ kind: 'refused', faults: [{ code: 'TOO_MANY_FILTERS_PROVIDED_IN_REQUEST' }] })
})

test('targets are found by tactic, id, kind, text and range', async () => {
  const { client } = await rehearse()
  const { contextual: targets, behavioral: audiences } = readDisplaySettings(client)
  const all = { startIndex: 0, count: 5_000 }
  const contextual = buildKeys(await targets.list(all, options()))
  expect(buildKeys(await targets.list({ startIndex: 5, count: 10 }, options()))).toEqual(contextual.slice(5, 15))
  const [first = '', second = ''] = contextual
  const two = await targets.list({ ...all, ids: [String(second), String(first)] }, options())
  expect([...buildKeys(two)].sort()).toEqual([first, second].sort())
  const bath = await targets.list({ ...all, searchText: 'bath' }, options())
  expect(bath.records.length).toBeGreaterThan(1)
  for (const record of bath.records) expect(record.ok && record.value.name?.toLowerCase()).toContain('bath')
  const retail = await audiences.list({ ...all, audienceType: 'RETAIL', attribute: 'PREDICTIVE' }, options())
  expect(retail.records.length).toBeGreaterThan(0)
  for (const { ok, ...record } of retail.records) {
    expect([ok, record]).toMatchObject([true, { value: { audienceType: 'RETAIL', attribute: 'PREDICTIVE' } }])
  }
})
