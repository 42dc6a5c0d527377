import type { TaxonomyAttributeValue, TaxonomyNode } from '../../domain/campaigns/taxonomy.ts'
import { taxonomyKey } from '../../domain/campaigns/taxonomy.ts'
import { isObject } from '../../domain/values/values.ts'
import type { WireTaxonomyChain } from '../contract/taxonomies.ts'
import { isNoChild, listNodes, publishedTaxonomyNode, wireAttributeValue, wireTaxonomyChain } from '../contract/taxonomies.ts'
import type { CutRecord } from '../http/json.ts'
import { asRecord, parseExact, wholeNumber } from '../http/json.ts'
import type { CompareRecord, OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, RecordFault, readRecord, toText } from '../http/record.ts'

const levels = 3
/** Maximum length of the texts of all branches of one row. Each text repeats the nodes above the branch. */
const maxBranchesText = 64 * 1024 * 1024

const parseKey = (raw: unknown): string | null => {
  const nodes = listNodes(raw)
  const names = nodes.map((node) => {
    const name = isObject(node) ? node['name'] : undefined
    return typeof name === 'string' || typeof name === 'number' ? String(name).trim() : ''
  })
  if (names.includes('')) return null
  const leaf = nodes.at(-1)
  return taxonomyKey((isObject(leaf) ? wholeNumber(leaf['level']) : null) ?? names.length, names)
}

const parseCount = (value: unknown, field: string): number | null => {
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

const parseNode = (
  chain: WireTaxonomyChain,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): TaxonomyNode => {
  const path = chain.map((node) => String(node.name).trim())
  const leaf = chain.at(-1)
  const name = path.at(-1)
  if (leaf === undefined || name === undefined) throw new RecordFault('name: missing')
  const level = parseCount(leaf.level, 'level') ?? path.length
  if (level < 1 || level > levels) onUnknownValue({ resource: 'taxonomy', field: 'level', value: String(level) })
  const { attributes } = leaf
  return {
    level,
    path,
    name,
    itemCount: parseCount(leaf.itemCount ?? leaf.item_count, 'itemCount'),
    attributes:
      attributes === undefined || attributes === null
        ? null
        : { type: toText(attributes.type), values: attributeValues(attributes.values) },
    raw,
  }
}

const taxonomyReader: RecordReader<WireTaxonomyChain, TaxonomyNode> = {
  resource: 'taxonomy',
  schema: wireTaxonomyChain,
  published: publishedTaxonomyNode,
  keyField: parseKey,
  toDomain: parseNode,
}

/** Each path from the department to a node without a child, as a document in which every node has at most one child. */
const listBranches = function* (node: Readonly<Record<string, unknown>>): Generator<Readonly<Record<string, unknown>>> {
  const child = node['taxonomies']
  if (isNoChild(child) || (!isObject(child) && !Array.isArray(child))) {
    yield node
    return
  }
  const children: readonly unknown[] = Array.isArray(child) ? child : [child]
  for (const one of children) {
    // An element that is no node stays in a list, so that it is not read as the end of the branch.
    if (!isObject(one) || isNoChild(one)) yield { ...node, taxonomies: [one] }
    else for (const branch of listBranches(one)) yield { ...node, taxonomies: branch }
  }
}

const branchTexts = (record: CutRecord): readonly string[] | null => {
  // Each branch is made storable later, with its own text.
  const raw = parseExact({ ...record, text: record.original })
  if (!isObject(raw)) return [record.original]
  const texts: string[] = []
  let length = 0
  for (const branch of listBranches(raw)) {
    const text = JSON.stringify(branch)
    length += text.length
    if (length > maxBranchesText) return null
    texts.push(text)
  }
  return texts
}

/**
 * Parses one row of a taxonomy listing into one record, whose key is its deepest node. In all known answers a node has a single child. If a node has a list of
 * children, each branch is a record, whose text is the row without the other branches.
 */
export const readTaxonomyRow = (
  row: CutRecord,
  onUnknownValue: OnUnknownValue,
  compare?: CompareRecord,
): readonly ParsedRecord<TaxonomyNode>[] => {
  if (row.isTooDeep || !/"taxonomies"\s*:\s*\[/.test(row.text)) return [readRecord(taxonomyReader, row, onUnknownValue, compare)]
  let texts: readonly string[] | null
  try {
    texts = branchTexts(row)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    texts = [row.original]
  }
  if (texts === null) return [{ ok: false, key: null, fault: 'taxonomies: too many branches', rawText: row.text }]
  return texts.map((text) => readRecord(taxonomyReader, asRecord(text), onUnknownValue, compare))
}

/**
 * Parses one taxonomy node from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws: an unreadable record is returned with its
 * fault.
 */
export const parseTaxonomyNode = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<TaxonomyNode> =>
  parseRecord(taxonomyReader, raw, onUnknownValue)
