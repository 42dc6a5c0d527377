import type { Meta } from './meta.ts'

/** The marketplace's own time: real time plus everything that was advanced so far. It never goes back. */
export interface VirtualClock {
  /** Epoch milliseconds. */
  now(): number
  offsetMs(): number
  /** Advances the clock by this number of milliseconds. */
  advance(ms: number): void
}

/** A clock whose offset is stored, so that a restarted sandbox continues at its former time (plus the real time in between). */
export const createClock = (meta: Meta): VirtualClock => {
  let offsetMs = Number(meta.get('clock.offsetMs') ?? '0')
  return {
    now: () => Date.now() + offsetMs,
    offsetMs: () => offsetMs,
    advance(ms) {
      offsetMs += ms
      meta.set('clock.offsetMs', String(offsetMs))
    },
  }
}
