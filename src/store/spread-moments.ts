/** So many of the newest records are looked at, … */
export const momentsAmong = 300
const momentsEvery = 75

/** SQL of moments spread among the newest records: of a column of a table, with its conditions; the newest first, as `at`. */
export const spreadMoments = (column: string, fromWhere: string): string =>
  `SELECT at FROM (
     SELECT ${column} AS at, row_number() OVER (ORDER BY ${column} DESC) AS place FROM ${fromWhere}
     ORDER BY ${column} DESC LIMIT ${momentsAmong}) newest
   WHERE place % ${momentsEvery} = 1 ORDER BY at DESC`
