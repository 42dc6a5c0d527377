/** Our own clocks. Whoever waits or keeps a deadline asks these, so that time can be made in tests. */
export interface Clock {
  /** Epoch milliseconds; somebody may set this clock. */
  wallMs(): number
  /** Milliseconds from an arbitrary origin; nobody can set this one, but it may stand still while the machine sleeps. */
  monotonicMs(): number
}

/** The clocks of this machine. */
export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() }
