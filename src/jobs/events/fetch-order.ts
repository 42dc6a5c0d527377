import type { Grant, Wait } from '../../clients/budget.ts'
import type { CallOptions } from '../../clients/call-options.ts'
import { MarketplaceFailure } from '../../clients/errors.ts'
import type { OrderCommands } from '../../clients/order-commands.ts'
import type { Observed } from '../../clients/record.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { messageOf } from '../../message-of.ts'
import type { QuietLog } from '../../observability/log.ts'
import { pause as rest } from '../../pause.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { type OrderKey, orderIsStored } from '../../store/order-queries.ts'
import { storeOrder } from '../../store/orders.ts'
import { type FaultyRecord, findNewlyFaulty, quarantine } from '../../store/quarantine.ts'
import { isSellerAtRest } from '../../store/sellers.ts'
import { storageFault } from '../../store/versions.ts'

/**
 * Whether an order is stored by now; `later`: the marketplace cannot be asked now, but in so many milliseconds (null: nobody can tell when),
 * `unknown`: it has said twice that it has no such order.
 */
export type OrderPresence =
  | { readonly presence: 'stored' }
  | { readonly presence: 'unknown' }
  | { readonly presence: 'later'; readonly reason: string; readonly againInMs: number | null }

/** The sellers, as far as events need them; implemented by the seller registry. */
export interface EventSellers {
  /** The only seller that this process serves, or null when there are several. */
  only(): string | null
  has(sellerId: string): boolean
}

/** Fetches orders that an event names before a sync has brought them. */
export interface OrderFetcher {
  /**
   * Never throws for what the marketplace does; throws when Postgres fails. `signal` is that of one request or job: under one, so many
   * orders are asked for, and of those so many waited for until the marketplace has denied them twice; others are `later`. May be called for
   * several orders side by side.
   */
  ensure(key: OrderKey, signal: AbortSignal): Promise<OrderPresence>
}

/** Dependencies of a fetcher. */
export interface OrderFetcherParts {
  readonly database: Database
  /** The marketplace's orders of one seller. */
  readonly ordersOf: (sellerId: string) => Pick<OrderCommands, 'get'>
  readonly quiet: Pick<QuietLog, 'warn'>
  /** Within the transaction that stored these orders for the first time: what every import does (`AUTO_ACKNOWLEDGE`). */
  readonly afterSave?: (
    tx: Transaction,
    stored: { readonly sellerId: string; readonly newOrders: readonly PurchaseOrder[] },
  ) => Promise<void>
  /** Time-out of the marketplace, in milliseconds. */
  readonly fetchTimeoutMs?: number
  /** Time between two answers that there is no such order, in milliseconds. */
  readonly secondAskMs?: number
  /** Our own clock, epoch ms. */
  readonly now?: () => number
  /**
   * Leave to ask for an order of a seller, out of a share of what the marketplace allows: read-backs of commands and the sweep use the same
   * operation. Without it everything may be used up.
   */
  readonly mayAsk?: (sellerId: string) => Promise<Grant | Wait>
}

const firstPauseMs = 2_000
const longestPauseMs = 300_000
/** Pauses are hints to save calls; beyond so many orders they start afresh. */
const maxPauses = 10_000

/** The marketplace denies an order falsely now and then, for some seconds: it is asked again after so long before it is believed. */
const defaultSecondAskMs = 3_000
/** Time after which a denial no longer counts. */
const denialsCountMs = 3_600_000
/** Orders that one request or job waits for in this way. */
const mostSecondAsks = 2
/** Orders that one request or job asks for at all; the events of others wait, and are decided one by one. */
const mostLookups = 50

const manyAsked = 'many orders are being looked up; others have their turn in between'

/** The marketplace's own word that there is no such order; a wrong address (`URI_NOT_FOUND`) and any other refusal speak of something else. */
const deniesTheOrder = (failure: MarketplaceFailure): boolean =>
  failure.kind === 'refused' &&
  failure.httpStatus === 404 &&
  failure.faults.every(({ code }) => !/^URI_NOT_FOUND/i.test(code ?? ''))

/** Why an event waits whose order could not be asked for. Where nobody was asked, there was no answer to tell of. */
const reasonOf = (error: unknown): string =>
  error instanceof MarketplaceFailure && error.kind === 'throttled' && error.httpStatus === null && error.networkCode === null
    ? 'the rate budget lets its order be looked up later'
    : messageOf(error)

/** Whether a signal has fired since its time is up, and not since what it belongs to is stopped. */
const isTimeUp = ({ reason }: AbortSignal): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

