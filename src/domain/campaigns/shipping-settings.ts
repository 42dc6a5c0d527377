import { Decimal } from 'decimal.js'
import { z } from 'zod'
import { isObject } from '../values/values.ts'
import type { SettingsCarriers, SettingsForm, Vocabulary } from '../values/vocabulary.ts'

/**
 * The account-level shipping settings of a seller (specification, "the service", and Errors, "Shipping settings creation"): what the
 * ERP requests, the refusals that can be detected before anything is sent, and the normal form in which two settings are compared.
 *
 * Four of the fifteen refusals cannot be known beforehand, since only the marketplace knows the seller's third-party-logistics
 * fulfillment centers, bundle items, international fulfillment centers and programs.
 */

/** Region names by their codes (specification, region table); `A` is in the public facts alone (section 7.5). */
export const regionNames: ReadonlyMap<string, string> = new Map([
  ['C', '48 State'],
  ['H', 'AK and HI'],
  ['P', 'US Protectorates'],
  ['A', 'APO/FPO'],
])

/** The contiguous states and the District of Columbia: what region C stands for, and what full coverage means. */
export const contiguousStates: readonly string[] = [
  'AL AR AZ CA CO CT DC DE FL GA IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT',
  'NC ND NE NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY',
].flatMap((codes) => codes.split(' '))

/** Highest amount of a charge (specification, Limits). */
export const maxChargeAmount = 700

const mailboxAddressTypes: ReadonlySet<string> = new Set(['PO_BOX', 'MILITARY'])
const mailboxRegions: ReadonlySet<string> = new Set(['A'])

/** The carrier in its published spelling, case-insensitive; null if it is unknown. */
const publishedCarrier = ({ services }: SettingsCarriers, name: string): string | null =>
  [...services.keys()].find((known) => known.toLowerCase() === name.trim().toLowerCase()) ?? null

// ── shape ──

const text = z.string().trim().min(1, 'must not be empty')

