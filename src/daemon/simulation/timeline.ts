import { createEventQueue } from './event-queue.ts'
import { createFifo, type Fifo } from './fifo.ts'

/** Something that happens at a moment. */
export interface Happening {
  happen(): void
}

/** Virtual time: it moves from one happening to the next. */
export interface Timeline {
  /** Epoch ms. */
  nowMs(): number
  /** Lets something happen at a moment, or now where that is past. */
  at(atMs: number, happening: Happening): void
  /** Lets something happen in so many ms. Of each such time what was added first happens first, which makes it cheap where times are few. */
  after(delayMs: number, happening: Happening): void
  /** Lets all happen up to a moment, at which the time is then. */
  advance(untilMs: number): void
}

/** What happens after the same time each time. */
interface Delayed {
  readonly delayMs: number
  readonly moments: Fifo<number>
  readonly happenings: Fifo<Happening>
}

/** So many different delays have lines of their own; others are sorted. */
const mostDelays = 16

/** A timeline on which nothing is to happen yet. */
export const createTimeline = (startMs: number): Timeline => {
  const queue = createEventQueue<Happening>()
  const lines: Delayed[] = []
  let nowMs = startMs

  const lineOf = (delayMs: number): Delayed | undefined => {
    const known = lines.find((line) => line.delayMs === delayMs)
    if (known !== undefined || lines.length === mostDelays) return known
    const line = { delayMs, moments: createFifo<number>(), happenings: createFifo<Happening>() }
    lines.push(line)
    return line
  }

  const at = (atMs: number, happening: Happening): void => queue.add(Math.max(atMs, nowMs), happening)

  return {
    nowMs: () => nowMs,
    at,
    after: (delayMs, happening) => {
      const line = lineOf(delayMs)
      if (line === undefined) {
        at(nowMs + delayMs, happening)
        return
      }
      line.moments.push(nowMs + delayMs)
      line.happenings.push(happening)
    },
    advance: (untilMs) => {
      for (;;) {
        let nextMs = queue.nextAtMs()
        let next: Delayed | null = null
        for (const line of lines) {
          const firstMs = line.moments.first()
          if (firstMs === undefined || firstMs >= nextMs) continue
          nextMs = firstMs
          next = line
        }
        if (nextMs > untilMs) break
        nowMs = nextMs
        if (next === null) {
          queue.take()?.happen()
        } else {
          next.moments.shift()
          next.happenings.shift()?.happen()
        }
      }
      nowMs = Math.max(nowMs, untilMs)
    },
  }
}
