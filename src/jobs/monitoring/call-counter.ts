import type { RequestReport } from '../../clients/http/client-parts.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Database } from '../../store/db/database.ts'
import { addCalls, type CallCount } from '../../store/trends/daily-figures.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'

/** Counts are recorded after this time, and at the end of the process. */
const recordEveryMs = 60_000

/** One for each process: counts the calls to the marketplace for the trends, in memory, and records them in Postgres. */
export const createCallCounter = (
  { quiet, shutdownHooks }: { readonly quiet: QuietLog; readonly shutdownHooks: ShutdownHooks },
  database: Database,
): ((report: Pick<RequestReport, 'sellerId' | 'outcome'>) => void) => {
  const pending = new Map<string, CallCount>()
  let recording: Promise<void> | null = null

  const add = ({ sellerId, figure, count }: CallCount): void => {
    const key = `${figure} ${sellerId}`
    pending.set(key, { sellerId, figure, count: count + (pending.get(key)?.count ?? 0) })
  }
  const record = async (): Promise<void> => {
    const taken = [...pending.values()]
    pending.clear()
    try {
      await addCalls(database, taken)
      quiet.recovered('calls', 'calls to the marketplace are counted again')
    } catch (error) {
      for (const one of taken) add(one)
      quiet.warn('calls', { err: error }, 'calls to the marketplace cannot be counted; it is tried again')
    }
  }

  const timer = setInterval(() => {
    if (pending.size === 0) return
    recording ??= record().finally(() => {
      recording = null
    })
  }, recordEveryMs)
  shutdownHooks.add('the counts of calls', async () => {
    clearInterval(timer)
    await recording
    if (pending.size > 0) await record()
  })

  return ({ sellerId, outcome }) => {
    add({ sellerId, figure: 'calls', count: 1 })
    if (outcome === 'throttled') add({ sellerId, figure: 'calls-refused', count: 1 })
  }
}
