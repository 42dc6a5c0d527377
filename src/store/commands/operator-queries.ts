import { type AlarmSeverity, alarmKinds, buildAlarmListPath, findAlarmRule } from '../../domain/alarms/alarm-rules.ts'
import type { CommandState } from '../../domain/commands/command.ts'
import type { SqlRunner } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, isOrAny, isWithin, type ListPage, type Period } from '../db/page.ts'
import { alarmWaitingAfterMs, eventSellerExpression } from '../events/event-queries.ts'
import { countUndecidedProposals } from '../events/proposals.ts'
import { Prisma } from '../generated/client.ts'
import { hasDeadlines, readDeadlines, rulesJson, rulesRows, soon } from '../orders/deadlines.ts'
import { listReturnRules, type ReturnRules, readLateReturns } from '../orders/late-returns.ts'
import { readDeadlineRules } from '../orders/order-queries.ts'
import { type SellerFilter, sellerCondition, toSellerIds } from '../sellers/seller-filter.ts'
import { listExcludedSellers } from '../sellers/sellers.ts'
import { type QuarantineState, quarantineStates } from '../sync/quarantine.ts'
import { isOpenCommand, isSettledCommand } from './commands.ts'

/** A record that did not parse. */
export interface QuarantinedRecord {
  readonly id: bigint
  readonly sellerId: string
  readonly resource: string
  readonly recordKey: string | null
  readonly fault: string
  readonly state: QuarantineState
  /** How many times the same text was received. */
  readonly seenCount: number
  readonly rawText: string
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
  readonly replayedAt: Date | null
  /** Not a record, but a part of a list, or an order, that was skipped because it cannot be read; `retryAt`: when it is requested again. */
  readonly skipped: boolean
  readonly retryAt: Date | null
  /** The person who dismissed it, and why. */
  readonly dismissedBy: string | null
  readonly dismissedReason: string | null
}

/** Which quarantined records to list; null: any. */
export interface QuarantineFilter {
  readonly state: QuarantineState | null
  readonly sellerId: SellerFilter
  readonly resource: string | null
  readonly recordKey: string | null
  readonly skipped: boolean | null
  /** When it was first received. */
  readonly seen: Period
}

