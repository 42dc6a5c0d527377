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

const MAX_ID = 2n ** 63n - 1n

/** A 64-bit integer in digits, without the detour over a double (public facts, section 8.2); null when it is none. */
function idOf(value: unknown): string | null {
  const digits = /^(-?\d+)(?:\.0+)?$/.exec(decimalText(value) ?? '')?.[1]
  if (digits === undefined) return null
  const id = BigInt(digits)
  return id > MAX_ID || id < -MAX_ID - 1n ? null : id.toString()
}

function keyOf(raw: Readonly<Record<string, unknown>>): string | null {
  return idOf(raw['id'])
}

function targetOf(wire: WireTarget, raw: Readonly<Record<string, unknown>>) {
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

function contextualOf(
  wire: WireContextualTarget,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): ContextualTarget {
  const reach = [wire.reach ?? []].flat().map((tier) => normalTier(String(tier)))
  for (const tier of reach) {
    if (reachBand(tier) === null) onUnknownValue({ resource: 'contextual-target', field: 'reach', value: tier })
  }
  return { ...targetOf(wire, raw), reach, reachBands: reachBands(reach) }
}

function upperCase(value: string | null | undefined): string | null {
  return textOf(value?.trim().toUpperCase())
}

function behavioralOf(
  wire: WireBehavioralAudience,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): BehavioralAudience {
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
export function parseContextualTarget(
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<ContextualTarget> {
  return readAny(contextualReader, raw, onUnknownValue)
}

/** Reads one behavioral audience, as {@link parseContextualTarget} reads a target. */
export function parseBehavioralAudience(
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<BehavioralAudience> {
  return readAny(behavioralReader, raw, onUnknownValue)
}
