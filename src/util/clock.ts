/** The clocks of the process. All waiting and all deadlines use them, so that tests can control time. */
export interface Clock {
  /** Epoch milliseconds; this clock may be set. */
  wallMs(): number
  /** Milliseconds from an arbitrary origin; cannot be set, but may stop while the machine sleeps. */
  monotonicMs(): number
}

/** The clocks of this machine. */
export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() }

/** Does work after a delay in milliseconds. Returns the function that cancels it. The work must not reject. */
export type After = (delayMs: number, work: () => Promise<void>) => () => void

/** Uses a timer that does not keep the process running. */
export const afterTimeout: After = (delayMs, work) => {
  const timer = setTimeout(() => void work(), delayMs).unref()
  return () => clearTimeout(timer)
}

/** The wall clock was set if it diverges from the monotonic clock by more than this, in milliseconds. */
const toleratedStepMs = 2_000

/** Watches the wall clock. Each call returns by how many milliseconds it was set since the last call; negative: set back, 0: not set. */
export const watchSteps = ({ wallMs, monotonicMs }: Clock): (() => number) => {
  let offsetMs = wallMs() - monotonicMs()
  return () => {
    const stepMs = wallMs() - monotonicMs() - offsetMs
    offsetMs += stepMs
    return Math.abs(stepMs) > toleratedStepMs ? stepMs : 0
  }
}
