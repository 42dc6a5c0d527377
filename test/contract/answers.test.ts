import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import type { ParsedRecord } from '../../src/clients/http/record.ts'
import { campaignsEndpoint } from '../../src/clients/marketplace/campaigns.ts'
import { inventoryLogEndpoint } from '../../src/clients/marketplace/inventory-log.ts'
import { ordersEndpoint, orderWrites } from '../../src/clients/marketplace/orders/orders.ts'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../src/clients/marketplace/profiles/profile.ts'
import { replenishmentEndpoint } from '../../src/clients/marketplace/replenishment.ts'
import { reconciliationEndpoint } from '../../src/clients/marketplace/reports/reconciliation-report.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import { salesChannelsEndpoint } from '../../src/clients/marketplace/sales-channels.ts'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../src/clients/marketplace/shipping-settings.ts'
import { readDisplaySettings } from '../clients/display/support.ts'
import { forever } from '../clients/servers.ts'
import { at, items, type Json } from '../sandbox/support.ts'
import { corrupt, createMangler } from './mangler.ts'
import { rehearse } from './rehearse.ts'

// Whatever an answer looks like, the client ends in records, each read or kept as its text, or in a typed failure.

const dayMs = 86_400_000
const since = () => ({ createdFrom: new Date(Date.now() - 30 * dayMs), createdTo: new Date(Date.now() + dayMs), limit: 20 })
const one = (record: ParsedRecord<unknown> | undefined): readonly ParsedRecord<unknown>[] =>
  record === undefined ? [] : [record]

const settings = {
  accountConfigs: {
    shippingPriority: 'FASTEST',
    carrierConfigs: [
      {
        carriers: [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }],
        configurations: [
          {
            regions: [{ regionCode: 'C', regionName: '48 State' }],
            addressTypes: ['STREET'],
            shippingCharge: {
              rateModelType: 'PER_SHIPMENT_PRICING',
              perShippingCharge: {
                unitOfMeasure: 'LB',
                shippingAndHandling: { amount: '4.95', currency: 'USD' },
                chargePerWeight: { amount: '0.35', currency: 'USD' },
              },
            },
          },
        ],
      },
    ],
  },
}

/** What a test knows about the marketplace that it asks. */
interface Known {
  readonly purchaseOrderId: string
  readonly sku: string
  readonly gtin: string
}

interface Asked {
  readonly name: string
  /** Which answers are corrupted. */
  readonly path: RegExp
  /** Where the records are, when there are several. */
  readonly recordsAt: readonly string[] | null
  /** What must be there first. */
  readonly first?: (client: MarketplaceClient) => Promise<unknown>
  readonly ask: (client: MarketplaceClient, known: Known) => Promise<readonly ParsedRecord<unknown>[]>
}

const signal = forever()
const options = { signal }

const createSettings = (client: MarketplaceClient) =>
  client
    .writer(shippingSettingsWrites)
    .send(client.of(shippingSettingsEndpoint).prepare(settings), { signal, correlationId: crypto.randomUUID() })

const operations: readonly Asked[] = [
  {
    name: '1 taxonomies',
    path: /taxonomies\/list$/,
    recordsAt: ['data'],
    ask: async (client) => (await readDisplaySettings(client).taxonomies.list({ startIndex: 0, count: 20 }, options)).records,
  },
  {
    name: '2 contextual targets',
    path: /targeting\/list$/,
    recordsAt: ['contextual'],
    ask: async (client) => (await readDisplaySettings(client).contextual.list({ startIndex: 0, count: 20 }, options)).records,
  },
  {
    name: '2 behavioral audiences',
    path: /targeting\/list$/,
    recordsAt: ['behavioral'],
    ask: async (client) =>
      (
        await readDisplaySettings(client).behavioral.list(
          { startIndex: 0, count: 20, audienceType: 'RETAIL', attribute: 'HISTORICAL' },
          options,
        )
      ).records,
  },
  {
    name: '3 a campaign',
    path: /sem\/campaigns\//,
    recordsAt: null,
    ask: async (client) => one((await client.of(campaignsEndpoint).get('SEM-1001', options))?.record),
  },
  {
    name: '4 the creation of shipping settings',
    path: /simplifiedshippingsettings\/account$/,
    recordsAt: null,
    ask: async (client) => one((await createSettings(client)).record),
  },
  {
    name: '4 shipping settings',
    path: /simplifiedshippingsettings$/,
    recordsAt: null,
    first: (client) => createSettings(client),
    ask: async (client) => one((await client.of(shippingSettingsEndpoint).get(options))?.record),
  },
  {
    name: '5 recommendations',
    path: /shipment-quantity$/,
    recordsAt: ['payload', 'replenishments'],
    ask: async (client, { sku }) => (await client.of(replenishmentEndpoint).recommend({ skus: [sku] }, options)).records,
  },
  {
    name: '7 the inventory log',
    path: /inventory-log$/,
    recordsAt: ['payload', 'inventoryLog'],
    ask: async (client, { sku, gtin }) => {
      const from = new Date(Date.now() - 60 * dayMs)
      return (await client.of(inventoryLogEndpoint).page({ sku, gtin, from, to: new Date(), limit: 20, offset: 0 }, options))
        .records
    },
  },
  {
    name: '8 sales channels',
    path: /channel-details$/,
    recordsAt: ['payload'],
    ask: async (client) => (await client.of(salesChannelsEndpoint).list(options))?.records ?? [],
  },
  {
    name: '9 orders',
    path: /v3\/orders$/,
    recordsAt: ['list', 'elements', 'order'],
    ask: async (client) =>
      (await client.of(ordersEndpoint).list({ shipNodeType: 'SellerFulfilled', ...since() }, options)).records,
  },
  {
    name: '9 released orders',
    path: /v3\/orders\/released$/,
    recordsAt: ['list', 'elements', 'order'],
    ask: async (client) => (await client.of(ordersEndpoint).listReleased(since(), options)).records,
  },
  {
    name: '9 an order',
    path: /v3\/orders\/\d+$/,
    recordsAt: null,
    ask: async (client, { purchaseOrderId }) => one((await client.of(ordersEndpoint).get(purchaseOrderId, options))?.record),
  },
  {
    name: '9 an acknowledgement',
    path: /acknowledge$/,
    recordsAt: null,
    ask: async (client, { purchaseOrderId }) => {
      const request = client.of(ordersEndpoint).prepare.acknowledge(purchaseOrderId)
      return one((await client.writer(orderWrites).send(request, { signal, correlationId: crypto.randomUUID() })).record)
    },
  },
  {
    name: '9 returns',
    path: /v3\/returns$/,
    recordsAt: ['returnOrders'],
    ask: async (client) => (await client.of(returnsEndpoint).list(since(), options)).records,
  },
]

