/** Which columns of a table or view may hold a buyer's data, and how an erasure changes them. */
export interface TableMarks {
  /** Columns without a buyer's data, separated by spaces. */
  readonly none: string
  /** Columns that identify a buyer only in combination with another system, and why they are kept. */
  readonly reference?: Readonly<Record<string, string>>
  /** Columns that may hold a buyer's data: which data, and how an erasure changes it. */
  readonly buyer?: Readonly<Record<string, readonly [holds: string, erasure: string]>>
}

const marked = new Map<string, TableMarks>()

/**
 * Marks a table or view, where it is declared. `src/store/personal-data.ts` collects the marks of all files of this folder.
 * @param table with its schema
 * @throws Error when other marks have been given to it
 */
export const markTable = (table: string, marks: TableMarks): void => {
  if (marked.has(table) && marked.get(table) !== marks) throw new Error(`${table} is marked twice`)
  marked.set(table, marks)
}

/** All tables that have been marked so far, by their names. */
export const markedTables = (): ReadonlyMap<string, TableMarks> => marked

/** What the id of a customer order says of a buyer. */
export const customerOrder =
  "the marketplace's id of the customer order; kept: it identifies the order in an erasure request and in later records"
/** What a tracking number says of a buyer. */
export const trackingNumber = 'tracking number of a parcel; kept: it proves the sender of a shipment'
/** A text of the marketplace that may name a buyer. */
export const rawRecord = (what: string) => [`${what} as the marketplace sent it`, 'replaced by `{"erased": true}`'] as const
/** What the hash of such a text says of a buyer. */
export const recordHash =
  'SHA-1 of the whole text; kept, so that an unchanged record is not written with every poll; the text cannot be derived from it'