/** One per process: it records which sellers and orders should not be requested yet. */
export const createOrderFetcher = (parts: OrderFetcherParts): OrderFetcher => {
  const {
    database,
    ordersOf,
    quiet,
    afterSave,
    fetchTimeoutMs = 10_000,
    secondAskMs = defaultSecondAskMs,
    now = Date.now,
  } = parts
  const secondAsks = new WeakMap<AbortSignal, number>()
  const lookups = new WeakMap<AbortSignal, number>()
  // When each order was denied, epoch ms, while that has been said only once.
  const denials = new Map<string, number>()
  const pauses = new Map<string, { readonly untilMs: number; readonly pauseMs: number }>()

  const pauseKey = (key: OrderKey) => JSON.stringify([key.sellerId, key.purchaseOrderId])
  const pausedUntil = (subject: string): number => pauses.get(subject)?.untilMs ?? 0
  const pause = (subject: string, until: Date | null): number => {
    const before = pauses.get(subject)
    // What is under way at the same time fails together, which is one failure.
    const isPaused = before !== undefined && before.untilMs > now()
    const pauseMs = isPaused ? before.pauseMs : Math.min(longestPauseMs, (before?.pauseMs ?? firstPauseMs / 2) * 2)
    if (pauses.size >= maxPauses) pauses.clear()
    const untilMs = isPaused ? Math.max(before.untilMs, until?.getTime() ?? 0) : (until?.getTime() ?? now() + pauseMs)
    pauses.set(subject, { untilMs, pauseMs })
    return untilMs
  }
  const later = (reason: string, untilMs?: number): OrderPresence => ({
    presence: 'later',
    reason,
    againInMs: untilMs === undefined ? null : Math.max(0, untilMs - now()),
  })

  const keepFaulty = (key: OrderKey, record: FaultyRecord, observedAt: Date): Promise<void> =>
    database.transaction(async (tx) => {
      const fresh = await findNewlyFaulty(tx, key.sellerId, 'orders', observedAt, [record])
      await quarantine(tx, key.sellerId, 'orders', observedAt, fresh)
    })

  const store = async (key: OrderKey, { record, observedAt }: Observed<PurchaseOrder>): Promise<OrderPresence> => {
    const waits = (reason: string): OrderPresence => later(reason, pause(pauseKey(key), null))
    if (!record.ok) {
      await keepFaulty(key, record, observedAt)
      return waits(`order ${key.purchaseOrderId} cannot be parsed; it is in quarantine`)
    }
    try {
      await database.transaction(async (tx) => {
        const { fresh } = await storeOrder(tx, key.sellerId, observedAt, record)
        if (fresh.length > 0) await afterSave?.(tx, { sellerId: key.sellerId, newOrders: fresh })
      })
    } catch (error) {
      const fault = storageFault(error)
      if (fault === null) throw error
      await keepFaulty(key, { key: record.key, rawText: record.rawText, fault }, observedAt)
      return waits(`order ${key.purchaseOrderId} cannot be stored; it is in quarantine`)
    }
    return record.key === key.purchaseOrderId
      ? { presence: 'stored' }
      : waits(`the marketplace answered with another order than ${key.purchaseOrderId}`)
  }

  const askOnce = async (key: OrderKey, stopping: AbortSignal): Promise<OrderPresence> => {
    const options: CallOptions = { signal: AbortSignal.any([stopping, AbortSignal.timeout(fetchTimeoutMs)]) }
    let observed: Observed<PurchaseOrder> | null
    try {
      observed = await ordersOf(key.sellerId).get(key.purchaseOrderId, options)
    } catch (error) {
      if (error instanceof MarketplaceFailure && deniesTheOrder(error)) return { presence: 'unknown' }
      if (stopping.aborted && !isTimeUp(stopping)) return later('stopped before the marketplace answered')
      // Any other failure, our own time-out included, implies nothing about the order.
      const retryAt = error instanceof MarketplaceFailure ? error.retryAt : null
      const seen = error instanceof MarketplaceFailure && error.kind === 'malformed' ? pauseKey(key) : key.sellerId
      const untilMs = pause(seen, retryAt)
      quiet.warn(
        `lookup:${key.sellerId}`,
        { err: error, seller_id: key.sellerId, purchase_order_id: key.purchaseOrderId },
        'an event waits: its order cannot be fetched now',
      )
      return later(reasonOf(error), untilMs)
    }
    pauses.delete(key.sellerId)
    if (observed === null) return { presence: 'unknown' }
    return store(key, observed)
  }

  /** Whether the order was denied before, long enough ago and not too long ago to count together with a denial of now. */
  const wasDenied = (name: string): boolean => {
    const agoMs = now() - (denials.get(name) ?? Number.NaN)
    return agoMs >= secondAskMs && agoMs < denialsCountMs
  }

  /** Accepts that there is no such order after two such answers, some time apart. */
  const ask = async (key: OrderKey, stopping: AbortSignal): Promise<OrderPresence> => {
    const name = pauseKey(key)
    const first = await askOnce(key, stopping)
    if (first.presence !== 'unknown' || wasDenied(name)) {
      if (first.presence !== 'later') denials.delete(name)
      return first
    }
    if (denials.size >= maxPauses) denials.clear()
    denials.set(name, now())
    const waited = secondAsks.get(stopping) ?? 0
    if (waited >= mostSecondAsks) {
      const untilMs = pause(name, new Date(now() + secondAskMs))
      return later(`the marketplace has reported once that it has no order ${key.purchaseOrderId}`, untilMs)
    }
    secondAsks.set(stopping, waited + 1)
    await rest(secondAskMs, stopping)
    if (stopping.aborted) return later('stopped before the marketplace was asked again')
    const second = await askOnce(key, stopping)
    if (second.presence !== 'later') denials.delete(name)
    return second
  }

  return {
    ensure: async (key, signal) => {
      if (await orderIsStored(database, key.sellerId, key.purchaseOrderId)) {
        pauses.delete(pauseKey(key))
        return { presence: 'stored' }
      }
      const untilMs = Math.max(pausedUntil(key.sellerId), pausedUntil(pauseKey(key)))
      if (untilMs > now()) return later('the last request to the marketplace failed', untilMs)
      if (await isSellerAtRest(database, key.sellerId)) return later(`seller ${key.sellerId} is stopped or paused`)
      const asked = lookups.get(signal) ?? 0
      // That one request or job has asked for enough says nothing of another: its event may be looked at by itself at once.
      if (asked >= mostLookups) return later(manyAsked)
      // Counted before it is waited for, since others are looked up beside it.
      lookups.set(signal, asked + 1)
      const leave = await parts.mayAsk?.(key.sellerId)
      if (leave?.granted === false) {
        lookups.set(signal, (lookups.get(signal) ?? 1) - 1)
        return later(manyAsked, leave.availableAt.getTime())
      }
      return ask(key, signal)
    },
  }
}
