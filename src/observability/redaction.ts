type Members = Record<string, unknown>

/** Replaces secrets and buyers' data in the log. */
const redacted = '[redacted]'
/** Deeper members are omitted: objects may refer to each other. */
const maxDepth = 6
const tooDeep = '[too deep]'

/** Replaces credentials in free text: URLs with passwords, bearer tokens, webhook secrets, API keys (except their id). */
export const scrub = (text: string): string =>
  text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1***@')
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 ***')
    .replace(/\bwhsec_[\w+/=-]+/g, 'whsec_***')
    .replace(/\b(tly_[a-z2-7]{12})_[\w-]+/g, '$1_***')

/** Replaces what must not be in the log. Returns copies; its arguments are not changed. */
export interface Redactor {
  /** Fields of a line, or of all lines of a child logger. The serializer of `err` redacts that field. */
  fields(fields: object): Members
  /** Any other value. */
  value(value: unknown): unknown
}

const asJson = (value: object): unknown => ('toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value)

/** Redacts members of these names at any depth. `describe` returns the logged form of an error. */
export const createRedactor = (names: ReadonlySet<string>, describe: (error: Error) => object): Redactor => {
  const redactMembers = (members: object, depth: number): Members => {
    const shown: Members = {}
    for (const [name, member] of Object.entries(members)) shown[name] = names.has(name) ? redacted : redactValue(member, depth)
    return shown
  }
  const redactValue = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Error) return describe(value)
    if (depth === maxDepth) return tooDeep
    if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1))
    const json = asJson(value)
    if (json === value) return redactMembers(value, depth + 1)
    return typeof json === 'string' ? scrub(json) : redactValue(json, depth + 1)
  }
  return {
    fields: ({ err, ...members }: { readonly err?: unknown }) => ({
      ...redactMembers(members, 0),
      ...(err === undefined ? {} : { err }),
    }),
    value: (value) => redactValue(value, 0),
  }
}
