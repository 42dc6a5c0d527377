import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../../src/clients/marketplace/shipping-settings.ts'
import { parseShippingSettings } from '../../../src/clients/marketplace/shipping-settings-record.ts'
import { accountSettings, settingsDifferences, shippingSettingsSchema } from '../../../src/domain/campaigns/shipping-settings.ts'
import { configuration, money, region, settings } from '../../domain/support/shipping-settings.ts'
import { forever, sendJson, startClient, startMarketplace } from '../servers.ts'

const path = '/v3/settings/shipping/simplifiedshippingsettings'
const asked = shippingSettingsSchema.parse(settings())
const refusal = (field: string, description: string, overrides: object = {}) => ({
  code: 'INVALID_REQUEST_CONTENT.INVALID_REQUEST',
  field,
  description,
  info: null,
  severity: 'ERROR',
  category: 'DATA',
  causes: [],
  errorIdentifiers: {},
  ...overrides,
})
const notFound = refusal('simplifiedShippingSettings', 'Simplified Shipping Settings not found for given partnerPk')

/** A client against a marketplace that answers every request alike. */
const answering = async (answer: (response: ServerResponse) => void, connection = {}) => {
  const server = await startMarketplace((_request, response) => answer(response))
  const { client } = startClient(server.url, { connection })
  return {
    client: client.of(shippingSettingsEndpoint),
    writer: client.writer(shippingSettingsWrites),
    seen: () => server.seen.filter(({ target }) => target !== '/v3/token'),
  }
}

const create = async (answer: (response: ServerResponse) => void, connection = {}) => {
  const { client, writer, seen } = await answering(answer, connection)
  const sent = writer.send(client.prepare(asked), { signal: forever(), correlationId: '5d3c8f4e-0000-4000-8000-000000000001' })
  const [result] = await Promise.allSettled([sent])
  return { result, seen: seen() }
}

const buildFailure = (result: PromiseSettledResult<unknown> | undefined) => {
  if (result?.status !== 'rejected') throw new Error('did not fail')
  return result.reason
}

describe('a creation', () => {
  test('carries the settings with amounts as numbers, and the headers of global operations', async () => {
    const { result, seen } = await create((response) => sendJson(response, 200, { simplifiedShippingSettings: settings() }))
    expect(result?.status).toBe('fulfilled')
    expect(seen).toHaveLength(1)
    const [request] = seen
    expect(request).toMatchObject({ method: 'POST', target: `${path}/account` })
    expect(request?.headers).toMatchObject({
      xx_global_version: '3.1',
      xx_market: 'us',
      'xx_qos.correlation_id': '5d3c8f4e-0000-4000-8000-000000000001',
      'content-type': 'application/json',
    })
    const perItem = { unitOfMeasure: 'LB', shippingAndHandling: money(4.99), chargePerItem: money(1.5) }
    const shippingCharge = { rateModelType: 'PER_SHIPMENT_PRICING', perShippingCharge: perItem }
    const [ups, usps] = settings().accountConfigs.carrierConfigs
    expect(JSON.parse(request?.body ?? '')).toEqual({
      simplifiedShippingSettings: settings({
        carrierConfigs: [ups, usps].map((config) => ({
          ...config,
          configurations: config?.configurations.map((one) => ({ ...one, shippingCharge })),
        })),
      }),
    })
  })

  test('is told apart from other operations by the prefix of the live service', async () => {
    const connection = { profile: walmartUs, headerPrefix: 'WM' }
    const { seen } = await create((response) => sendJson(response, 200, { simplifiedShippingSettings: settings() }), connection)
    expect(seen[0]?.headers).toMatchObject({ wm_global_version: '3.1', wm_market: 'us' })
  })

  test('passes on what nobody knows here, and leaves out what is null', async () => {
    const rates = {
      unitOfMeasure: 'LB',
      shippingAndHandling: money('0.10'),
      chargePerItem: null,
      chargePerWeight: money('699.99'),
    }
    const shippingCharge = { rateModelType: 'PER_SHIPMENT_PRICING', perShippingCharge: rates, surcharge: 7 }
    const carriers = [{ carrierName: 'USPS', carrierService: 'USPS_GROUND' }]
    const odd = settings({
      carrierConfigs: [{ carriers, configurations: [configuration([region('C')], { shippingCharge })] }],
      new: [1],
    })
    const { client } = await answering((response) => sendJson(response, 200, {}))
    const { body, ...request } = client.prepare(shippingSettingsSchema.parse({ ...odd, more: { deep: true } }))
    expect(request).toEqual({ operation: 'shipping-settings.create', path: `${path}/account` })
    expect(body).toMatchObject({ simplifiedShippingSettings: { more: { deep: true }, accountConfigs: { new: [1] } } })
    expect(JSON.stringify(body)).toContain(
      '"shippingCharge":{"rateModelType":"PER_SHIPMENT_PRICING","perShippingCharge":{"unitOfMeasure":"LB","shippingAndHandling":{"amount":0.1,"currency":"USD"},"chargePerWeight":{"amount":699.99,"currency":"USD"}},"surcharge":7}',
    )
    expect(JSON.parse(JSON.stringify(body))).toEqual(body)
  })

  test.each([
    ['as published', refusal('carrierName', 'Invalid carrier name')],
    ['with a code that nobody knows', refusal('sellerEligibility', 'Not supported', { code: 'SOMETHING.NEW' })],
    ['without a code', refusal('sellerEligibility', 'Not supported', { code: null })],
  ])('that is answered with 200 and errors %s is refused', async (_name, error) => {
    const { result, seen } = await create((response) => sendJson(response, 200, { errors: [error] }))
    const failure = buildFailure(result)
    expect(failure).toMatchObject({ kind: 'refused', httpStatus: 200, faults: [{ description: error.description }] })
    expect(seen).toHaveLength(1)
  })

  test.each([
    ['neither settings nor errors', {}],
    ['no errors in a list of them', { errors: [] }],
    ['a remark and nothing else', { errors: [refusal('x', 'fine', { severity: 'INFO', code: 'NOTE' })] }],
    ['settings without any of the account', { simplifiedShippingSettings: { shipNodeConfigs: [] } }],
    ['settings and an error', { simplifiedShippingSettings: settings(), errors: [refusal('x', 'y')] }],
    ['an error of the server', { errors: [refusal('x', 'y', { code: 'SYSTEM_ERROR.GMP' })] }],
    ['other JSON', [1, 2]],
  ])('that is answered with 200 and %s may have been applied', async (_name, body) => {
    const { result } = await create((response) => sendJson(response, 200, body))
    expect(buildFailure(result)).toMatchObject({ kind: 'unknown', httpStatus: 200 })
  })

  test('that is answered with a remark beside the settings is applied', async () => {
    const remark = refusal('x', 'fine', { severity: 'INFO', code: 'NOTE' })
    const { result } = await create((response) =>
      sendJson(response, 200, { simplifiedShippingSettings: settings(), errors: [remark] }),
    )
    expect(result?.status).toBe('fulfilled')
  })

  test('that is answered with settings that cannot be understood says so', async () => {
    const odd = settings({ carrierConfigs: [{ carriers: 'UPS', configurations: [] }] })
    const { result } = await create((response) => sendJson(response, 200, { simplifiedShippingSettings: odd }))
    expect(result).toMatchObject({ status: 'fulfilled', value: { record: { ok: false, key: 'account' } } })
  })
})

