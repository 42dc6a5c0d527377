import type { RateBudget } from '../clients/budget.ts'
import { systemClock } from '../clock.ts'

/** Those who were told of a moment sooner than this need not be told of another one, in milliseconds. */
const soonMs = 1_000

/**
 * A budget that notices when the marketplace begins to say how many requests are left, while somebody has been told to wait: what they were told went
 * by a limit of which only a part was used, and they may come at once. After a refusal it is noticed again.
 *
 * @param begins told of the seller then
 */
export const noticeCounting = (
  budget: RateBudget,
  begins: (sellerId: string) => void,
  nowMs = systemClock.wallMs,
): RateBudget => {
  const counting = new Set<string>()
  const toldUntilMs = new Map<string, number>()
  return {
    take: async (sellerId, operation, scope, lane) => {
      const leave = await budget.take(sellerId, operation, scope, lane)
      if (!leave.granted && operation.write === true)
        toldUntilMs.set(JSON.stringify([sellerId, operation.name]), leave.availableAt.getTime())
      return leave
    },
    learn: async (sellerId, operation, signal, scope, grant) => {
      await budget.learn(sellerId, operation, signal, scope, grant)
      if (operation.write !== true) return
      const name = JSON.stringify([sellerId, operation.name])
      if (signal.status === 429) counting.delete(name)
      else if (signal.remaining !== null && signal.remaining > 1 && !counting.has(name)) {
        counting.add(name)
        if ((toldUntilMs.get(name) ?? 0) > nowMs() + soonMs) begins(sellerId)
      }
    },
    snapshot: () => budget.snapshot(),
  }
}
