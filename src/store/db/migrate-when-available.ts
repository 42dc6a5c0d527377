import type { QuietLog } from '../../observability/log.ts'
import { pause } from '../../util/sleep.ts'
import { describeUnavailable, isAccessRefused, isDatabaseUnavailable } from './errors.ts'
import { finishedMigrations, migrateUnlessStopped } from './migrate.ts'
import { describeLockWait, type LockHolder } from './migration-lock.ts'
import { detectTransactionPooler, transactionPoolerFound } from './pooler.ts'

/** A database that does not answer at the start is waited for: a supervisor may start both together. */
const startTimeoutMs = 60_000
/** … but one that answers and refuses access only for the time in which another program may create the role or the database. */
const rejectedTimeoutMs = 10_000

const logFields = ({ pid, applicationName, clientAddress, state, since }: LockHolder): object => ({
  holder_pid: pid,
  holder_application: applicationName,
  holder_address: clientAddress,
  holder_state: state,
  holder_since: since,
})

/**
 * Waits for Postgres and migrates it. Returns the applied migrations; null: the process was stopped before Postgres answered, or while another session
 * held the lock.
 * @throws an error of a migration, and an Error if Postgres is unavailable or refuses access for too long
 */
export const migrateWhenAvailable = async (
  url: string,
  { quiet, stop, mayBePooled }: { readonly quiet: QuietLog; readonly stop: AbortSignal; readonly mayBePooled: boolean },
): Promise<readonly string[] | null> => {
  const beganMs = performance.now()
  const onWaiting = (holder: LockHolder | null): void =>
    quiet.warn('lock of migrations', holder === null ? {} : logFields(holder), describeLockWait(holder))
  for (;;) {
    try {
      if (mayBePooled && (await detectTransactionPooler(url)))
        quiet.warn('pooler', {}, `${transactionPoolerFound}: set DATABASE_DIRECT_URL to an address past it`)
      const applied = await migrateUnlessStopped(url, { signal: stop, onWaiting })
      quiet.recovered('start', 'Postgres answers')
      if (applied !== null) quiet.recovered('lock of migrations', 'the lock of migrations was free')
      return applied
    } catch (error) {
      const unavailable = await finishedMigrations(url).then(
        () => null,
        (cause: unknown) => ({ cause, rejected: isAccessRefused(cause) }),
      )
      // Postgres may have started between the two attempts.
      if (unavailable === null && !isDatabaseUnavailable(error)) throw error
      if (stop.aborted) return null
      const { cause, rejected } = unavailable ?? { cause: error, rejected: false }
      const timeoutMs = rejected ? rejectedTimeoutMs : startTimeoutMs
      if (performance.now() - beganMs > timeoutMs) {
        const seconds = Math.round(timeoutMs / 1_000)
        throw new Error(`${describeUnavailable(cause)}, for ${seconds} seconds now: check DATABASE_URL`, { cause })
      }
      if (rejected) quiet.warn('rejected', {}, `${describeUnavailable(cause)}; trying again for some seconds`)
      else quiet.warn('start', {}, 'Postgres does not answer yet; waiting for it')
      await pause(1_000, stop)
    }
  }
}
