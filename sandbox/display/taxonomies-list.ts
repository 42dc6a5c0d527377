import { blemishRecords } from '../calls/perform.ts'
import type { FaultPlan } from '../faults/faults.ts'
import type { World } from '../world.ts'
import { displayRefusal } from './admission.ts'
import type { DisplaySettings } from './display.ts'
import { openBody } from './request.ts'
import { findAttributes, type Subcategory } from './taxonomy.ts'

const defaultLevel = 3
const defaultCount = 100
const nameFilters = ['filter[brandName]', 'filter[department]', 'filter[category]', 'filter[subCategory]'] as const

/**
 * `POST /api/v1/taxonomies/list` (specification, endpoint 1). Filters narrow each other; several values of one widen it. The answer
 * has one row for each deepest node of the level asked, under which something fits all filters. Item counts are those of the whole
 * node, with any filter. How many filters are too many is not published: more than 50 names in all, unless set otherwise.
 */
export const listTaxonomies = (world: World, body: unknown, plan: FaultPlan): unknown => {
  const asked = openBody(world, body)
  const settings = world.display.settings()
  const level = asked.whole('filter[level]', 1, 3) ?? defaultLevel
  const [brands, departments, categories, subcategories] = nameFilters.map((key) => asked.texts(key))
  const startIndex = asked.whole('startIndex', 0, Number.MAX_SAFE_INTEGER) ?? 0
  const count = asked.whole('count', 1, Number.MAX_SAFE_INTEGER) ?? defaultCount
  if (asked.faults.length > 0) throw displayRefusal(400, asked.faults.join('; '))
  const given = [brands, departments, categories, subcategories].reduce((sum, names) => sum + (names?.length ?? 0), 0)
  if (given > settings.maxFilterValues) throw displayRefusal(400, 'TOO_MANY_FILTERS_PROVIDED_IN_REQUEST')
  const all = world.display.subcategories()
  const fitting = all.filter(
    (one) =>
      (brands ?? one.brands).some((brand) => one.brands.includes(brand)) &&
      isNamed(one.department, departments) &&
      isNamed(one.category, categories) &&
      isNamed(one.name, subcategories),
  )
  const paths = new Map(fitting.map((one) => [buildPath(one, level).join('\u0000'), buildPath(one, level)]))
  const from = plan.blemishes.has('repeatCursor') ? 0 : startIndex
  const nodes = [...paths.values()].slice(from, from + count)
  const counts = itemCounts(all, level)
  const rows = nodes.map((path) => viewRow(world.settings.seed, path, counts.get(path.join('\u0000')) ?? 0, settings))
  const data = blemishRecords(rows, 'name', plan)
  const envelope = { code: 'success', details: '', totalResults: data.length, data }
  return settings.wrapped ? [envelope] : envelope
}

/** Exact but for upper and lower case (public facts, section 8.1). */
const isNamed = (name: string, wanted: readonly string[] | null | undefined): boolean =>
  (wanted ?? [name]).some((one) => one.toLowerCase() === name.toLowerCase())

const buildPath = ({ department, category, name }: Subcategory, level: number): string[] =>
  [department, category, name].slice(0, level)

const itemCounts = (all: readonly Subcategory[], level: number): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const one of all) {
    const key = buildPath(one, level).join('\u0000')
    counts.set(key, (counts.get(key) ?? 0) + one.itemCount)
  }
  return counts
}

/** The department as a chain of single children; only the deepest node has its number of items and its attributes. */
const viewRow = (
  seed: string,
  path: readonly string[],
  itemCount: number,
  settings: DisplaySettings,
): Record<string, unknown> => {
  const attributes = findAttributes(seed, path, itemCount)
  const deepest: Record<string, unknown> = {
    level: path.length,
    name: path.at(-1),
    ...(attributes === null ? {} : { attributes }),
    [settings.itemCountName]: itemCount,
  }
  return path.slice(0, -1).reduceRight<Record<string, unknown>>(
    (child, name, index) => ({
      level: index + 1,
      name,
      taxonomies: settings.taxonomiesAs === 'array' ? [child] : child,
    }),
    deepest,
  )
}
