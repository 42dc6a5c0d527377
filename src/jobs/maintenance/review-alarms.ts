import { type AlarmKind, alarmThresholds, unreadableOrdersMessage } from '../../domain/alarms/alarm-rules.ts'
import { addOutage } from '../../domain/alarms/marketplace-status.ts'
import { type ClaimWindows, claimWindows } from '../../domain/inventory/claim-states.ts'
import { lateReturnsMessage } from '../../domain/orders/late-returns.ts'
import {
  type AlarmCondition,
  applyConditions,
  findCampaignsRunningOut,
  findEndlessStreams,
  findGrowingQuarantines,
  findPausedWebhooks,
  findStreamsBehind,
  findValuableDiscrepancies,
  findValuableStockDifferences,
  type RunningStream,
  tryLockReview,
  unreadableOrders,
} from '../../store/alarms/alarm-conditions.ts'
import { recordAlarmChanges } from '../../store/alarms/alarms.ts'
import { readMarketplaceStatus } from '../../store/alarms/marketplace-status.ts'
import type { Database, SqlRunner } from '../../store/db/database.ts'
import { findHeldSnapshots } from '../../store/db/held-snapshots.ts'
import { findExpiringClaims, reviewClaimDeadlines } from '../../store/inventory/claim-items.ts'
import { reviewInboundClaims } from '../../store/inventory/inbound-claims.ts'
import { findOpenInbound } from '../../store/inventory/inbound-shipments.ts'
import { type DeadlineRules, listDeadlineRules, type NearDeadline, readDeadlines } from '../../store/orders/deadlines.ts'
import { listReturnRules, type ReturnRules, readLateReturns } from '../../store/orders/late-returns.ts'
import { findMissingOrders } from '../../store/orders/named-orders.ts'
import { findRejectedCredentials } from '../../store/sellers/seller-credentials.ts'
import { findRemovedSellers, findServedSellers } from '../../store/sellers/sellers.ts'

/** What a look for alarms needs. */
export interface AlarmParts {
  readonly database: Database
  /** Streams that run by themselves, of the sellers of this process. */
  readonly streams: readonly RunningStream[]
  /** Sellers of this process. */
  readonly sellerIds: readonly string[]
  /** A seller's time at the marketplace; null: it is not a seller of this process, and the database's clock counts. */
  readonly findNow: (sellerId: string) => Date | null
  /** How long this process has been up, in milliseconds. */
  readonly upForMs: number
  /** How long claims can be filed; left out: as `claimWindows` says. */
  readonly claimWindows?: ClaimWindows
  /** For how long a snapshot is held that is an old one, in milliseconds; left out: as `alarmThresholds` says. */
  readonly snapshotHeldMs?: number
}

const formatOrderCount = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

const buildDeadlineConditions = (
  key: { readonly sellerId: string; readonly kind: AlarmKind },
  { count, late, earliest }: NearDeadline,
  message: (orders: string, late: number, earliest: string) => string,
): readonly AlarmCondition[] =>
  count === 0 || earliest === null
    ? []
    : [
        {
          ...key,
          subject: 'orders',
          message: message(formatOrderCount(count), late, earliest.toISOString()),
          count,
          dueAt: earliest,
        },
      ]

const deadlines = async (sql: SqlRunner, rules: readonly DeadlineRules[]): Promise<readonly AlarmCondition[]> =>
  (await readDeadlines(sql, rules, alarmThresholds)).flatMap(({ sellerId, acknowledge, ship, cancel }) => [
    ...buildDeadlineConditions(
      { sellerId, kind: 'acknowledge-deadline' },
      acknowledge,
      (orders, late, earliest) =>
        `${orders} to be acknowledged within the hour, ${late} of them too late already; the earliest was or is due at ${earliest}`,
    ),
    ...buildDeadlineConditions(
      { sellerId, kind: 'ship-by' },
      ship,
      (orders, late, earliest) =>
        `${orders} to be shipped within two hours, ${late} of them late already; the earliest was or is due at ${earliest}`,
    ),
    ...buildDeadlineConditions(
      { sellerId, kind: 'auto-cancel' },
      cancel,
      (orders, late, earliest) =>
        `${orders} to be cancelled by the marketplace within a day, ${late} of them at any moment; the earliest at ${earliest}`,
    ),
  ])

const lateReturns = async (sql: SqlRunner, rules: readonly ReturnRules[]): Promise<readonly AlarmCondition[]> =>
  [...Map.groupBy(await readLateReturns(sql, rules), ({ sellerId }) => sellerId)].map(([sellerId, returns]) => ({
    sellerId,
    kind: 'late-returns',
    subject: 'returns',
    message: lateReturnsMessage(returns),
    count: returns.length,
    dueAt: returns[0]?.refundBy ?? null,
  }))

