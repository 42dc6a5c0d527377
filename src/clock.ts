/** The clocks of the process. All waiting and all deadlines use them, so that tests can control time. */
export interface Clock {
  /** Epoch milliseconds; this clock may be set. */
  wallMs(): number
  /** Milliseconds from an arbitrary origin; cannot be set, but may stop while the machine sleeps. */
  monotonicMs(): number
}

/** The clocks of this machine. */
export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() }

/** Does work after so many milliseconds; what is returned calls it off. The work must not reject. */
export type After = (delayMs: number, work: () => Promise<void>) => () => void

/** By a timer of this process, which does not keep it from ending. */
export const afterTimeout: After = (delayMs, work) => {
  const timer = setTimeout(() => void work(), delayMs).unref()
  return () => clearTimeout(timer)
}

/** A wall clock that diverges from the monotonic one by more than this was set, in milliseconds. */
const toleratedStepMs = 2_000

/** Watches a clock: each call returns by how much it was set since the last call, in milliseconds, negative if set back; 0 if not set. */
export const watchSteps = ({ wallMs, monotonicMs }: Clock): (() => number) => {
  let offsetMs = wallMs() - monotonicMs()
  return () => {
    const stepMs = wallMs() - monotonicMs() - offsetMs
    offsetMs += stepMs
    return Math.abs(stepMs) > toleratedStepMs ? stepMs : 0
  }
}