describe('reading settings', () => {
  test('finds them in any order, list and number format, to the last digit', async () => {
    const [ups, usps] = settings().accountConfigs.carrierConfigs
    const text = JSON.stringify({ simplifiedShippingSettings: settings({ carrierConfigs: [usps, ups] }) })
      .replaceAll(/"shippingCharge":(\{.*?\}\}\})/g, '"shippingCharge":[$1]')
      .replaceAll('"amount":4.99', '"amount":4.9900000000000000000')
    const { client, seen } = await answering((response) => sendJson(response, 200, text))
    const observed = await client.get({ signal: forever() })
    if (observed === null || !observed.record.ok) throw new Error(JSON.stringify(observed))
    expect(observed.record.rawText).toContain('4.9900000000000000000')
    expect(observed.record.value.charges[0]?.shippingAndHandling).toEqual({ amount: '4.9900000000000000000', currency: 'USD' })
    expect(settingsDifferences(accountSettings(asked), observed.record.value)).toEqual([])
    expect(seen()).toMatchObject([{ method: 'GET', target: path, headers: { xx_global_version: '3.1' } }])
  })

  test('takes them without their name', async () => {
    const { client } = await answering((response) => sendJson(response, 200, settings()))
    expect(await client.get({ signal: forever() })).toMatchObject({ record: { ok: true, key: 'account' } })
  })

  test.each([
    ['404 and its code', 404, { errors: [refusal('', 'nothing', { code: 'CONTENT_NOT_FOUND.GMP', severity: 'INFO' })] }],
    ['200 and words', 200, { errors: [notFound] }],
    ['400 and words', 400, { errors: [notFound] }],
    ['404 and words', 404, { errors: { error: [notFound] } }],
    ['200 and null', 200, { simplifiedShippingSettings: null }],
    ['200 and settings of fulfillment centers alone', 200, { simplifiedShippingSettings: { shipNodeConfigs: [{}] } }],
  ])('answers null for %s', async (_name, status, body) => {
    const { client } = await answering((response) => sendJson(response, status, body))
    expect(await client.get({ signal: forever() })).toBeNull()
  })

  test.each([
    ['URI_NOT_FOUND', 404, { errors: [refusal('', 'no such address', { code: 'URI_NOT_FOUND.GMP' })] }, 'refused'],
    ['a bare 404', 404, { timestamp: 'x', status: 404, error: 'Not Found', path }, 'unavailable'],
    ['another refusal', 400, { errors: [refusal('partnerId', 'Invalid')] }, 'refused'],
    ['something else altogether', 200, { hello: 'there' }, 'malformed'],
    ['a server error', 503, {}, 'unavailable'],
  ])('does not take %s for "none there"', async (_name, status, body, kind) => {
    const { client } = await answering((response) => sendJson(response, status, body))
    await expect(client.get({ signal: forever() })).rejects.toMatchObject({ kind, httpStatus: status })
  })

  test('reads kept text again, and never throws for what it may be', () => {
    expect(parseShippingSettings(JSON.stringify(settings()))).toMatchObject({ ok: true, key: 'account' })
    const amount = JSON.stringify(settings()).replace('4.99', '"4,99"')
    for (const text of ['', '{', 'null', '7', '[]', '{}', '['.repeat(10_000), '{"accountConfigs":{}}', amount]) {
      expect(parseShippingSettings(text)).toMatchObject({ ok: false, key: 'account', rawText: text })
    }
  })
})
