/** So many of the newest records are looked at, … */
export const momentsAmong = 300
/** … and so many of them are taken, the newest and others as far apart as can be. */
const momentsAtMost = 4

/** SQL of moments spread among the newest records: of a column of a table, with its conditions; the newest first, as `at`. */
export const spreadMoments = (column: string, fromWhere: string): string =>
  `SELECT at FROM (
     SELECT at, row_number() OVER (ORDER BY at DESC) AS place, count(*) OVER () AS records FROM (
       SELECT ${column} AS at FROM ${fromWhere} ORDER BY ${column} DESC LIMIT ${momentsAmong}) newest) placed
   WHERE (place - 1) % greatest(records / ${momentsAtMost}, 1) = 0 ORDER BY at DESC LIMIT ${momentsAtMost}`
