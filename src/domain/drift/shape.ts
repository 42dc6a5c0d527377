import { isObject } from '../values/values.ts'

/** JSON types, as bits: a place may have several. */
export const jsonTypes = { text: 1, number: 2, boolean: 4, object: 8, list: 16 } as const

/** The published form of a JSON value. */
export interface Shape {
  /** The accepted types, bits of {@link jsonTypes}. Null and an absent value are always accepted. */
  readonly types: number
  /** The members of an object; null: they are not compared. */
  readonly members: ReadonlyMap<string, Shape> | null
  /** The elements of a list; null: they are not compared. With it, a single object is a list of one. */
  readonly element: Shape | null
  /** The values of an enumeration in their {@link normalValue}; null: any text. */
  readonly values: ReadonlySet<string> | null
}

/** Kinds of differences between an answer and what is published. */
export const driftKinds = ['field', 'value', 'type', 'header', 'status'] as const
/** One of {@link driftKinds}. */
export type DriftKind = (typeof driftKinds)[number]

/** A difference between an answer and what is published. It has no personal data. */
export interface Drift {
  readonly kind: DriftKind
  /** Members with dots, `[]` for the elements of a list: `orderLines.orderLine[].item`. */
  readonly path: string
  /** The unknown value of an enumeration, if it is a plain word; otherwise empty. Different values are different places. */
  readonly value: string
  /** What was found: a type, or the length of a text. */
  readonly example: string
}

/** A value of an enumeration in the form in which values are compared: the marketplace spells some in several ways (`In-stock`, `IN_STOCK`). */
export const normalValue = (value: string): string => value.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

const hasValue = (values: ReadonlySet<string>, value: string): boolean =>
  values.has(value) || value === '' || values.has(normalValue(value))

/** Whether a value has only what its shape has. The usual path, for every record: it builds nothing. */
export const conforms = (shape: Shape, value: unknown): boolean => {
  if (value === null || value === undefined) return true
  if (typeof value === 'string')
    return (shape.types & jsonTypes.text) !== 0 && (shape.values === null || hasValue(shape.values, value))
  if (typeof value !== 'object') return (shape.types & (typeof value === 'number' ? jsonTypes.number : jsonTypes.boolean)) !== 0
  const { element, members } = shape
  if (Array.isArray(value)) {
    if ((shape.types & jsonTypes.list) === 0) return false
    if (element !== null) for (const one of value) if (!conforms(element, one)) return false
    return true
  }
  if ((shape.types & jsonTypes.object) === 0) return element !== null && conforms(element, value)
  if (members === null || !isObject(value)) return true
  for (const name in value) {
    const member = members.get(name)
    if (member === undefined || !conforms(member, value[name])) return false
  }
  return true
}

const word = /^[A-Za-z_]{1,40}$/
const plainName = /^[A-Za-z_][A-Za-z0-9_-]{0,59}$/
const spacedName = /^[A-Za-z_][A-Za-z0-9_ #/-]{0,59}$/
const digitRun = /\d{5}/
const maxPathLength = 300

/** The name of an unknown member. An object may be keyed by data, such as addresses: a name that is no ordinary one is `*`. */
const safeName = (name: string, members: ReadonlyMap<string, Shape>): string => {
  if (digitRun.test(name)) return '*'
  if (plainName.test(name)) return name
  return spacedName.test(name) && [...members.keys()].some((known) => known.includes(' ')) ? name : '*'
}

const typeName = (value: unknown): string => {
  if (typeof value === 'string') return 'text'
  if (Array.isArray(value)) return 'list'
  return typeof value
}

/** What a value is, without its content. */
export const describeValue = (value: unknown): string => {
  if (value === null) return 'null'
  if (typeof value === 'string') return `text of ${value.length} ${value.length === 1 ? 'character' : 'characters'}`
  if (Array.isArray(value)) return `list of ${value.length}`
  return typeName(value)
}

const typeNames = (shape: Shape): string =>
  Object.entries(jsonTypes)
    .filter(([, bit]) => (shape.types & bit) !== 0)
    .map(([name]) => name)
    .join(' or ')

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`).slice(0, maxPathLength)

const collect = (shape: Shape, value: unknown, path: string, add: (drift: Drift) => void): void => {
  if (conforms(shape, value)) return
  const { types, members, element } = shape
  if (typeof value === 'string' && (types & jsonTypes.text) !== 0) {
    const isWord = word.test(value)
    add({ kind: 'value', path, value: isWord ? value : '', example: isWord ? value : describeValue(value) })
  } else if (Array.isArray(value) && (types & jsonTypes.list) !== 0 && element !== null) {
    for (const one of value) collect(element, one, `${path}[]`, add)
  } else if (isObject(value) && (types & jsonTypes.object) !== 0 && members !== null) {
    for (const name in value) {
      const [member, inner] = [members.get(name), value[name]]
      if (member === undefined)
        add({ kind: 'field', path: join(path, safeName(name, members)), value: '', example: describeValue(inner) })
      else if (!conforms(member, inner)) collect(member, inner, join(path, name), add)
    }
  } else if (isObject(value) && (types & jsonTypes.object) === 0 && element !== null) {
    collect(element, value, `${path}[]`, add)
  } else {
    add({ kind: 'type', path, value: '', example: `${typeName(value)} in place of ${typeNames(shape)}` })
  }
}

/** What differs from the published shape in a value that does not conform, each place once. */
export const findDrift = (shape: Shape, value: unknown): readonly Drift[] => {
  const found: Drift[] = []
  collect(shape, value, '', (drift) => {
    const isKnown = found.some(
      ({ kind, path, value: other }) => kind === drift.kind && path === drift.path && other === drift.value,
    )
    if (!isKnown) found.push(drift)
  })
  return found
}
