import { type AccountSettings, type CarrierConfigParts, chargesOf, type SettingsMoney } from '../../domain/shipping-settings.ts'
import { type WireShippingSettings, wireShippingSettings } from '../contract/shipping-settings.ts'
import { asRecord, type CutRecord, decimalText, parseExact } from '../json.ts'
import type { ParsedRecord } from '../record.ts'
import { RecordFault, textOf } from '../record.ts'

/** Key of the only record that a seller has. */
export const settingsKey = 'account'

const maxIssues = 5

type WireConfiguration = WireShippingSettings['accountConfigs']['carrierConfigs'][number]['configurations'][number]
type WireCharge = Extract<WireConfiguration['shippingCharge'], { perShippingCharge: unknown }>
type WireMoney = WireCharge['perShippingCharge']['shippingAndHandling']

const money = (wire: WireMoney): SettingsMoney | null => {
  if (wire === undefined || wire === null) return null
  const amount = decimalText(wire.amount)
  if (amount === null) throw new RecordFault('shippingCharge: an amount is no number')
  return { amount, currency: wire.currency }
}

const statesOf = (region: WireConfiguration['regions'][number]): string[] => {
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
    regions: regions.map((region) => ({ regionCode: String(region.regionCode), states: statesOf(region) })),
    addressTypes: addressTypes.map(String),
    charge: {
      rateModelType: textOf(charge.rateModelType),
      unitOfMeasure: textOf(unitOfMeasure),
      shippingAndHandling: money(shippingAndHandling),
      chargePerItem: money(chargePerItem),
      chargePerWeight: money(chargePerWeight),
    },
  }
}

const toDomain = ({ accountConfigs }: WireShippingSettings): AccountSettings => ({
  shippingPriority: textOf(accountConfigs.shippingPriority),
  migrateFreeShippingOffers: accountConfigs.migrateFreeShippingOffers ?? null,
  charges: chargesOf(
    accountConfigs.carrierConfigs.map(({ carriers, configurations }) => ({
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

/** Whether this says that there are no settings of the account: those of fulfillment centers may be there alone. */
export const holdsNoAccount = (cut: CutRecord): boolean => {
  const read = parse(cut)
  if (!read.ok || typeof read.raw !== 'object' || read.raw === null) return false
  return (Reflect.get(read.raw, 'accountConfigs') ?? null) === null
}

/** Reads settings as they stood under `simplifiedShippingSettings`. Never throws for anything that they may hold. */
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

/** Reads settings from their JSON text, as they were kept. */
export const parseShippingSettings = (rawText: string): ParsedRecord<AccountSettings> => readSettings(asRecord(rawText))
