import { fairnessOf } from './fairness-index.ts'
import type { PartOutcome } from './simulation-messages.ts'

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

/** Use of each operation, by its name. */
export const operationUses = (used: PartOutcome['used']): readonly OperationUse[] =>
  [...Map.groupBy(used, ({ operation }) => operation)]
    .map(([operation, uses]) => {
      const calls = uses.reduce((sum, use) => sum + use.calls, 0)
      return {
        operation,
        sellers: uses.length,
        calls,
        waits: uses.reduce((sum, use) => sum + use.waits, 0),
        share: calls / uses.reduce((sum, use) => sum + use.allowed, 0),
        highestShare: uses.reduce((highest, use) => Math.max(highest, use.calls / use.allowed), 0),
      }
    })
    .sort((a, b) => (a.operation < b.operation ? -1 : 1))

/** How fairly sellers were served: of each, what it got to what it wanted, or to what its own limit allows where that is less. */
export const fairnessAmong = (
  sellers: readonly { readonly got: number; readonly wanted: number; readonly allowed: number }[],
): number => fairnessOf(sellers.flatMap(({ got, wanted, allowed }) => (wanted === 0 ? [] : [got / Math.min(wanted, allowed)])))
