import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import { specification } from '../../src/clients/marketplace/profiles/index.ts'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../src/clients/marketplace/shipping-settings.ts'
import { accountSettings, settingsDifferences, shippingSettingsSchema } from '../../src/domain/campaigns/shipping-settings.ts'
import { eventFaults, readEvent } from '../../src/domain/events/event-reading.ts'
import { forever } from '../clients/servers.ts'
import { rehearse } from '../contract/rehearse.ts'
import { settings, validSettings } from '../domain/support/shipping-settings.ts'
import { items } from '../sandbox/support.ts'

// The field table of shipping settings: what is said to be required is required on both sides, and nothing else is.

const path = '/v3/settings/shipping/simplifiedshippingsettings/account'
const headers = { XX_GLOBAL_VERSION: '3.1', XX_MARKET: 'us' }
const root = 'data.simplifiedShippingSettings'

const config = ['accountConfigs', 'carrierConfigs', 0] as const
const configuration = [...config, 'configurations', 0] as const
const charge = [...configuration, 'shippingCharge'] as const
const rates = [...charge, 'perShippingCharge'] as const

const required: readonly (readonly (string | number)[])[] = [
  ['accountConfigs', 'shippingPriority'],
  ['accountConfigs', 'carrierConfigs'],
  [...config, 'carriers'],
  [...config, 'carriers', 0, 'carrierName'],
  [...config, 'carriers', 0, 'carrierService'],
  [...config, 'configurations'],
  [...configuration, 'regions'],
  [...configuration, 'regions', 0, 'regionCode'],
  [...configuration, 'regions', 0, 'regionName'],
  [...configuration, 'addressTypes'],
  charge,
  [...charge, 'rateModelType'],
  rates,
  [...rates, 'unitOfMeasure'],
  [...rates, 'shippingAndHandling'],
  [...rates, 'shippingAndHandling', 'amount'],
  [...rates, 'shippingAndHandling', 'currency'],
  [...rates, 'chargePerItem', 'amount'],
  [...rates, 'chargePerItem', 'currency'],
]

const buildPath = (field: readonly (string | number)[]): string =>
  field.reduce<string>((told, step) => `${told}${typeof step === 'number' ? `[${step}]` : `.${step}`}`, root)

/** Settings as they go over the wire, amounts as numbers. */
const wireSettings = (client: MarketplaceClient, given: unknown): object => {
  const { body } = client.of(shippingSettingsEndpoint).prepare(shippingSettingsSchema.parse(given))
  return JSON.parse(JSON.stringify(body)).simplifiedShippingSettings
}

const without = (given: object, field: readonly (string | number)[]): object => {
  const copy = structuredClone(given)
  const holder = field.slice(0, -1).reduce<object>((at, step) => Reflect.get(at, step), copy)
  if (!Reflect.has(holder, field.at(-1) ?? '')) throw new Error(`${buildPath(field)} is not there anyway`)
  Reflect.deleteProperty(holder, field.at(-1) ?? '')
  return copy
}

describe('every required field', () => {
  test.each(required.map((field) => [buildPath(field), field] as const))(
    '%s is missed by the daemon and by the marketplace',
    async (told, field) => {
      const { client, sandbox } = await rehearse(specification)
      const given = without(wireSettings(client, settings()), field)
      const event = readEvent({ type: 'erp.shipping-settings.defined', data: { simplifiedShippingSettings: given } })
      const faults = eventFaults(event, specification)
      expect(faults.map((fault) => fault.path)).toContain(told)
      const reply = await sandbox.call('POST', path, { simplifiedShippingSettings: given }, headers)
      expect(reply.status).toBe(200)
      expect(items(reply.json, 'errors').length).toBeGreaterThan(0)
    },
  )
})

test('property: what the daemon takes the marketplace takes, and gives back as the same settings', async () => {
  const { client, sandbox } = await rehearse(specification)
  await fc.assert(
    fc.asyncProperty(validSettings, async (given) => {
      const parsed = shippingSettingsSchema.parse(given)
      const write = { signal: forever(), correlationId: crypto.randomUUID() }
      const { record } = await client
        .writer(shippingSettingsWrites)
        .send(client.of(shippingSettingsEndpoint).prepare(parsed), write)
      if (!record.ok) throw new Error(record.fault)
      expect(settingsDifferences(accountSettings(parsed), record.value)).toEqual([])
      await sandbox.control('DELETE', '/sellers/sandbox-seller/shipping-settings')
    }),
    { numRuns: 40 },
  )
})
