import type { CallOptions } from '../../clients/http/call-options.ts'
import { MarketplaceFailure } from '../../clients/http/errors.ts'
import type { OrderCommands } from '../../clients/http/order-commands.ts'
import type { Observed } from '../../clients/http/record.ts'
import type { Grant, Wait } from '../../clients/rate-limit/budget.ts'
import type { PurchaseOrder } from '../../domain/orders/order.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Database } from '../../store/db/database.ts'
import { isOrderStored, type OrderKey } from '../../store/orders/order-queries.ts'
import { isSellerInactive } from '../../store/sellers/sellers.ts'
import { errorMessage } from '../../util/error-message.ts'
import { pause } from '../../util/sleep.ts'
import type { SyncHooks } from '../sync/engine/resource.ts'
import { storeRecord } from '../sync/engine/store-record.ts'
import { orders } from '../sync/resources/orders.ts'

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
export interface OrderFetcherParts extends SyncHooks {
  readonly database: Database
  /** The marketplace's orders of one seller. */
  readonly getOrdersClient: (sellerId: string) => Pick<OrderCommands, 'get'>
  readonly quiet: Pick<QuietLog, 'warn'>
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
/** Pauses only save calls; beyond this number of orders they are cleared. */
const maxPauses = 10_000

/** Sometimes the marketplace wrongly denies an order for some seconds: it is asked again after this delay before the answer counts. */
const defaultSecondAskMs = 3_000
/** Time after which a denial no longer counts. */
const denialsCountMs = 3_600_000
/** Orders that one request or job waits for in this way. */
const maxSecondAsks = 2
/** Orders that one request or job asks for at all; the events of others wait, and are decided one by one. */
const maxLookups = 50

const manyAsked = 'many orders are being looked up; others have their turn in between'

/** The marketplace's own word that there is no such order; a wrong address (`URI_NOT_FOUND`) and any other refusal speak of something else. */
const deniesTheOrder = (failure: MarketplaceFailure): boolean =>
  failure.kind === 'refused' &&
  failure.httpStatus === 404 &&
  failure.faults.every(({ code }) => !/^URI_NOT_FOUND/i.test(code ?? ''))

/** Why an event waits whose order could not be asked for. Where nobody was asked, there was no answer to tell of. */
const findReason = (error: unknown): string =>
  error instanceof MarketplaceFailure && error.kind === 'throttled' && error.httpStatus === null && error.networkCode === null
    ? 'the rate budget lets its order be looked up later'
    : errorMessage(error)

/** Whether a signal has fired since its time is up, and not since what it belongs to is stopped. */
const isTimeUp = ({ reason }: AbortSignal): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

const nameOrder = (key: OrderKey): string => JSON.stringify([key.sellerId, key.purchaseOrderId])

/** Sellers, and single orders, that must not be requested before a time. */
class Pauses {
  readonly #now: () => number
  readonly #pauses = new Map<string, { readonly untilMs: number; readonly pauseMs: number; readonly reason: string }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Until when an order must not be requested (epoch ms), and why; null: it may be requested now. */
  find(key: OrderKey): { readonly untilMs: number; readonly reason: string } | null {
    const [seller, order] = [this.#pauses.get(key.sellerId), this.#pauses.get(nameOrder(key))]
    const longer = (seller?.untilMs ?? 0) > (order?.untilMs ?? 0) ? seller : order
    return longer !== undefined && longer.untilMs > this.#now() ? longer : null
  }

  /** Pauses a seller or an order; each time twice as long, unless `until` is given. Returns the end, in epoch ms. */
  add(subject: string, until: Date | null, reason: string): number {
    const now = this.#now()
    const before = this.#pauses.get(subject)
    // Requests in progress at the same time fail together, which is one failure.
    const isPaused = before !== undefined && before.untilMs > now
    const pauseMs = isPaused ? before.pauseMs : Math.min(longestPauseMs, (before?.pauseMs ?? firstPauseMs / 2) * 2)
    if (this.#pauses.size >= maxPauses) this.#pauses.clear()
    const untilMs = isPaused ? Math.max(before.untilMs, until?.getTime() ?? 0) : (until?.getTime() ?? now + pauseMs)
    this.#pauses.set(subject, { untilMs, pauseMs, reason })
    return untilMs
  }

  end(subject: string): void {
    this.#pauses.delete(subject)
  }
}

class MarketplaceOrderFetcher implements OrderFetcher {
  readonly #parts: OrderFetcherParts
  readonly #fetchTimeoutMs: number
  readonly #secondAskMs: number
  readonly #now: () => number
  readonly #pauses: Pauses
  /** When each order was denied, in epoch ms, while the marketplace has denied it only once. */
  readonly #denials = new Map<string, number>()
  /** Orders that each request or job has asked for … */
  readonly #lookups = new WeakMap<AbortSignal, number>()
  /** … and has waited for to ask a second time. */
  readonly #secondAsks = new WeakMap<AbortSignal, number>()

  constructor(parts: OrderFetcherParts) {
    const { fetchTimeoutMs = 10_000, secondAskMs = defaultSecondAskMs, now = Date.now } = parts
    this.#parts = parts
    this.#fetchTimeoutMs = fetchTimeoutMs
    this.#secondAskMs = secondAskMs
    this.#now = now
    this.#pauses = new Pauses(now)
  }

  async ensure(key: OrderKey, signal: AbortSignal): Promise<OrderPresence> {
    const { database, mayAsk } = this.#parts
    if (await isOrderStored(database, key.sellerId, key.purchaseOrderId)) {
      this.#pauses.end(nameOrder(key))
      return { presence: 'stored' }
    }
    const paused = this.#pauses.find(key)
    if (paused !== null) return this.#later(paused.reason, paused.untilMs)
    if (await isSellerInactive(database, key.sellerId)) return this.#later(`seller ${key.sellerId} is stopped or paused`)
    const asked = this.#lookups.get(signal) ?? 0
    // The limit of one request or job does not apply to another: the event may be looked at by itself at once.
    if (asked >= maxLookups) return this.#later(manyAsked)
    // Counted before the permit is awaited, since other orders are looked up at the same time.
    this.#lookups.set(signal, asked + 1)
    const permit = await mayAsk?.(key.sellerId)
    if (permit?.granted === false) {
      this.#lookups.set(signal, (this.#lookups.get(signal) ?? 1) - 1)
      return this.#later(manyAsked, permit.availableAt.getTime())
    }
    return this.#ask(key, signal)
  }

  /** Accepts that there is no such order after two such answers, some time apart. */
  async #ask(key: OrderKey, stopping: AbortSignal): Promise<OrderPresence> {
    const name = nameOrder(key)
    const first = await this.#askOnce(key, stopping)
    if (first.presence !== 'unknown' || this.#wasDenied(name)) {
      if (first.presence !== 'later') this.#denials.delete(name)
      return first
    }
    if (this.#denials.size >= maxPauses) this.#denials.clear()
    this.#denials.set(name, this.#now())
    const waited = this.#secondAsks.get(stopping) ?? 0
    if (waited >= maxSecondAsks) {
      const reason = `the marketplace has reported once that it has no order ${key.purchaseOrderId}`
      return this.#later(reason, this.#pauses.add(name, new Date(this.#now() + this.#secondAskMs), reason))
    }
    this.#secondAsks.set(stopping, waited + 1)
    await pause(this.#secondAskMs, stopping)
    if (stopping.aborted) return this.#later('stopped before the marketplace was asked again')
    const second = await this.#askOnce(key, stopping)
    if (second.presence !== 'later') this.#denials.delete(name)
    return second
  }

  async #askOnce(key: OrderKey, stopping: AbortSignal): Promise<OrderPresence> {
    const { getOrdersClient, quiet } = this.#parts
    const options: CallOptions = { signal: AbortSignal.any([stopping, AbortSignal.timeout(this.#fetchTimeoutMs)]) }
    let observed: Observed<PurchaseOrder> | null
    try {
      observed = await getOrdersClient(key.sellerId).get(key.purchaseOrderId, options)
    } catch (error) {
      if (error instanceof MarketplaceFailure && deniesTheOrder(error)) return { presence: 'unknown' }
      if (stopping.aborted && !isTimeUp(stopping)) return this.#later('stopped before the marketplace answered')
      // Any other failure, our own time-out included, implies nothing about the order.
      const retryAt = error instanceof MarketplaceFailure ? error.retryAt : null
      const subject = error instanceof MarketplaceFailure && error.kind === 'malformed' ? nameOrder(key) : key.sellerId
      const reason = findReason(error)
      const untilMs = this.#pauses.add(subject, retryAt, reason)
      quiet.warn(
        `lookup:${key.sellerId}`,
        { err: error, seller_id: key.sellerId, purchase_order_id: key.purchaseOrderId },
        'an event waits: its order cannot be fetched now',
      )
      return this.#later(reason, untilMs)
    }
    this.#pauses.end(key.sellerId)
    if (observed === null) return { presence: 'unknown' }
    return this.#store(key, observed)
  }

  async #store(key: OrderKey, observed: Observed<PurchaseOrder>): Promise<OrderPresence> {
    const { purchaseOrderId } = key
    const result = await storeRecord(this.#parts, orders, key.sellerId, observed)
    if (!result.stored) {
      const { what, fault, quarantinedId } = result
      const place = `it is record ${quarantinedId ?? 'unknown'} of the quarantine`
      return this.#pauseOrder(key, `order ${purchaseOrderId} cannot be ${what} (${fault}); ${place}`)
    }
    return observed.record.key === purchaseOrderId
      ? { presence: 'stored' }
      : this.#pauseOrder(key, `the marketplace answered with another order than ${purchaseOrderId}`)
  }

  #pauseOrder(key: OrderKey, reason: string): OrderPresence {
    return this.#later(reason, this.#pauses.add(nameOrder(key), null, reason))
  }

  #later(reason: string, untilMs?: number): OrderPresence {
    return { presence: 'later', reason, againInMs: untilMs === undefined ? null : Math.max(0, untilMs - this.#now()) }
  }

  /** Whether the order was denied before, long enough ago and recently enough to count together with a denial now. */
  #wasDenied(name: string): boolean {
    const agoMs = this.#now() - (this.#denials.get(name) ?? Number.NaN)
    return agoMs >= this.#secondAskMs && agoMs < denialsCountMs
  }
}

/** One per process: it records which sellers and orders should not be requested yet. */
export const createOrderFetcher = (parts: OrderFetcherParts): OrderFetcher => new MarketplaceOrderFetcher(parts)
