import { type AlarmSeverity, alarmKinds, alarmList, ruleOf } from '../domain/alarm-rules.ts'
import type { CommandState } from '../domain/command.ts'
import type { SqlRunner } from './database.ts'
import { deadlineRulesOf, hasDeadlines, readDeadlines, rulesJson, rulesRows, soon } from './deadlines.ts'
import { sellerOfEventRow, tellWaitingAfterMs } from './event-queries.ts'
import { Prisma } from './generated/client.ts'
import { oneOf } from './one-of.ts'
import { allSellers } from './order-queries.ts'
import { isOrAny, isWithin, type ListPage, type Period, pageOf } from './page.ts'
import { type QuarantineState, quarantineStates } from './quarantine.ts'
import { ofSellers, type SellerFilter, sellersIn } from './seller-filter.ts'
import { leftOutOf } from './sellers.ts'

/** A record that did not parse. */
export interface QuarantinedRecord {
  readonly id: bigint
  readonly sellerId: string
  readonly resource: string
  readonly recordKey: string | null
  readonly fault: string
  readonly state: QuarantineState
  /** How often the same text came. */
  readonly seenCount: number
  readonly rawText: string
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
  readonly replayedAt: Date | null
  /** Not a record but a part of a list, or an order, that was passed over because it cannot be had; when it is asked for again. */
  readonly skipped: boolean
  readonly retryAt: Date | null
  /** Who has settled it by word, and why. */
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
  /** When it came first. */
  readonly seen: Period
}

/** Quarantined records, newest first, before this id. */
export const listQuarantined = async (
  sql: SqlRunner,
  filter: QuarantineFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<QuarantinedRecord, bigint>> => {
  const leftOut = filter.state === 'open' ? await leftOutOf(sql, filter.sellerId) : []
  const rows = await sql.prisma.quarantinedRecord.findMany({
    where: {
      state: isOrAny(filter.state),
      sellerId: { ...ofSellers(filter.sellerId), ...(leftOut.length === 0 ? {} : { notIn: [...leftOut] }) },
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
      state: oneOf(quarantineStates, state),
      skipped: skipped !== null,
    }),
  )
  return pageOf(records, limit, (record) => record.id)
}

/** The text of a quarantined record, and whose it is; null when there is none. */
export const readQuarantinedText = (
  { prisma }: SqlRunner,
  id: bigint,
): Promise<Pick<QuarantinedRecord, 'sellerId' | 'rawText'> | null> =>
  prisma.quarantinedRecord.findUnique({ where: { id }, select: { sellerId: true, rawText: true } })

/** Something that a person should look at. */
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
  /** Path of the list of what it is about. */
  readonly list: string | null
  /** How many things it is about; null: the one that its subject names. */
  readonly count: number | null
  /** The earliest of their deadlines. */
  readonly dueAt: Date | null
  readonly raisedAt: Date
  readonly silencedUntil: Date | null
  readonly silencedBy: string | null
  readonly silencedReason: string | null
  readonly resolvedAt: Date | null
  /** Null: it ended with its cause. */
  readonly resolvedBy: string | null
  readonly resolvedReason: string | null
}

/** Which alarms to list; null: any. */
export interface AlarmFilter {
  /** Closed ones too. */
  readonly all: boolean
  readonly sellerId: SellerFilter
  readonly kind: string | null
  readonly severity: AlarmSeverity | null
  /** Whether a person wants not to be reminded of it now. */
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
          : severity === ruleOf('').severity
            ? { kind: { notIn: alarmKinds.filter((kind) => ruleOf(kind).severity !== severity) } }
            : { kind: { in: alarmKinds.filter((kind) => ruleOf(kind).severity === severity) } },
        silenced === null
          ? {}
          : silenced
            ? { silencedUntil: { gt: now } }
            : { OR: [{ silencedUntil: null }, { silencedUntil: { lte: now } }] },
      ],
      sellerId: ofSellers(filter.sellerId),
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
    const { severity, concerns, title, toDo, closes } = ruleOf(row.kind)
    return { ...row, severity, concerns, title, toDo, closes, list: alarmList(row.kind, row.sellerId, row.subject) }
  })
  return pageOf(alarms, limit, (alarm) => alarm.id)
}

