import { type AlarmKind, alarmThresholds } from '../domain/alarm-rules.ts'
import {
  type AlarmCondition,
  applyConditions,
  campaignsRunningOut,
  growingQuarantines,
  type RunningStream,
  streamsBehind,
  takeReview,
  valuableDiscrepancies,
  webhooksPaused,
} from '../store/alarm-conditions.ts'
import { tellAlarms } from '../store/alarms.ts'
import type { Database, SqlRunner } from '../store/database.ts'
import { type DeadlineRules, deadlineRulesOf, type RunningOut, readDeadlines } from '../store/deadlines.ts'
import { heldSnapshots } from '../store/held-snapshots.ts'
import { refusedToProcesses } from '../store/seller-credentials.ts'
import { removedSellers, servedSellers } from '../store/sellers.ts'

/** What a look for alarms needs. */
export interface AlarmParts {
  readonly database: Database
  /** Streams that run by themselves, of the sellers of this process. */
  readonly streams: readonly RunningStream[]
  /** Sellers of this process. */
  readonly sellerIds: readonly string[]
  /** A seller's time at the marketplace; null: it is not a seller of this process, and the database's clock counts. */
  readonly nowOf: (sellerId: string) => Date | null
  /** How long this process has been up, in milliseconds. */
  readonly upForMs: number
  /** For how long a snapshot is held that is an old one, in milliseconds; left out: as `alarmThresholds` says. */
  readonly snapshotHeldMs?: number
}

const ordersOf = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

const deadlineOf = (
  key: { readonly sellerId: string; readonly kind: AlarmKind },
  { count, late, earliest }: RunningOut,
  message: (orders: string, late: number, earliest: string) => string,
): readonly AlarmCondition[] =>
  count === 0 || earliest === null
    ? []
    : [{ ...key, subject: 'orders', message: message(ordersOf(count), late, earliest.toISOString()), count, dueAt: earliest }]

const deadlines = async (sql: SqlRunner, rules: readonly DeadlineRules[]): Promise<readonly AlarmCondition[]> =>
  (await readDeadlines(sql, rules, alarmThresholds)).flatMap(({ sellerId, acknowledge, ship, cancel }) => [
    ...deadlineOf(
      { sellerId, kind: 'acknowledge-deadline' },
      acknowledge,
      (orders, late, earliest) =>
        `${orders} to be acknowledged within the hour, ${late} of them too late already; the earliest was or is due at ${earliest}`,
    ),
    ...deadlineOf(
      { sellerId, kind: 'ship-by' },
      ship,
      (orders, late, earliest) =>
        `${orders} to be shipped within two hours, ${late} of them late already; the earliest was or is due at ${earliest}`,
    ),
    ...deadlineOf(
      { sellerId, kind: 'auto-cancel' },
      cancel,
      (orders, late, earliest) =>
        `${orders} to be cancelled by the marketplace within a day, ${late} of them at any moment; the earliest at ${earliest}`,
    ),
  ])

const streams = async (sql: SqlRunner, { streams: running, upForMs }: AlarmParts): Promise<readonly AlarmCondition[]> =>
  (await streamsBehind(sql, running, { upForMs })).map(({ sellerId, resource, stream, since, lastError }) => ({
    sellerId,
    kind: 'sync-behind',
    subject: `${resource}/${stream}`,
    message: `${resource} (${stream}) has not been read since ${since.toISOString()}: ${lastError ?? 'no process runs it, or the rate budget is used up'}`,
    count: null,
    dueAt: null,
  }))

const quarantines = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> => {
  const { quarantineGrowth: least, quarantineWithinMs: withinMs } = alarmThresholds
  return (await growingQuarantines(sql, { least, withinMs })).map(({ sellerId, count }) => ({
    sellerId,
    kind: 'quarantine-growing',
    subject: 'quarantine',
    message: `${count} records that could not be parsed came within an hour`,
    count,
    dueAt: null,
  }))
}

const discrepancies = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await valuableDiscrepancies(sql, alarmThresholds.discrepancyValue)).map(({ sellerId, currency, count, value }) => ({
    sellerId,
    kind: 'discrepancy-value',
    subject: currency,
    message: `${count === 1 ? '1 open difference' : `${count} open differences`} of inventory reports, worth ${value} ${currency}`,
    count,
    dueAt: null,
  }))

const campaigns = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await campaignsRunningOut(sql, alarmThresholds.campaignEndsWithinDays)).flatMap((campaign) => {
    const { sellerId, campaignId, status, endDate, outOfBudget, ending } = campaign
    const of = { sellerId, subject: campaignId, count: null, dueAt: null } as const
    const ends = endDate === null ? 'soon' : `on ${endDate}`
    return [
      ...(outOfBudget ? [{ ...of, kind: 'campaign-budget', message: `the campaign ${campaignId} is ${status}` } as const] : []),
      ...(ending ? [{ ...of, kind: 'campaign-ending', message: `the campaign ${campaignId} ends ${ends}` } as const] : []),
    ]
  })

const webhooks = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await webhooksPaused(sql, alarmThresholds.webhookPausedForMs)).map(({ id, sellerId, since }) => ({
    sellerId,
    kind: 'webhook-paused',
    subject: id,
    message: `the webhook ${id} is paused since ${since.toISOString()}; what it has not got is kept for it`,
    count: null,
    dueAt: null,
  }))

const outdated = async (sql: SqlRunner): Promise<readonly AlarmCondition[]> =>
  (await refusedToProcesses(sql)).map(({ sellerId, processes }) => ({
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
  return (await heldSnapshots(sql, { forMs, transactions })).map(({ kind, name, user, application, since }) => {
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
  'discrepancy-value',
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
  const { database, sellerIds, nowOf } = parts
  const served = await servedSellers(database)
  const done = await database.transaction(async (tx) => {
    if (!(await takeReview(tx))) return null
    const removed = await removedSellers(tx)
    const found = [
      ...(await deadlines(tx, deadlineRulesOf(tx, served, nowOf))),
      ...(await quarantines(tx)),
      ...(await discrepancies(tx)),
      ...(await campaigns(tx)),
      ...(await webhooks(tx)),
      ...(await outdated(tx)),
      ...(await snapshots(tx, parts)),
    ]
    // What is left of a removed seller is its past: nobody mends it.
    const conditions = found.filter(({ sellerId }) => !removed.has(sellerId))
    const ofAll = await applyConditions(tx, shared, conditions, null)
    // Only the process that runs them knows how often the streams of a seller run.
    const ofStreams = await applyConditions(tx, ['sync-behind'], await streams(tx, parts), sellerIds)
    return { opened: ofAll.opened + ofStreams.opened, resolved: ofAll.resolved + ofStreams.resolved }
  })
  if (done === null) return null
  while (await tellAlarms(database)) {
    // There are more than one transaction should hold.
  }
  return done
}
