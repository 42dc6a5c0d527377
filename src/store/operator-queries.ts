import type { CommandState } from '../domain/command.ts'
import type { SqlRunner } from './database.ts'
import { tellWaitingAfterMs } from './event-queries.ts'
import { oneOf } from './one-of.ts'
import { isOrAny, type ListPage, pageOf } from './page.ts'
import { type QuarantineState, quarantineStates } from './quarantine.ts'

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
  readonly sellerId: string | null
  readonly resource: string | null
}

/** Quarantined records, newest first, before this id. */
export const listQuarantined = async (
  { prisma }: SqlRunner,
  filter: QuarantineFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<QuarantinedRecord, bigint>> => {
  const rows = await prisma.quarantinedRecord.findMany({
    where: {
      state: isOrAny(filter.state),
      sellerId: isOrAny(filter.sellerId),
      resource: isOrAny(filter.resource),
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

/** Something that a person should look at. */
export interface Alarm {
  readonly id: bigint
  readonly sellerId: string
  readonly kind: string
  readonly subject: string
  readonly message: string
  readonly raisedAt: Date
  readonly resolvedAt: Date | null
}

/** Alarms, newest first, before this id; only open ones unless `all`. */
export const listAlarms = async (
  { prisma }: SqlRunner,
  filter: { readonly all: boolean; readonly sellerId: string | null },
  before: bigint | null,
  limit: number,
): Promise<ListPage<Alarm, bigint>> => {
  const rows = await prisma.alarm.findMany({
    where: {
      ...(filter.all ? {} : { resolvedAt: null }),
      sellerId: isOrAny(filter.sellerId),
      id: before === null ? {} : { lt: before },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  })
  return pageOf(rows, limit, (alarm) => alarm.id)
}

/** What stands out, in numbers. */
export interface Overview {
  readonly orders: { readonly open: number; readonly late: number }
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

/** Counts what is open. `lateAt`: the moment, by each seller's marketplace clock, before which an open order should have been shipped. */
export const readOverview = async (sql: SqlRunner, lateAt: ReadonlyMap<string, Date>): Promise<Overview> => {
  const clocks = [...lateAt].map(([sellerId, now]) => ({ seller_id: sellerId, now: now.toISOString() }))
  const [orders] = await sql.query<{ open: number; late: number }>(
    `SELECT count(*)::int AS open, count(*) FILTER (WHERE o.estimated_ship_date < COALESCE(k.now, now()))::int AS late
     FROM warehouse.orders o
     LEFT JOIN jsonb_to_recordset($1::jsonb) AS k(seller_id text, now timestamptz) ON k.seller_id = o.seller_id
     WHERE o.open`,
    JSON.stringify(clocks),
  )
  const commands = await sql.query<{ state: CommandState; count: number }>(
    `SELECT state, count(*)::int AS count FROM tallyman.commands WHERE state NOT IN ('confirmed', 'rejected') GROUP BY state
     UNION ALL
     SELECT state, count(*)::int FROM tallyman.commands
     WHERE state IN ('confirmed', 'rejected') AND settled_at > now() - interval '24 hours' GROUP BY state`,
  )
  const [rest] = await sql.query<{
    waiting_events: number
    long_waiting_events: number
    quarantined: number
    discrepancies: number
  }>(
    `SELECT (SELECT count(*) FROM tallyman.erp_event WHERE status = 'received')::int AS waiting_events,
       (SELECT count(*) FROM tallyman.erp_event
         WHERE status = 'received' AND received_at <= now() - $1::int * interval '1 millisecond')::int AS long_waiting_events,
       (SELECT count(*) FROM tallyman.quarantined_records WHERE state = 'open')::int AS quarantined,
       (SELECT count(*) FROM warehouse.inventory_discrepancies WHERE state = 'open')::int AS discrepancies`,
    tellWaitingAfterMs,
  )
  const open = await sql.prisma.alarm.groupBy({ by: ['kind'], where: { resolvedAt: null }, _count: true })
  const alarmsOf = new Map(open.map(({ kind, _count }) => [kind, _count]))
  return {
    orders: { open: orders?.open ?? 0, late: orders?.late ?? 0 },
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
