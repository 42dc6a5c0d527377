/**
 * SQL: the time to compare a due time with. Due times are kept to the millisecond, and Postgres rounds: by half a millisecond what was due when it
 * was written would else be due later, and be found by the next look only.
 */
export const dueNow = 'now()::timestamptz(3)'
