import { isObject, type JsonObject } from '../core/json.ts'
import { addressTypes, beyondStreets, mainland, regions, servicesByCarrier, shippingMethods } from './vocabulary.ts'

/** What the marketplace knows about a seller and what rules account-level settings out. */
export const sellerTraits = ['thirdPartyLogistics', 'bundles', 'internationalCenters', 'majorAppliances'] as const
export type SellerTraits = Readonly<Record<(typeof sellerTraits)[number], boolean>>

/** One thing for which settings are refused. */
export interface SettingsFault {
  readonly field: string
  readonly description: string
}

const most = 700
const onlyCurrency = 'USD'

/** What is no object has no parts. */
export const part = (value: unknown): JsonObject => (isObject(value) ? value : {})

const parts = (of: JsonObject, member: string): JsonObject[] => {
  const list: unknown = of[member]
  return Array.isArray(list) ? list.map(part) : []
}

const toText = (of: JsonObject, member: string): string => {
  const value = of[member]
  return typeof value === 'string' ? value : ''
}

const isBlank = (value: unknown): boolean => typeof value !== 'object' || value === null || Object.keys(value).length === 0

/** What decides about settings beside their body. */
export interface SettingsCircumstances {
  /** The seller has settings already. */
  readonly exists: boolean
  readonly traits: SellerTraits
  /** The settings have their second form. */
  readonly withMethods: boolean
}

/**
 * Everything for which the settings in `body` are refused, in the order of the specification's table (Errors, "Shipping settings
 * creation"), then what the field table asks for besides; all of it in one answer.
 *
 * Where the table leaves room: a carrier is known by its name, so that a region may stand once for each name; a state may stand once
 * in each element of `carrierConfigs`; every known carrier needs full coverage, which all configurations together may give; a region
 * C without states is all of it.
 */
export const settingsFaults = (body: unknown, { exists, traits, withMethods }: SettingsCircumstances): SettingsFault[] => {
  const account = part(part(part(body)['simplifiedShippingSettings'])['accountConfigs'])
  const configs = parts(account, 'carrierConfigs')
  const configurations = configs.flatMap((config) => parts(config, 'configurations'))
  return [
    ...configs.flatMap(repeatedStates),
    ...configs.flatMap(unknownServices),
    ...configs.flatMap(unknownCarriers),
    ...configs.flatMap(unreachable),
    ...uncovered(configs),
    ...configurations.flatMap(mismatchedRegions),
    ...(exists
      ? [{ field: 'simplifiedShippingSettings', description: 'Simplified shipping settings already exist at account level.' }]
      : []),
    ...ineligibilities(traits),
    ...configurations.flatMap(chargeFaults),
    ...repeatedRegions(configs),
    ...missingParts(account, configs, withMethods),
  ]
}

const parseStates = (region: JsonObject): string[] => {
  const places = [region, ...parts(region, 'subRegions')]
  return places.flatMap((place) => parts(place, 'states')).map((state) => toText(state, 'stateCode'))
}

const listRegions = (config: JsonObject): JsonObject[] =>
  parts(config, 'configurations').flatMap((configuration) => parts(configuration, 'regions'))

const repeated = (values: readonly string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index)),
]

const repeatedStates = (config: JsonObject): SettingsFault[] => {
  const codes = repeated(listRegions(config).flatMap(parseStates))
  return codes.length === 0 ? [] : [{ field: 'stateCode', description: `Duplicate state codes: ${codes.join(', ')}.` }]
}

const unknownServices = (config: JsonObject): SettingsFault[] =>
  parts(config, 'carriers').flatMap((carrier) => {
    const [name, service] = [toText(carrier, 'carrierName'), toText(carrier, 'carrierService')]
    const known = servicesByCarrier.get(name)
    if (known === undefined || known.some((one) => one.name === service)) return []
    return [{ field: 'carrierName', description: `Provided carrier service '${service}' is not valid for carrier '${name}'.` }]
  })

const unknownCarriers = (config: JsonObject): SettingsFault[] => {
  const names = parts(config, 'carriers').map((carrier) => toText(carrier, 'carrierName'))
  return names.flatMap((name) =>
    servicesByCarrier.has(name) ? [] : [{ field: 'carrierName', description: `Invalid carrier name '${name}'.` }],
  )
}

const unreachable = (config: JsonObject): SettingsFault[] => {
  const asked = [
    ...parts(config, 'configurations').flatMap(listAddressTypes),
    ...listRegions(config).map((region) => toText(region, 'regionCode')),
  ]
  const beyond = [...new Set(asked.filter((one) => beyondStreets.has(one)))]
  if (beyond.length === 0) return []
  return parts(config, 'carriers').flatMap((carrier) => {
    const services = servicesByCarrier.get(toText(carrier, 'carrierName')) ?? []
    const service = services.find((one) => one.name === toText(carrier, 'carrierService'))
    if (service?.streetOnly !== true) return []
    const description = `Provided coverage (${beyond.join(', ')}) for the carrier service '${service.name}' is not supported.`
    return [{ field: 'carrierConfigs', description }]
  })
}

const listAddressTypes = (configuration: JsonObject): string[] => {
  const types: unknown = configuration['addressTypes']
  return Array.isArray(types) ? types.map(String) : []
}

const uncovered = (configs: readonly JsonObject[]): SettingsFault[] => {
  const carriers = configs.flatMap((config) => parts(config, 'carriers'))
  if (!carriers.some((carrier) => servicesByCarrier.has(toText(carrier, 'carrierName')))) return []
  const covered = new Set(
    configs.flatMap(listRegions).flatMap((region) => {
      const states = parseStates(region)
      return states.length === 0 && toText(region, 'regionCode') === 'C' ? mainland : states
    }),
  )
  const missing = mainland.filter((state) => !covered.has(state))
  if (missing.length === 0) return []
  const description = `All 48 states + DC are not covered at account level; missing: ${missing.join(', ')}.`
  return [{ field: 'states/stateCode', description }]
}

