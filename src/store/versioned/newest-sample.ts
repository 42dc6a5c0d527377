/** The sample is chosen from this many of the newest records. */
const maxScanned = 300
/** Size of the sample: the newest record, and others at equal distances. */
const sampleSize = 4

/** SQL: `column` of a sample of the newest records of a table (`fromWhere`), ordered by the time column `by`, newest first. */
export const sampleNewest = (column: string, by: string, fromWhere: string): string =>
  `SELECT wanted FROM (
     SELECT wanted, at, row_number() OVER (ORDER BY at DESC) - 1 AS place, count(*) OVER () AS records FROM (
       SELECT ${column} AS wanted, ${by} AS at FROM ${fromWhere} ORDER BY ${by} DESC LIMIT ${maxScanned}) newest) placed
   WHERE place % greatest(records / ${sampleSize}, 1) = 0 ORDER BY at DESC LIMIT ${sampleSize}`
