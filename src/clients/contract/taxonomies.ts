import { z } from 'zod'
import { lenient, numberLike, text } from './lenient.ts'
import { describePublished } from './published.ts'

const wireAttributes = z.looseObject({ type: lenient(text), values: lenient(z.unknown()) })

/** One entry of `attributes.values`. */
export const wireAttributeValue = z.looseObject({ value: text, count: lenient(numberLike) })

/**
 * A node without its child (specification, "Taxonomy node"). The schema and the samples of the live service spell the count differently (public facts, section
 * 8.1).
 */
const wireTaxonomyNode = z.looseObject({
  level: numberLike.nullish(),
  name: text.refine((name) => String(name).trim() !== '', 'empty'),
  itemCount: numberLike.nullish(),
  item_count: numberLike.nullish(),
  attributes: lenient(wireAttributes),
})

const maxLevels = 20

/** Whether a value of `taxonomies` means that there is no child. */
export const isNoChild = (child: unknown): boolean => {
  if (child === undefined || child === null || child === '') return true
  return typeof child === 'object' && Object.keys(child).length === 0
}

/** The node, its child, the child of that, and so on, up to a node without a child. A list of children is one element, which is no node. */
export const listNodes = (top: unknown): readonly unknown[] => {
  const nodes: unknown[] = [top]
  for (let at = top; nodes.length <= maxLevels; ) {
    if (typeof at !== 'object' || at === null || !('taxonomies' in at) || isNoChild(at.taxonomies)) break
    at = at.taxonomies
    nodes.push(at)
  }
  return nodes
}

/** A chain of nested nodes, department first. */
export const wireTaxonomyChain = z.preprocess(listNodes, z.array(wireTaxonomyNode).max(maxLevels))

/** See `wireTaxonomyChain`. */
export type WireTaxonomyChain = z.infer<typeof wireTaxonomyChain>

/** The envelope of a listing, its records cut out (specification, section 1). Only remaining `data` is validated. */
export const wireTaxonomyPage = z.looseObject({
  code: lenient(z.string()),
  totalResults: lenient(numberLike),
  data: z.array(z.never()).nullish(),
})

/** What is published about a node; its child is not compared. */
export const publishedTaxonomyNode = describePublished(wireTaxonomyNode, { also: { '': ['taxonomies'] } })
