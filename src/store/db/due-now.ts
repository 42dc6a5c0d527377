/**
 * SQL: the current time, rounded as stored due times are. Due times are stored in milliseconds and Postgres rounds them, so without rounding a row that
 * was due when it was written could be due half a millisecond later, and only the next poll would find it.
 */
export const dueNow = 'now()::timestamptz(3)'
