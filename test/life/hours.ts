/**
 * Virtual hours of sellers at work, by the functions that the daemon uses: each hour brings polls, orders, events, commands with their attempts, alarms,
 * unreadable records and log entries. After each one old data is removed as the daily pass does, where an hour is as long as it took.
 */
import { randomUUID } from 'node:crypto'
import { takeBaseline } from '../../src/domain/commands/evidence.ts'
import { type RetainedData, retainedData } from '../../src/domain/sync/retention.ts'
import { acceptEvents } from '../../src/jobs/events/accept.ts'
import { runRetention } from '../../src/jobs/maintenance/retention.ts'
import { raiseAlarm, resolveAlarm } from '../../src/store/alarms/alarms.ts'
import { recordIntent, recordOutcome, recordReadBack } from '../../src/store/commands/command-attempts.ts'
import { moveCommand } from '../../src/store/commands/command-steps.ts'
import { readCommand } from '../../src/store/commands/commands.ts'
import type { Database } from '../../src/store/db/database.ts'
import { findDifferingEntries, storeDifferingEntries } from '../../src/store/inventory/inventory-log.ts'
import { findUnread, markRead, storeNotification } from '../../src/store/notifications/notifications.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { readTableSizes, requestPasses } from '../../src/store/privacy/retention.ts'
import { findNewlyFaulty, quarantine, supersedeQuarantined } from '../../src/store/sync/quarantine.ts'
import { acquireLease, endRun } from '../../src/store/sync/sync-states.ts'
import {
  claimDelivery,
  createDeliveries,
  findDueDeliveries,
  settleDelivered,
} from '../../src/store/webhooks/webhook-deliveries.ts'
import { marketplace, parts } from '../jobs/events/support.ts'
import { lineWith, orderWith, wireStatus } from '../store/support/records.ts'
import { storeOrders } from '../support/store.ts'
import { addEndpoint } from '../webhooks/rig.ts'

/** How much happens, and for how long it is kept. */
export interface Life {
  readonly sellers: number
  readonly hours: number
  /** What is older than so many virtual hours goes. */
  readonly keepHours: number
  /** Each seller has news every so many hours, in turns; in between its polls bring nothing. */
  readonly newsEveryHours: number
  /** Of each seller that has news. */
  readonly orders: number
  /** Of each seller. */
  readonly pollsAnHour: number
}

/** How the database stands after an hour. */
export interface HourEnd {
  readonly hour: number
  readonly rows: Readonly<Record<RetainedData, number>>
  /** Of the tables with their indexes, after a vacuum. */
  readonly bytes: Readonly<Record<RetainedData, number>>
  /** Events and attempts that have not lost their bulk. */
  readonly whole: Readonly<Record<'events' | 'attempts', number>>
  /** Orders in the ledger, which stay. */
  readonly orders: number
  readonly removed: Readonly<Partial<Record<RetainedData, number>>>
  /** Real time of the hour, and of its pass over old data. */
  readonly tookMs: number
  readonly retentionMs: number
}

const tables: Readonly<Record<RetainedData, string>> = {
  runs: 'tallyman.sync_runs',
  attempts: 'tallyman.command_attempts',
  versions: 'tallyman.superseded_versions',
  changes: 'warehouse.changes',
  events: 'tallyman.erp_event',
  alarms: 'tallyman.alarms',
  quarantine: 'tallyman.quarantined_records',
  deliveries: 'tallyman.webhook_deliveries',
  notifications: 'tallyman.notifications',
  'log-entries': 'warehouse.inventory_log_entries',
}

/** Sellers that are at work at once. */
const atOnce = 4
const leaseMs = 60_000
const log = { at: 'hour' } as const

const poll = async (database: Database, sellerId: string, changed: number): Promise<void> => {
  const claim = await acquireLease(database, { sellerId, resource: 'orders', stream: 'changes' }, log.at, leaseMs)
  if (!claim.taken) throw new Error(`the lease of ${sellerId} is held`)
  const now = new Date()
  const run = { windowFrom: now, windowTo: now, pages: 1, seen: changed, changed, quarantined: 0, error: null }
  await endRun(database, claim.lease, { ...claim.progress, pending: [] }, { finished: true, failed: false, run })
}

