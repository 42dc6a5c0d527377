import { createRandom, type Random } from '../core/random.ts'
import { type AudienceType, attributesByType, audienceNames, audienceTypes } from './targeting-vocabulary.ts'
import { brandNames, departments } from './vocabulary.ts'

/** A contextual target as it goes over the wire (specification, "Contextual target"). */
export interface ContextualTarget {
  readonly id: number
  readonly name: string
  readonly taxonPath: string
  readonly reach: readonly string[]
  readonly isDisabled: boolean
}

/** A behavioral audience as it goes over the wire (specification, "Behavioral audience"). */
export interface Audience {
  readonly id: number
  readonly name: string
  /** Of RETAIL only. */
  readonly taxonPath?: string | undefined
  readonly audienceType: AudienceType
  readonly attribute: string
  readonly isDisabled: boolean
}

const firstContextualId = 200_001
const firstAudienceId = 500_001
const disabledShare = 0.06
/** Levels of a path are separated by this (specification, "Contextual target"). */
const separator = '|'

/** A target for each department, each category and some of the subcategories. */
export const makeContextualTargets = (seed: string): ContextualTarget[] => {
  const random = createRandom(seed, 'contextual')
  const paths = departments.flatMap(({ name, categories, kinds }) => [
    [name],
    ...categories.flatMap((category) => [
      [name, category],
      ...kinds.filter(() => random.chance(0.3)).map((kind) => [name, category, `${category} ${kind}`]),
    ]),
  ])
  return paths.map((path, index) => ({
    id: firstContextualId + index,
    name: path.at(-1) ?? '',
    taxonPath: path.join(separator),
    // The specification knows one place where the first tier is spelled with a space; here that is the very first target.
    reach: index === 0 ? ['TIER 1'] : drawReach(random),
    isDisabled: random.chance(disabledShare),
  }))
}

/** None (public facts, section 8.2), one tier, or two neighbours. */
const drawReach = (random: Random): string[] => {
  const tier = random.whole(1, 7)
  if (random.chance(0.08)) return []
  return random.chance(0.3) && tier < 7 ? [`TIER_${tier}`, `TIER_${tier + 1}`] : [`TIER_${tier}`]
}

/** Audiences of every legal pair of audienceType and attribute. */
export const makeAudiences = (seed: string): Audience[] => {
  const random = createRandom(seed, 'audiences')
  const pairs = audienceTypes.flatMap((audienceType) =>
    attributesByType[audienceType].map((attribute) => [audienceType, attribute] as const),
  )
  return pairs
    .flatMap(([audienceType, attribute]) =>
      subjects(audienceType, attribute, random).map((subject) => ({ ...subject, audienceType, attribute })),
    )
    .map((one, index) => ({ id: firstAudienceId + index, ...one, isDisabled: random.chance(disabledShare) }))
}

const subjects = (audienceType: AudienceType, attribute: string, random: Random): Pick<Audience, 'name' | 'taxonPath'>[] => {
  const word = attribute.charAt(0) + attribute.slice(1).toLowerCase().replaceAll('_', ' ')
  if (audienceType === 'RETAIL') {
    return departments.flatMap(({ name, categories }) =>
      categories
        .filter(() => random.chance(0.5))
        .map((category) => ({ name: `${category} - ${word}`, taxonPath: [name, category].join(separator) })),
    )
  }
  if (audienceType === 'BRAND') return brandNames.map((brand) => ({ name: `${brand} - ${word}` }))
  return (audienceNames[attribute] ?? []).map((name) => ({ name }))
}
