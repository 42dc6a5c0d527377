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
import { readRegularText } from '../regular-file.ts'

// Nothing that the parser says is repeated: its messages quote the text, and the text may be a secret.

/** The line of the file in which the name of a member stands, or an item of a list, or what it should stand in. */
export type LineOf = (path: readonly PropertyKey[]) => number

/** What a file of JSON or YAML holds, or what keeps it from being read. */
export type YamlFile =
  | { readonly ok: true; readonly value: unknown; readonly lineOf: LineOf }
  | { readonly ok: false; readonly fault: string }

const words: Readonly<Partial<Record<string, string>>> = {
  ALIAS_PROPS: 'an alias has an anchor or a tag',
  BAD_ALIAS: 'an alias has no name; a value that begins with * must be quoted',
  BAD_COLLECTION_TYPE: 'a value does not suit its tag; a value that begins with ! must be quoted',
  BAD_DQ_ESCAPE: 'an escape in double quotes is unknown',
  BAD_INDENT: 'the indentation is wrong',
  BAD_SCALAR_START: 'a value begins with a reserved character; it must be quoted',
  BLOCK_AS_IMPLICIT_KEY: 'a member stands in the line of another one; a value with a colon and a space in it must be quoted',
  DUPLICATE_KEY: 'a member stands there twice',
  MISSING_CHAR: 'a quote, a bracket, a comma or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'the name of a member has several lines, or a colon is missing',
  MULTIPLE_DOCS: 'a second document begins',
  NON_STRING_KEY: 'the name of a member is not a text',
  TAB_AS_INDENT: 'a tab is in the indentation',
  TAG_RESOLVE_FAILED: 'a tag is unknown, or its value does not suit it; a value that begins with ! must be quoted',
  UNEXPECTED_TOKEN: 'something stands where nothing may; a value with special characters must be quoted',
}

const placeOf = (lines: LineCounter, offset: number): string => {
  const { line, col } = lines.linePos(offset)
  return `line ${line}, column ${col}`
}

/**
 * Most values that a file may hold, those that aliases stand for included, so that a few lines cannot stand for more than there is memory: ten
 * thousand sellers that share a hundred of them have as many.
 */
const mostValues = 1_000_000
/** No setting is nested nearly as deep, and whoever follows what is, needs a stack for it. */
const mostDepth = 50

/** What keeps a document from being taken as it stands, and where, as an offset in the text. */
interface Obstacle {
  readonly offset: number
  readonly why: string
}

/** The first alias that names nothing, leads back to itself or to too many values, or the first value that is nested too deep; null: there is none. */
const obstacleOf = (document: Document): Obstacle | null => {
  let values = 0
  /** By the name of an anchor, how many values its node stands for; null: the node is not at its end yet. */
  const sizes = new Map<string, { size: number | null }>()
  const follow = (node: unknown, depth: number): Obstacle | null => {
    if (isPair(node)) return follow(node.key, depth) ?? follow(node.value, depth)
    if (!isNode(node)) return null
    const offset = node.range?.[0] ?? 0
    if (depth > mostDepth) return { offset, why: `it is nested more than ${mostDepth} levels deep` }
    values += 1
    if (isAlias(node)) {
      const target = sizes.get(node.source)
      if (target === undefined) return { offset, why: 'an alias names nothing; a value that begins with * must be quoted' }
      if (target.size === null) return { offset, why: 'an alias leads back to itself' }
      values += target.size - 1
      const most = mostValues.toLocaleString('en-US')
      return values <= mostValues ? null : { offset, why: `its aliases lead too far: up to this one to more than ${most} values` }
    }
    const before = values
    const own: { size: number | null } = { size: null }
    if ('anchor' in node && node.anchor !== undefined) sizes.set(node.anchor, own)
    if (isCollection(node))
      for (const item of node.items) {
        const obstacle = follow(item, depth + 1)
        if (obstacle !== null) return obstacle
      }
    own.size = values - before + 1
    return null
  }
  return follow(document.contents, 0)
}

const faultOf = (document: Document.Parsed, lines: LineCounter): string | null => {
  // What is only warned of would be read as something else than was meant.
  const faults: readonly YAMLError[] = [...document.errors, ...document.warnings]
  const [fault] = faults
  if (fault !== undefined) return `${placeOf(lines, fault.pos[0])}: ${words[fault.code] ?? 'it is not valid'} (${fault.code})`
  const obstacle = obstacleOf(document)
  return obstacle === null ? null : `${placeOf(lines, obstacle.offset)}: ${obstacle.why}`
}

/** What a step of a path leads to: of a member its name, since a value may begin on a line below; undefined: there is none. */
const stepOf = (document: Document, path: readonly PropertyKey[]): unknown => {
  const holder = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(holder)) return document.getIn(path, true)
  return holder.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)))?.key
}

/** Reads a file of JSON or YAML. Its faults name places and never what stands there. */
export const readYamlFile = (file: string): YamlFile => {
  const source = readRegularText(file)
  if (!source.ok) return { ok: false, fault: source.why }
  const lines = new LineCounter()
  // Warnings of the parser to the process would quote the text as well.
  const document = parseDocument(source.content, { lineCounter: lines, prettyErrors: false, stringKeys: true, logLevel: 'error' })
  const fault = faultOf(document, lines)
  if (fault !== null) return { ok: false, fault }
  // How far aliases lead has been looked at; the parser would count their uses, of which a fleet has thousands.
  const value: unknown = document.toJS({ maxAliasCount: -1 })
  const lineOf: LineOf = (path) => {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = stepOf(document, path.slice(0, depth))
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
    }
    return 1
  }
  return { ok: true, value, lineOf }
}
