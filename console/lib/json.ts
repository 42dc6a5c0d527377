/** A member of a value of unknown shape; undefined: there is none. */
export const member = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined), value)

/** The members of a list of unknown shape; none if it is no list. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A text of a value of unknown shape; empty if it is none. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A number of a value of unknown shape; zero if it is none. */
export const number = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** Where two values differ, with both sides as text; null: not there. */
export interface Difference {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

const shown = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Every place where two values of any shape differ. */
export const differences = (before: unknown, after: unknown, path = ''): readonly Difference[] => {
  if (isTree(before) && isTree(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => {
      const isIndex = Array.isArray(after)
      const at = isIndex ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      return differences(Reflect.get(before, name), Reflect.get(after, name), at)
    })
  }
  return Object.is(before, after) ? [] : [{ path, before: shown(before), after: shown(after) }]
}