const amount = z
  .union([z.string().trim(), z.number().transform((value) => new Decimal(value).toFixed())], 'must be an amount')
  // At most 15 digits, so that a JSON number says exactly the same.
  .pipe(z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be a decimal from 0 up, as text ("4.99") or as a number'))

const moneySchema = z.looseObject({
  amount,
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency code such as USD'),
})

const stateSchema = z.looseObject({ stateCode: text })

const regionSchema = z.looseObject({
  regionCode: text,
  regionName: text,
  states: z.array(stateSchema).optional(),
  subRegions: z.array(z.looseObject({ states: z.array(stateSchema).optional() })).optional(),
})

const configurationSchema = z.looseObject({
  regions: z.array(regionSchema).min(1, 'must hold at least one region'),
  addressTypes: z.array(text).min(1, 'must hold at least one address type'),
  shippingCharge: z.looseObject({
    rateModelType: text,
    perShippingCharge: z.looseObject({
      unitOfMeasure: text,
      shippingAndHandling: moneySchema,
      chargePerItem: moneySchema.nullish(),
      chargePerWeight: moneySchema.nullish(),
    }),
  }),
})

const carrierConfigSchema = z.looseObject({
  shippingMethod: text.nullish(),
  carriers: z.array(z.looseObject({ carrierName: text, carrierService: text })).min(1, 'must hold at least one carrier'),
  configurations: z.array(configurationSchema).min(1, 'must hold at least one configuration'),
})

/**
 * `simplifiedShippingSettings` as the ERP gives it. Fields that are not known are passed on; amounts become decimal text.
 */
export const shippingSettingsSchema = z.looseObject({
  accountConfigs: z.looseObject({
    shippingPriority: text.nullish(),
    migrateFreeShippingOffers: z.boolean().optional(),
    carrierConfigs: z.array(carrierConfigSchema).min(1, 'must hold at least one element'),
  }),
})

/** Requested settings of a valid shape. */
export type ShippingSettings = z.output<typeof shippingSettingsSchema>

/** The settings with the published spelling of every carrier that is known. */
export const withPublishedCarriers = (settings: ShippingSettings, known: SettingsCarriers): ShippingSettings => ({
  ...settings,
  accountConfigs: {
    ...settings.accountConfigs,
    carrierConfigs: settings.accountConfigs.carrierConfigs.map((config) => ({
      ...config,
      carriers: config.carriers.map((carrier) => ({
        ...carrier,
        carrierName: publishedCarrier(known, carrier.carrierName) ?? carrier.carrierName,
      })),
    })),
  },
})

// ── what would be refused ──

/** One fault of settings. */
export interface SettingsFault {
  readonly path: string
  readonly message: string
}

interface Place {
  readonly path: string
  readonly value: Readonly<Record<string, unknown>>
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

const placesIn = ({ path, value }: Place, member: string): Place[] => {
  const list = value[member]
  if (!Array.isArray(list)) return []
  return list.map((entry: unknown, index) => ({ path: `${path}.${member}[${index}]`, value: asRecord(entry) }))
}

const textIn = ({ value }: Place, member: string): string | null => {
  const found = value[member]
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : null
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

/** States of a region, whether they stand in it or in its sub-regions. */
const statesIn = (region: Place): Place[] => [
  ...placesIn(region, 'states'),
  ...placesIn(region, 'subRegions').flatMap((subRegion) => placesIn(subRegion, 'states')),
]

/**
 * All known refusals of the marketplace (specification, Errors, "Shipping settings creation"), independent of other faults of the
 * settings: parts that cannot be parsed are skipped, {@link shippingSettingsSchema} reports those. `path` is the position of the
 * settings.
 */
export const settingsFaults = (
  settings: unknown,
  path: string,
  { settingsCarriers: known, settingsForm: form }: Pick<Vocabulary, 'settingsCarriers' | 'settingsForm'>,
): SettingsFault[] => {
  const given = asRecord(settings)['accountConfigs']
  const account: Place = { path: `${path}.accountConfigs`, value: asRecord(given) }
  const carrierConfigs = placesIn(account, 'carrierConfigs')
  return [
    ...(isObject(given) ? formFaults(account, carrierConfigs, form) : []),
    ...carrierConfigs.flatMap((config) => carrierFaults(config, known)),
    ...carrierConfigs.flatMap(stateFaults),
    ...carrierConfigs.flatMap((config) => coverageFaults(config, known)),
    ...carrierConfigs.flatMap((config) => placesIn(config, 'configurations').flatMap(regionNameFaults)),
    ...carrierConfigs.flatMap((config) => placesIn(config, 'configurations').flatMap(chargeFaults)),
    ...repeatedRegions(carrierConfigs, known),
    ...missingStates(carrierConfigs, `${account.path}.carrierConfigs`, known),
  ]
}

/** Members that one form of settings needs and the other one does not know. */
const formFaults = (
  account: Place,
  carrierConfigs: readonly Place[],
  { hasPriority, methods }: SettingsForm,
): SettingsFault[] => {
  const path = `${account.path}.shippingPriority`
  const priority = account.value['shippingPriority'] ?? null
  const faults: SettingsFault[] = []
  if (hasPriority && priority === null) faults.push({ path, message: 'is missing' })
  if (!hasPriority && priority !== null)
    faults.push({ path, message: 'is not part of the shipping settings of this marketplace: leave it out' })
  for (const config of carrierConfigs) {
    const method = config.value['shippingMethod'] ?? null
    if (method === null || (typeof method === 'string' && methods.includes(method.trim()))) continue
    const message =
      methods.length === 0
        ? 'is not part of the shipping settings of this marketplace: leave it out'
        : `must be one of ${methods.join(', ')}`
    faults.push({ path: `${config.path}.shippingMethod`, message })
  }
  return faults
}

const carrierFaults = (config: Place, known: SettingsCarriers): SettingsFault[] =>
  placesIn(config, 'carriers').flatMap((carrier): SettingsFault[] => {
    const name = textIn(carrier, 'carrierName')
    const service = textIn(carrier, 'carrierService')
    if (name === null) return []
    const published = publishedCarrier(known, name)
    if (published === null) {
      const message = `is ${name}, which is no carrier of the marketplace; it must be one of ${[...known.services.keys()].join(', ')}`
      return [{ path: `${carrier.path}.carrierName`, message }]
    }
    const services = known.services.get(published) ?? []
    if (service === null || services.includes(service)) return []
    const message = `is ${service}, which is no service of ${published}; it must be one of ${services.join(', ')}`
    return [{ path: `${carrier.path}.carrierService`, message }]
  })

/** The same state twice among all regions of the same carriers. */
const stateFaults = (config: Place): SettingsFault[] => {
  const seen = new Set<string>()
  const regions = placesIn(config, 'configurations').flatMap((configuration) => placesIn(configuration, 'regions'))
  return regions.flatMap(statesIn).flatMap((state): SettingsFault[] => {
    const code = textIn(state, 'stateCode')?.toUpperCase()
    if (code === undefined) return []
    if (!seen.has(code)) {
      seen.add(code)
      return []
    }
    return [{ path: `${state.path}.stateCode`, message: `is ${code}, which stands in these configurations already` }]
  })
}

const coverageFaults = (config: Place, { services, mailboxServices }: SettingsCarriers): SettingsFault[] => {
  const streetOnly = placesIn(config, 'carriers').flatMap((carrier) => {
    const service = textIn(carrier, 'carrierService')
    const isKnown = [...services.values()].some((names) => service !== null && names.includes(service))
    return service === null || !isKnown || mailboxServices.has(service) ? [] : [service]
  })
  if (streetOnly.length === 0) return []
  const message = (what: string): string => `is ${what}, which ${streetOnly.join(' and ')} does not deliver to`
  return placesIn(config, 'configurations').flatMap((configuration): SettingsFault[] => {
    const types = configuration.value['addressTypes']
    return [
      ...(Array.isArray(types) ? types : []).flatMap((type: unknown, index): SettingsFault[] =>
        typeof type === 'string' && mailboxAddressTypes.has(type.trim())
          ? [{ path: `${configuration.path}.addressTypes[${index}]`, message: message(type.trim()) }]
          : [],
      ),
      ...placesIn(configuration, 'regions').flatMap((region): SettingsFault[] => {
        const code = textIn(region, 'regionCode')
        return code !== null && mailboxRegions.has(code)
          ? [{ path: `${region.path}.regionCode`, message: message(`${code} (${regionNames.get(code)})`) }]
          : []
      }),
    ]
  })
}

const regionNameFaults = (configuration: Place): SettingsFault[] =>
  placesIn(configuration, 'regions').flatMap((region): SettingsFault[] => {
    const code = textIn(region, 'regionCode')
    const name = textIn(region, 'regionName')
    if (code === null || name === null) return []
    const expected = regionNames.get(code)
    if (expected === name) return []
    const table = [...regionNames].map(([known, called]) => `${known} (${called})`).join(', ')
    const message =
      expected === undefined
        ? `is ${code}; it must be one of ${table}`
        : `is ${code}, which stands for ${expected}, not for ${name}`
    return [{ path: `${region.path}.regionCode`, message }]
  })

const chargeFaults = (configuration: Place): SettingsFault[] => {
  const charge = { path: `${configuration.path}.shippingCharge`, value: asRecord(configuration.value['shippingCharge']) }
  if (isEmpty(configuration.value['shippingCharge'])) {
    return [{ path: charge.path, message: 'must not be empty: every configuration needs its charge' }]
  }
  const rates = { path: `${charge.path}.perShippingCharge`, value: asRecord(charge.value['perShippingCharge']) }
  if (isEmpty(charge.value['perShippingCharge'])) {
    return [{ path: rates.path, message: 'must not be empty: charges are given in perShippingCharge' }]
  }
  const faults: SettingsFault[] = []
  const given = (['chargePerItem', 'chargePerWeight'] as const).filter((member) => (rates.value[member] ?? null) !== null)
  if (given.length !== 1) {
    // The specification requires "one of the two".
    const count = given.length === 0 ? 'neither is given' : 'both are given'
    faults.push({ path: rates.path, message: `must hold either chargePerItem or chargePerWeight; ${count}` })
  }
  for (const member of ['shippingAndHandling', 'chargePerItem', 'chargePerWeight']) {
    const read = amount.safeParse(asRecord(rates.value[member])['amount'])
    if (read.success && new Decimal(read.data).gt(maxChargeAmount)) {
      const message = `is ${read.data}, which is more than the ${maxChargeAmount} that the marketplace allows`
      faults.push({ path: `${rates.path}.${member}.amount`, message })
    }
  }
  return faults
}

/**
 * A region that occurs twice for the same carrier and shipping method, in any configuration. A carrier is identified by its name, not by its
 * service.
 */
const repeatedRegions = (carrierConfigs: readonly Place[], known: SettingsCarriers): SettingsFault[] => {
  const seen = new Set<string>()
  return carrierConfigs.flatMap((config) => {
    const names = placesIn(config, 'carriers').flatMap((carrier) => textIn(carrier, 'carrierName') ?? [])
    const carriers = new Set(names.map((name) => publishedCarrier(known, name) ?? name))
    const method = textIn(config, 'shippingMethod') ?? ''
    const regions = placesIn(config, 'configurations').flatMap((configuration) => placesIn(configuration, 'regions'))
    return regions.flatMap((region): SettingsFault[] => {
      const code = textIn(region, 'regionCode')
      if (code === null) return []
      const repeated = [...carriers].filter((carrier) => seen.has(`${carrier} ${method} ${code}`))
      for (const carrier of carriers) seen.add(`${carrier} ${method} ${code}`)
      if (repeated.length === 0) return []
      const message = `is ${code}, which ${repeated.join(' and ')} has already${method === '' ? '' : ` for ${method}`}`
      return [{ path: `${region.path}.regionCode`, message }]
    })
  })
}

/**
 * The account-level settings must cover the 48 states and DC where a carrier needs full coverage. Which carriers do is not published;
 * the three known ones deliver everywhere, so each counts. Covered is what any configuration covers; a region C without states, or with
 * sub-regions without states, covers all of it.
 */
const missingStates = (carrierConfigs: readonly Place[], path: string, known: SettingsCarriers): SettingsFault[] => {
  const regions = carrierConfigs.flatMap((config) =>
    placesIn(config, 'configurations').flatMap((configuration) => placesIn(configuration, 'regions')),
  )
  const names = carrierConfigs
    .flatMap((config) => placesIn(config, 'carriers'))
    .flatMap((carrier) => textIn(carrier, 'carrierName') ?? [])
  if (regions.length === 0 || !names.some((name) => publishedCarrier(known, name) !== null)) return []
  const covered = new Set<string>()
  for (const region of regions) {
    const states = statesIn(region).flatMap((state) => textIn(state, 'stateCode')?.toUpperCase() ?? [])
    const whole = states.length === 0 && textIn(region, 'regionCode') === 'C'
    for (const state of whole ? contiguousStates : states) covered.add(state)
  }
  const missing = contiguousStates.filter((state) => !covered.has(state))
  if (missing.length === 0) return []
  const which = missing.length > 5 ? `${missing.slice(0, 5).join(', ')} and ${missing.length - 5} more` : missing.join(', ')
  return [{ path, message: `must cover all 48 states and DC; missing: ${which}` }]
}

// ── normal form ──

const settingsMoneySchema = z.object({ amount: z.string(), currency: z.string() })

const settingsChargeSchema = z.object({
  carrierName: z.string(),
  carrierService: z.string(),
  /** Null: none is stated. Settings that were stored before the second form have none. */
  shippingMethod: z.string().nullable().default(null),
  regionCode: z.string(),
  /** Codes of the states within the region, sorted; null: all of it. */
  states: z.array(z.string()).nullable(),
  addressType: z.string(),
  rateModelType: z.string().nullable(),
  unitOfMeasure: z.string().nullable(),
  shippingAndHandling: settingsMoneySchema.nullable(),
  chargePerItem: settingsMoneySchema.nullable(),
  chargePerWeight: settingsMoneySchema.nullable(),
})

/** Account-level settings in normal form: however carriers and configurations are grouped and ordered, equal settings are equal here. */
export const accountSettingsSchema = z.object({
  shippingPriority: z.string().nullable(),
  migrateFreeShippingOffers: z.boolean().nullable(),
  /** By carrier service, region and address type. */
  charges: z.array(settingsChargeSchema),
})

/** Account-level settings in normal form. */
export type AccountSettings = z.infer<typeof accountSettingsSchema>
/** What one carrier service charges for one region and one kind of address. */
export type SettingsCharge = z.infer<typeof settingsChargeSchema>
/** An amount of money as decimal text. */
export type SettingsMoney = z.infer<typeof settingsMoneySchema>

/** One element of `carrierConfigs` as far as the normal form needs it. */
export interface CarrierConfigParts {
  readonly shippingMethod: string | null
  readonly carriers: readonly { readonly carrierName: string; readonly carrierService: string }[]
  readonly configurations: readonly {
    readonly regions: readonly { readonly regionCode: string; readonly states: readonly string[] }[]
    readonly addressTypes: readonly string[]
    readonly charge: Pick<
      SettingsCharge,
      'rateModelType' | 'unitOfMeasure' | 'shippingAndHandling' | 'chargePerItem' | 'chargePerWeight'
    >
  }[]
}

const buildKey = (charge: SettingsCharge): string =>
  [
    charge.carrierName.toLowerCase(),
    charge.carrierService,
    charge.shippingMethod ?? '',
    charge.regionCode,
    charge.addressType,
  ].join(' ')

/** Whether a found charge is of the same service, method, region and addresses. A marketplace may show a method where none was requested. */
const isSameCharge = (asked: SettingsCharge, found: SettingsCharge): boolean =>
  buildKey(asked) === buildKey(asked.shippingMethod === null ? { ...found, shippingMethod: null } : found)

const buildName = ({ carrierService, shippingMethod, regionCode, addressType }: SettingsCharge): string =>
  `${carrierService}${shippingMethod === null ? '' : ` (${shippingMethod})`} to ${regionCode} (${addressType})`

/** The charges of configurations, one for each carrier service, region and address type, sorted; what is said twice counts once. */
export const listCharges = (carrierConfigs: readonly CarrierConfigParts[]): SettingsCharge[] => {
  const charges = carrierConfigs.flatMap(({ shippingMethod, carriers, configurations }) =>
    carriers.flatMap((carrier) =>
      configurations.flatMap(({ regions, addressTypes, charge }) =>
        regions.flatMap(({ regionCode, states }) =>
          addressTypes.map((addressType) => ({
            ...carrier,
            shippingMethod,
            regionCode,
            states: states.length === 0 ? null : [...new Set(states)].sort(),
            addressType,
            ...charge,
          })),
        ),
      ),
    ),
  )
  const distinct = new Map(charges.map((charge) => [`${buildKey(charge)} ${JSON.stringify(charge)}`, charge]))
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, charge]) => charge)
}

