import type { TaxonomyAttributeValue, TaxonomyNode } from '../../domain/taxonomy.ts'
import { taxonomyKey } from '../../domain/taxonomy.ts'
import { isObject } from '../../domain/values.ts'
import type { WireTaxonomyChain } from '../contract/taxonomies.ts'
import { isNoChild, nodesOf, wireAttributeValue, wireTaxonomyChain } from '../contract/taxonomies.ts'
import type { CutRecord } from '../json.ts'
import { asRecord, parseExact, wholeNumber } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, readAny, readRecord, textOf } from '../record.ts'

const levels = 3
/** Most text that the branches of one row may come to, each repeating the names above it. */
const maxBranchesText = 64 * 1024 * 1024

const keyOf = (raw: unknown): string | null => {
  const nodes = nodesOf(raw)
  const names = nodes.map((node) => {
    const name = isObject(node) ? node['name'] : undefined
    return typeof name === 'string' || typeof name === 'number' ? String(name).trim() : ''
  })
  if (names.includes('')) return null
  const leaf = nodes.at(-1)
  return taxonomyKey((isObject(leaf) ? wholeNumber(leaf['level']) : null) ?? names.length, names)
}

const countOf = (value: unknown, field: string): number | null => {
  if (value === undefined || value === null) return null
  const count = wholeNumber(value)
  if (count === null) throw new RecordFault(`${field}: not a whole number`)
  return count
}

const attributeValues = (values: unknown): readonly TaxonomyAttributeValue[] => {
  const list: readonly unknown[] = Array.isArray(values) ? values : [values]
  return list.flatMap((entry) => {
    const { data } = wireAttributeValue.safeParse(entry)
    return data === undefined ? [] : [{ value: String(data.value), count: wholeNumber(data.count) }]
  })
}

const nodeOf = (
  chain: WireTaxonomyChain,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): TaxonomyNode => {
  const path = chain.map((node) => String(node.name).trim())
  const leaf = chain.at(-1)
  const name = path.at(-1)
  if (leaf === undefined || name === undefined) throw new RecordFault('name: missing')
  const level = countOf(leaf.level, 'level') ?? path.length
  if (level < 1 || level > levels) onUnknownValue({ resource: 'taxonomy', field: 'level', value: String(level) })
  const { attributes } = leaf
  return {
    level,
    path,
    name,
    itemCount: countOf(leaf.itemCount ?? leaf.item_count, 'itemCount'),
    attributes:
      attributes === undefined || attributes === null
        ? null
        : { type: textOf(attributes.type), values: attributeValues(attributes.values) },
    raw,
  }
}

const taxonomyReader: RecordReader<WireTaxonomyChain, TaxonomyNode> = {
  resource: 'taxonomy',
  schema: wireTaxonomyChain,
  keyField: keyOf,
  toDomain: nodeOf,
}

/** Each way from the department down to a node without a child, as a document in which every node has one child at most. */
const branchesOf = function* (node: Readonly<Record<string, unknown>>): Generator<Readonly<Record<string, unknown>>> {
  const child = node['taxonomies']
  if (isNoChild(child) || (!isObject(child) && !Array.isArray(child))) {
    yield node
    return
  }
  const children: readonly unknown[] = Array.isArray(child) ? child : [child]
  for (const one of children) {
    // What is no node stays in a list of its own, so that it is not taken for the end of the branch.
    if (!isObject(one) || isNoChild(one)) yield { ...node, taxonomies: [one] }
    else for (const branch of branchesOf(one)) yield { ...node, taxonomies: branch }
  }
}

const branchTexts = (record: CutRecord): readonly string[] | null => {
  const raw = parseExact(record)
  if (!isObject(raw)) return [record.text]
  const texts: string[] = []
  let length = 0
  for (const branch of branchesOf(raw)) {
    const text = JSON.stringify(branch)
    length += text.length
    if (length > maxBranchesText) return null
    texts.push(text)
  }
  return texts
}

/**
 * Reads one row of a taxonomy listing: one record, named by its deepest node. Every known answer nests a single child; should a node
 * have a list of children, each branch is a record, whose text is the row without the other branches.
 */
export const readTaxonomyRow = (row: CutRecord, onUnknownValue: OnUnknownValue): readonly ParsedRecord<TaxonomyNode>[] => {
  if (row.isTooDeep || !/"taxonomies"\s*:\s*\[/.test(row.text)) return [readRecord(taxonomyReader, row, onUnknownValue)]
  let texts: readonly string[] | null
  try {
    texts = branchTexts(row)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    texts = [row.text]
  }
  if (texts === null) return [{ ok: false, key: null, fault: 'taxonomies: too many branches', rawText: row.text }]
  return texts.map((text) => readRecord(taxonomyReader, asRecord(text), onUnknownValue))
}

/**
 * Reads one taxonomy node from its JSON text (exact) or from a parsed value; for replaying records in quarantine.
 * Never throws: a record that cannot be read comes back with the fault.
 */
export const parseTaxonomyNode = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<TaxonomyNode> =>
  readAny(taxonomyReader, raw, onUnknownValue)
