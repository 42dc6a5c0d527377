import type { LimitOf } from '../src/clients/budget.ts'
import type { BudgetUse } from '../src/daemon/simulation/budgets.ts'
import { allowedCalls } from '../src/daemon/simulation/record.ts'
import { fairnessOf } from './fairness-index.ts'

/** Use of an operation by all sellers. */
export interface OperationUse {
  readonly operation: string
  readonly sellers: number
  readonly calls: number
  readonly waits: number
  /** Calls to what the limits allow, of all sellers, and of the one who used most of its own. */
  readonly share: number
  readonly highestShare: number
}

/** Use of each operation within so long, by its name. */
export const operationUses = (used: readonly BudgetUse[], limitOf: LimitOf, forMs: number): readonly OperationUse[] =>
  [...Map.groupBy(used, ({ operation }) => operation.name)]
    .map(([operation, uses]) => {
      const allowed = uses.map((use) => allowedCalls(limitOf, use.sellerId, use.operation, forMs))
      const calls = uses.reduce((sum, use) => sum + use.calls, 0)
      return {
        operation,
        sellers: uses.length,
        calls,
        waits: uses.reduce((sum, use) => sum + use.waits, 0),
        share: calls / allowed.reduce((sum, one) => sum + one, 0),
        highestShare: uses.reduce((highest, use, index) => Math.max(highest, use.calls / (allowed[index] ?? 1)), 0),
      }
    })
    .sort((a, b) => (a.operation < b.operation ? -1 : 1))

/** How fairly sellers were served: of each, what it got to what it wanted, or to what its own limit allows where that is less. */
export const fairnessAmong = (
  sellers: readonly { readonly got: number; readonly wanted: number; readonly allowed: number }[],
): number => fairnessOf(sellers.flatMap(({ got, wanted, allowed }) => (wanted === 0 ? [] : [got / Math.min(wanted, allowed)])))
