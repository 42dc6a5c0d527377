import { describeError, type QuietLog } from '../observability/log.ts'
import { asError, isConnectionFault } from './faults.ts'

/** Availability of the store of the queues, as observed by its users, logged with few lines. */
export interface Presence {
  /** It answered, or it did not. */
  report(answered: boolean): void
  /** An error occurred while using it. */
  fault(thrown: unknown): void
  awaySinceMs(): number | null
  /** The last fault while it is unavailable; null while it is available. */
  lastFault(): string | null
  /** Called when disconnecting: further faults are caused by closing connections and are not logged. */
  end(): void
}

/** `store` is its name in messages. */
export const createPresence = (store: string, quiet: QuietLog): Presence => {
  const key = `queues:${store}`
  let awaySinceMs: number | null = null
  let lastFault: string | null = null
  let ended = false
  return {
    report: (answered) => {
      if (ended) return
      if (!answered) {
        awaySinceMs ??= Date.now()
        return
      }
      awaySinceMs = null
      lastFault = null
      quiet.recovered(key, `the queues can use ${store} again`)
    },
    fault: (thrown) => {
      if (ended) return
      const error = asError(thrown)
      if (isConnectionFault(error)) {
        awaySinceMs ??= Date.now()
        const { type, message, code } = describeError(error)
        lastFault = message === '' ? String(code ?? type) : message
        quiet.error(
          key,
          { fault: lastFault, ...(code === undefined ? {} : { code }) },
          `the queues cannot use ${store}; they continue when it is back`,
        )
      } else {
        // Without ids, otherwise each job would be a separate kind of fault.
        quiet.error(
          `${key}:${error.message.replace(/\bjob \S+/g, 'job').slice(0, 60)}`,
          { err: error },
          `a fault in the queues (${store})`,
        )
      }
    },
    awaySinceMs: () => awaySinceMs,
    lastFault: () => lastFault,
    end: () => {
      ended = true
    },
  }
}
