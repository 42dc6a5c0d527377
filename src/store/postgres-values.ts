import pg from 'pg'

const textArray: number = 1009
const readTexts: (text: string) => readonly (string | null)[] = pg.types.getTypeParser(textArray)

const arrayOf =
  <Value>(read: (text: string) => Value) =>
  (text: string): readonly (Value | null)[] =>
    readTexts(text).map((item) => (item === null ? null : read(item)))

const midnight = (day: string): Date => new Date(`${day}T00:00:00Z`)

/** By the number of a type in Postgres' catalog. */
const readers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [20, BigInt], // int8
  [1016, arrayOf(BigInt)], // int8[]
  [1082, midnight], // date
  [1182, arrayOf(midnight)], // date[]
  [1231, arrayOf(String)], // numeric[], of which `pg` would make floats
])

/** How values come from Postgres: int8 as `bigint`, numeric as text, a date as its midnight in UTC, all other types as `pg` reads them. */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => readers.get(oid) ?? pg.types.getTypeParser(oid, format),
}
