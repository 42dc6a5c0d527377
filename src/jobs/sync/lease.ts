import type { Database } from '../../store/database.ts'
import { isDatabaseAway } from '../../store/faults.ts'
import { renewLease, type SyncLease } from '../../store/sync-states.ts'
import type { SyncRunOptions } from './stream-run.ts'

/** A run that lasts longer hangs: another process may begin the stream anew. */
const longestMs = 600_000
/** A renewal may fail some times before the lease is over. */
const renewalsOfLease = 4

/** Renews a lease until it is ended; a write of the run that comes after it was lost all the same fails by the fence. */
export const keepLease = (database: Database, lease: SyncLease, leaseMs: number, { log }: SyncRunOptions): (() => void) => {
  const beganMs = performance.now()
  let renewing = false
  const renew = async (): Promise<void> => {
    if (renewing) return
    if (performance.now() - beganMs > longestMs) return end()
    renewing = true
    try {
      await renewLease(database, lease, leaseMs)
    } catch (error) {
      // That Postgres is away is said once, and not for each stream.
      if (!isDatabaseAway(error))
        log.warn({ stream: `${lease.resource}/${lease.stream}`, err: error }, 'a lease could not be renewed')
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => void renew(), leaseMs / renewalsOfLease).unref()
  const end = (): void => clearInterval(timer)
  return end
}
