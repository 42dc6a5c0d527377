import pg from 'pg'

const textArray: number = 1009
const readTexts: (text: string) => readonly (string | null)[] = pg.types.getTypeParser(textArray)

const parseArray =
  <Value>(read: (text: string) => Value) =>
  (text: string): readonly (Value | null)[] =>
    readTexts(text).map((item) => (item === null ? null : read(item)))

const midnight = (day: string): Date => new Date(`${day}T00:00:00Z`)

/** Parsers by the OID of the type. */
const readers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [20, BigInt], // int8
  [1016, parseArray(BigInt)], // int8[]
  [1082, midnight], // date
  [1182, parseArray(midnight)], // date[]
  [1231, parseArray(String)], // numeric[], of which `pg` would make floats
])

/** Parses values of Postgres: int8 to `bigint`, numeric to text, a date to its midnight in UTC, all other types as `pg` does. */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => readers.get(oid) ?? pg.types.getTypeParser(oid, format),
}
