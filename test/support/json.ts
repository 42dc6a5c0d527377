/** Steps into JSON: names of members, and places in lists. */
type Steps = readonly (string | number)[]

/** What stands at a place in JSON. @throws Error when there is no such place */
export const at = (json: unknown, ...steps: Steps): unknown =>
  steps.reduce<unknown>((value, step) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      throw new Error(`there is no ${steps.join('.')} in ${JSON.stringify(json)}`)
    return Reflect.get(value, step)
  }, json)

const wrong = (json: unknown, steps: Steps, what: string): Error =>
  new Error(`${steps.length === 0 ? 'this' : steps.join('.')} is no ${what}: ${JSON.stringify(json)}`)

/** The text at a place in JSON. @throws Error when there is none */
export const textAt = (json: unknown, ...steps: Steps): string => {
  const value = at(json, ...steps)
  if (typeof value !== 'string') throw wrong(json, steps, 'text')
  return value
}

/** The text at a place in JSON, which may be null. @throws Error when there is neither */
export const textOrNullAt = (json: unknown, ...steps: Steps): string | null =>
  at(json, ...steps) === null ? null : textAt(json, ...steps)

/** The number at a place in JSON. @throws Error when there is none */
export const numberAt = (json: unknown, ...steps: Steps): number => {
  const value = at(json, ...steps)
  if (typeof value !== 'number') throw wrong(json, steps, 'number')
  return value
}

/** The list at a place in JSON. @throws Error when there is none */
export const listAt = (json: unknown, ...steps: Steps): unknown[] => {
  const value: unknown = at(json, ...steps)
  if (!Array.isArray(value)) throw wrong(json, steps, 'list')
  return value
}

/** The members of the object at a place in JSON. @throws Error when there is none */
export const membersAt = (json: unknown, ...steps: Steps): Readonly<Record<string, unknown>> => {
  const value = at(json, ...steps)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(json, steps, 'object')
  return { ...value }
}

/** A member of each row of a page. @throws Error when one has none of that name */
export const ofItems = (page: unknown, member: string): unknown[] => listAt(page, 'items').map((item) => at(item, member))
