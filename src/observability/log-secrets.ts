type Members = Record<string, unknown>

/** Stands in the log where a secret, or a buyer's data, would be. */
const redacted = '[redacted]'
/** What is deeper is left out: nobody reads it, and members may name each other. */
const deepest = 6
const tooDeep = '[too deep]'

/** Replaces credentials in free text (URLs with passwords, bearer tokens, webhook secrets, keys but for their id). */
export const scrub = (text: string): string =>
  text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1***@')
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 ***')
    .replace(/\bwhsec_[\w+/=-]+/g, 'whsec_***')
    .replace(/\b(tly_[a-z2-7]{12})_[\w-]+/g, '$1_***')

/** Hides what must not be in the log: answers copies, what it is given stays as it is. */
export interface Hiding {
  /** Of a line, or of all lines of a part of the program. What is under `err` is left to its serializer. */
  fields(fields: object): Members
  /** Anything else. */
  value(value: unknown): unknown
}

const asJson = (value: object): unknown => ('toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value)

/** Hides members of these names at any depth; `describe`: what is logged of an error. */
export const hiding = (names: ReadonlySet<string>, describe: (error: Error) => object): Hiding => {
  const membersOf = (members: object, depth: number): Members => {
    const shown: Members = {}
    for (const [name, member] of Object.entries(members)) shown[name] = names.has(name) ? redacted : shownOf(member, depth)
    return shown
  }
  const shownOf = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Error) return describe(value)
    if (depth === deepest) return tooDeep
    if (Array.isArray(value)) return value.map((item) => shownOf(item, depth + 1))
    const json = asJson(value)
    if (json === value) return membersOf(value, depth + 1)
    return typeof json === 'string' ? scrub(json) : shownOf(json, depth + 1)
  }
  return {
    fields: ({ err, ...members }: { readonly err?: unknown }) => ({
      ...membersOf(members, 0),
      ...(err === undefined ? {} : { err }),
    }),
    value: (value) => shownOf(value, 0),
  }
}