const streams = async (sql: SqlRunner, { streams: running, upForMs }: AlarmParts): Promise<readonly AlarmCondition[]> => {
  const behind = await findStreamsBehind(sql, running, { upForMs })
  if (behind.length === 0) return []
  const reported = await readMarketplaceStatus(
    sql,
    behind.map(({ sellerId }) => sellerId),
  )
  return behind.map(({ sellerId, resource, stream, since, lastError }) => {
    const message = `${resource} (${stream}) has not been read since ${since.toISOString()}: ${lastError ?? 'no process runs it, or the rate budget is used up'}`
    return {
      sellerId,
      kind: 'sync-behind',
      subject: `${resource}/${stream}`,
      message: addOutage(message, resource, reported.get(sellerId) ?? []),
      count: null,
      dueAt: null,
    }
  })
}

const quarantines = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> => {
  const { quarantineGrowth: min, quarantineWithinMs: withinMs } = alarmThresholds
  return (await findGrowingQuarantines(sql, { min, withinMs })).map(({ sellerId, count }) => ({
    sellerId,
    kind: 'quarantine-growing',
    subject: 'quarantine',
    message: `${count} records that could not be parsed came within an hour`,
    count,
    dueAt: null,
  }))
}

const endless = async (sql: SqlRunner, { streams: running }: AlarmParts): Promise<readonly AlarmCondition[]> =>
  (await findEndlessStreams(sql, running, alarmThresholds.endlessWindows)).map(({ sellerId, resource, stream, count }) => ({
    sellerId,
    kind: 'list-without-end',
    subject: `${resource}/${stream}`,
    message: `the list of ${resource} (${stream}) went on without anything new, and was taken to end there`,
    count,
    dueAt: null,
  }))

const unreadable = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await unreadableOrders(sql)).map(({ sellerId, keys }) => ({
    sellerId,
    kind: 'order-unreadable',
    subject: 'orders',
    message: unreadableOrdersMessage(keys),
    count: keys.length,
    dueAt: null,
  }))

const missingOrders = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await findMissingOrders(sql, alarmThresholds.orderMissingForMs)).map(({ sellerId, count, ids, since }) => ({
    sellerId,
    kind: 'order-missing',
    subject: 'orders',
    message:
      `${formatOrderCount(count)} not stored, the first named at ${since.toISOString()}: ${ids.join(', ')}` +
      `${count > ids.length ? ` and ${count - ids.length} more` : ''}`,
    count,
    dueAt: null,
  }))

const discrepancies = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await findValuableDiscrepancies(sql, alarmThresholds.discrepancyValue)).map(({ sellerId, currency, count, value }) => ({
    sellerId,
    kind: 'discrepancy-value',
    subject: currency,
    message: `${count === 1 ? '1 open difference' : `${count} open differences`} of inventory reports, worth ${value} ${currency}`,
    count,
    dueAt: null,
  }))

const stockDifferences = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> => {
  const { stockDifferenceValue: min, stockDifferenceOpenForMs: openForMs } = alarmThresholds
  return (await findValuableStockDifferences(sql, { min, openForMs })).map(({ sellerId, currency, count, value }) => ({
    sellerId,
    kind: 'stock-difference-value',
    subject: currency,
    message: `${count === 1 ? '1 difference' : `${count} differences`} between stock on hand and inventory log, worth ${value} ${currency}`,
    count,
    dueAt: null,
  }))
}

const expiringClaims = async (
  sql: SqlRunner,
  { claimWindows: windows = claimWindows }: AlarmParts,
): Promise<readonly AlarmCondition[]> => {
  await reviewInboundClaims(sql, windows)
  await reviewClaimDeadlines(sql, windows)
  return (await findExpiringClaims(sql, alarmThresholds.claimExpiresWithinMs)).map(({ sellerId, count, units, earliest }) => ({
    sellerId,
    kind: 'claims-expire',
    subject: 'claims',
    message: `${count === 1 ? '1 open claim' : `${count} open claims`} of ${units} units, the earliest until ${earliest.toISOString()}`,
    count,
    dueAt: earliest,
  }))
}

const inboundShipments = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await findOpenInbound(sql, alarmThresholds.inboundExpectedWithinMs)).map(({ sellerId, count, missingUnits, unknownSkus }) => ({
    sellerId,
    kind: 'inbound-short',
    subject: 'inbound',
    message:
      `${count === 1 ? '1 inbound shipment' : `${count} inbound shipments`} not received as sent: ${missingUnits} units are missing after the expected time` +
      `${unknownSkus === 0 ? '' : `, ${unknownSkus === 1 ? '1 SKU is' : `${unknownSkus} SKUs are`} not known`}`,
    count,
    dueAt: null,
  }))

