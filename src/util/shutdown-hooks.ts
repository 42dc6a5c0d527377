/** Functions that close what is open, in reverse order of opening. */
export interface ShutdownHooks {
  /** `name` is logged when closing fails. */
  add(name: string, close: () => Promise<unknown>): void
  /** Runs all hooks once. An error is logged and does not prevent the other hooks. */
  closeAll(): Promise<void>
}

/** Creates the hooks of one start of the daemon. */
export const createShutdownHooks = (log: { error(fields: object, message: string): void }): ShutdownHooks => {
  const hooks: { readonly name: string; close(): Promise<unknown> }[] = []
  return {
    add: (name, close) => void hooks.push({ name, close }),
    closeAll: async () => {
      for (const { name, close } of hooks.splice(0).reverse()) {
        try {
          await close()
        } catch (error) {
          log.error({ err: error }, `closing ${name} failed`)
        }
      }
    },
  }
}
