/** Whether a value is a JSON object: neither an array nor null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON with the members of every object in the order of their names: equal values, equal texts. What JSON cannot represent is null, a time its text. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isObject(value) && !(value instanceof Date)) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null && !(value instanceof Date)

/** What an object itself has of that name: JSON knows names such as `constructor`, which every object inherits. */
const ownMember = (of: object, name: string): unknown => (Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined)

const membersAlike = (one: object, other: object): boolean => {
  for (const name of Object.keys(one)) {
    const [member, its] = [ownMember(one, name), ownMember(other, name)]
    if ((member === undefined) !== (its === undefined) || !sameJson(member, its)) return false
  }
  return Object.keys(other).every((name) => ownMember(other, name) === undefined || ownMember(one, name) !== undefined)
}

/** Whether two values have the same {@link canonicalJson}, which is not put together for it. */
export const sameJson = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (!isPart(one) || !isPart(other)) return !isPart(one) && !isPart(other) && canonicalJson(one) === canonicalJson(other)
  if (!Array.isArray(one) || !Array.isArray(other))
    return !Array.isArray(one) && !Array.isArray(other) && membersAlike(one, other)
  return one.length === other.length && one.every((element, at) => sameJson(element, other[at]))
}
