/** So many of the newest records are looked at, … */
const lookedAt = 300
/** … and so many of them are taken, the newest and others as far apart as can be. */
const taken = 4

/** SQL of a few records spread among the newest ones: a column of a table with its conditions, by a column of time; the newest first. */
export const spreadNewest = (column: string, by: string, fromWhere: string): string =>
  `SELECT wanted FROM (
     SELECT wanted, at, row_number() OVER (ORDER BY at DESC) - 1 AS place, count(*) OVER () AS records FROM (
       SELECT ${column} AS wanted, ${by} AS at FROM ${fromWhere} ORDER BY ${by} DESC LIMIT ${lookedAt}) newest) placed
   WHERE place % greatest(records / ${taken}, 1) = 0 ORDER BY at DESC LIMIT ${taken}`
