import type { Logger } from '../observability/log.ts'

/** What is open, to be closed last opened first. */
export interface Closers {
  /** `name` stands in the log when closing fails. */
  add(name: string, close: () => Promise<unknown>): void
  /** Closes everything once; a failure is logged, and the others are closed all the same. */
  closeAll(): Promise<void>
}

/** One for a start of the daemon. */
export const createClosers = (log: Pick<Logger, 'error'>): Closers => {
  const closers: { readonly name: string; close(): Promise<unknown> }[] = []
  return {
    add: (name, close) => void closers.push({ name, close }),
    closeAll: async () => {
      for (const { name, close } of closers.splice(0).reverse()) {
        try {
          await close()
        } catch (error) {
          log.error({ err: error }, `closing ${name} failed`)
        }
      }
    },
  }
}
