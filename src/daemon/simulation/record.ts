import { bucketShape } from '../../clients/bucket.ts'
import type { LimitOf } from '../../clients/budget.ts'
import type { Operation } from '../../clients/operation.ts'
import { createHistogram, type Histogram } from './histogram.ts'
import type { SimulatedBackfill, SimulatedCommand, Witness } from './world.ts'

/** What came of a simulation, in figures whose number does not grow with its length. */
export interface SimulationRecord extends Witness {
  /** How long after it was due each run of a stream began, by its lane. */
  readonly lateness: ReadonlyMap<number, Histogram>
  /** When each backfill was finished, in epoch ms. */
  readonly ends: ReadonlyMap<SimulatedBackfill, number>
  readonly commands: { readonly sent: number; readonly late: number }
  /** How long after a command came its request left. */
  readonly waits: Histogram
}

/** A record of nothing. `onSent` is told of each command that is sent. */
export const createRecord = (onSent: (command: SimulatedCommand, atMs: number) => void = () => undefined): SimulationRecord => {
  const lateness = new Map<number, Histogram>()
  const ends = new Map<SimulatedBackfill, number>()
  const waits = createHistogram()
  const commands = { sent: 0, late: 0 }
  return {
    lateness,
    ends,
    waits,
    commands,
    granted: () => undefined,
    refused: () => undefined,
    wentOn: () => undefined,
    began: ({ lane }, dueAtMs, atMs) => {
      const histogram = lateness.get(lane) ?? createHistogram()
      lateness.set(lane, histogram)
      histogram.add(atMs - dueAtMs)
    },
    finished: (backfill, atMs) => void ends.set(backfill, atMs),
    sent: (command, atMs) => {
      commands.sent += 1
      if (command.actByMs !== null && atMs > command.actByMs) commands.late += 1
      waits.add(atMs - command.comesAtMs)
      onSent(command, atMs)
    },
  }
}

/** Most calls that a full bucket lets through within so long. `counted`: the marketplace says how many are left, and more is used of the limit. */
export const allowedCalls = (
  limitOf: LimitOf,
  sellerId: string,
  operation: Operation,
  forMs: number,
  counted = false,
): number => {
  const { burst, intervalMs } = bucketShape(limitOf(sellerId, operation), counted)
  return Math.floor(burst + forMs / intervalMs)
}
