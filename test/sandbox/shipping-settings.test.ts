import { describe, expect, test } from 'vitest'
import type { SandboxOptions } from '../../sandbox/server.ts'
import { buildDialect } from '../../sandbox/settings.ts'
import { at, connect, items, type Json, type Reply, startTestSandbox, type TestClient } from './support.ts'

const path = '/v3/settings/shipping/simplifiedshippingsettings'
const globalHeaders = { XX_GLOBAL_VERSION: '3.1', XX_MARKET: 'us' }
const seller = '/sellers/sandbox-seller'

interface SettingsTest {
  readonly client: TestClient
  create(settings: unknown, headers?: Readonly<Record<string, string | null>>): Promise<Reply>
  read(): Promise<Reply>
}

const started = async (options: Partial<SandboxOptions> = {}): Promise<SettingsTest> => {
  const sandbox = await startTestSandbox(options)
  const client = await connect(sandbox.url, { prefix: options.dialect?.headerPrefix ?? 'XX' })
  await client.control('PUT', '/limits', { enabled: false })
  return {
    client,
    create: (settings, headers = {}) =>
      client.call('POST', `${path}/account`, { simplifiedShippingSettings: settings }, { ...globalHeaders, ...headers }),
    read: () => client.call('GET', path),
  }
}

const money = (amount: unknown, currency = 'USD'): object => ({ amount, currency })
const mainland = { regionCode: 'C', regionName: '48 State' }
const charge = (rates: object = {}): object => ({
  rateModelType: 'PER_SHIPMENT_PRICING',
  perShippingCharge: { unitOfMeasure: 'LB', shippingAndHandling: money(4.99), chargePerWeight: money(0.5), ...rates },
})
const configuration = (more: object = {}): object => ({
  regions: [mainland],
  addressTypes: ['STREET'],
  shippingCharge: charge(),
  ...more,
})
const carrier = (carrierName: string, carrierService: string): object => ({ carrierName, carrierService })
const config = (more: object = {}): object => ({
  carriers: [carrier('UPS', 'UPS_GROUND')],
  configurations: [configuration()],
  ...more,
})
const settings = (...carrierConfigs: readonly object[]): object => ({
  accountConfigs: { shippingPriority: 'FASTEST', migrateFreeShippingOffers: true, carrierConfigs },
})

/** `field: description` of each error. */
const faults = (reply: Reply): string[] =>
  items(reply.json, 'errors').map((error) => `${at(error, 'field')}: ${at(error, 'description')}`)

/** Settings whose only region has these states. */
const withStates = (codes: readonly string[]): object =>
  settings(
    config({
      configurations: [configuration({ regions: [{ ...mainland, states: codes.map((stateCode) => ({ stateCode })) }] })],
    }),
  )
const allStates =
  'AL AZ AR CA CO CT DE DC FL GA ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY'.split(
    ' ',
  )
const withCharge = (shippingCharge: unknown): object => settings(config({ configurations: [configuration({ shippingCharge })] }))
const withConfiguration = (more: object): object => settings(config({ configurations: [configuration(more)] }))

