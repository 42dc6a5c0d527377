import { easedBy, fullBucket } from '../../clients/bucket.ts'
import { type LocalBucket, localBucket, noteAnswer, takeLocally } from '../../clients/budget.ts'
import type { CallLane } from '../../clients/lane.ts'
import type { Operation, RateLimit } from '../../clients/operation.ts'
import type { Timeline } from './timeline.ts'
import type { Witness, World } from './world.ts'

/** What of a budget was used. */
export interface BudgetUse {
  readonly sellerId: string
  readonly operation: Operation
  readonly calls: number
  /** How often somebody was told to come back later. */
  readonly waits: number
}

/** What all budgets of a world have in common. */
interface Surroundings {
  readonly world: Pick<World, 'limitOf' | 'memoryOf' | 'answerMs'>
  readonly timeline: Timeline
  readonly witness: Pick<Witness, 'granted' | 'refused'>
}

/**
 * The budget of one operation of a seller, with the bucket of the daemon itself. Several processes share it as if they were one. A class, since there are
 * tens of thousands: they share their methods.
 */
export class SimulatedBudget {
  readonly answerMs: number
  readonly #limit: RateLimit
  readonly #bucket: LocalBucket
  readonly #surroundings: Surroundings
  #calls = 0
  #waits = 0

  constructor(sellerId: string, operation: Operation, surroundings: Surroundings) {
    const { world } = surroundings
    this.answerMs = world.answerMs(sellerId, operation)
    this.#limit = world.limitOf(sellerId, operation)
    this.#bucket = localBucket({ sellerId, operation, scope: null }, world.memoryOf(sellerId, operation) ?? fullBucket)
    this.#surroundings = surroundings
  }

  /** Leave for a call of a lane now: null; otherwise when to ask again, in epoch ms. */
  take(lane: CallLane): number | null {
    const { timeline, witness } = this.#surroundings
    const nowMs = timeline.nowMs()
    const leave = takeLocally(this.#bucket, this.#limit, nowMs, lane)
    const { sellerId, operation } = this.#bucket.key
    if (leave.granted) {
      this.#calls += 1
      witness.granted(sellerId, operation, nowMs)
      return null
    }
    this.#waits += 1
    witness.refused(sellerId, operation, nowMs)
    return leave.availableAt.getTime()
  }

  /** The marketplace has accepted a call, and says nothing of what is left. */
  answered(): void {
    const bucket = this.#bucket
    noteAnswer(bucket, this.#surroundings.timeline.nowMs())
    // Any other answer leaves a bucket as it is that has learned nothing (`learnFrom`).
    if (bucket.memory.rate < 1 || bucket.memory.strikes > 0)
      bucket.memory = easedBy(this.#limit, bucket.memory, 1, this.#surroundings.timeline.nowMs())
  }

  /** What of it has been used so far. */
  used(): BudgetUse {
    const { sellerId, operation } = this.#bucket.key
    return { sellerId, operation, calls: this.#calls, waits: this.#waits }
  }
}

/** All budgets of a world. */
export interface SimulatedBudgets {
  of(sellerId: string, operation: Operation): SimulatedBudget
  /** What has been used of each that was asked for. */
  used(): readonly BudgetUse[]
}

/** Budgets as a world has them at its start; made when they are asked for. */
export const createSimulatedBudgets = (
  world: Surroundings['world'],
  timeline: Timeline,
  witness: Surroundings['witness'],
): SimulatedBudgets => {
  const budgets = new Map<string, Map<string, SimulatedBudget>>()
  const surroundings = { world, timeline, witness }
  return {
    of: (sellerId, operation) => {
      const own = budgets.get(sellerId) ?? new Map<string, SimulatedBudget>()
      budgets.set(sellerId, own)
      const known = own.get(operation.name) ?? new SimulatedBudget(sellerId, operation, surroundings)
      own.set(operation.name, known)
      return known
    },
    used: () => [...budgets.values()].flatMap((own) => [...own.values()].map((budget) => budget.used())),
  }
}
