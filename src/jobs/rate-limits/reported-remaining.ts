import type { RateBudget } from '../../clients/rate-limit/budget.ts'
import { systemClock } from '../../util/clock.ts'

/** Callers whose wait ends within this time are not notified, in ms. */
const soonMs = 1_000

/**
 * A budget that calls back when the marketplace begins to report remaining requests while a write waits: the wait was computed for a limit of which
 * only a part was used, and the write may be sent at once. After a refusal (429) the next report counts as a beginning again.
 *
 * @param onBegin called with the seller
 */
export const notifyOnReportedRemaining = (
  budget: RateBudget,
  onBegin: (sellerId: string) => void,
  nowMs = systemClock.wallMs,
): RateBudget => {
  const reporting = new Set<string>()
  const waitsUntilMs = new Map<string, number>()
  return {
    take: async (sellerId, operation, scope, lane) => {
      const result = await budget.take(sellerId, operation, scope, lane)
      if (!result.granted && operation.write === true)
        waitsUntilMs.set(JSON.stringify([sellerId, operation.name]), result.availableAt.getTime())
      return result
    },
    learn: async (sellerId, operation, signal, scope, grant) => {
      await budget.learn(sellerId, operation, signal, scope, grant)
      if (operation.write !== true) return
      const name = JSON.stringify([sellerId, operation.name])
      if (signal.status === 429) reporting.delete(name)
      else if (signal.remaining !== null && signal.remaining > 1 && !reporting.has(name)) {
        reporting.add(name)
        if ((waitsUntilMs.get(name) ?? 0) > nowMs() + soonMs) onBegin(sellerId)
      }
    },
    snapshot: () => budget.snapshot(),
  }
}
