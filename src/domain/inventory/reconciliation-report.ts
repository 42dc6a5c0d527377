/** One row of the inventory reconciliation report: the net movement of one SKU over a month (specification, "Inventory reconciliation report"). */
export interface ReconciliationRow {
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  /** The GTIN where the report names no SKU. */
  readonly sku: string
  readonly gtin: string | null
  readonly beginningQuantity: number
  readonly endingQuantity: number
  /** As the report states it, with its sign; the reconciliation interprets signs. */
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly otherAdjustments: number
  /** Every column of the row by its header, as it came. */
  readonly raw: Readonly<Record<string, string>>
}

/** Normal form of a GTIN for comparisons: 14 digits. Other texts are not changed. */
export const gtin14 = (gtin: string): string => (/^\d{8,14}$/.test(gtin) ? gtin.padStart(14, '0') : gtin)

/** Key of a row of the report among all records of its resource. */
export const rowKey = (month: string, sku: string): string => `${month}/${sku}`

/** Month and SKU of a key created by {@link rowKey}. */
export const parseRowKey = (key: string): { readonly month: string; readonly sku: string } => ({
  month: key.slice(0, 'YYYY-MM'.length),
  sku: key.slice('YYYY-MM/'.length),
})

/** Meanings of a column, for headers that are not known in advance; `ignore`: not needed. */
export const columnMeanings = [
  'sku',
  'gtin',
  'beginning',
  'ending',
  'sold',
  'returned',
  'lost',
  'found',
  'damaged',
  'other',
  'ignore',
] as const

/** A meaning of a column. */
export type ColumnMeaning = (typeof columnMeanings)[number]

/** A seller's definition of headers: meanings by the header's text, without regard to case, spaces and punctuation. */
export type ColumnNames = Readonly<Record<string, ColumnMeaning>>
