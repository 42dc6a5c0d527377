/** One row of the inventory reconciliation report: the net movement of one SKU over a month (specification, "Inventory reconciliation report"). */
export interface ReconciliationRow {
  /** `YYYY-MM`, Pacific. */
  readonly month: string
  /** The GTIN where the report names no SKU. */
  readonly sku: string
  readonly gtin: string | null
  readonly beginningQuantity: number
  readonly endingQuantity: number
  /** As the report states it, whatever its sign; reading a sign is the reconciliation's task. */
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly otherAdjustments: number
  /** Every column of the row by its header, as it came. */
  readonly raw: Readonly<Record<string, string>>
}

/** A GTIN as all of its spellings are compared: with 14 digits. What cannot be one stays as it is. */
export const gtin14 = (gtin: string): string => (/^\d{8,14}$/.test(gtin) ? gtin.padStart(14, '0') : gtin)

/** How a row of the report is named among all records of its resource. */
export const rowKey = (month: string, sku: string): string => `${month}/${sku}`

/** Month and SKU of a key that {@link rowKey} made. */
export const rowOfKey = (key: string): { readonly month: string; readonly sku: string } => ({
  month: key.slice(0, 'YYYY-MM'.length),
  sku: key.slice('YYYY-MM/'.length),
})

/** What a column can mean, for headers that nobody knows beforehand; `ignore`: nothing that is needed. */
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

/** What a seller has said about headers: meanings by the header's text. Case, spaces and punctuation do not count. */
export type ColumnNames = Readonly<Record<string, ColumnMeaning>>
