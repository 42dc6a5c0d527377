import { type Document, isNode, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { readRegularText } from '../regular-file.ts'

// Nothing that the parser says is repeated: its messages quote the text, and the text may be a secret.

/** The line of the file in which a value stands, or what it should stand in. */
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

/** Where the first alias stands that names nothing, as an offset in the text; null: there is none. */
const lostAliasOf = (document: Document): number | null => {
  let offset: number | null = null
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return undefined
      offset = alias.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

const faultOf = (document: Document.Parsed, lines: LineCounter): string | null => {
  // What is only warned of would be read as something else than was meant.
  const faults: readonly YAMLError[] = [...document.errors, ...document.warnings]
  const [fault] = faults
  if (fault !== undefined) return `${placeOf(lines, fault.pos[0])}: ${words[fault.code] ?? 'it is not valid'} (${fault.code})`
  const alias = lostAliasOf(document)
  return alias === null ? null : `${placeOf(lines, alias)}: an alias names nothing; a value that begins with * must be quoted`
}

const plainOf = (document: Document): { readonly value: unknown } | null => {
  try {
    return { value: document.toJS() as unknown }
  } catch {
    return null
  }
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
  const read = plainOf(document)
  if (read === null) return { ok: false, fault: 'its aliases lead too far, or back to themselves' }
  const lineOf: LineOf = (path) => {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = document.getIn(path.slice(0, depth), true)
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
    }
    return 1
  }
  return { ok: true, value: read.value, lineOf }
}