const mismatchedRegions = (configuration: JsonObject): SettingsFault[] =>
  parts(configuration, 'regions').flatMap((region) => {
    const [code, name] = [toText(region, 'regionCode'), toText(region, 'regionName')]
    if (name !== '' && regions.get(code) === name) return []
    const description = `Invalid region code and name combination: '${code}' and '${name}'.`
    return [{ field: 'regionCode and regionName', description }]
  })

const wordsOfIneligibility: Readonly<Record<keyof SellerTraits, string>> = {
  thirdPartyLogistics: 'Sellers with third-party-logistics fulfillment centers are not supported.',
  bundles: 'Sellers with bundle items are not supported.',
  internationalCenters: 'Sellers with international fulfillment centers are not supported.',
  majorAppliances: 'Sellers enabled for the major appliances program are not supported.',
}

const ineligibilities = (traits: SellerTraits): SettingsFault[] =>
  sellerTraits.flatMap((trait) =>
    traits[trait] ? [{ field: 'sellerEligibility', description: wordsOfIneligibility[trait] }] : [],
  )

const chargeFaults = (configuration: JsonObject): SettingsFault[] => {
  if (isBlank(configuration['shippingCharge']))
    return [{ field: 'shippingCharges', description: 'Shipping charge object cannot be empty.' }]
  const charge = part(configuration['shippingCharge'])
  if (isBlank(charge['perShippingCharge']))
    return [{ field: 'shippingCharges', description: 'Shipping charges must be provided in perShippingCharges.' }]
  const rates = part(charge['perShippingCharge'])
  const amounts = ['shippingAndHandling', 'chargePerItem', 'chargePerWeight'].map((member) => part(rates[member])['amount'])
  return amounts.flatMap((amount) =>
    typeof amount === 'number' && amount > most
      ? [{ field: 'perShippingCharge', description: `Amount cannot exceed the maximum allowed limit ${most}.` }]
      : [],
  )
}

const repeatedRegions = (configs: readonly JsonObject[]): SettingsFault[] => {
  const pairs = configs.flatMap((config) => {
    const names = new Set(parts(config, 'carriers').map((carrier) => toText(carrier, 'carrierName')))
    const codes = listRegions(config).map((region) => toText(region, 'regionCode'))
    const method = toText(config, 'shippingMethod')
    const by = (name: string): string => (method === '' ? name : `${name} (${method})`)
    return [...names].flatMap((name) => codes.map((code) => `${code} for ${by(name)}`))
  })
  return repeated(pairs).map((pair) => ({
    field: 'shippingCharges',
    description: `Duplicate regions are not allowed at account level for carrier and node: ${pair}.`,
  }))
}

/** What the field table requires beyond the listed conditions; the answer to these is not shown and given in the same form. */
const missingParts = (account: JsonObject, configs: readonly JsonObject[], withMethods: boolean): SettingsFault[] => {
  const faults: SettingsFault[] = []
  const need = (fits: boolean, field: string, description: string): void => {
    if (!fits) faults.push({ field, description })
  }
  const migrates = account['migrateFreeShippingOffers']
  // The second form ignores a priority, as the marketplace ignores what it does not know.
  need(withMethods || toText(account, 'shippingPriority') !== '', 'shippingPriority', 'Shipping priority is required.')
  need(migrates === undefined || typeof migrates === 'boolean', 'migrateFreeShippingOffers', 'Must be a boolean.')
  need(configs.length > 0, 'carrierConfigs', 'Carrier configurations are required.')
  for (const config of configs) {
    const configurations = parts(config, 'configurations')
    need(parts(config, 'carriers').length > 0, 'carriers', 'Carriers are required.')
    const method = toText(config, 'shippingMethod')
    need(!withMethods || method === '' || shippingMethods.has(method), 'shippingMethod', `Invalid shipping method '${method}'.`)
    need(configurations.length > 0, 'configurations', 'Configurations are required.')
    for (const configuration of configurations) {
      const types = listAddressTypes(configuration)
      need(parts(configuration, 'regions').length > 0, 'regions', 'Regions are required.')
      need(types.length > 0, 'addressTypes', 'Address types are required.')
      for (const type of types) need(addressTypes.includes(type), 'addressTypes', `Invalid address type '${type}'.`)
      const charge = part(configuration['shippingCharge'])
      const rates = part(charge['perShippingCharge'])
      if (isBlank(configuration['shippingCharge']) || isBlank(charge['perShippingCharge'])) continue
      need(charge['rateModelType'] === 'PER_SHIPMENT_PRICING', 'rateModelType', 'Must be PER_SHIPMENT_PRICING.')
      need(rates['unitOfMeasure'] === 'LB', 'unitOfMeasure', 'Must be LB.')
      need(isMoney(rates['shippingAndHandling']), 'shippingAndHandling', 'An amount from 0 and the currency USD are required.')
      const given = ['chargePerItem', 'chargePerWeight'].filter((member) => (rates[member] ?? null) !== null)
      need(given.length === 1, 'perShippingCharge', 'One of chargePerItem and chargePerWeight is required.')
      for (const member of given) need(isMoney(rates[member]), member, 'An amount from 0 and the currency USD are required.')
    }
  }
  return faults
}

const isMoney = (value: unknown): boolean => {
  const { amount, currency } = part(value)
  return typeof amount === 'number' && amount >= 0 && currency === onlyCurrency
}