/** The normal form of requested settings. */
export const accountSettings = ({ accountConfigs }: ShippingSettings): AccountSettings => {
  const money = (given: { amount: string; currency: string } | null | undefined): SettingsMoney | null =>
    given === null || given === undefined ? null : { amount: given.amount, currency: given.currency }
  return {
    shippingPriority: accountConfigs.shippingPriority ?? null,
    migrateFreeShippingOffers: accountConfigs.migrateFreeShippingOffers ?? null,
    charges: listCharges(
      accountConfigs.carrierConfigs.map(({ shippingMethod, carriers, configurations }) => ({
        shippingMethod: shippingMethod?.trim() ?? null,
        carriers: carriers.map(({ carrierName, carrierService }) => ({ carrierName, carrierService })),
        configurations: configurations.map(({ regions, addressTypes, shippingCharge: { rateModelType, perShippingCharge } }) => ({
          regions: regions.map((region) => ({
            regionCode: region.regionCode,
            states: [...(region.states ?? []), ...(region.subRegions ?? []).flatMap((subRegion) => subRegion.states ?? [])].map(
              (state) => state.stateCode.toUpperCase(),
            ),
          })),
          addressTypes,
          charge: {
            rateModelType,
            unitOfMeasure: perShippingCharge.unitOfMeasure,
            shippingAndHandling: money(perShippingCharge.shippingAndHandling),
            chargePerItem: money(perShippingCharge.chargePerItem),
            chargePerWeight: money(perShippingCharge.chargePerWeight),
          },
        })),
      })),
    ),
  }
}

