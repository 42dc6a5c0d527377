import { defaultSyncSettings } from '../../jobs/sync/settings.ts'
import { type BudgetUse, createSimulatedBudgets } from './budgets.ts'
import { startCommands } from './command-work.ts'
import { createRandom } from './random.ts'
import { startSyncs } from './sync-work.ts'
import { createTimeline } from './timeline.ts'
import type { Witness, World } from './world.ts'

/** A simulation under way. */
export interface Simulation {
  /** Epoch ms of the simulated clock. */
  nowMs(): number
  /** Goes on until a moment of that clock. */
  advance(untilMs: number): void
  /** What of each budget has been used so far. */
  used(): readonly BudgetUse[]
}

/**
 * What a daemon would do, in virtual time and without any I/O: budgets by its buckets, polls by its agenda, jobs by their lanes, commands by their
 * places, slots by its shares, with the code that the daemon itself goes by. The marketplace accepts what comes within the limits, and answers
 * after the same time each time; storing takes no time of its own; nothing fails. The same world has the same future.
 */
export const createSimulation = (world: World, witness: Witness): Simulation => {
  const timeline = createTimeline(world.startMs)
  const random = createRandom(world.seed)
  const budgets = createSimulatedBudgets(world, timeline, witness)
  const parts = { timeline, budgets, random, witness }
  startCommands(world, parts)
  startSyncs(world, { ...parts, turns: defaultSyncSettings })
  return { nowMs: timeline.nowMs, advance: timeline.advance, used: budgets.used }
}
