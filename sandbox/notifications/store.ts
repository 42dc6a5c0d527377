import { randomUUID } from 'node:crypto'
import { type Database, nullableText, nullableWhole, type Row, toInteger, toText } from '../core/database.ts'
import { type Delivery, type DeliveryState, type Subscription, subscriptionSchema } from './model.ts'

/** Subscriptions of sellers, and what is sent to them. */
export interface NotificationStore {
  /** Adds a subscription or changes it. */
  put(subscription: Subscription): void
  remove(subscriptionId: string): void
  find(subscriptionId: string): Subscription | null
  /** Those of a seller, oldest first. */
  list(sellerId: string): readonly Subscription[]
  any(): boolean
  /** An event at `at` (virtual time): adds a delivery for each active subscription of the seller to its type. */
  announce(sellerId: string, eventType: string, at: number, payload: () => unknown): void
  /** Called after an event was added, before its transaction ends. */
  onAnnounced(listener: () => void): void
  /** Another delivery of the same event. */
  repeat(delivery: Delivery): void
  update(
    id: number,
    change: Partial<Pick<Delivery, 'state' | 'attempts' | 'dueAt' | 'planned' | 'forged' | 'httpStatus' | 'error'>>,
  ): void
  /** Deliveries that are due by `now` (real time), the earliest first. */
  due(now: number, limit: number): readonly Delivery[]
  /** When the first one is due that is not due by `now`; null: there is none. */
  nextDueAt(now: number): number | null
  /** All deliveries, oldest first. */
  deliveries(after: number, limit: number): readonly Delivery[]
  /** Number of deliveries by state. */
  totals(): Readonly<Record<DeliveryState, number>>
}

const states: readonly DeliveryState[] = ['waiting', 'delivered', 'failed', 'dropped']

const readState = (row: Row): DeliveryState => {
  const state = states.find((one) => one === row['state'])
  if (state === undefined) throw new TypeError('column state holds no state of a delivery')
  return state
}

const toDelivery = (row: Row): Delivery => ({
  id: toInteger(row, 'id'),
  sellerId: toText(row, 'seller_id'),
  subscriptionId: toText(row, 'subscription_id'),
  eventType: toText(row, 'event_type'),
  eventId: toText(row, 'event_id'),
  body: toText(row, 'body'),
  state: readState(row),
  attempts: toInteger(row, 'attempts'),
  dueAt: toInteger(row, 'due_at'),
  planned: toInteger(row, 'planned') === 1,
  forged: toInteger(row, 'forged') === 1,
  httpStatus: nullableWhole(row, 'http_status'),
  error: nullableText(row, 'error'),
})

const toSubscription = (row: Row): Subscription => subscriptionSchema.parse(JSON.parse(toText(row, 'document')))

export const createNotificationStore = (database: Database): NotificationStore => {
  const listeners: (() => void)[] = []
  const any = (): boolean => database.get('SELECT 1 FROM subscriptions LIMIT 1') !== undefined
  const insert = (
    delivery: Pick<Delivery, 'sellerId' | 'subscriptionId' | 'eventType' | 'eventId' | 'body' | 'planned'>,
  ): void => {
    const { sellerId, subscriptionId, eventType, eventId, body, planned } = delivery
    database.run(
      `INSERT INTO deliveries (seller_id, subscription_id, event_type, event_id, body, state, attempts, due_at, planned, forged)
       VALUES (?, ?, ?, ?, ?, 'waiting', 0, ?, ?, 0)`,
      sellerId,
      subscriptionId,
      eventType,
      eventId,
      body,
      Date.now(),
      planned ? 1 : 0,
    )
  }
  return {
    any,
    put(subscription) {
      const { subscriptionId, sellerId, eventType } = subscription
      database.run(
        `INSERT INTO subscriptions (subscription_id, seller_id, event_type, document) VALUES (?, ?, ?, ?)
         ON CONFLICT (subscription_id) DO UPDATE SET document = excluded.document`,
        subscriptionId,
        sellerId,
        eventType,
        JSON.stringify(subscription),
      )
    },
    remove(subscriptionId) {
      database.run('DELETE FROM subscriptions WHERE subscription_id = ?', subscriptionId)
    },
    find(subscriptionId) {
      const row = database.get('SELECT document FROM subscriptions WHERE subscription_id = ?', subscriptionId)
      return row === undefined ? null : toSubscription(row)
    },
    list: (sellerId) =>
      database.all('SELECT document FROM subscriptions WHERE seller_id = ? ORDER BY number', sellerId).map(toSubscription),
    announce(sellerId, eventType, at, payload) {
      const rows = database.all('SELECT document FROM subscriptions WHERE seller_id = ? AND event_type = ?', sellerId, eventType)
      const active = rows.map(toSubscription).filter(({ status }) => status === 'ACTIVE')
      if (active.length === 0) return
      const eventId = randomUUID()
      const source = { eventType, eventTime: new Date(at).toISOString(), eventId }
      const body = JSON.stringify({ source, payload: payload() })
      for (const { subscriptionId } of active) insert({ sellerId, subscriptionId, eventType, eventId, body, planned: false })
      for (const listener of listeners) listener()
    },
    onAnnounced(listener) {
      listeners.push(listener)
    },
    repeat: (delivery) => insert({ ...delivery, planned: true }),
    update(id, { state, attempts, dueAt, planned, forged, httpStatus, error }) {
      database.run(
        `UPDATE deliveries SET state = coalesce(?, state), attempts = coalesce(?, attempts), due_at = coalesce(?, due_at),
           planned = coalesce(?, planned), forged = coalesce(?, forged), http_status = coalesce(?, http_status), error = ?
         WHERE id = ?`,
        state ?? null,
        attempts ?? null,
        dueAt ?? null,
        planned === undefined ? null : Number(planned),
        forged === undefined ? null : Number(forged),
        httpStatus ?? null,
        error ?? null,
        id,
      )
    },
    due: (now, limit) =>
      database
        .all(`SELECT * FROM deliveries WHERE state = 'waiting' AND due_at <= ? ORDER BY due_at, id LIMIT ?`, now, limit)
        .map(toDelivery),
    nextDueAt(now) {
      const row = database.get(
        `SELECT due_at FROM deliveries WHERE state = 'waiting' AND due_at > ? ORDER BY due_at, id LIMIT 1`,
        now,
      )
      return row === undefined ? null : toInteger(row, 'due_at')
    },
    deliveries: (after, limit) =>
      database.all('SELECT * FROM deliveries WHERE id > ? ORDER BY id LIMIT ?', after, limit).map(toDelivery),
    totals() {
      const counts = { waiting: 0, delivered: 0, failed: 0, dropped: 0 }
      for (const row of database.all('SELECT state, count(*) AS total FROM deliveries GROUP BY state'))
        counts[readState(row)] = toInteger(row, 'total')
      return counts
    },
  }
}