describe('POST …/simplifiedshippingsettings/account', () => {
  test('success gives the settings as stored: carrier configurations in another order', async () => {
    const { create, read } = await started()
    const first = config()
    const second = config({
      carriers: [carrier('USPS', 'USPS_PRIORITY_MAIL')],
      configurations: [
        configuration({
          regions: [
            { regionCode: 'H', regionName: 'AK and HI' },
            { regionCode: 'P', regionName: 'US Protectorates' },
          ],
          addressTypes: ['STREET', 'PO_BOX'],
          shippingCharge: charge({ chargePerWeight: null, chargePerItem: money(700) }),
        }),
      ],
    })
    const reply = await create(settings(first, second))
    const expected = { simplifiedShippingSettings: settings(second, first) }
    expect([reply.status, reply.json]).toEqual([200, expected])
    expect((await read()).json).toEqual(expected)
  })

  test('the migration flag may be omitted', async () => {
    const { create } = await started()
    const reply = await create({ accountConfigs: { shippingPriority: 'FASTEST', carrierConfigs: [config()] } })
    expect(at(reply.json, 'simplifiedShippingSettings', 'accountConfigs', 'migrateFreeShippingOffers')).toBe(false)
  })

  test('every error has all the parts that are shown', async () => {
    const { create } = await started()
    const reply = await create(settings(config({ carriers: [carrier('Pigeon', 'UPS_GROUND'), carrier('UPS', 'UPS_GROUND')] })))
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        errors: [
          {
            code: 'INVALID_REQUEST_CONTENT.INVALID_REQUEST',
            field: 'carrierName',
            description: "Invalid carrier name 'Pigeon'.",
            info: "Invalid carrier name 'Pigeon'.",
            severity: 'ERROR',
            category: 'DATA',
            causes: [],
            errorIdentifiers: {},
          },
        ],
      },
    ])
  })

  const overcharged = 'perShippingCharge: Amount cannot exceed the maximum allowed limit 700.'
  const noCharge = 'shippingCharges: Shipping charge object cannot be empty.'
  const noRates = 'shippingCharges: Shipping charges must be provided in perShippingCharges.'
  const twice = 'shippingCharges: Duplicate regions are not allowed at account level for carrier and node:'
  test.each<[string, object, string]>([
    ['a state twice', withStates([...allStates, 'TX', 'OH', 'TX']), 'stateCode: Duplicate state codes: TX, OH.'],
    [
      'a service of another carrier',
      settings(config({ carriers: [carrier('USPS', 'UPS_GROUND')] })),
      "carrierName: Provided carrier service 'UPS_GROUND' is not valid for carrier 'USPS'.",
    ],
    [
      'coverage that the service does not have',
      settings(config({ configurations: [configuration({ addressTypes: ['STREET', 'PO_BOX'] })] })),
      "carrierConfigs: Provided coverage (PO_BOX) for the carrier service 'UPS_GROUND' is not supported.",
    ],
    [
      'a region that the service does not reach',
      settings(config({ configurations: [configuration({ regions: [mainland, { regionCode: 'A', regionName: 'APO/FPO' }] })] })),
      "carrierConfigs: Provided coverage (A) for the carrier service 'UPS_GROUND' is not supported.",
    ],
    [
      'states missing',
      withStates(allStates.filter((state) => state !== 'DC')),
      'states/stateCode: All 48 states + DC are not covered at account level; missing: DC.',
    ],
    [
      'a region name of another code',
      withConfiguration({ regions: [mainland, { regionCode: 'H', regionName: 'US Protectorates' }] }),
      "regionCode and regionName: Invalid region code and name combination: 'H' and 'US Protectorates'.",
    ],
    ['no charge', withCharge(undefined), noCharge],
    ['an empty charge', withCharge({}), noCharge],
    ['a charge of null', withCharge(null), noCharge],
    ['no per-shipping charge', withCharge({ rateModelType: 'PER_SHIPMENT_PRICING' }), noRates],
    ['an empty per-shipping charge', withCharge({ rateModelType: 'PER_SHIPMENT_PRICING', perShippingCharge: {} }), noRates],
    ['handling above 700', withCharge(charge({ shippingAndHandling: money(700.01) })), overcharged],
    ['weight above 700', withCharge(charge({ chargePerWeight: money(701) })), overcharged],
    ['items above 700', withCharge(charge({ chargePerWeight: undefined, chargePerItem: money(9_000) })), overcharged],
    ['a region twice in one configuration', withConfiguration({ regions: [mainland, mainland] }), `${twice} C for UPS.`],
    [
      'a region twice for a carrier in two elements',
      settings(config(), config({ carriers: [carrier('UPS', 'UPS_2DAY_AIR')] })),
      `${twice} C for UPS.`,
    ],
  ])('refused: %s', async (_name, given, fault) => {
    const { create, read, client } = await started()
    const reply = await create(given)
    expect([reply.status, faults(reply)]).toEqual([200, [fault]])
    expect(items((await read()).json, 'errors')).toHaveLength(1)
    expect(items(await client.control('GET', '/effects'), 'items')).toEqual([])
  })

  test.each([
    ['thirdPartyLogistics', 'Sellers with third-party-logistics fulfillment centers are not supported.'],
    ['bundles', 'Sellers with bundle items are not supported.'],
    ['internationalCenters', 'Sellers with international fulfillment centers are not supported.'],
    ['majorAppliances', 'Sellers enabled for the major appliances program are not supported.'],
  ])('refused: a seller with %s, until that is over', async (trait, description) => {
    const { create, client } = await started()
    await client.control('PUT', `${seller}/traits`, { [trait]: true })
    expect(at(await client.control('GET', `${seller}/traits`), trait)).toBe(true)
    expect(faults(await create(settings(config())))).toEqual([`sellerEligibility: ${description}`])
    await client.control('PUT', `${seller}/traits`, { [trait]: false })
    expect(faults(await create(settings(config())))).toEqual([])
  })

  test('refused: a second creation, until the first is deleted', async () => {
    const { create, read, client } = await started()
    expect(faults(await create(settings(config())))).toEqual([])
    const exists = 'simplifiedShippingSettings: Simplified shipping settings already exist at account level.'
    const again = await create(settings(config({ carriers: [carrier('Fedex', 'FEDEX_EXPRESS')] })))
    expect([again.status, faults(again)]).toEqual([200, [exists]])
    expect(await client.control('DELETE', `${seller}/shipping-settings`)).toEqual({ removed: true })
    expect(faults(await read())).toEqual([
      'simplifiedShippingSettings: Simplified Shipping Settings not found for given partnerPk',
    ])
    expect(faults(await create(settings(config())))).toEqual([])
  })

  test('states may stand in sub-regions, and several elements may cover the mainland together', async () => {
    const { create } = await started()
    const half = (carrierName: string, service: string, codes: readonly string[]): object => {
      const states = codes.map((stateCode) => ({ stateCode }))
      const regions = [{ ...mainland, subRegions: [{ subRegionCode: 'X', states }] }]
      return config({ carriers: [carrier(carrierName, service)], configurations: [configuration({ regions })] })
    }
    const split = settings(half('UPS', 'UPS_GROUND', allStates.slice(0, 20)), half('Fedex', 'FEDEX_EXPRESS', allStates.slice(20)))
    expect(faults(await create(split))).toEqual([])
  })

  test('all that is wrong is reported at once, in the order of the table', async () => {
    const { create, client } = await started()
    await client.control('PUT', `${seller}/traits`, { bundles: true })
    const bad = configuration({
      regions: [{ regionCode: 'P', regionName: 'AK and HI' }],
      shippingCharge: charge({ shippingAndHandling: money(800) }),
    })
    const reply = await create(settings({ carriers: [carrier('UPS', 'X'), carrier('Y', 'Z')], configurations: [bad] }))
    expect(items(reply.json, 'errors').map((error) => at(error, 'field'))).toEqual([
      'carrierName',
      'carrierName',
      'states/stateCode',
      'regionCode and regionName',
      'sellerEligibility',
      'perShippingCharge',
    ])
  })

  test.each<[string, unknown, string]>([
    ['no priority', { accountConfigs: { carrierConfigs: [config()] } }, 'shippingPriority'],
    ['no carrier configurations', { accountConfigs: { shippingPriority: 'FASTEST', carrierConfigs: [] } }, 'carrierConfigs'],
    ['an unknown address type', withConfiguration({ addressTypes: ['MOON'] }), 'addressTypes'],
    ['another unit', withCharge(charge({ unitOfMeasure: 'KG' })), 'unitOfMeasure'],
    ['an amount as text', withCharge(charge({ shippingAndHandling: money('4.99') })), 'shippingAndHandling'],
    ['another currency', withCharge(charge({ chargePerWeight: money(1, 'EUR') })), 'chargePerWeight'],
    ['both charges', withCharge(charge({ chargePerItem: money(1) })), 'perShippingCharge'],
    ['neither charge', withCharge(charge({ chargePerWeight: undefined })), 'perShippingCharge'],
  ])('refused in the same form: %s', async (_name, given, field) => {
    const { create } = await started()
    const reply = await create(given)
    expect([reply.status, items(reply.json, 'errors').map((error) => at(error, 'field'))]).toEqual([200, [field]])
  })

  test.each([
    ['XX_GLOBAL_VERSION', 400],
    ['XX_MARKET', 400],
    ['XX_SVC.NAME', 400],
    ['XX_SEC.ACCESS_TOKEN', 401],
    ['content-type', 415],
  ])('without %s: %i', async (header, status) => {
    const { create } = await started()
    expect((await create(settings(config()), { [header]: header === 'content-type' ? 'text/plain' : null })).status).toBe(status)
  })

  test('under walmart-us the global headers begin with WM', async () => {
    const { create } = await started({ dialect: buildDialect('walmart-us') })
    expect((await create(settings(config()))).status).toBe(400)
    expect((await create(settings(config()), { WM_GLOBAL_VERSION: '3.1', WM_MARKET: 'us' })).status).toBe(200)
  })

  test('each seller has settings of his own, five creations a minute', async () => {
    const { create, client } = await started()
    await client.control('POST', '/sellers', { sellerId: 'two' })
    expect(faults(await create(settings(config())))).toEqual([])
    const other = await connect(client.url, { clientId: 'two-client', clientSecret: 'two-secret' })
    const body = { simplifiedShippingSettings: settings(config()) }
    expect(faults(await other.call('POST', `${path}/account`, body, globalHeaders))).toEqual([])
    expect(at(await client.control('GET', '/state'), 'shippingSettings')).toBe(2)
    await client.control('PUT', '/limits', { enabled: true })
    const statuses: number[] = []
    for (let calls = 0; calls < 6; calls += 1) statuses.push((await create({})).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    await client.control('DELETE', '/')
    expect(at(await client.control('GET', '/state'), 'shippingSettings')).toBe(0)
  })
})

