import type { Meta } from './meta.ts'

/** The marketplace's own time: real time plus everything that was advanced so far. It never goes back. */
export interface VirtualClock {
  /** Epoch milliseconds. */
  now(): number
  offsetMs(): number
  /** Moves the clock on by so many milliseconds. */
  advance(ms: number): void
}

/** A clock whose offset is kept, so that a restarted sandbox stands where it stood (plus the real time in between). */
export function createClock(meta: Meta): VirtualClock {
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
