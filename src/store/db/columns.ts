/** The names of columns that are declared with their types (`level integer`). */
export const listNames = (columns: readonly string[]): readonly string[] =>
  columns.map((column) => column.slice(0, column.indexOf(' ')))

/** The names as a list in SQL, each with this prefix. */
export const list = (columns: readonly string[], prefix = ''): string =>
  listNames(columns)
    .map((name) => prefix + name)
    .join(', ')

/** SQL that assigns each column the column of the same name of `from`. */
export const assign = (columns: readonly string[], from: string): string =>
  listNames(columns)
    .map((name) => `${name} = ${from}.${name}`)
    .join(', ')
