import { jobIdOf } from '../queues/jobs.ts'
import { offsetMsOf } from '../queues/schedulers.ts'
import type { ScheduledStream } from './schedule.ts'

/** The looks of a start are spread by this much each. */
const firstLookSpreadMs = 100

/** A stream that is due, and since when, in epoch milliseconds. */
export interface DueTick<Stream extends ScheduledStream = ScheduledStream> {
  readonly stream: Stream
  readonly dueAtMs: number
}

/** The moments at which streams are due. Nothing of it is stored: each process that plans has the same one, and Postgres says who was first. */
export interface Agenda<Stream extends ScheduledStream = ScheduledStream> {
  /** What has become due since it was asked last, each stream once. */
  take(nowMs: number): readonly DueTick<Stream>[]
  /** What was taken is due again at once: it could not be looked at. */
  putBack(ticks: readonly DueTick<Stream>[]): void
  /** When something is due next, in epoch milliseconds; infinity where there is nothing. */
  nextAtMs(): number
  /** Other streams than before. `first` says when those run that have just come to be, which does not depend on their interval's grid. */
  replace(schedule: readonly Stream[], first: readonly DueTick<Stream>[]): void
}

/** Streams of one interval, in the order of their places in it. */
interface Pace<Stream> {
  readonly everyMs: number
  readonly places: readonly { readonly offsetMs: number; readonly stream: Stream }[]
}

/** Names a stream within an agenda. */
export const nameOfStream = ({ sellerId, resource, stream }: Pick<ScheduledStream, 'sellerId' | 'resource' | 'stream'>): string =>
  JSON.stringify([sellerId, resource, stream])

const pacesOf = <Stream extends ScheduledStream>(schedule: readonly Stream[]): readonly Pace<Stream>[] =>
  [...Map.groupBy(schedule, ({ everyMs }) => everyMs)].map(([everyMs, streams]) => ({
    everyMs,
    places: streams
      .map((stream) => {
        const { sellerId, resource } = stream
        return { stream, offsetMs: offsetMsOf(jobIdOf('sync.run', { sellerId, resource, stream: stream.stream }), everyMs) }
      })
      .sort((a, b) => a.offsetMs - b.offsetMs),
  }))

/** Streams by their intervals, those of one interval in the order in which they are due. */
export const inOrderOfTime = <Stream extends ScheduledStream>(schedule: readonly Stream[]): readonly Stream[] =>
  pacesOf(schedule).flatMap(({ places }) => places.map(({ stream }) => stream))

/** The first place behind a moment, and when it comes. */
const placeAfter = <Stream>(
  { everyMs, places }: Pace<Stream>,
  afterMs: number,
): { readonly index: number; readonly roundMs: number } => {
  const roundMs = Math.floor(afterMs / everyMs) * everyMs
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (roundMs + (places[middle]?.offsetMs ?? 0) > afterMs) high = middle
    else low = middle + 1
  }
  return low < places.length ? { index: low, roundMs } : { index: 0, roundMs: roundMs + everyMs }
}

/** What of a pace is due after one moment and up to another; of a longer time than the interval each stream once. */
const dueBetween = <Stream extends ScheduledStream>(
  pace: Pace<Stream>,
  afterMs: number,
  untilMs: number,
): readonly DueTick<Stream>[] => {
  const due: DueTick<Stream>[] = []
  let { index, roundMs } = placeAfter(pace, Math.max(afterMs, untilMs - pace.everyMs))
  for (;;) {
    const place = pace.places[index]
    if (place === undefined || roundMs + place.offsetMs > untilMs) return due
    due.push({ stream: place.stream, dueAtMs: roundMs + place.offsetMs })
    index += 1
    if (index === pace.places.length) {
      index = 0
      roundMs += pace.everyMs
    }
  }
}

/** An agenda without streams. */
export const createAgenda = <Stream extends ScheduledStream = ScheduledStream>(nowMs: number): Agenda<Stream> => {
  let paces: readonly Pace<Stream>[] = []
  /** Beside the grid, in the order of their times. */
  let soon: readonly DueTick<Stream>[] = []
  let takenUntilMs = nowMs

  return {
    take: (untilMs) => {
      // A clock that was set back: what lies between has been taken before.
      takenUntilMs = Math.min(takenUntilMs, untilMs)
      const early = soon.filter(({ dueAtMs }) => dueAtMs <= untilMs)
      const onGrid = paces.flatMap((pace) => dueBetween(pace, takenUntilMs, untilMs))
      takenUntilMs = untilMs
      // Each stream has one place in one interval.
      if (early.length === 0) return onGrid
      soon = soon.slice(early.length)
      const ticks = [...early, ...onGrid]
      return [...new Map(ticks.map((tick) => [nameOfStream(tick.stream), tick])).values()]
    },
    putBack: (ticks) => {
      soon = [...ticks, ...soon].sort((a, b) => a.dueAtMs - b.dueAtMs)
    },
    nextAtMs: () =>
      paces.reduce((next, pace) => {
        const { index, roundMs } = placeAfter(pace, takenUntilMs)
        return Math.min(next, roundMs + (pace.places[index]?.offsetMs ?? Number.POSITIVE_INFINITY))
      }, soon[0]?.dueAtMs ?? Number.POSITIVE_INFINITY),
    replace: (schedule, first) => {
      const names = new Set(schedule.map(nameOfStream))
      paces = pacesOf(schedule)
      soon = [...soon, ...first].filter(({ stream }) => names.has(nameOfStream(stream))).sort((a, b) => a.dueAtMs - b.dueAtMs)
    },
  }
}

/** How far behind a stream is; null: it has never succeeded. */
export interface StreamLag {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  readonly lagMs: number | null
}

/**
 * When streams run first that a process has not planned before, which may be long before their place in the interval. They are spread, those of one
 * interval over that at most. What was read again not long ago is not read again because of a restart, but once its interval is over.
 */
export const firstLook = (
  schedule: readonly ScheduledStream[],
  lags: readonly StreamLag[],
  nowMs: number,
): readonly DueTick[] => {
  const lagOf = new Map(lags.map((lag) => [nameOfStream(lag), lag.lagMs]))
  const rests = (scheduled: ScheduledStream): number => {
    const lagMs = lagOf.get(nameOfStream(scheduled)) ?? null
    return scheduled.restsAfterRestart && lagMs !== null ? Math.max(0, scheduled.everyMs - lagMs) : 0
  }
  return [...Map.groupBy(schedule, ({ everyMs }) => everyMs)].flatMap(([everyMs, streams]) => {
    const spreadMs = Math.min(firstLookSpreadMs, everyMs / streams.length)
    return streams.map((stream, place) => ({ stream, dueAtMs: nowMs + Math.max(Math.round(place * spreadMs), rests(stream)) }))
  })
}
