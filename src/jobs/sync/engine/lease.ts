import type { Database } from '../../../store/db/database.ts'
import { isDatabaseUnavailable } from '../../../store/db/errors.ts'
import { renewLease, type SyncLease } from '../../../store/sync/sync-states.ts'
import type { SyncRunOptions } from './stream-run.ts'

/** A longer run hangs: its lease expires, and another process may restart the stream. */
const maxRunMs = 600_000
/** Renewals within one lease time: some of them may fail before the lease expires. */
const renewalsPerLease = 4

/** Renews a lease until the returned function is called. If the lease is lost anyway, the fence rejects later writes of the run. */
export const keepLease = (database: Database, lease: SyncLease, leaseMs: number, { log }: SyncRunOptions): (() => void) => {
  const beganMs = performance.now()
  let renewing = false
  const renew = async (): Promise<void> => {
    if (renewing) return
    if (performance.now() - beganMs > maxRunMs) return end()
    renewing = true
    try {
      await renewLease(database, lease, leaseMs)
    } catch (error) {
      // An unavailable Postgres is logged once, not for each stream.
      if (!isDatabaseUnavailable(error))
        log.warn(
          { stream: `${lease.resource}/${lease.stream}`, err: error },
          'the lease of a stream could not be renewed; it is tried again',
        )
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => void renew(), leaseMs / renewalsPerLease).unref()
  const end = (): void => clearInterval(timer)
  return end
}
