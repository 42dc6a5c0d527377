import { hash } from 'node:crypto'
import { property } from '../db/errors.ts'

/** A parsed record with its raw text, which is the marketplace's JSON. */
export interface StorableRecord<T> {
  readonly key: string
  readonly value: T
  readonly rawText: string
  /** When it was observed, if the records of a write were observed at different times. */
  readonly observedAt?: Date
}

/** A stored record and the version of its row when it was read. The record is unchanged while the row version is. */
export interface ReadRow<T> {
  readonly value: T
  readonly rowVersion: string
}

/** A record whose text differs from what is stored. */
export interface DifferingRecord<T> extends StorableRecord<T> {
  /** SHA-1 of the raw text, hexadecimal. */
  readonly hash: string
  /** Whether a version of it was stored at the time of the probe. */
  readonly known: boolean
  /** The last read result; it is not read again while its row version is unchanged. */
  readonly lastRead?: ReadRow<T> | null
}

/**
 * SHA-1 of a raw text, hexadecimal. It only distinguishes versions of one record, so the fastest hash is sufficient. The same fields in another order
 * count as another version.
 */
export const rawHash = (rawText: string): string => hash('sha1', rawText)

/**
 * The last record of each key, because a page may contain a record twice (public facts 2.2). They are sorted by key, so that concurrent writers lock
 * rows in the same order and cannot deadlock.
 */
const distinctRecords = <T>(records: readonly StorableRecord<T>[]): readonly StorableRecord<T>[] => {
  const byKey = new Map(records.map((record) => [record.key, record]))
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** Stored keys, and the hash of each. */
export interface StoredHashes {
  readonly keys: readonly string[] | null
  readonly hashes: readonly string[] | null
}

/** The records of a page whose text differs from the stored one. `stored` returns one row of two arrays for distinct records. */
export const findDiffering = async <T>(
  records: readonly StorableRecord<T>[],
  stored: (distinct: readonly StorableRecord<T>[]) => Promise<readonly StoredHashes[]>,
  hashText: (rawText: string) => string = rawHash,
): Promise<readonly DifferingRecord<T>[]> => {
  if (records.length === 0) return []
  const distinct = distinctRecords(records)
  const [row] = await stored(distinct)
  const hashes = row?.hashes ?? []
  const known = new Map((row?.keys ?? []).map((key, index) => [key, hashes[index]]))
  return distinct.flatMap((record) => {
    const hash = hashText(record.rawText)
    return known.get(record.key) === hash ? [] : [{ ...record, hash, known: known.has(record.key) }]
  })
}

/**
 * The paths of these objects within a JSON value, for the operator `#>` of Postgres: a part need not be sent besides the whole that contains it.
 */
export const findPaths = (whole: unknown, parts: ReadonlySet<unknown>): ReadonlyMap<unknown, readonly string[]> => {
  const paths = new Map<unknown, readonly string[]>()
  const path: string[] = []
  const visit = (value: object): void => {
    if (parts.has(value)) paths.set(value, [...path])
    for (const name in value) {
      const part: unknown = Reflect.get(value, name)
      if (typeof part !== 'object' || part === null) continue
      path.push(name)
      visit(part)
      path.pop()
    }
  }
  if (typeof whole === 'object' && whole !== null) visit(whole)
  return paths
}

/** Joins JSON texts to a JSON array. */
export const jsonArray = (items: readonly string[]): string => `[${items.join(',')}]`

/** A JSON object of these fields, and of further fields whose values are JSON texts already, so that raw payloads are not parsed twice. */
export const jsonObject = (fields: object, texts: Readonly<Record<string, string>>): string => {
  const tail = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `${JSON.stringify(fields).slice(0, -1)},${tail.join(',')}}`
}

// SQLSTATE classes of invalid data: cardinality (one key twice in a record), data exception (a character or number that no column can store), integrity
// (a negative count), program limit (a key longer than an index entry).
const dataErrors = new Set(['21', '22', '23', '54'])

/** The prefix of the messages of {@link storageFault}. */
export const storageFaultPrefix = 'Postgres cannot hold it'

/** Describes why Postgres cannot store a record, if the data of the record is the cause; null: another error. Contains nothing of the record. */
export const storageFault = (error: unknown): string | null => {
  const cause = property(property(property(error, 'meta'), 'driverAdapterError'), 'cause')
  const sqlState = property(cause, 'originalCode') ?? property(error, 'code')
  if (typeof sqlState !== 'string' || !dataErrors.has(sqlState.slice(0, 2))) return null
  return `${storageFaultPrefix} (SQLSTATE ${sqlState})`
}
