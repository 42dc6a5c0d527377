import { easedBy, fullBucket } from '../../clients/bucket.ts'
import { type LocalBucket, localBucket, noteAnswer, takeLocally } from '../../clients/budget.ts'
import type { Operation, RateLimit } from '../../clients/operation.ts'
import type { Timeline } from './timeline.ts'
import type { Witness, World } from './world.ts'

/** The budget of one operation of a seller, with the bucket of the daemon itself. Several processes share it as if they were one. */
export interface SimulatedBudget {
  readonly answerMs: number
  /** Leave for a call now: null; otherwise when to ask again, in epoch ms. */
  take(): number | null
  /** The marketplace has accepted a call, and says nothing of what is left. */
  answered(): void
}

/** What of a budget was used. */
export interface BudgetUse {
  readonly sellerId: string
  readonly operation: Operation
  readonly calls: number
  /** How often somebody was told to come back later. */
  readonly waits: number
}

/** All budgets of a world. */
export interface SimulatedBudgets {
  of(sellerId: string, operation: Operation): SimulatedBudget
  /** What has been used of each that was asked for. */
  used(): readonly BudgetUse[]
}

/** Budgets as a world has them at its start; made when they are asked for. */
export const createSimulatedBudgets = (
  { limitOf, memoryOf, answerMs }: Pick<World, 'limitOf' | 'memoryOf' | 'answerMs'>,
  timeline: Timeline,
  witness: Pick<Witness, 'granted' | 'refused'>,
): SimulatedBudgets => {
  const budgets = new Map<string, Map<string, SimulatedBudget & { use(): BudgetUse }>>()

  const create = (sellerId: string, operation: Operation): SimulatedBudget & { use(): BudgetUse } => {
    let calls = 0
    let waits = 0
    const limit: RateLimit = limitOf(sellerId, operation)
    const bucket: LocalBucket = localBucket({ sellerId, operation, scope: null }, memoryOf(sellerId, operation) ?? fullBucket)
    return {
      answerMs: answerMs(sellerId, operation),
      take: () => {
        const nowMs = timeline.nowMs()
        const leave = takeLocally(bucket, limit, nowMs)
        if (leave.granted) {
          calls += 1
          witness.granted(sellerId, operation, nowMs)
          return null
        }
        waits += 1
        witness.refused(sellerId, operation, nowMs)
        return leave.availableAt.getTime()
      },
      answered: () => {
        noteAnswer(bucket)
        // Any other answer leaves a bucket as it is that has learned nothing (`learnFrom`).
        if (bucket.memory.rate < 1 || bucket.memory.strikes > 0)
          bucket.memory = easedBy(limit, bucket.memory, 1, timeline.nowMs())
      },
      use: () => ({ sellerId, operation, calls, waits }),
    }
  }

  return {
    of: (sellerId, operation) => {
      const own = budgets.get(sellerId) ?? new Map<string, SimulatedBudget & { use(): BudgetUse }>()
      budgets.set(sellerId, own)
      const known = own.get(operation.name) ?? create(sellerId, operation)
      own.set(operation.name, known)
      return known
    },
    used: () => [...budgets.values()].flatMap((own) => [...own.values()].map((budget) => budget.use())),
  }
}
