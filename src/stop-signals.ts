import { isatty } from 'node:tty'
import { processExists } from './process-exists.ts'

/** Callbacks that log a signal, once there is a log. */
export interface StopWords {
  readonly first: (signal: NodeJS.Signals) => void
  readonly second: (signal: NodeJS.Signals) => void
}

/** Requests to read settings again, by SIGHUP. */
export interface HangUps {
  /** Calls the listener at each one, and at once if one came while nobody listened. Answers what ends that; the process outlives those after it. */
  listen(listener: () => void): () => void
}

/** The request of a user or a supervisor to stop. */
export interface StopSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** From now on there is work to finish, so the first signal requests a stop. Until then it ends the process, with exit code 0. */
  begun(words: StopWords): void
  readonly hangUps: HangUps
}

/** `npm start` ends by SIGHUP without a word to what it has started: scripts/start.sh names its process here, and its end is a request to stop. */
const starterVariable = 'TALLYMAN_STARTED_BY'
const starterLookMs = 1_000

/**
 * One Ctrl-C arrives more than once: the terminal sends it to every process in the foreground, and `npm` and the shell forward it. Supervisors
 * that signal a whole group do the same. Signals within this time of the first one count as duplicates, in milliseconds.
 */
const samePressMs = 1_000

/**
 * Listens for SIGINT and SIGTERM. The first one drains; a further one that is not a duplicate ends the process at once with exit
 * code 1. The embedded Postgres and the sandbox detect the end of the process themselves.
 *
 * SIGHUP is a request to read settings again, unless it tells that the terminal is gone: that is a request to stop, and so is the end of `npm start`.
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

  const onLost = (): void => {
    if (!stopping.signal.aborted) onSignal('SIGHUP')
  }
  const hadTerminal = isatty(0)
  let heard: (() => void) | null = null
  let isMissed = false
  process.on('SIGHUP', () => {
    // What was a terminal answers no more once it is closed.
    if (hadTerminal && !isatty(0)) onLost()
    else if (heard === null) isMissed = true
    else heard()
  })
  const starter = Number(process.env[starterVariable] ?? '0')
  if (starter > 0)
    setInterval(() => {
      if (!processExists(starter)) onLost()
    }, starterLookMs).unref()

  return {
    signal: stopping.signal,
    begun: (said) => {
      words = said
    },
    hangUps: {
      listen: (listener) => {
        heard = listener
        if (isMissed) listener()
        isMissed = false
        return () => {
          heard = null
        }
      },
    },
  }
}
