import type { BehavioralAudience, ContextualTarget } from '../../domain/targeting.ts'
import {
  isKnownAttribute,
  isKnownAudienceType,
  normalTier,
  reachBand,
  reachBands,
  splitTaxonPath,
} from '../../domain/targeting.ts'
import type { WireBehavioralAudience, WireContextualTarget, WireTarget } from '../contract/targeting.ts'
import { wireBehavioralAudience, wireContextualTarget } from '../contract/targeting.ts'
import { decimalText } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, readAny, textOf } from '../record.ts'

const maxId = 2n ** 63n - 1n

/** A 64-bit integer in digits, without the detour over a double (public facts, section 8.2); null when it is none. */
const idOf = (value: unknown): string | null => {
  const digits = /^(-?\d+)(?:\.0+)?$/.exec(decimalText(value) ?? '')?.[1]
  if (digits === undefined) return null
  const id = BigInt(digits)
  return id > maxId || id < -maxId - 1n ? null : id.toString()
}

const keyOf = (raw: Readonly<Record<string, unknown>>): string | null => idOf(raw['id'])

const targetOf = (wire: WireTarget, raw: Readonly<Record<string, unknown>>) => {
  const id = idOf(wire.id)
  if (id === null) throw new RecordFault('id: not a 64-bit integer')
  const taxonPath = textOf(wire.taxonPath)
  return {
    id,
    name: textOf(wire.name),
    taxonPath: taxonPath === null ? null : splitTaxonPath(taxonPath),
    isDisabled: wire.isDisabled ?? null,
    raw,
  }
}

const contextualOf = (
  wire: WireContextualTarget,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): ContextualTarget => {
  const reach = [wire.reach ?? []].flat().map((tier) => normalTier(String(tier)))
  for (const tier of reach) {
    if (reachBand(tier) === null) onUnknownValue({ resource: 'contextual-target', field: 'reach', value: tier })
  }
  return { ...targetOf(wire, raw), reach, reachBands: reachBands(reach) }
}

const upperCase = (value: string | null | undefined): string | null => textOf(value?.trim().toUpperCase())

const behavioralOf = (
  wire: WireBehavioralAudience,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): BehavioralAudience => {
  const audienceType = upperCase(wire.audienceType)
  const attribute = upperCase(wire.attribute)
  const resource = 'behavioral-audience'
  if (audienceType !== null && !isKnownAudienceType(audienceType))
    onUnknownValue({ resource, field: 'audienceType', value: audienceType })
  if (attribute !== null && !isKnownAttribute(attribute)) onUnknownValue({ resource, field: 'attribute', value: attribute })
  return { ...targetOf(wire, raw), audienceType, attribute }
}

/** How a contextual target is read. */
export const contextualReader: RecordReader<WireContextualTarget, ContextualTarget> = {
  resource: 'contextual-target',
  schema: wireContextualTarget,
  keyField: keyOf,
  toDomain: contextualOf,
}

/** How a behavioral audience is read. */
export const behavioralReader: RecordReader<WireBehavioralAudience, BehavioralAudience> = {
  resource: 'behavioral-audience',
  schema: wireBehavioralAudience,
  keyField: keyOf,
  toDomain: behavioralOf,
}

/**
 * Reads one contextual target from its JSON text (exact) or from a parsed value; for replaying records in quarantine.
 * Never throws: a record that cannot be read comes back with the fault.
 */
export const parseContextualTarget = (
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<ContextualTarget> => readAny(contextualReader, raw, onUnknownValue)

/** Reads one behavioral audience, as {@link parseContextualTarget} reads a target. */
export const parseBehavioralAudience = (
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<BehavioralAudience> => readAny(behavioralReader, raw, onUnknownValue)