const sameMoney = (asked: SettingsMoney | null, found: SettingsMoney | null): boolean =>
  asked === null || found === null
    ? asked === found
    : asked.currency === found.currency && new Decimal(asked.amount).eq(found.amount)

const shownMoney = (money: SettingsMoney | null): string => (money === null ? 'none' : `${money.amount} ${money.currency}`)

const chargeDifference = (asked: SettingsCharge, found: SettingsCharge): string | null => {
  for (const member of ['shippingAndHandling', 'chargePerItem', 'chargePerWeight'] as const) {
    if (sameMoney(asked[member], found[member])) continue
    return `${member} is ${shownMoney(found[member])}, not ${shownMoney(asked[member])}`
  }
  for (const member of ['rateModelType', 'unitOfMeasure'] as const) {
    if (found[member] !== null && found[member] !== asked[member]) return `${member} is ${found[member]}, not ${asked[member]}`
  }
  // A region that is requested as a whole may be returned with all its states.
  const states = (charge: SettingsCharge): string => charge.states?.join(' ') ?? 'all'
  return asked.states === null || states(asked) === states(found) ? null : `its states are ${states(found)}, not ${states(asked)}`
}

/**
 * Differences between the existing and the requested settings, as sentences; empty if they are equal. The order and
 * the grouping of configurations do not count (specification, section 4), nor do fields beyond the known ones. `shippingPriority` and `shippingMethod` count
 * only where they were requested, `migrateFreeShippingOffers` only where both state it.
 */
