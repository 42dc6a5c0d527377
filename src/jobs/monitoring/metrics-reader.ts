import type { RateBudget } from '../../clients/rate-limit/budget.ts'
import { alarmKinds, alarmThresholds, findAlarmRule } from '../../domain/alarms/alarm-rules.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import { countOpenAlarms } from '../../store/alarms/alarms.ts'
import type { Database } from '../../store/db/database.ts'
import { listDeadlineRules, readDeadlines } from '../../store/orders/deadlines.ts'
import { readTableSizes } from '../../store/privacy/retention.ts'
import { readGaugeValues } from '../../store/sellers/gauge-values.ts'
import { countServedSellers, sellerStates } from '../../store/sellers/sellers.ts'
import { webhookStates } from '../../store/webhooks/webhook-endpoints.ts'
import { readWebhookGauges } from '../../store/webhooks/webhook-log.ts'
import { shareCheck } from '../../util/shared-check.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import type { SyncMetrics } from '../sync/engine/sync-metrics.ts'
import { checkTimeoutMs } from './health.ts'

/** A scrape reads the sizes of the tables at most this often. */
const sizesFreshMs = 60_000

/** … and counts the orders that run out of time at most this often. */
const deadlinesFreshMs = 10_000

/** Dependencies of reading metrics. */
export interface MetricsReaderParts {
  readonly metrics: Metrics
  readonly quiet: QuietLog
  readonly database: Database
  readonly budget: Pick<RateBudget, 'snapshot'>
  readonly sellers: Pick<SellerRegistry, 'ids' | 'has' | 'client'>
  readonly runtime: Pick<QueueRuntime, 'refreshMetrics'>
  readonly syncMetrics: Pick<SyncMetrics, 'refreshLags'>
}

/** Reads all metrics. Gauges of Postgres, the budget and the queues are updated first; those of a store that does not answer stay as they are. */
export const createMetricsReader = ({
  metrics,
  quiet,
  database,
  budget,
  sellers,
  runtime,
  syncMetrics,
}: MetricsReaderParts): Metrics['read'] => {
  const tableSizes = shareCheck(
    () =>
      readTableSizes(database).catch((error: unknown) => {
        quiet.warn('sizes', { err: error }, 'the sizes of the tables cannot be read')
        return null
      }),
    { freshMs: sizesFreshMs, timeoutMs: checkTimeoutMs, maxHanging: 1, late: null },
  )
  const deadlines = shareCheck(
    () =>
      readDeadlines(
        database,
        listDeadlineRules(database, sellers.ids(), (sellerId) => sellers.client(sellerId).clock().now()),
        alarmThresholds,
      ).catch((error: unknown) => {
        quiet.warn('deadlines', { err: error }, 'the deadlines of orders cannot be counted')
        return null
      }),
    { freshMs: deadlinesFreshMs, timeoutMs: checkTimeoutMs, maxHanging: 1, late: null },
  )
  return async () => {
    for (const { table, rows, bytes } of (await tableSizes()) ?? []) {
      metrics.tableRows.set({ table }, rows)
      metrics.tableBytes.set({ table }, bytes)
    }
    const figures = await readGaugeValues(database).catch((error: unknown) => {
      quiet.warn('figures', { err: error }, 'the figures of the database cannot be read')
      return null
    })
    if (figures !== null) {
      metrics.commandsUnknown.set(figures.commandsVerifying)
      metrics.commandsHeld.set(figures.commandsHeld)
      metrics.outboxOldest.set((figures.oldestDue?.getTime() ?? 0) / 1_000)
      metrics.workWaiting.set(figures.longestWaitMs / 1_000)
      metrics.deadLetters.set({ kind: 'record' }, figures.quarantinedRecords)
      metrics.deadLetters.set({ kind: 'event' }, figures.rejectedEvents)
    }
    const alarms = await countOpenAlarms(database).catch((error: unknown) => {
      quiet.warn('alarm-figures', { err: error }, 'the open alarms cannot be counted')
      return null
    })
    if (alarms !== null) {
      const counts = new Map(alarms.map((one) => [one.kind, one]))
      for (const kind of new Set([...alarmKinds, ...counts.keys()])) {
        const labels = { kind, severity: findAlarmRule(kind).severity }
        metrics.alarmsOpen.set(labels, counts.get(kind)?.open ?? 0)
        metrics.alarmsSilenced.set(labels, counts.get(kind)?.silenced ?? 0)
      }
    }
    const standings = await countServedSellers(database).catch((error: unknown) => {
      quiet.warn('seller-figures', { err: error }, 'the states of the sellers cannot be counted')
      return null
    })
    if (standings !== null) for (const state of sellerStates) metrics.sellersInState.set({ state }, standings[state])
    const running = await deadlines()
    // A seller that is no longer served has no figures: its last ones must not stay for ever.
    if (running !== null)
      for (const gauge of [metrics.ordersAcknowledgeLate, metrics.ordersShipLate, metrics.ordersCancelSoon]) gauge.reset()
    for (const { sellerId, acknowledge, ship, cancel } of running ?? []) {
      metrics.ordersAcknowledgeLate.set({ seller: sellerId }, acknowledge.late)
      metrics.ordersShipLate.set({ seller: sellerId }, ship.late)
      metrics.ordersCancelSoon.set({ seller: sellerId }, cancel.count)
    }
    const webhooks = await readWebhookGauges(database).catch((error: unknown) => {
      quiet.warn('webhook-figures', { err: error }, 'the figures of the webhooks cannot be read')
      return null
    })
    if (webhooks !== null) {
      for (const state of webhookStates) metrics.webhookEndpoints.set({ state }, webhooks[state])
      metrics.webhookPending.set(webhooks.pending)
      metrics.webhookLag.set(webhooks.lag)
      metrics.webhookOldest.set((webhooks.oldest?.getTime() ?? 0) / 1_000)
    }
    for (const gauge of [metrics.rateLimitTokens, metrics.rateLimitPerMinute, metrics.rateLimitBlocked]) gauge.reset()
    for (const { sellerId, operation, scope, available, perMinute, blockedUntil } of budget.snapshot()) {
      // Months are many and would be labels without end.
      if (scope !== null || !sellers.has(sellerId)) continue
      const labels = { seller: sellerId, operation }
      metrics.rateLimitTokens.set(labels, available)
      metrics.rateLimitPerMinute.set(labels, perMinute)
      metrics.rateLimitBlocked.set(labels, blockedUntil === null ? 0 : Math.max(0, blockedUntil.getTime() - Date.now()) / 1_000)
    }
    syncMetrics.refreshLags()
    await runtime.refreshMetrics()
    return metrics.read()
  }
}