const campaigns = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await findCampaignsRunningOut(sql, alarmThresholds.campaignEndsWithinDays)).flatMap((campaign) => {
    const { sellerId, campaignId, status, endDate, outOfBudget, ending } = campaign
    const of = { sellerId, subject: campaignId, count: null, dueAt: null } as const
    const ends = endDate === null ? 'soon' : `on ${endDate}`
    return [
      ...(outOfBudget ? [{ ...of, kind: 'campaign-budget', message: `the campaign ${campaignId} is ${status}` } as const] : []),
      ...(ending ? [{ ...of, kind: 'campaign-ending', message: `the campaign ${campaignId} ends ${ends}` } as const] : []),
    ]
  })

const webhooks = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await findPausedWebhooks(sql, alarmThresholds.webhookPausedForMs)).map(({ id, sellerId, since }) => ({
    sellerId,
    kind: 'webhook-paused',
    subject: id,
    message: `the webhook ${id} is paused since ${since.toISOString()}; what it has not got is kept for it`,
    count: null,
    dueAt: null,
  }))

const outdated = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await findRejectedCredentials(sql)).map(({ sellerId, processes }) => ({
    sellerId,
    kind: 'credentials-outdated',
    subject: 'credentials',
    message: `the marketplace refuses the credentials that ${processes.join(', ')} ${processes.length === 1 ? 'has' : 'have'} for this seller; other processes go on with theirs`,
    count: null,
    dueAt: null,
  }))

const snapshots = async (
  sql: SqlRunner,
  { snapshotHeldMs: forMs = alarmThresholds.snapshotHeldMs }: AlarmParts,
): Promise<readonly AlarmCondition[]> => {
  const { snapshotHeldTransactions: transactions } = alarmThresholds
  return (await findHeldSnapshots(sql, { forMs, transactions })).map(({ kind, name, user, application, since }) => {
    const of = [user === null ? [] : [`of ${user}`], application === null ? [] : [`application ${application}`]].flat()
    return {
      sellerId: '',
      kind: 'snapshot-held',
      subject: `${kind} ${name}`,
      message:
        `the ${kind} ${name}${of.length === 0 ? '' : ` (${of.join(', ')})`} holds an old snapshot` +
        `${since === null ? '' : ` since ${since.toISOString()}`}: vacuum cannot remove dead rows`,
      count: null,
      dueAt: null,
    }
  })
}

const shared = [
  'acknowledge-deadline',
  'ship-by',
  'auto-cancel',
  'quarantine-growing',
  'order-unreadable',
  'order-missing',
  'discrepancy-value',
  'stock-difference-value',
  'claims-expire',
  'inbound-short',
  'campaign-budget',
  'campaign-ending',
  'webhook-paused',
  'credentials-outdated',
  'snapshot-held',
] as const

/**
 * Opens and resolves the alarms whose conditions are looked for, then tells the feed of every alarm that was opened or resolved, by whomever.
 * One process at a time: another that comes meanwhile leaves it to the first.
 */
export const reviewAlarms = async (parts: AlarmParts): Promise<{ readonly opened: number; readonly resolved: number } | null> => {
  const { database, sellerIds, findNow } = parts
  const served = await findServedSellers(database)
  const done = await database.transaction(async (tx) => {
    if (!(await tryLockReview(tx))) return null
    const removed = await findRemovedSellers(tx)
    const found = [
      ...(await deadlines(tx, listDeadlineRules(tx, served, findNow))),
      ...(await quarantines(tx)),
      ...(await unreadable(tx)),
      ...(await missingOrders(tx)),
      ...(await discrepancies(tx)),
      ...(await stockDifferences(tx)),
      ...(await expiringClaims(tx, parts)),
      ...(await inboundShipments(tx)),
      ...(await campaigns(tx)),
      ...(await webhooks(tx)),
      ...(await outdated(tx)),
      ...(await snapshots(tx, parts)),
    ]
    // Rows of a removed seller are its history: nobody can fix them.
    const conditions = found.filter(({ sellerId }) => !removed.has(sellerId))
    const ofAll = await applyConditions(tx, shared, conditions, null)
    // Only the processes of a seller know which of its streams run, and how often, and the deadline that its marketplace sets for refunds.
    const times = new Map(sellerIds.filter((id) => !removed.has(id)).map((id) => [id, findNow(id)]))
    const ofOwn = [
      ...(await streams(tx, parts)),
      ...(await endless(tx, parts)),
      ...(await lateReturns(tx, listReturnRules(tx, times, null))),
    ]
    const own = await applyConditions(tx, ['sync-behind', 'list-without-end', 'late-returns'], ofOwn, sellerIds)
    return { opened: ofAll.opened + own.opened, resolved: ofAll.resolved + own.resolved }
  })
  if (done === null) return null
  while (await recordAlarmChanges(database)) {
    // There are more than one transaction should hold.
  }
  return done
}
