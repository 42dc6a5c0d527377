import { shareCheck } from '../shared-check.ts'
import { readFigures } from '../store/figures.ts'
import { readTableSizes } from '../store/retention.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import { checkTimeoutMs } from './health.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'

/** A scrape reads the sizes of the tables at most this often. */
const sizesFreshMs = 60_000

/** Reads all metrics; those that stand in Postgres, the budget and the queues are brought up to date first, as far as they answer. */
export const createMetricsReader = (
  { metrics, quiet }: DaemonContext,
  { database }: DatabasePart,
  { budget }: MarketplacePart,
  { runtime }: QueuesPart,
) => {
  const tableSizes = shareCheck(
    () =>
      readTableSizes(database).catch((error: unknown) => {
        quiet.warn('sizes', { err: error }, 'the sizes of the tables cannot be read')
        return null
      }),
    { freshMs: sizesFreshMs, timeoutMs: checkTimeoutMs, mostHanging: 1, late: null },
  )
  return async () => {
    for (const { table, rows, bytes } of (await tableSizes()) ?? []) {
      metrics.tableRows.set({ table }, rows)
      metrics.tableBytes.set({ table }, bytes)
    }
    const figures = await readFigures(database).catch((error: unknown) => {
      quiet.warn('figures', { err: error }, 'the figures of the database cannot be read')
      return null
    })
    if (figures !== null) {
      metrics.commandsUnknown.set(figures.commandsVerifying)
      metrics.commandsHeld.set(figures.commandsHeld)
      metrics.outboxOldest.set((figures.oldestDue?.getTime() ?? 0) / 1_000)
      metrics.deadLetters.set({ kind: 'record' }, figures.quarantinedRecords)
      metrics.deadLetters.set({ kind: 'event' }, figures.rejectedEvents)
    }
    for (const { sellerId, operation, scope, available } of budget.snapshot()) {
      // Months are many and would be labels without end.
      if (scope === null) metrics.rateLimitTokens.set({ seller: sellerId, operation }, available)
    }
    await runtime.refreshMetrics()
    return metrics.read()
  }
}
