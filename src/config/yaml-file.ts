import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  type YAMLError,
} from 'yaml'
import { readRegularText } from '../util/regular-file.ts'

// Messages of the parser are never repeated: they quote the text, which may be a secret.

/** The line of a member name or of a list item; of the enclosing value if it is missing. */
export type FindLine = (path: readonly PropertyKey[]) => number

/** The contents of a JSON or YAML file, or the reason why it is unreadable. */
export type YamlFile =
  | { readonly ok: true; readonly value: unknown; readonly findLine: FindLine }
  | { readonly ok: false; readonly fault: string }

const faultTexts: Readonly<Partial<Record<string, string>>> = {
  ALIAS_PROPS: 'an alias has an anchor or a tag',
  BAD_ALIAS: 'an alias has no name; a value that begins with * must be quoted',
  BAD_COLLECTION_TYPE: 'a value does not match its tag; a value that begins with ! must be quoted',
  BAD_DQ_ESCAPE: 'an escape in double quotes is unknown',
  BAD_INDENT: 'the indentation is wrong',
  BAD_SCALAR_START: 'a value begins with a reserved character; it must be quoted',
  BLOCK_AS_IMPLICIT_KEY: 'a member is in the line of another one; a value with a colon and a space must be quoted',
  DUPLICATE_KEY: 'a member appears twice',
  MISSING_CHAR: 'a quote, a bracket, a comma or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'the name of a member has several lines, or a colon is missing',
  MULTIPLE_DOCS: 'a second document begins',
  NON_STRING_KEY: 'the name of a member is not a text',
  TAB_AS_INDENT: 'a tab is in the indentation',
  TAG_RESOLVE_FAILED: 'a tag is unknown, or its value does not match it; a value that begins with ! must be quoted',
  UNEXPECTED_TOKEN: 'there is unexpected text; a value with special characters must be quoted',
}

const formatPlace = (lines: LineCounter, offset: number): string => {
  const { line, col } = lines.linePos(offset)
  return `line ${line}, column ${col}`
}

/**
 * Maximum number of values in a file, the values of aliases included, so that a few lines cannot exhaust the memory. Ten thousand sellers that share a hundred
 * values have this number.
 */
const maxValues = 1_000_000
/** Maximum depth. It is much more than any setting needs, and limits the recursion. */
const maxDepth = 50

/** The reason why a document is not accepted, and its offset in the text. */
interface Blocker {
  readonly offset: number
  readonly why: string
}

/** The first alias that is undefined, refers to itself or expands to too many values, or the first value that is nested too deeply; null: there is none. */
const findBlocker = (document: Document): Blocker | null => {
  let values = 0
  /** The number of values of the node of each anchor; null: the node has not ended yet. */
  const sizes = new Map<string, { size: number | null }>()
  const follow = (node: unknown, depth: number): Blocker | null => {
    if (isPair(node)) return follow(node.key, depth) ?? follow(node.value, depth)
    if (!isNode(node)) return null
    const offset = node.range?.[0] ?? 0
    if (depth > maxDepth) return { offset, why: `it is nested more than ${maxDepth} levels deep` }
    values += 1
    if (isAlias(node)) {
      const target = sizes.get(node.source)
      if (target === undefined) return { offset, why: 'an alias is undefined; a value that begins with * must be quoted' }
      if (target.size === null) return { offset, why: 'an alias refers to itself' }
      values += target.size - 1
      const limit = maxValues.toLocaleString('en-US')
      return values <= maxValues ? null : { offset, why: `its aliases expand to more than ${limit} values` }
    }
    const before = values
    const own: { size: number | null } = { size: null }
    if ('anchor' in node && node.anchor !== undefined) sizes.set(node.anchor, own)
    if (isCollection(node))
      for (const item of node.items) {
        const blocker = follow(item, depth + 1)
        if (blocker !== null) return blocker
      }
    own.size = values - before + 1
    return null
  }
  return follow(document.contents, 0)
}

const findFault = (document: Document.Parsed, lines: LineCounter): string | null => {
  // With a warning, the file would be read differently than intended.
  const faults: readonly YAMLError[] = [...document.errors, ...document.warnings]
  const [fault] = faults
  if (fault !== undefined)
    return `${formatPlace(lines, fault.pos[0])}: ${faultTexts[fault.code] ?? 'it is not valid'} (${fault.code})`
  const blocker = findBlocker(document)
  return blocker === null ? null : `${formatPlace(lines, blocker.offset)}: ${blocker.why}`
}

/** The node at a path: the name of a member, since its value may begin on a later line; undefined: there is none. */
const findStep = (document: Document, path: readonly PropertyKey[]): unknown => {
  const holder = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(holder)) return document.getIn(path, true)
  return holder.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)))?.key
}

/** Reads a JSON or YAML file. Its faults contain places, never values. */
export const readYamlFile = (file: string): YamlFile => {
  const source = readRegularText(file)
  if (!source.ok) return { ok: false, fault: source.why }
  const lines = new LineCounter()
  // Process warnings of the parser would also quote the text.
  const document = parseDocument(source.content, { lineCounter: lines, prettyErrors: false, stringKeys: true, logLevel: 'error' })
  const fault = findFault(document, lines)
  if (fault !== null) return { ok: false, fault }
  // The expansion of aliases was checked above; the parser would limit the number of their uses, of which a fleet has thousands.
  const value: unknown = document.toJS({ maxAliasCount: -1 })
  const findLine: FindLine = (path) => {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = findStep(document, path.slice(0, depth))
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
    }
    return 1
  }
  return { ok: true, value, findLine }
}
