import { hash } from 'node:crypto'
import { property } from './faults.ts'

/** A record as the marketplace sent it and as we understood it. `rawText` is the marketplace's own JSON. */
export interface StorableRecord<T> {
  readonly key: string
  readonly value: T
  readonly rawText: string
  /** When it was observed, where the records that are stored together were observed one by one. */
  readonly observedAt?: Date
}

/** A stored record as it was read, and of which version of its row: the same as long as that is the same. */
export interface ReadRow<T> {
  readonly value: T
  readonly rowVersion: string
}

/** A record whose text differs from what is stored. */
export interface DifferingRecord<T> extends StorableRecord<T> {
  /** SHA-1 of the raw text, hexadecimal. */
  readonly hash: string
  /** Whether some version of it was stored when we looked. */
  readonly known: boolean
  /** How it was stored when it was read last: not read again while that is so. */
  readonly lastRead?: ReadRow<T> | null
}

/**
 * SHA-1 of a raw text, hexadecimal: it distinguishes versions of one record and protects nothing, so the fastest will do.
 * The same fields in another order count as another version.
 */
export const rawHash = (rawText: string): string => hash('sha1', rawText)

/**
 * The last record of each key, in the order of the keys: a page may carry a record twice (public facts 2.2), and writers that lock in
 * one order cannot wait for each other.
 */
const distinctRecords = <T>(records: readonly StorableRecord<T>[]): readonly StorableRecord<T>[] => {
  const byKey = new Map(records.map((record) => [record.key, record]))
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** Keys that are stored, and the hash of each. */
export interface StoredHashes {
  readonly keys: readonly string[] | null
  readonly hashes: readonly string[] | null
}

/** Those records of a page whose text differs from what is stored. `stored` answers one row of two arrays for distinct records. */
export const findDiffering = async <T>(
  records: readonly StorableRecord<T>[],
  stored: (distinct: readonly StorableRecord<T>[]) => Promise<readonly StoredHashes[]>,
  hashOf: (rawText: string) => string = rawHash,
): Promise<readonly DifferingRecord<T>[]> => {
  if (records.length === 0) return []
  const distinct = distinctRecords(records)
  const [row] = await stored(distinct)
  const hashes = row?.hashes ?? []
  const known = new Map((row?.keys ?? []).map((key, index) => [key, hashes[index]]))
  return distinct.flatMap((record) => {
    const hash = hashOf(record.rawText)
    return known.get(record.key) === hash ? [] : [{ ...record, hash, known: known.has(record.key) }]
  })
}

/**
 * Where these objects stand within a JSON value, as the path that Postgres' `#>` takes: a part need not be sent beside the whole that
 * holds it.
 */
export const pathsWithin = (whole: unknown, parts: ReadonlySet<unknown>): ReadonlyMap<unknown, readonly string[]> => {
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

/** One JSON array out of texts that are JSON already. */
export const jsonArray = (items: readonly string[]): string => `[${items.join(',')}]`

/** A JSON object text of these fields, with further ones whose values are JSON texts already: raw payloads are not parsed twice. */
export const jsonObject = (fields: object, texts: Readonly<Record<string, string>>): string => {
  const tail = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `${JSON.stringify(fields).slice(0, -1)},${tail.join(',')}}`
}

// SQLSTATE classes that blame the data: cardinality (one key twice in a record), data exception (a character or a number that no column
// holds), integrity (a negative count), program limit (a key longer than an index entry).
const dataFaults = new Set(['21', '22', '23', '54'])

/** How every fault of {@link storageFault} begins. */
export const storageFaultPrefix = 'Postgres cannot hold it'

/** Why Postgres cannot hold a record, when the record itself is to blame; null for any other error. Carries nothing of the record. */
export const storageFault = (error: unknown): string | null => {
  const cause = property(property(property(error, 'meta'), 'driverAdapterError'), 'cause')
  const sqlState = property(cause, 'originalCode') ?? property(error, 'code')
  if (typeof sqlState !== 'string' || !dataFaults.has(sqlState.slice(0, 2))) return null
  return `${storageFaultPrefix} (SQLSTATE ${sqlState})`
}
