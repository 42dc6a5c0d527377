/** Callbacks that log a signal, once there is a log. */
export interface StopWords {
  readonly first: (signal: NodeJS.Signals) => void
  readonly second: (signal: NodeJS.Signals) => void
}

/** The request of a user or a supervisor to stop. */
export interface StopSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** From now on there is work to finish, so the first signal requests a stop. Until then it ends the process, with exit code 0. */
  begun(words: StopWords): void
}

/**
 * One Ctrl-C arrives more than once: the terminal sends it to every process in the foreground, and `npm` and the shell forward it. Supervisors
 * that signal a whole group do the same. Signals within this time of the first one count as duplicates, in milliseconds.
 */
const samePressMs = 1_000

/**
 * Listens for SIGINT and SIGTERM. The first one drains; a further one that is not a duplicate ends the process at once with exit
 * code 1. The embedded Postgres and the sandbox detect the end of the process themselves.
 */
export const listenForStop = (): StopSignals => {
  const stopping = new AbortController()
  let words: StopWords | null = null
  let echoing = true
  const echoEnds = (): void => {
    echoing = false
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (words === null) process.exit(0)
    if (!stopping.signal.aborted) {
      words.first(signal)
      // Signals that were pending while the event loop was busy are delivered before `setImmediate`: they are duplicates.
      setTimeout(() => setImmediate(echoEnds), samePressMs).unref()
      stopping.abort()
    } else if (!echoing) {
      words.second(signal)
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal)
  return {
    signal: stopping.signal,
    begun: (said) => {
      words = said
    },
  }
}