export const settingsDifferences = (asked: AccountSettings, found: AccountSettings): string[] => {
  const differences: string[] = []
  if (asked.shippingPriority !== null && asked.shippingPriority !== found.shippingPriority) {
    differences.push(`shippingPriority is ${found.shippingPriority ?? 'not given'}, not ${asked.shippingPriority}`)
  }
  const [before, after] = [asked.migrateFreeShippingOffers, found.migrateFreeShippingOffers]
  if (before !== null && after !== null && before !== after)
    differences.push(`migrateFreeShippingOffers is ${after}, not ${before}`)
  const left = new Set(found.charges)
  // Those with a method first: one without it may be shown with any.
  for (const charge of asked.charges.toSorted(
    (one, other) => Number(one.shippingMethod === null) - Number(other.shippingMethod === null),
  )) {
    const candidates = [...left].filter((candidate) => isSameCharge(charge, candidate))
    const there = candidates.find((candidate) => chargeDifference(charge, candidate) === null) ?? candidates[0]
    if (there !== undefined) left.delete(there)
    const difference = there === undefined ? 'is not there' : chargeDifference(charge, there)
    if (difference !== null) differences.push(`${buildName(charge)}: ${difference}`)
  }
  for (const charge of left) differences.push(`${buildName(charge)}: was not asked for`)
  return differences
}
