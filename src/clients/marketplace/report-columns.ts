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
