/** What is said of a signal once there is somebody to say it. */
export interface StopWords {
  readonly first: (signal: NodeJS.Signals) => void
  readonly second: (signal: NodeJS.Signals) => void
}

/** The person's or supervisor's wish that we stop. */
export interface StopSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** From now on there is work to finish: the first signal only asks for it. Until then it ends the process, with exit code 0. */
  begun(words: StopWords): void
}

/**
 * One press of Ctrl-C arrives more than once: the terminal sends it to every process of its foreground, and `npm` and the shell pass it on to
 * us. Supervisors that signal a whole group do the same. What comes within this time of the first signal is the same wish, in milliseconds.
 */
const samePressMs = 1_000

/**
 * Listens for SIGINT and SIGTERM. The first one drains; a further one, later than the echo of the first, ends the process at once with exit
 * code 1. The embedded Postgres and the sandbox notice by themselves that we are gone.
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
      // Signals that waited while we were busy are told before `setImmediate`: they are no second wish.
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