describe('the creation as a write', () => {
  const effects = async (client: TestClient): Promise<readonly Json[]> => items(await client.control('GET', '/effects'), 'items')

  test('it is an effect of no order and changes no unit', async () => {
    const { create, client } = await started()
    await client.place([{ sku: 'A', quantity: 2 }])
    const units = await client.control('GET', '/effects/summary')
    await create(settings(config()))
    expect(await effects(client)).toEqual([
      expect.objectContaining({
        sellerId: 'sandbox-seller',
        kind: 'shipping-settings-created',
        by: 'seller',
        quantity: 0,
        correlationId: expect.stringMatching(/-/),
      }),
    ])
    expect(await client.control('GET', '/effects/summary')).toEqual(units)
  })

  test.each([
    ['serverErrorBefore', false],
    ['serverErrorAfter', true],
    ['dropBefore', false],
    ['dropAfter', true],
    ['truncatedJson', true],
    ['okWithErrors', false],
  ])('%s: effect %s', async (fault, effect) => {
    const { create, client } = await started()
    await client.control('PUT', '/faults', { next: [{ fault, operation: 'shipping-settings.create' }] })
    await create(settings(config())).then(
      () => undefined,
      (error: unknown) => expect(error).toBeInstanceOf(Error),
    )
    expect(await effects(client)).toHaveLength(effect ? 1 : 0)
  })

  test('a late effect comes once, and not when settings exist by then', async () => {
    const { create, read, client } = await started()
    const late = { fault: 'lateEffect', operation: 'shipping-settings.create', delayMs: 60_000, answer: 'serverError' }
    await client.control('PUT', '/faults', { next: [late] })
    expect((await create(settings(config()))).status).toBeGreaterThanOrEqual(500)
    expect(items((await read()).json, 'errors')).toHaveLength(1)
    await client.control('POST', '/clock', { advance: '61s' })
    expect(items((await read()).json, 'errors')).toHaveLength(0)
    expect(await effects(client)).toHaveLength(1)
    await client.control('DELETE', `${seller}/shipping-settings`)
    await client.control('PUT', '/faults', { next: [late] })
    await create(settings(config()))
    expect((await create(settings(config()))).status).toBe(200)
    await client.control('POST', '/clock', { advance: '61s' })
    expect(await effects(client)).toHaveLength(2)
  })
})
