/** Our own clocks. Whoever waits or keeps a deadline asks these, so that time can be made in tests. */
export interface Clock {
  /** Epoch milliseconds; somebody may set this clock. */
  wallMs(): number
  /** Milliseconds from an arbitrary origin; nobody can set this one, but it may stand still while the machine sleeps. */
  monotonicMs(): number
}

/** The clocks of this machine. */
export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() }

/** A clock that differs by more than this from one that nobody sets was set, in milliseconds. */
const toleratedStepMs = 2_000

/** Watches a clock: each call answers by how much it was set since the last one, in milliseconds, back when negative; 0 when nobody set it. */
export const watchSteps = ({ wallMs, monotonicMs }: Clock): (() => number) => {
  let offsetMs = wallMs() - monotonicMs()
  return () => {
    const stepMs = wallMs() - monotonicMs() - offsetMs
    offsetMs += stepMs
    return Math.abs(stepMs) > toleratedStepMs ? stepMs : 0
  }
}