/** How many records a document holds, or null when nobody could tell. */
const countIn = (text: string, recordsAt: readonly string[]): number | null => {
  try {
    const document: Json = JSON.parse(text)
    const found = at(document, ...recordsAt)
    return Array.isArray(found) ? found.length : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const rehearseAll = async (profile: Profile) => {
  const mangler = createMangler()
  const rehearsal = await rehearse(profile, { between: mangler.between, maxBodyBytes: 1_000_000 })
  const { sandbox } = rehearsal
  const line = { sku: 'MUG-ENAMEL-12', quantity: 3, unitPrice: '10.10', tax: '0.84' }
  const shipped = await sandbox.place([line])
  await sandbox.acknowledge(shipped)
  await sandbox.ship(shipped, [{ line: '1', quantity: 3 }])
  await sandbox.control('POST', '/returns', { purchaseOrderId: shipped, lines: [{ lineNumber: '1', quantity: 2 }] })
  const purchaseOrderId = await sandbox.place([line, { ...line, sku: 'LAMP-DESK-LED' }])
  const { client } = rehearsal
  const download = await client.of(replenishmentEndpoint).recommend({ skus: [line.sku] }, options)
  const [recommended] = download.records
  const gtin = recommended?.ok === true ? (recommended.value.gtin ?? '') : ''
  return { ...rehearsal, mangler, known: { purchaseOrderId, sku: line.sku, gtin } }
}

describe.each([specification, walmartUs])('answers under the profile $name', (profile) => {
  test.each(operations)('$name: read whole when nothing is wrong', async ({ first, ask, recordsAt }) => {
    const { client, known } = await rehearseAll(profile)
    await first?.(client)
    const records = await ask(client, known)
    expect(records.length).toBeGreaterThan(0)
    expect(records.filter((record) => !record.ok)).toEqual([])
    if (recordsAt !== null) for (const record of records) expect(record.rawText).not.toBe('')
  })

  test.each(operations)(
    '$name: corrupted in any way, a record is read or kept as its text, or the call fails by its kind',
    async ({ first, ask, path, recordsAt }) => {
      const { client, known, mangler } = await rehearseAll(profile)
      await first?.(client)
      await ask(client, known)
      await fc.assert(
        fc.asyncProperty(fc.nat(100_000), fc.nat(1_000), async (place, kind) => {
          let sent = ''
          mangler.mangle((body, request) => {
            if (!path.test(request.path)) return null
            sent = corrupt(body, { place, kind })
            return sent
          })
          let records: readonly ParsedRecord<unknown>[]
          try {
            records = await ask(client, known)
          } catch (error) {
            expect(error).toBeInstanceOf(MarketplaceFailure)
            return
          }
          for (const record of records) {
            if (!record.ok) expect(record.fault).not.toBe('')
            expect(record.rawText).not.toBe('')
          }
          const announced = recordsAt === null ? null : countIn(sent, recordsAt)
          if (announced !== null) expect(records.length).toBeGreaterThanOrEqual(announced)
        }),
        { numRuns: 80 },
      )
    },
  )

  test('6 the report: anything else in its place is a typed failure, and a cut one is never a shorter report', async () => {
    const { client, mangler } = await rehearseAll(profile)
    const month = new Date().toISOString().slice(0, 7)
    const read = async (): Promise<string> => {
      const report = await client.of(reconciliationEndpoint).download({ month }, options)
      const pieces: Uint8Array[] = []
      for await (const piece of report?.body ?? []) pieces.push(piece)
      return Buffer.concat(pieces).toString('utf8')
    }
    const whole = await read()
    expect(whole.split('\n').length).toBeGreaterThan(10)
    for (const instead of ['', '{"errors":[]}', '{"status":"FAIL"}', '<html>', '[]', '{"cut":']) {
      mangler.mangle((_body, { path }) => (/report/i.test(path) ? instead : null))
      await expect(read(), instead).rejects.toBeInstanceOf(MarketplaceFailure)
    }
  })
})

test('the sandbox under walmart-us answers nothing to a client that speaks the specification’s dialect', async () => {
  const { url } = await rehearse(walmartUs)
  const answer = await fetch(`${url}/v3/orders`, { headers: { 'XX_SVC.NAME': 'x', accept: 'application/json' } })
  expect(answer.status).toBe(401)
  expect(items(JSON.parse(await answer.text()), 'errors', 'error')).toHaveLength(1)
})