const carryOut = async (database: Database, commandId: string): Promise<void> => {
  const command = await readCommand(database, commandId)
  if (command === null || command.purchaseOrderId === null) throw new Error(`there is no command ${commandId}`)
  const order = await readOrder(database, command.sellerId, command.purchaseOrderId)
  if (order === null) throw new Error(`the order of command ${commandId} is not stored`)
  const intent = {
    correlationId: randomUUID(),
    request: { method: 'POST', path: `/v3/orders/${command.purchaseOrderId}/acknowledge`, body: { note: 'x'.repeat(500) } },
    baseline: takeBaseline(order),
    owner: log.at,
    leaseMs,
  }
  const stored = await database.transaction((tx) => recordIntent(tx, command, intent))
  if (!(await stored.onceCommitted())) throw new Error(`${commandId} was not to be sent`)
  await recordOutcome(database, commandId, 1, { outcome: 'applied', httpStatus: 200 })
  await recordReadBack(database, commandId, 1, { at: new Date().toISOString(), verdict: 'applied', seen: 'x'.repeat(500) })
  await database.transaction(async (tx) => {
    const sent = await readCommand(tx, commandId)
    // The lease is that of whoever has sent it.
    const moved = sent && (await moveCommand(tx, { ...sent, leasedUntil: null }, { state: 'confirmed', reason: 'applied' }))
    if (moved === null) throw new Error(`${commandId} could not be settled`)
  })
}

const news = async (database: Database, sellerId: string, hour: number, orders: number): Promise<void> => {
  const ids = Array.from({ length: orders }, (_, n) => `${hour}-${sellerId}-${n}`)
  const bring = (status: string) =>
    storeOrders(database, {
      sellerId,
      records: ids.map((id) =>
        orderWith(id, [lineWith('1', 2, [wireStatus(status, 2)]), lineWith('2', 1, [wireStatus(status, 1)])]),
      ),
      observedAt: new Date(),
    })
  await bring('Created')
  for (const recordId of ids) {
    const record = { resource: 'orders', recordId } as const
    const notification = { eventId: recordId, eventType: 'PO_CREATED', records: [record], hold: null }
    await storeNotification(database, sellerId, notification)
    const unread = await findUnread(database, { sellerId, ...record })
    await database.transaction((tx) => markRead(tx, unread?.ids ?? []))
  }
  await poll(database, sellerId, ids.length)
  const accepted = await acceptEvents(
    parts(database, marketplace(), [sellerId]),
    ids.map((purchaseOrderId) => ({
      source: '/erp',
      id: `accept-${purchaseOrderId}`,
      type: 'erp.order.accepted',
      data: { sellerId, purchaseOrderId },
    })),
    new AbortController().signal,
  )
  if (!accepted.ok) throw new Error(`the events were refused: ${JSON.stringify(accepted)}`)
  for (const { commands } of accepted.receipts) for (const commandId of commands) await carryOut(database, commandId)
  await bring('Acknowledged')

  const alarm = { sellerId, kind: 'sync-failing', subject: 'orders/changes' } as const
  await raiseAlarm(database, alarm, 'orders cannot be read')
  await resolveAlarm(database, alarm)
  const text = `{"hour": ${hour}, "text": "${'x'.repeat(300)}"}`
  const faulty = await findNewlyFaulty(database, sellerId, 'orders', new Date(0), [
    { key: `q-${hour}`, rawText: text, fault: 'no lines' },
  ])
  await database.transaction(async (tx) => {
    await quarantine(tx, sellerId, 'orders', new Date(0), faulty)
    await supersedeQuarantined(tx, sellerId, 'orders', new Date(), [`q-${hour}`])
  })
  const entry = {
    sku: 'TEA',
    id: `${hour}`,
    gtin: null,
    fcName: 'FC',
    changedUnits: -1,
    transactionTime: new Date(),
    transactionLocation: null,
    transactionReasonCode: null,
    transactionReasonDescription: null,
    transactionType: 'Ship',
    shipmentId: null,
    raw: {},
  }
  const rawText = JSON.stringify({ payload: { inventoryLog: [{ id: hour }] } })
  const entries = await findDifferingEntries(database, sellerId, [{ key: `TEA/${hour}`, value: entry, rawText }])
  await database.transaction((tx) => storeDifferingEntries(tx, sellerId, new Date(), entries))
}

const oneHour = async (database: Database, seller: number, hour: number, life: Life): Promise<void> => {
  const sellerId = `s${seller}`
  for (let n = 0; n < life.pollsAnHour; n += 1) await poll(database, sellerId, 0)
  if ((seller + hour) % life.newsEveryHours === 0) await news(database, sellerId, hour, life.orders)
}

