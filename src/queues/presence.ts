import { describeError, type QuietLog } from '../observability/log.ts'
import { asError, isConnectionFault } from './faults.ts'

/** Whether the store of the queues is there, learnt from those who use it, and told in few lines. */
export interface Presence {
  /** It answered, or it did not. */
  report(answered: boolean): void
  /** Something went wrong while using it. */
  fault(thrown: unknown): void
  awaySinceMs(): number | null
  /** The last fault while it is away; null while it is there. */
  lastFault(): string | null
  /** We disconnect: from here on faults are the sound of closing connections, and are not told. */
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
          `the queues cannot use ${store}; they go on when it is back`,
        )
      } else {
        // Without ids, or each job would be a fault of its own kind.
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
