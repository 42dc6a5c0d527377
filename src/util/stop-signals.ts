import { isatty } from 'node:tty'
import { processExists } from './process-exists.ts'

/** Callbacks that log a signal, once there is a log. */
export interface StopLog {
  readonly first: (signal: NodeJS.Signals) => void
  readonly second: (signal: NodeJS.Signals) => void
}

/** Requests to read settings again, by SIGHUP. */
export interface HangUps {
  /**
   * Calls the listener for each SIGHUP, and immediately if one arrived before. Returns the function that removes the listener; later signals are
   * ignored.
   */
  listen(listener: () => void): () => void
}

/** The request of a user or a supervisor to stop. */
export interface StopSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** From now on there is work to finish, so the first signal requests a stop. Until then it ends the process, with exit code 0. */
  begun(log: StopLog): void
  readonly hangUps: HangUps
}

/** `npm start` ends on SIGHUP without stopping its children. scripts/start.sh sets its process id here; its end is a request to stop. */
const starterVariable = 'TALLYMAN_STARTED_BY'
const starterCheckMs = 1_000

/**
 * One Ctrl-C arrives more than once: the terminal sends it to every process in the foreground, and `npm` and the shell forward it. Supervisors
 * that signal a whole group do the same. Signals within this time of the first one count as duplicates, in milliseconds.
 */
const samePressMs = 1_000

/**
 * Listens for SIGINT and SIGTERM. The first one drains; a further one that is not a duplicate ends the process at once with exit
 * code 1. The embedded Postgres and the sandbox detect the end of the process themselves.
 *
 * SIGHUP is a request to read settings again, unless the terminal was closed: that is a request to stop, and so is the end of `npm start`.
 */
export const listenForStop = (): StopSignals => {
  const stopping = new AbortController()
  let log: StopLog | null = null
  let echoing = true
  const echoEnds = (): void => {
    echoing = false
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (log === null) process.exit(0)
    if (!stopping.signal.aborted) {
      log.first(signal)
      // Signals that were pending while the event loop was busy are delivered before `setImmediate`: they are duplicates.
      setTimeout(() => setImmediate(echoEnds), samePressMs).unref()
      stopping.abort()
    } else if (!echoing) {
      log.second(signal)
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal)

  const onLost = (): void => {
    if (!stopping.signal.aborted) onSignal('SIGHUP')
  }
  const hadTerminal = isatty(0)
  let onHangUp: (() => void) | null = null
  let isMissed = false
  process.on('SIGHUP', () => {
    // A closed terminal is no longer a TTY.
    if (hadTerminal && !isatty(0)) onLost()
    else if (onHangUp === null) isMissed = true
    else onHangUp()
  })
  const starter = Number(process.env[starterVariable] ?? '0')
  if (starter > 0)
    setInterval(() => {
      if (!processExists(starter)) onLost()
    }, starterCheckMs).unref()

  return {
    signal: stopping.signal,
    begun: (stopLog) => {
      log = stopLog
    },
    hangUps: {
      listen: (listener) => {
        onHangUp = listener
        if (isMissed) listener()
        isMissed = false
        return () => {
          onHangUp = null
        }
      },
    },
  }
}
