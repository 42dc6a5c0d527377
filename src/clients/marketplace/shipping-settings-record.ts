import {
  type AccountSettings,
  type CarrierConfigParts,
  listCharges,
  type SettingsMoney,
} from '../../domain/campaigns/shipping-settings.ts'
import { type WireShippingSettings, wireShippingSettings } from '../contract/shipping-settings.ts'
import { asRecord, type CutRecord, decimalText, parseExact } from '../http/json.ts'
import type { ParsedRecord } from '../http/record.ts'
import { RecordFault, toText } from '../http/record.ts'

/** Key of the only record of a seller. */
export const settingsKey = 'account'

const maxIssues = 5

type WireConfiguration = WireShippingSettings['accountConfigs']['carrierConfigs'][number]['configurations'][number]
type WireCharge = Extract<WireConfiguration['shippingCharge'], { perShippingCharge: unknown }>
type WireMoney = WireCharge['perShippingCharge']['shippingAndHandling']

const money = (wire: WireMoney): SettingsMoney | null => {
  if (wire === undefined || wire === null) return null
  const amount = decimalText(wire.amount)
  if (amount === null) throw new RecordFault('shippingCharge: an amount is not a number')
  return { amount, currency: wire.currency }
}

const parseStates = (region: WireConfiguration['regions'][number]): string[] => {
  const states = [...(region.states ?? []), ...(region.subRegions ?? []).flatMap((subRegion) => subRegion.states ?? [])]
  return states.map((state) => String(state.stateCode).toUpperCase())
}

const configurationParts = ({
  regions,
  addressTypes,
  shippingCharge,
}: WireConfiguration): CarrierConfigParts['configurations'][number] => {
  const charge = Array.isArray(shippingCharge) ? shippingCharge[0] : shippingCharge
  if (charge === undefined) throw new RecordFault('shippingCharge: empty')
  const { unitOfMeasure, shippingAndHandling, chargePerItem, chargePerWeight } = charge.perShippingCharge
  return {
    regions: regions.map((region) => ({ regionCode: String(region.regionCode), states: parseStates(region) })),
    addressTypes: addressTypes.map(String),
    charge: {
      rateModelType: toText(charge.rateModelType),
      unitOfMeasure: toText(unitOfMeasure),
      shippingAndHandling: money(shippingAndHandling),
      chargePerItem: money(chargePerItem),
      chargePerWeight: money(chargePerWeight),
    },
  }
}

const toDomain = ({ accountConfigs }: WireShippingSettings): AccountSettings => ({
  shippingPriority: toText(accountConfigs.shippingPriority),
  migrateFreeShippingOffers: accountConfigs.migrateFreeShippingOffers ?? null,
  charges: listCharges(
    accountConfigs.carrierConfigs.map(({ shippingMethod, carriers, configurations }) => ({
      shippingMethod: toText(shippingMethod),
      carriers: carriers.map(({ carrierName, carrierService }) => ({
        carrierName: String(carrierName),
        carrierService: String(carrierService),
      })),
      configurations: configurations.map(configurationParts),
    })),
  ),
})

type Parsed = { readonly ok: true; readonly raw: unknown } | { readonly ok: false; readonly fault: string }

const parse = (cut: CutRecord): Parsed => {
  if (cut.isTooDeep) return { ok: false, fault: 'record: nested too deeply' }
  try {
    return { ok: true, raw: parseExact(cut) }
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, fault: 'record: not valid JSON' }
    throw error
  }
}

/** Whether there are no settings of the account. There may be settings of fulfillment centers. */
export const holdsNoAccount = (cut: CutRecord): boolean => {
  const read = parse(cut)
  if (!read.ok || typeof read.raw !== 'object' || read.raw === null) return false
  return (Reflect.get(read.raw, 'accountConfigs') ?? null) === null
}

/** Parses settings from the value of `simplifiedShippingSettings`. Never throws for their contents. */
export const readSettings = (cut: CutRecord): ParsedRecord<AccountSettings> => {
  const rawText = cut.text
  const faulty = (fault: string): ParsedRecord<AccountSettings> => ({ ok: false, key: settingsKey, fault, rawText })
  const read = parse(cut)
  if (!read.ok) return faulty(read.fault)
  const parsed = wireShippingSettings.safeParse(read.raw)
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, maxIssues)
    return faulty(issues.map((issue) => `${issue.path.map(String).join('.') || 'record'}: ${issue.message}`).join('; '))
  }
  try {
    return { ok: true, key: settingsKey, value: toDomain(parsed.data), rawText }
  } catch (error) {
    if (error instanceof RecordFault) return faulty(error.message)
    throw error
  }
}

/** Parses settings from their stored JSON text. */
export const parseShippingSettings = (rawText: string): ParsedRecord<AccountSettings> => readSettings(asRecord(rawText))
