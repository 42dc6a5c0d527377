import { createRandom, hashWords } from '../core/random.ts'
import { attributes, brandNames, departments, sharedSubcategory } from './vocabulary.ts'

interface Attributes {
  readonly type: string
  readonly values: readonly { readonly value: string; readonly count: number }[]
}

/** A subcategory with the way down to it. */
export interface Subcategory {
  readonly department: string
  readonly category: string
  readonly name: string
  readonly itemCount: number
  readonly brands: readonly string[]
}

/** How far the hierarchy has moved on from the first one: numbers of subcategories. */
export interface TaxonomyChanges {
  readonly added: number
  readonly removed: number
  /** Of those that stay: their item counts differ from the first ones. */
  readonly changed: number
}

/** Every subcategory, grouped by category and department; nothing but the seed and the changes decides. */
export const makeSubcategories = (seed: string, changes: TaxonomyChanges): Subcategory[] => {
  const first = departments.flatMap(({ name: department, categories, kinds }) =>
    categories.flatMap((category) => {
      const random = createRandom(seed, 'category', department, category)
      const names = kinds.filter(() => random.chance(0.9)).map((kind) => `${category} ${kind}`)
      return [sharedSubcategory, ...names].map((name) => makeSubcategory(seed, department, category, name))
    }),
  )
  const drawn = [...first].sort((left, right) => rank(seed, left) - rank(seed, right))
  const removed = new Set(drawn.slice(0, changes.removed))
  const changed = new Set(drawn.slice(changes.removed, changes.removed + changes.changed))
  const kept = first.flatMap((one) => {
    if (removed.has(one)) return []
    return changed.has(one) ? { ...one, itemCount: one.itemCount + 1 + (one.itemCount % 7) } : one
  })
  return [...kept, ...makeAdded(seed, changes.added)]
}

const makeSubcategory = (seed: string, department: string, category: string, name: string): Subcategory => {
  const random = createRandom(seed, 'subcategory', department, category, name)
  const from = random.whole(0, brandNames.length - 1)
  const brands = Array.from(
    { length: random.whole(2, 6) },
    (_, index) => brandNames[(from + 7 * index) % brandNames.length] ?? '',
  )
  return { department, category, name, itemCount: random.whole(3, 900), brands }
}

const rank = (seed: string, { department, category, name }: Subcategory): number =>
  hashWords(seed, 'rank', department, category, name)

const makeAdded = (seed: string, count: number): Subcategory[] => {
  const department = departments[0]?.name ?? ''
  return Array.from({ length: count }, (_, index) =>
    makeSubcategory(seed, department, 'New Arrivals', `New Arrival ${index + 1}`),
  )
}

/** Attributes of the node at the end of the path; about a quarter of all nodes have some. */
export const findAttributes = (seed: string, path: readonly string[], itemCount: number): Attributes | null => {
  const random = createRandom(seed, 'attributes', ...path)
  if (!random.chance(0.25)) return null
  const [type, values] = attributes[random.whole(0, attributes.length - 1)] ?? ['material', []]
  return { type, values: values.map((value) => ({ value, count: random.whole(1, Math.max(1, itemCount)) })) }
}