/** One thing after another for each seller, several sellers at once. */
const allSellers = async (sellers: number, work: (seller: number) => Promise<void>): Promise<void> => {
  const waiting = Array.from({ length: sellers }, (_, n) => n)
  const worker = async (): Promise<void> => {
    for (let seller = waiting.shift(); seller !== undefined; seller = waiting.shift()) await work(seller)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** A webhook gets all new orders, and takes them. */
const deliverAll = async (database: Database, endpointId: string): Promise<void> => {
  for (let more = true; more; ) more = await createDeliveries(database, endpointId)
  for (let due = await findDueDeliveries(database); due.length > 0; due = await findDueDeliveries(database)) {
    for (const { id } of due) {
      const delivery = await claimDelivery(database, id, 30_000)
      if (delivery !== null) await settleDelivered(database, delivery, { httpStatus: 204, error: null, durationMs: 1 })
    }
  }
}

const databaseNow = async (database: Database): Promise<Date> => {
  const [row] = await database.query<{ now: Date }>('SELECT clock_timestamp()::timestamptz(3) AS now')
  if (row === undefined) throw new Error('Postgres has not told its time')
  return row.now
}

const findEnd = async (
  database: Database,
  hour: number,
  times: Pick<HourEnd, 'removed' | 'tookMs' | 'retentionMs'>,
): Promise<HourEnd> => {
  // As autovacuum does; at a moment of our own, so that the figures do not hang on when it comes.
  for (const table of Object.values(tables)) await database.execute(`VACUUM (ANALYZE) ${table}`)
  const counts = retainedData.map((data) => `(SELECT count(*) FROM ${tables[data]})::float8 AS "${data}"`)
  const [rows] = await database.query<
    Record<RetainedData, number> & { orders: number; wholeEvents: number; wholeAttempts: number }
  >(
    `SELECT ${counts.join(', ')}, (SELECT count(*) FROM warehouse.orders)::float8 AS orders,
       (SELECT count(*) FROM tallyman.erp_event WHERE data_removed_at IS NULL)::float8 AS "wholeEvents",
       (SELECT count(*) FROM tallyman.command_attempts WHERE request <> 'null')::float8 AS "wholeAttempts"`,
  )
  if (rows === undefined) throw new Error('nothing was counted')
  const sizes = new Map((await readTableSizes(database)).map(({ table, bytes }) => [table, bytes]))
  const countBytes = (data: RetainedData): number => sizes.get(tables[data]) ?? 0
  const { orders, wholeEvents, wholeAttempts, ...counted } = rows
  return {
    hour,
    rows: counted,
    bytes: {
      runs: countBytes('runs'),
      attempts: countBytes('attempts'),
      versions: countBytes('versions'),
      changes: countBytes('changes'),
      events: countBytes('events'),
      alarms: countBytes('alarms'),
      quarantine: countBytes('quarantine'),
      deliveries: countBytes('deliveries'),
      notifications: countBytes('notifications'),
      'log-entries': countBytes('log-entries'),
    },
    whole: { events: wholeEvents, attempts: wholeAttempts },
    orders,
    ...times,
  }
}

/** Lives through the hours on an empty, migrated database; answers how it stood after each. */
export const liveThrough = async (
  database: Database,
  life: Life,
  onHour: (end: HourEnd) => void = () => undefined,
): Promise<readonly HourEnd[]> => {
  const webhook = await addEndpoint(database, 'https://example.com/', { types: ['order.seen'] })
  const began: Date[] = []
  const ends: HourEnd[] = []
  for (let hour = 0; hour < life.hours; hour += 1) {
    began.push(await databaseNow(database))
    const beganMs = performance.now()
    await allSellers(life.sellers, (seller) => oneHour(database, seller, hour, life))
    await deliverAll(database, webhook)
    const oldest = began[hour - life.keepHours + 1]
    let removed: HourEnd['removed'] = {}
    const livedMs = performance.now()
    if (oldest !== undefined) {
      const keepMs = (await databaseNow(database)).getTime() - oldest.getTime()
      await requestPasses(database, retainedData)
      const keep = {
        runs: keepMs,
        attempts: keepMs,
        versions: keepMs,
        changes: keepMs,
        events: keepMs,
        alarms: keepMs,
        quarantine: keepMs,
        deliveries: keepMs,
        notifications: keepMs,
        'log-entries': keepMs,
      }
      const turn = await runRetention(
        { database, owner: log.at, keep },
        { signal: new AbortController().signal, turnMs: Number.POSITIVE_INFINITY },
      )
      removed = turn.removed
    }
    const retentionMs = performance.now() - livedMs
    const end = await findEnd(database, hour, { removed, tookMs: livedMs - beganMs, retentionMs })
    ends.push(end)
    onHour(end)
  }
  return ends
}
