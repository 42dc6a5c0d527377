import { z } from 'zod'
import type { Meta } from '../core/meta.ts'
import { type DisplayIdentity, openDisplayIdentity } from './identity.ts'
import { attributesByType, audienceTypes } from './targeting-vocabulary.ts'
import { type Audience, type ContextualTarget, makeAudiences, makeContextualTargets } from './targets.ts'
import { makeSubcategories, type Subcategory } from './taxonomy.ts'

const number = z.number().int().min(0).max(1_000)
const ids = z.array(z.number().int())
const contextualTarget = z.strictObject({
  id: z.number().int(),
  name: z.string().min(1),
  taxonPath: z.string().min(1),
  reach: z.array(z.string()).default(['TIER_3']),
  isDisabled: z.boolean().default(false),
})
const audience = z
  .strictObject({
    id: z.number().int(),
    name: z.string().min(1),
    taxonPath: z.string().min(1).optional(),
    audienceType: z.enum(audienceTypes),
    attribute: z.string(),
    isDisabled: z.boolean().default(false),
  })
  .refine(({ audienceType, attribute }) => attributesByType[audienceType].includes(attribute), {
    error: 'attribute: does not belong to the audienceType',
  })

const settingsSchema = z.strictObject({
  /** More names than this in one taxonomy request are too many. */
  maxFilterValues: z.number().int().min(1),
  /** `array`: the child of a node comes as a list of one. */
  taxonomiesAs: z.enum(['object', 'array']),
  /** Whether the whole taxonomy envelope comes in an array. */
  wrapped: z.boolean(),
  itemCountName: z.enum(['itemCount', 'item_count']),
  /** Against the hierarchy of a fresh sandbox. */
  added: number,
  removed: number,
  changed: number,
  /** What `totalResults` of the targeting listing counts: the rows of the answer, or all that match. */
  totalResultsOfTargets: z.enum(['rows', 'all']),
  disabledTargets: ids,
  enabledTargets: ids,
  removedTargets: ids,
  addedContextual: z.array(contextualTarget),
  addedBehavioral: z.array(audience),
})

/** What the display side answers differently from a fresh sandbox. */
export type DisplaySettings = z.infer<typeof settingsSchema>
/** Body of `PUT /_sandbox/display`; what is left out stays as it is. */
export const displayChange = settingsSchema.partial()

const fresh: DisplaySettings = {
  maxFilterValues: 50,
  taxonomiesAs: 'object',
  wrapped: false,
  itemCountName: 'itemCount',
  added: 0,
  removed: 0,
  changed: 0,
  totalResultsOfTargets: 'rows',
  disabledTargets: [],
  enabledTargets: [],
  removedTargets: [],
  addedContextual: [],
  addedBehavioral: [],
}

/** Display advertising: who may sign, and what there is to look up. */
export interface Display {
  readonly identity: DisplayIdentity
  settings(): DisplaySettings
  change(change: z.infer<typeof displayChange>): DisplaySettings
  subcategories(): readonly Subcategory[]
  contextual(): readonly ContextualTarget[]
  behavioral(): readonly Audience[]
  /** Back to a fresh sandbox; the identity and its keys stay. */
  reset(): void
}

interface Catalogue {
  readonly subcategories: readonly Subcategory[]
  readonly contextual: readonly ContextualTarget[]
  readonly behavioral: readonly Audience[]
}

export const createDisplay = (meta: Meta, dataDir: string, seed: string): Display => {
  let settings = meta.read('display', settingsSchema, fresh)
  let made: Catalogue | null = null
  const catalogue = (): Catalogue => {
    made ??= makeCatalogue(seed, settings)
    return made
  }
  return {
    identity: openDisplayIdentity(dataDir),
    settings: () => settings,
    change(change) {
      settings = settingsSchema.parse({ ...settings, ...change })
      made = null
      meta.keep('display', settings)
      return settings
    },
    subcategories: () => catalogue().subcategories,
    contextual: () => catalogue().contextual,
    behavioral: () => catalogue().behavioral,
    reset() {
      settings = fresh
      made = null
    },
  }
}

const makeCatalogue = (seed: string, settings: DisplaySettings): Catalogue => {
  const { added, removed, changed, addedContextual, addedBehavioral } = settings
  const gone = new Set(settings.removedTargets)
  const enabled = new Set(settings.enabledTargets)
  const disabled = new Set(settings.disabledTargets)
  const shown = <T extends { readonly id: number; readonly isDisabled: boolean }>(
    made: readonly T[],
    more: readonly T[],
  ): T[] => {
    const replaced = new Set(more.map(({ id }) => id))
    return [...made.filter(({ id }) => !replaced.has(id)), ...more]
      .filter(({ id }) => !gone.has(id))
      .map((one) => ({ ...one, isDisabled: disabled.has(one.id) || (one.isDisabled && !enabled.has(one.id)) }))
      .sort((left, right) => left.id - right.id)
  }
  return {
    subcategories: makeSubcategories(seed, { added, removed, changed }),
    contextual: shown(makeContextualTargets(seed), addedContextual),
    behavioral: shown(makeAudiences(seed), addedBehavioral),
  }
}
