import type { RequestReport } from '../../clients/http/client-parts.ts'
import type { Database } from '../../store/db/database.ts'
import { addCalls, type CallCount } from '../../store/trends/daily-figures.ts'
import { createCountRecorder, type RecorderParts } from './count-recorder.ts'

/** Counts are recorded after this time, and at the end of the process. */
const recordEveryMs = 60_000

/** One for each process: counts the calls to the marketplace for the trends. */
export const createCallCounter = (
  parts: RecorderParts,
  database: Database,
): ((report: Pick<RequestReport, 'sellerId' | 'outcome'>) => void) => {
  const add = createCountRecorder<CallCount>(parts, {
    what: 'counts of calls to the marketplace',
    everyMs: recordEveryMs,
    record: (pending) => addCalls(database, [...pending.values()]),
  })
  return ({ sellerId, outcome }) => {
    add(`calls ${sellerId}`, { sellerId, figure: 'calls', count: 1 })
    if (outcome === 'throttled') add(`calls-refused ${sellerId}`, { sellerId, figure: 'calls-refused', count: 1 })
  }
}