/** What stands out, in numbers. */
export interface Overview {
  /** All open orders; below, those that the seller ships, and that the marketplace still has. */
  readonly orders: {
    readonly open: number
    readonly late: number
    /** Some units are not acknowledged; those of them whose time for it has passed, or does within an hour. */
    readonly toAcknowledge: number
    readonly acknowledgeOverdue: number
    readonly acknowledgeSoon: number
    /** Everything is acknowledged. */
    readonly toShip: number
    /** To be shipped within 24 hours. */
    readonly shipSoon: number
    /** Cancelled by the marketplace within 24 hours unless they are shipped. */
    readonly autoCancelSoon: number
  }
  /** States without a command are left out. Confirmed and rejected ones count for the last 24 hours only. */
  readonly commands: Readonly<Partial<Record<CommandState, number>>>
  /** Events that wait for their order. */
  readonly waitingEvents: number
  readonly quarantined: number
  /** Open discrepancies of inventory reports. */
  readonly discrepancies: number
  readonly alarms: number
  /** What waits for a person: everything here has an open alarm, or gets one within minutes. */
  readonly needsPerson: {
    readonly commandsHeld: number
    /** Rejected by the marketplace or by our own rules, and nobody has closed the alarm. */
    readonly commandsRejected: number
    /** Their next step fails time after time; they go on by themselves, or a person decides. */
    readonly commandsWaiting: number
    readonly eventsRejected: number
    /** Not decided within 15 minutes; they go on by themselves, or a person ends them. */
    readonly eventsWaiting: number
    readonly sellersStopped: number
  }
}

const countOrders = async (
  sql: SqlRunner,
  nowOf: ReadonlyMap<string, Date>,
  only: readonly string[] | null,
  leftOut: readonly string[],
): Promise<Overview['orders']> => {
  const all = only ?? (await sql.query<{ seller_id: string }>(allSellers)).map(({ seller_id }) => seller_id)
  const sellers = all.filter((sellerId) => !leftOut.includes(sellerId))
  const rules = deadlineRulesOf(sql, sellers, (sellerId) => nowOf.get(sellerId) ?? null)
  const [total] = await sql.query<{ open: number; ours: number }>(
    `SELECT count(*)::int AS open, (count(*) FILTER (WHERE ${hasDeadlines('s.marketplace')}))::int AS ours
     FROM (${rulesRows('$1')}) s JOIN warehouse.orders o ON o.seller_id = s.seller_id AND o.open`,
    rulesJson(rules),
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
  // Orders may have come between the two statements.
  return { ...sums, toShip: Math.max(0, (total?.ours ?? 0) - sums.toAcknowledge) }
}

/** Counts what is open, of these sellers. `nowOf`: the marketplace's time of each seller; the database's own counts for the others. */
export const readOverview = async (
  sql: SqlRunner,
  nowOf: ReadonlyMap<string, Date>,
  sellers: SellerFilter = null,
): Promise<Overview> => {
  const only = sellersIn(sellers)
  const leftOut = await leftOutOf(sql, sellers)
  const orders = await countOrders(sql, nowOf, only, leftOut)
  const commands = await sql.query<{ state: CommandState; count: number }>(
    `SELECT state, count(*)::int AS count FROM tallyman.commands WHERE state NOT IN ('confirmed', 'rejected')
       AND ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) GROUP BY state
     UNION ALL
     SELECT state, count(*)::int FROM tallyman.commands
     WHERE state IN ('confirmed', 'rejected') AND settled_at > now() - interval '24 hours'
       AND ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) GROUP BY state`,
    only,
  )
  const ofRows = '($2::text[] IS NULL OR seller_id = ANY ($2::text[])) AND seller_id <> ALL ($3::text[])'
  const ofEvents = `($2::text[] IS NULL OR ${sellerOfEventRow} = ANY ($2::text[]))`
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
    tellWaitingAfterMs,
    only,
    leftOut,
  )
  const open = await sql.prisma.alarm.groupBy({
    by: ['kind'],
    where: { resolvedAt: null, sellerId: ofSellers(sellers) },
    _count: true,
  })
  const alarmsOf = new Map(open.map(({ kind, _count }) => [kind, _count]))
  return {
    orders,
    commands: Object.fromEntries(commands.map(({ state, count }) => [state, count])),
    waitingEvents: rest?.waiting_events ?? 0,
    quarantined: rest?.quarantined ?? 0,
    discrepancies: rest?.discrepancies ?? 0,
    alarms: open.reduce((sum, { _count }) => sum + _count, 0),
    needsPerson: {
      commandsHeld: commands.find(({ state }) => state === 'held')?.count ?? 0,
      commandsRejected: alarmsOf.get('command-rejected') ?? 0,
      commandsWaiting: alarmsOf.get('command-waiting') ?? 0,
      eventsRejected: alarmsOf.get('event-rejected') ?? 0,
      eventsWaiting: rest?.long_waiting_events ?? 0,
      sellersStopped: alarmsOf.get('credentials-refused') ?? 0,
    },
  }
}

/** What was done in one hour. */
export interface HourOfWork {
  readonly from: Date
  /** The hour on the marketplace's clock. */
  readonly orderedFrom: Date
  /** Orders by their date, on the marketplace's clock. */
  readonly ordered: number
  /** Commands that were confirmed, and those that were rejected. */
  readonly confirmed: number
  readonly rejected: number
}

/** Work of the last so many hours, oldest first; the last one is under way. `until` is the marketplace's time. */
export const readThroughput = (
  sql: SqlRunner,
  hours: number,
  until: Date,
  sellers: SellerFilter = null,
): Promise<readonly HourOfWork[]> =>
  sql.query<HourOfWork>(
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
    sellersIn(sellers),
  )
