/** A member of an unknown value; undefined: there is none. */
export const member = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined), value)

/** The items of an unknown value; empty if it is not a list. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** An unknown value as text; empty if it is not a text. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An unknown value as number; zero if it is not a number. */
export const number = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** A difference of two values: its path, and both sides as text; null: absent. */
export interface Difference {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

const toText = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null

/** All differences of two values. */
export const differences = (before: unknown, after: unknown, path = ''): readonly Difference[] => {
  if (isTree(before) && isTree(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => {
      const isIndex = Array.isArray(after)
      const at = isIndex ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      return differences(Reflect.get(before, name), Reflect.get(after, name), at)
    })
  }
  return Object.is(before, after) ? [] : [{ path, before: toText(before), after: toText(after) }]
}

/** The path of a difference in words: `orderLines.orderLine[0].statusDate` is `order line 1, status date`. */
export const describePath = (path: string): string => {
  const segments = path.split('.')
  return segments
    .filter((segment, index) => {
      const [next = ''] = (segments[index + 1] ?? '').split('[')
      return segment !== `${next}s` && segment !== `${next}es`
    })
    .map((segment) => {
      const [name = '', index] = segment.split(/[[\]]/)
      const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
      return index === undefined ? words : `${words} ${Number(index) + 1}`
    })
    .join(', ')
}
