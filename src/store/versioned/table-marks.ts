/** Which columns of a table or view may contain a buyer's data, and how an erasure changes them. */
export interface TableMarks {
  /** Columns without a buyer's data, separated by spaces. */
  readonly none: string
  /** Columns that identify a buyer only together with data of another system, and why they are kept. */
  readonly reference?: Readonly<Record<string, string>>
  /** Columns that may contain a buyer's data: which data, and how an erasure changes it. */
  readonly buyer?: Readonly<Record<string, readonly [holds: string, erasure: string]>>
}

const marked = new Map<string, TableMarks>()

/**
 * Marks the columns of a table or view, where it is declared. `src/store/privacy/personal-data.ts` collects the marks of all files of `src/store`.
 * @param table with its schema
 * @throws Error if the table has other marks already
 */
export const markTable = (table: string, marks: TableMarks): void => {
  if (marked.has(table) && marked.get(table) !== marks) throw new Error(`${table} is marked twice`)
  marked.set(table, marks)
}

/** All marked tables by their names. */
export const markedTables = (): ReadonlyMap<string, TableMarks> => marked

/** The mark of the id of a customer order. */
export const customerOrder =
  "the marketplace's id of the customer order; kept: it identifies the order in an erasure request and in later records"
/** The mark of a tracking number. */
export const trackingNumber = 'tracking number of a parcel; kept: it proves the sender of a shipment'
/** The mark of a text of the marketplace that may name a buyer. */
export const rawRecord = (what: string) => [`${what} as the marketplace sent it`, 'replaced by `{"erased": true}`'] as const
/** The mark of the hash of such a text. */
export const recordHash =
  'SHA-1 of the whole text; kept, so that an unchanged record is not written with every poll; the text cannot be derived from it'