/** Quarantined records, newest first, before this id. */
export const listQuarantined = async (
  sql: SqlRunner,
  filter: QuarantineFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<QuarantinedRecord, bigint>> => {
  const excluded = filter.state === 'open' ? await listExcludedSellers(sql, filter.sellerId) : []
  const rows = await sql.prisma.quarantinedRecord.findMany({
    where: {
      state: isOrAny(filter.state),
      sellerId: { ...sellerCondition(filter.sellerId), ...(excluded.length === 0 ? {} : { notIn: [...excluded] }) },
      resource: isOrAny(filter.resource),
      recordKey: isOrAny(filter.recordKey),
      ...(filter.skipped === null ? {} : { skipped: filter.skipped ? { not: Prisma.AnyNull } : { equals: Prisma.AnyNull } }),
      firstSeenAt: isWithin(filter.seen),
      id: before === null ? {} : { lt: before },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
    omit: { rawHash: true, observedAt: true, stream: true, createdFrom: true },
  })
  const records = rows.map(
    ({ state, skipped, ...row }): QuarantinedRecord => ({
      ...row,
      state: parseEnumColumn(quarantineStates, state),
      skipped: skipped !== null,
    }),
  )
  return buildPage(records, limit, (record) => record.id)
}

/** The text and the seller of a quarantined record; null: there is none. */
export const readQuarantinedText = (
  { prisma }: SqlRunner,
  id: bigint,
): Promise<Pick<QuarantinedRecord, 'sellerId' | 'rawText'> | null> =>
  prisma.quarantinedRecord.findUnique({ where: { id }, select: { sellerId: true, rawText: true } })

/** An alarm: a person should check its cause. */
export interface Alarm {
  readonly id: bigint
  readonly sellerId: string
  readonly kind: string
  readonly subject: string
  readonly message: string
  readonly severity: AlarmSeverity
  readonly concerns: string
  readonly title: string
  readonly toDo: string
  readonly closes: 'cause' | 'person'
  /** Path of the list of the things that it concerns. */
  readonly list: string | null
  /** The number of things that it concerns; null: only its subject. */
  readonly count: number | null
  /** The earliest of their deadlines. */
  readonly dueAt: Date | null
  readonly raisedAt: Date
  readonly silencedUntil: Date | null
  readonly silencedBy: string | null
  readonly silencedReason: string | null
  readonly resolvedAt: Date | null
  /** Null: it closed with its cause. */
  readonly resolvedBy: string | null
  readonly resolvedReason: string | null
}

/** Which alarms to list; null: any. */
export interface AlarmFilter {
  /** Also closed ones. */
  readonly all: boolean
  readonly sellerId: SellerFilter
  readonly kind: string | null
  readonly severity: AlarmSeverity | null
  /** Whether a person has silenced it. */
  readonly silenced: boolean | null
  readonly subject: string | null
  readonly raised: Period
}

/** Alarms, newest first, before this id; only open ones unless `all`. */
export const listAlarms = async (
  { prisma }: SqlRunner,
  filter: AlarmFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<Alarm, bigint>> => {
  const { severity, silenced } = filter
  const now = new Date()
  const rows = await prisma.alarm.findMany({
    where: {
      ...(filter.all ? {} : { resolvedAt: null }),
      AND: [
        // A kind that another version has raised counts as a warning.
        severity === null
          ? {}
          : severity === findAlarmRule('').severity
            ? { kind: { notIn: alarmKinds.filter((kind) => findAlarmRule(kind).severity !== severity) } }
            : { kind: { in: alarmKinds.filter((kind) => findAlarmRule(kind).severity === severity) } },
        silenced === null
          ? {}
          : silenced
            ? { silencedUntil: { gt: now } }
            : { OR: [{ silencedUntil: null }, { silencedUntil: { lte: now } }] },
      ],
      sellerId: sellerCondition(filter.sellerId),
      kind: isOrAny(filter.kind),
      subject: isOrAny(filter.subject),
      raisedAt: isWithin(filter.raised),
      id: before === null ? {} : { lt: before },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
    omit: { told: true },
  })
  const alarms = rows.map((row): Alarm => {
    const { severity, concerns, title, toDo, closes } = findAlarmRule(row.kind)
    return { ...row, severity, concerns, title, toDo, closes, list: buildAlarmListPath(row.kind, row.sellerId, row.subject) }
  })
  return buildPage(alarms, limit, (alarm) => alarm.id)
}

/** Numbers of open things. */
export interface Overview {
  /** `open`: all open orders. The others count only orders that the seller ships and that the marketplace still has. */
  readonly orders: {
    readonly open: number
    readonly late: number
    /** Orders with unacknowledged units; those whose deadline has passed; those whose deadline passes within an hour. */
    readonly toAcknowledge: number
    readonly acknowledgeOverdue: number
    readonly acknowledgeSoon: number
    /** All units are acknowledged. */
    readonly toShip: number
    /** To be shipped within 24 hours. */
    readonly shipSoon: number
    /** Cancelled by the marketplace within 24 hours unless they are shipped. */
    readonly autoCancelSoon: number
    /** To be shipped before the time that was asked for, also late ones; null: no time was asked for. */
    readonly dueBy: number | null
  }
  /** Returns whose refund is late, and those whose refund is due within 12 hours. */
  readonly returns: { readonly late: number; readonly refundSoon: number }
  /** States without commands are omitted. Confirmed and rejected commands count only for the last 24 hours. */
  readonly commands: Readonly<Partial<Record<CommandState, number>>>
  /** Events that wait for their order. */
  readonly waitingEvents: number
  readonly quarantined: number
  /** Open discrepancies of inventory reports. */
  readonly discrepancies: number
  readonly alarms: number
  /** Proposed events that wait for a decision. */
  readonly proposals: number
  /** Things that need a person. Each has an open alarm, or gets one within minutes. */
  readonly needsPerson: {
    readonly commandsHeld: number
    /** Rejected by the marketplace or by our rules, with an open alarm. */
    readonly commandsRejected: number
    /** Their steps fail repeatedly; they continue by themselves, or a person decides them. */
    readonly commandsWaiting: number
    readonly eventsRejected: number
    /** Not decided within 15 minutes; they continue by themselves, or a person rejects them. */
    readonly eventsWaiting: number
    readonly sellersStopped: number
  }
}

const countOrders = async (
  sql: SqlRunner,
  findNow: ReadonlyMap<string, Date>,
  only: readonly string[] | null,
  excluded: readonly string[],
  dueBy: Date | null,
): Promise<Overview['orders']> => {
  const rules = await readDeadlineRules(sql, findNow, only, excluded)
  const [total] = await sql.query<{ open: number; ours: number; due: number }>(
    `SELECT count(*)::int AS open, (count(*) FILTER (WHERE ${hasDeadlines('s.marketplace')}))::int AS ours,
       (count(*) FILTER (WHERE ${hasDeadlines('s.marketplace')} AND o.estimated_ship_date < $2::timestamptz))::int AS due
     FROM (${rulesRows('$1')}) s JOIN warehouse.orders o ON o.seller_id = s.seller_id AND o.open`,
    rulesJson(rules),
    dueBy?.toISOString() ?? null,
  )
  const sums = {
    open: total?.open ?? 0,
    late: 0,
    toAcknowledge: 0,
    acknowledgeOverdue: 0,
    acknowledgeSoon: 0,
    toShip: 0,
    shipSoon: 0,
    autoCancelSoon: 0,
  }
  for (const { acknowledge, ship, cancel } of await readDeadlines(sql, rules, soon)) {
    sums.toAcknowledge += acknowledge.waiting
    sums.acknowledgeOverdue += acknowledge.late
    sums.acknowledgeSoon += acknowledge.count - acknowledge.late
    sums.late += ship.late
    sums.shipSoon += ship.count - ship.late
    sums.autoCancelSoon += cancel.count - cancel.late
  }
  // Orders may have been stored between the two statements.
  return {
    ...sums,
    toShip: Math.max(0, (total?.ours ?? 0) - sums.toAcknowledge),
    dueBy: dueBy === null ? null : (total?.due ?? 0),
  }
}

const countReturns = async (sql: SqlRunner, rules: readonly ReturnRules[]): Promise<Overview['returns']> => {
  const found = await readLateReturns(sql, rules)
  const late = found.filter(({ state }) => state === 'late').length
  return { late, refundSoon: found.length - late }
}

/** Counts open things of these sellers. `findNow`: the marketplace's time by seller; default: the database's time. */
export const readOverview = async (
  sql: SqlRunner,
  findNow: ReadonlyMap<string, Date>,
  sellers: SellerFilter = null,
  dueBy: Date | null = null,
): Promise<Overview> => {
  const only = toSellerIds(sellers)
  const excluded = await listExcludedSellers(sql, sellers)
  const orders = await countOrders(sql, findNow, only, excluded, dueBy)
  const returns = await countReturns(
    sql,
    listReturnRules(sql, findNow, sellers).filter(({ sellerId }) => !excluded.includes(sellerId)),
  )
  const commands = await sql.query<{ state: CommandState; count: number }>(
    `SELECT state, count(*)::int AS count FROM tallyman.commands c WHERE ${isOpenCommand('c')}
       AND ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) GROUP BY state
     UNION ALL
     SELECT state, count(*)::int FROM tallyman.commands c
     WHERE ${isSettledCommand('c')} AND settled_at > now() - interval '24 hours'
       AND ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) GROUP BY state`,
    only,
  )
  const ofRows = '($2::text[] IS NULL OR seller_id = ANY ($2::text[])) AND seller_id <> ALL ($3::text[])'
  const ofEvents = `($2::text[] IS NULL OR ${eventSellerExpression} = ANY ($2::text[]))`
  const [rest] = await sql.query<{
    waiting_events: number
    long_waiting_events: number
    quarantined: number
    discrepancies: number
  }>(
    `SELECT (SELECT count(*) FROM tallyman.erp_event e WHERE status = 'received' AND ${ofEvents})::int AS waiting_events,
       (SELECT count(*) FROM tallyman.erp_event e
         WHERE status = 'received' AND received_at <= now() - $1::int * interval '1 millisecond' AND ${ofEvents})::int AS long_waiting_events,
       (SELECT count(*) FROM tallyman.quarantined_records WHERE state = 'open' AND ${ofRows})::int AS quarantined,
       (SELECT count(*) FROM warehouse.inventory_discrepancies WHERE state = 'open' AND ${ofRows})::int AS discrepancies`,
    alarmWaitingAfterMs,
    only,
    excluded,
  )
  const open = await sql.prisma.alarm.groupBy({
    by: ['kind'],
    where: { resolvedAt: null, sellerId: sellerCondition(sellers) },
    _count: true,
  })
  const alarmCounts = new Map(open.map(({ kind, _count }) => [kind, _count]))
  return {
    orders,
    returns,
    commands: Object.fromEntries(commands.map(({ state, count }) => [state, count])),
    waitingEvents: rest?.waiting_events ?? 0,
    quarantined: rest?.quarantined ?? 0,
    discrepancies: rest?.discrepancies ?? 0,
    alarms: open.reduce((sum, { _count }) => sum + _count, 0),
    proposals: await countUndecidedProposals(sql, sellers),
    needsPerson: {
      commandsHeld: commands.find(({ state }) => state === 'held')?.count ?? 0,
      commandsRejected: alarmCounts.get('command-rejected') ?? 0,
      commandsWaiting: alarmCounts.get('command-waiting') ?? 0,
      eventsRejected: alarmCounts.get('event-rejected') ?? 0,
      eventsWaiting: rest?.long_waiting_events ?? 0,
      sellersStopped: alarmCounts.get('credentials-refused') ?? 0,
    },
  }
}

/** Completed work of one hour. */
export interface HourlyThroughput {
  readonly from: Date
  /** The hour on the marketplace's clock. */
  readonly orderedFrom: Date
  /** Orders by their date, on the marketplace's clock. */
  readonly ordered: number
  /** Confirmed commands, and rejected ones. */
  readonly confirmed: number
  readonly rejected: number
}

/** Work of the last `hours`, oldest first; the current hour is the last. `until` is the marketplace's time. */
export const readThroughput = (
  sql: SqlRunner,
  hours: number,
  until: Date,
  sellers: SellerFilter = null,
): Promise<readonly HourlyThroughput[]> =>
  sql.query<HourlyThroughput>(
    `WITH h AS (
       SELECT ago, date_trunc('hour', now()) - ago * interval '1 hour' AS "from", date_trunc('hour', $2::timestamptz) - ago * interval '1 hour' AS ordered_from
       FROM generate_series(0, $1::int - 1) AS ago
     ), o AS (
       SELECT date_trunc('hour', coalesce(order_date, '-infinity'::timestamptz)) AS hour, count(*)::int AS ordered FROM warehouse.orders
       WHERE coalesce(order_date, '-infinity'::timestamptz) >= date_trunc('hour', $2::timestamptz) - ($1::int - 1) * interval '1 hour'
         AND ($3::text[] IS NULL OR seller_id = ANY ($3::text[])) GROUP BY 1
     ), c AS (
       SELECT date_trunc('hour', settled_at) AS hour, count(*) FILTER (WHERE state = 'confirmed')::int AS confirmed,
         count(*) FILTER (WHERE state = 'rejected')::int AS rejected FROM tallyman.commands
       WHERE settled_at >= date_trunc('hour', now()) - ($1::int - 1) * interval '1 hour'
         AND ($3::text[] IS NULL OR seller_id = ANY ($3::text[])) GROUP BY 1
     )
     SELECT h."from", h.ordered_from AS "orderedFrom", coalesce(o.ordered, 0) AS ordered, coalesce(c.confirmed, 0) AS confirmed, coalesce(c.rejected, 0) AS rejected
     FROM h LEFT JOIN o ON o.hour = h.ordered_from LEFT JOIN c ON c.hour = h."from" ORDER BY h."from"`,
    hours,
    until.toISOString(),
    toSellerIds(sellers),
  )
