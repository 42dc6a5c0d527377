import { describeError, type QuietLog } from '../observability/log.ts'
import { asError, isConnectionError } from './errors.ts'

/** Availability of the store of the queues, as its users observe it. Logs few lines. */
export interface Availability {
  /** The store answered (true), or it did not. */
  reportAvailable(available: boolean): void
  /** An error occurred while using the store. */
  reportError(thrown: unknown): void
  /** Since when the store has not answered, in epoch milliseconds; null while it answers. */
  unavailableSinceMs(): number | null
  /** The last error while the store is unavailable; null while it is available. */
  lastError(): string | null
  /** Called when disconnecting: closing connections causes errors, which are not logged. */
  end(): void
}

/** `store` is its name in messages. */
export const createAvailability = (store: string, quiet: QuietLog): Availability => {
  const key = `queues:${store}`
  let unavailableSinceMs: number | null = null
  let lastError: string | null = null
  let ended = false
  return {
    reportAvailable: (available) => {
      if (ended) return
      if (!available) {
        unavailableSinceMs ??= Date.now()
        return
      }
      unavailableSinceMs = null
      lastError = null
      quiet.recovered(key, `the queues can use ${store} again`)
    },
    reportError: (thrown) => {
      if (ended) return
      const error = asError(thrown)
      if (isConnectionError(error)) {
        unavailableSinceMs ??= Date.now()
        const { type, message, code } = describeError(error)
        lastError = message === '' ? String(code ?? type) : message
        quiet.error(
          key,
          { fault: lastError, ...(code === undefined ? {} : { code }) },
          `the queues cannot use ${store}; they continue when it is back`,
        )
      } else {
        // Without ids: otherwise each job would have a key of its own.
        quiet.error(
          `${key}:${error.message.replace(/\bjob \S+/g, 'job').slice(0, 60)}`,
          { err: error },
          `an error in the queues (${store})`,
        )
      }
    },
    unavailableSinceMs: () => unavailableSinceMs,
    lastError: () => lastError,
    end: () => {
      ended = true
    },
  }
}
