type Members = Record<string, unknown>

/** Stands in the log where a secret, or a buyer's data, would be. */
const redacted = '[redacted]'
/** The log writes nothing that is deeper. */
const deepest = 6

// Errors have a serializer of their own, and other instances write themselves.
const isPlain = (value: object): value is Members => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** What hides the members of these names, at any depth that the log writes. What it is given stays as it is; answers a copy where it hides something. */
export const hiding = (names: ReadonlySet<string>): ((members: Members) => Members) => {
  const hideIn = (members: Members, depth: number): Members => {
    let copy: Members | null = null
    for (const [name, member] of Object.entries(members)) {
      const shown = names.has(name) ? redacted : hide(member, depth)
      if (shown === member) continue
      copy ??= { ...members }
      copy[name] = shown
    }
    return copy ?? members
  }
  const hide = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth === deepest) return value
    if (Array.isArray(value)) return value.map((item) => hide(item, depth + 1))
    return isPlain(value) ? hideIn(value, depth + 1) : value
  }
  return (members) => hideIn(members, 0)
}
