/** Kinds of audience, each with its attributes for queries (specification, "Behavioral audience"). */
export const audienceAttributes = {
  RETAIL: ['HISTORICAL', 'PREDICTIVE'],
  BRAND: ['HISTORICAL', 'PREDICTIVE', 'LAPSED_BUYERS'],
  PERSONA: ['LIFESTYLE', 'LIFESTAGE', 'AUTO', 'SHOPPING_HABITS', 'FOOD_BEVERAGES'],
  DEMOGRAPHIC: ['AGE', 'GENDER', 'HOUSEHOLD_INCOME'],
  CUSTOM: ['RULE_BASED', 'PROPENSITY', 'BRAND_AFFINITY', 'LOOKALIKE', 'ADVANCED', 'EXTERNAL'],
} as const

const attributesByType: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(audienceAttributes))
const knownAttributes: ReadonlySet<string> = new Set(Object.values(audienceAttributes).flat())

/** Whether the specification names this audience type (upper case). */
export const isKnownAudienceType = (audienceType: string): boolean => attributesByType.has(audienceType)

/** Whether the specification names this attribute (upper case) for any audience type. */
export const isKnownAttribute = (attribute: string): boolean => knownAttributes.has(attribute)

/** A kind of audience that can be queried. */
export interface AudienceKind {
  /** Upper case. */
  readonly audienceType: string
  /** Upper case; null only for `CUSTOM`, which needs none. */
  readonly attribute: string | null
}

/** All kinds that must be queried to get all audiences: each pair of the table, and `CUSTOM` as a whole. */
export const audienceKinds: readonly AudienceKind[] = Object.entries(audienceAttributes).flatMap(
  ([audienceType, attributes]): AudienceKind[] =>
    audienceType === 'CUSTOM'
      ? [{ audienceType, attribute: null }]
      : attributes.map((attribute) => ({ audienceType, attribute })),
)

/** Names a kind among all: `RETAIL/HISTORICAL`, `CUSTOM`. */
export const audiencePart = ({ audienceType, attribute }: AudienceKind): string =>
  attribute === null ? audienceType : `${audienceType}/${attribute}`

/** Filters of a behavioral query, case-insensitive. */
export interface AudienceChoice {
  readonly audienceType?: string
  readonly attribute?: string
  /** Audiences are named by id or by text, so neither type nor attribute is needed. */
  readonly isNamed: boolean
}

/**
 * Validates a behavioral query (specification, section 2): without ids and text it names an audience type, and an attribute
 * as well unless the type is custom; an attribute belongs to its type, and may stand without one where audiences are named.
 *
 * @throws RangeError that names the pair
 */
export const checkAudienceChoice = ({ audienceType, attribute, isNamed }: AudienceChoice): void => {
  const pair = `audienceType ${audienceType ?? '(none)'} with attribute ${attribute ?? '(none)'}`
  if (audienceType === undefined) {
    if (!isNamed) throw new RangeError(`${pair}: an audience type is needed without ids and search text`)
    if (attribute === undefined || isKnownAttribute(attribute.toUpperCase())) return
    throw new RangeError(`${pair}: there is no such attribute`)
  }
  const attributes = attributesByType.get(audienceType.toUpperCase())
  if (attributes === undefined) throw new RangeError(`${pair}: there is no such audience type`)
  if (attribute === undefined) {
    if (isNamed || audienceType.toUpperCase() === 'CUSTOM') return
    throw new RangeError(`${pair}: an attribute is needed; it may be ${attributes.join(', ')}`)
  }
  if (!attributes.includes(attribute.toUpperCase()))
    throw new RangeError(`${pair}: the attribute may be ${attributes.join(', ')}`)
}

/** What both kinds of target have in common. */
interface Target {
  /** A 64-bit integer, in digits. */
  readonly id: string
  readonly name: string | null
  /** Names from the department down; null when the marketplace gives no path. */
  readonly taxonPath: readonly string[] | null
  /** Only those with `false` may be used in ad groups; null when the marketplace does not say. */
  readonly isDisabled: boolean | null
  readonly raw: unknown
}

/** How many people a target reaches, as the advertising console shows it. */
export type ReachBand = 'LOW' | 'MID' | 'HIGH'

/** A contextual target (specification, "Contextual target"). */
export interface ContextualTarget extends Target {
  /** Tiers as `TIER_1` to `TIER_7`, `TIER 1` read as `TIER_1`; unknown ones kept as they came. */
  readonly reach: readonly string[]
  readonly reachBands: readonly ReachBand[]
}

/** A behavioral audience (specification, "Behavioral audience"); type and attribute in upper case, open sets. */
export interface BehavioralAudience extends Target {
  readonly audienceType: string | null
  readonly attribute: string | null
}

const bandByTier: ReadonlyMap<string, ReachBand> = new Map<string, ReachBand>([
  ['TIER_1', 'LOW'],
  ['TIER_2', 'LOW'],
  ['TIER_3', 'MID'],
  ['TIER_4', 'MID'],
  ['TIER_5', 'HIGH'],
  ['TIER_6', 'HIGH'],
  ['TIER_7', 'HIGH'],
])

/** A tier in the usual spelling: `TIER 1` is `TIER_1` (specification, "Contextual target"); anything unknown stays as it is. */
export const normalTier = (tier: string): string => {
  const usual = tier
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_')
  return bandByTier.has(usual) ? usual : tier
}

/** The console's band of a tier (specification, "Contextual target"); null for an unknown one. */
export const reachBand = (tier: string): ReachBand | null => bandByTier.get(normalTier(tier)) ?? null

/** The bands of these tiers, each once, lowest first. */
export const reachBands = (tiers: readonly string[]): readonly ReachBand[] => {
  const found = new Set(tiers.map(reachBand))
  return (['LOW', 'MID', 'HIGH'] as const).filter((band) => found.has(band))
}

/** Levels of a taxonomy path: separated by the vertical bar, department first (specification, "Contextual target"). */
export const splitTaxonPath = (taxonPath: string): readonly string[] =>
  taxonPath
    .split('|')
    .map((name) => name.trim())
    .filter((name) => name !== '')
