import { type CallLane, callLanes } from './lane.ts'

/** Moments that callers of one lane were told, one interval apart. */
interface Promised {
  /** The one that was told last. */
  readonly tailMs: number
  /** The latest of them. */
  readonly lastMs: number
  /** How many of them, up to the latest one, nobody has come for. */
  readonly open: number
  /** What the first one who came for a moment before it had come was told instead. */
  readonly againMs: number
}

/** What the callers of a bucket were told, by the places of their lanes. Times are epoch ms. */
export type Promises = readonly Promised[]

/** Which open moments of the lanes before a lane come first and last. */
export interface Ahead {
  readonly firstMs: number
  readonly lastMs: number
}

/** A moment is kept for so long after it has come, or for one interval where that is less, in ms: as long as the relay may take to bring a job. */
const patienceMs = 5_000

const untold: Promised = { tailMs: 0, lastMs: 0, open: 0, againMs: 0 }
/** Nobody was told anything. */
export const noPromises: Promises = callLanes.map(() => untold)

const places: Readonly<Record<CallLane, number>> = { command: 0, poll: 1, backfill: 2, snapshot: 3 }
const nobodyAhead: Ahead = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY }

/** How many moments are still kept. */
const keptOf = ({ lastMs, open }: Promised, nowMs: number, intervalMs: number): number => {
  if (open === 0) return 0
  const lateMs = nowMs - Math.min(patienceMs, intervalMs) - (lastMs - (open - 1) * intervalMs)
  return lateMs < 0 ? open : Math.max(0, open - Math.floor(lateMs / intervalMs) - 1)
}

/** What is kept for the lanes before a lane. */
export const aheadOf = (promises: Promises, lane: CallLane, nowMs: number, intervalMs: number): Ahead => {
  let ahead = nobodyAhead
  // Mostly nobody was told anything; a simulation asks millions of times.
  if (promises === noPromises || lane === 'command') return ahead
  for (let place = 0; place < places[lane]; place += 1) {
    const promised = promises[place]
    if (promised === undefined || promised.open === 0) continue
    const kept = keptOf(promised, nowMs, intervalMs)
    if (kept === 0) continue
    const { lastMs } = promised
    ahead = {
      firstMs: Math.min(ahead.firstMs, lastMs - (kept - 1) * intervalMs),
      lastMs: Math.max(ahead.lastMs, lastMs),
    }
  }
  return ahead
}

/** A caller of a lane has got leave: the earliest moment of its lane is not kept any more. */
export const withoutFirst = (promises: Promises, lane: CallLane, nowMs: number, intervalMs: number): Promises => {
  if (promises === noPromises) return promises
  const promised = promises[places[lane]] ?? untold
  if (promised.open === 0) return promises
  const kept = keptOf(promised, nowMs, intervalMs)
  return promises.with(places[lane], { ...promised, open: Math.max(0, kept - 1) })
}

/**
 * Tells a caller of a lane a moment: the first one that is possible, and where others of its lane were told that, one interval after the last of
 * them; `chanceMs` is added where nobody was. The list is not longer than `spreadMs`: it begins anew then. Who comes for a moment that has moved
 * meanwhile keeps its place, where requests leave one at a time.
 */
export const withAnother = (
  promises: Promises,
  lane: CallLane,
  {
    firstMs,
    nowMs,
    intervalMs,
    spreadMs,
    chanceMs = 0,
    isOneAtATime,
  }: {
    readonly firstMs: number
    readonly nowMs: number
    readonly intervalMs: number
    readonly spreadMs: number
    readonly chanceMs?: number
    /** The bucket holds one request: its moments move with each that leaves late. */
    readonly isOneAtATime: boolean
  },
): { readonly promises: Promises; readonly atMs: number } => {
  const promised = promises[places[lane]] ?? untold
  const { tailMs, lastMs, againMs } = promised
  const kept = keptOf(promised, nowMs, intervalMs)
  const beganMs = firstMs + chanceMs
  if (isOneAtATime && kept > 0 && againMs <= nowMs) {
    // The latest moment that has come. Each was rounded up to a whole millisecond.
    const dueMs = lastMs - Math.max(0, Math.ceil((lastMs - nowMs - kept) / intervalMs)) * intervalMs
    const isKept = dueMs > lastMs - (kept - 0.5) * intervalMs
    if (isKept && beganMs < dueMs + intervalMs)
      return { promises: promises.with(places[lane], { ...promised, againMs: beganMs }), atMs: beganMs }
  }
  const next = tailMs < firstMs ? beganMs : Math.ceil(tailMs + intervalMs)
  const atMs = next > firstMs + spreadMs ? beganMs : next
  // Moments that were all told already are told again, and kept once.
  const isNew = kept === 0 || atMs > lastMs
  const told = isNew ? { lastMs: atMs, open: kept + 1 } : { lastMs, open: kept }
  return { promises: promises.with(places[lane], { tailMs: atMs, againMs, ...told }), atMs }
}

/** What was told, on a clock that was set by so many ms. */
export const shiftedPromises = (promises: Promises, stepMs: number): Promises =>
  promises === noPromises
    ? promises
    : promises.map(({ tailMs, lastMs, open, againMs }) => ({
        tailMs: tailMs + stepMs,
        lastMs: lastMs + stepMs,
        open,
        againMs: againMs + stepMs,
      }))
