import type { BehavioralAudience, ContextualTarget } from '../../domain/campaigns/targeting.ts'
import {
  isKnownAttribute,
  isKnownAudienceType,
  normalTier,
  reachBand,
  reachBands,
  splitTaxonPath,
} from '../../domain/campaigns/targeting.ts'
import type { WireBehavioralAudience, WireContextualTarget, WireTarget } from '../contract/targeting.ts'
import {
  publishedBehavioralAudience,
  publishedContextualTarget,
  wireBehavioralAudience,
  wireContextualTarget,
} from '../contract/targeting.ts'
import { decimalText } from '../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, RecordFault, toText } from '../http/record.ts'

const maxId = 2n ** 63n - 1n

/** A 64-bit integer in digits, never converted to a double (public facts, section 8.2); null if it is none. */
const parseId = (value: unknown): string | null => {
  const digits = /^(-?\d+)(?:\.0+)?$/.exec(decimalText(value) ?? '')?.[1]
  if (digits === undefined) return null
  const id = BigInt(digits)
  return id > maxId || id < -maxId - 1n ? null : id.toString()
}

const parseKey = (raw: Readonly<Record<string, unknown>>): string | null => parseId(raw['id'])

const parseTarget = (wire: WireTarget, raw: Readonly<Record<string, unknown>>) => {
  const id = parseId(wire.id)
  if (id === null) throw new RecordFault('id: not a 64-bit integer')
  const taxonPath = toText(wire.taxonPath)
  return {
    id,
    name: toText(wire.name),
    taxonPath: taxonPath === null ? null : splitTaxonPath(taxonPath),
    isDisabled: wire.isDisabled ?? null,
    raw,
  }
}

const parseContextual = (
  wire: WireContextualTarget,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): ContextualTarget => {
  const reach = [wire.reach ?? []].flat().map((tier) => normalTier(String(tier)))
  for (const tier of reach) {
    if (reachBand(tier) === null) onUnknownValue({ resource: 'contextual-target', field: 'reach', value: tier })
  }
  return { ...parseTarget(wire, raw), reach, reachBands: reachBands(reach) }
}

const upperCase = (value: string | null | undefined): string | null => toText(value?.trim().toUpperCase())

const parseBehavioral = (
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
  return { ...parseTarget(wire, raw), audienceType, attribute }
}

/** Parses a contextual target. */
export const contextualReader: RecordReader<WireContextualTarget, ContextualTarget> = {
  resource: 'contextual-target',
  schema: wireContextualTarget,
  published: publishedContextualTarget,
  keyField: parseKey,
  toDomain: parseContextual,
}

/** Parses a behavioral audience. */
export const behavioralReader: RecordReader<WireBehavioralAudience, BehavioralAudience> = {
  resource: 'behavioral-audience',
  schema: wireBehavioralAudience,
  published: publishedBehavioralAudience,
  keyField: parseKey,
  toDomain: parseBehavioral,
}

/**
 * Parses one contextual target from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws: an unreadable record is returned with
 * its fault.
 */
export const parseContextualTarget = (
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<ContextualTarget> => parseRecord(contextualReader, raw, onUnknownValue)

/** Parses one behavioral audience, as {@link parseContextualTarget} parses a target. */
export const parseBehavioralAudience = (
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<BehavioralAudience> => parseRecord(behavioralReader, raw, onUnknownValue)
