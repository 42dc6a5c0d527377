/** Names of columns that are given with their types, as `level integer`. */
export const namesOf = (columns: readonly string[]): readonly string[] =>
  columns.map((column) => column.slice(0, column.indexOf(' ')))

/** Their names as a list of SQL, each behind this prefix. */
export const list = (columns: readonly string[], prefix = ''): string =>
  namesOf(columns)
    .map((name) => prefix + name)
    .join(', ')

/** SQL that assigns each its namesake of `from`. */
export const assign = (columns: readonly string[], from: string): string =>
  namesOf(columns)
    .map((name) => `${name} = ${from}.${name}`)
    .join(', ')
