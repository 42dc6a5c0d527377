import { parseOrder } from '../../clients/client.ts'
import { MarketplaceFailure, Throttled } from '../../clients/errors.ts'
import type { CallOptions, Observed } from '../../clients/interface.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { clampToWall, wallMarginMs } from '../../domain/windows.ts'
import { namedOrdersToAsk, noteNamedAsked } from '../../store/named-orders.ts'
import { findDifferingOrders, noteMissingOrders, openOrdersAfter, storeDifferingOrders } from '../../store/orders.ts'
import {
  backfillPrefix,
  dayMs,
  earliestOf,
  type FetchedPage,
  planByLastChange,
  planReread,
  rereadStream,
  type StreamContext,
  type SyncDefinition,
  type SyncStream,
  windowNow,
} from './definition.ts'

const nodeTypes = ['SellerFulfilled', 'WFSFulfilled', '3PLFulfilled'] as const
// Orders that the marketplace fulfils are acknowledged by it and never released (public facts 2.4).
const releasedNodeTypes = ['SellerFulfilled', '3PLFulfilled'] as const
const sweepConcurrency = 4
/** Orders that others name are looked for this often at most: lists show most of them in the meantime. */
const namedEveryMs = 900_000

// The oldest creation that the marketplace still answers for. Always sent: left out, a query by last change silently loses every
// order that was created more than seven days ago (public facts 2.3).
const oldest = ({ client, settings }: StreamContext): Date =>
  new Date(client.clock().now().getTime() - settings.oldestDays * dayMs + wallMarginMs)

/** Orders of one node type by last change. */
const changed = (shipNodeType: string): SyncStream<PurchaseOrder> => ({
  counted: true,
  checksCount: true,
  followsWatermark: true,
  narrows: true,
  across: (context) => ({ from: oldest(context), to: context.client.clock().now() }),
  plan: planByLastChange,
  clamp: ({ client, settings }, window) => clampToWall(window, client.clock().now(), settings.oldestDays),
  first: (context, window, options) =>
    context.client.orders.list(
      {
        shipNodeType,
        createdFrom: window.across?.from ?? oldest(context),
        ...(window.across === undefined ? {} : { createdTo: window.across.to }),
        lastModifiedFrom: window.from,
        lastModifiedTo: window.to,
        limit: context.settings.pageSize,
      },
      options,
    ),
  next: ({ client }, _window, cursor, options) => client.orders.continue(cursor, 'list', options),
})

/** All orders that wait to be acknowledged: the first place where a new order shows. */
const released: SyncStream<PurchaseOrder> = {
  counted: true,
  // Orders leave this list all the time, and the next run reads all of it again.
  checksCount: false,
  followsWatermark: false,
  narrows: true,
  complete: 'stream',
  plan: (context) => {
    const window = { from: oldest(context), to: context.client.clock().now() }
    return releasedNodeTypes.map((part) => ({ ...window, part }))
  },
  clamp: ({ client, settings }, window) => clampToWall(window, client.clock().now(), settings.oldestDays),
  first: ({ client, settings }, window, options) =>
    client.orders.listReleased(
      {
        createdFrom: window.from,
        createdTo: window.to,
        ...(window.part === null ? {} : { shipNodeType: window.part }),
        limit: settings.pageSize,
      },
      options,
    ),
  next: ({ client }, _window, cursor, options) => client.orders.continue(cursor, 'released', options),
}

interface ReadOrder {
  readonly purchaseOrderId: string
  readonly observed: Observed<PurchaseOrder> | null
  /** Why it could not be read, although the marketplace answers for others. */
  readonly fault?: string
}

/** So often an order is asked for before it is passed over. */
const asksToPassOver = 3

/** A failure that speaks of this one order, perhaps: neither of the budget nor of the credentials, and it was answered. */
const isOfTheOrder = (error: unknown): error is MarketplaceFailure =>
  error instanceof MarketplaceFailure &&
  !(error instanceof Throttled) &&
  error.operation !== 'token' &&
  !error.credentialsDead &&
  error.httpStatus !== null

// Why an order cannot be read, asked again; null when it can by now, or when nothing is to be had.
const askAgain = async ({ client }: StreamContext, purchaseOrderId: string, options: CallOptions): Promise<ReadOrder> => {
  let fault = ''
  for (let asks = 1; asks < asksToPassOver; asks += 1) {
    try {
      return { purchaseOrderId, observed: await client.orders.get(purchaseOrderId, { signal: options.signal }) }
    } catch (error) {
      if (!isOfTheOrder(error)) throw error
      fault = error.message
    }
  }
  return { purchaseOrderId, observed: null, fault }
}

const answersFor = async ({ client }: StreamContext, purchaseOrderId: string, options: CallOptions): Promise<boolean> => {
  const [answer] = await Promise.allSettled([client.orders.get(purchaseOrderId, { signal: options.signal })])
  return answer.status === 'fulfilled'
}

// Reads orders one by one, a few at a time. When the budget ends in between, what came before counts. An order that is never answered for
// is passed over, as long as the marketplace answers for others: of these, or for the one before (`after`).
const readEach = async (
  context: StreamContext,
  purchaseOrderIds: readonly string[],
  after: string,
  options: CallOptions,
): Promise<readonly ReadOrder[]> => {
  const { client } = context
  const read: ReadOrder[] = []
  let answered = false
  for (let at = 0; at < purchaseOrderIds.length; at += sweepConcurrency) {
    const ids = purchaseOrderIds.slice(at, at + sweepConcurrency)
    const answers = await Promise.allSettled(ids.map((id) => client.orders.get(id, { signal: options.signal })))
    answered ||= answers.some(({ status }) => status === 'fulfilled')
    for (const [index, answer] of answers.entries()) {
      const purchaseOrderId = ids[index]
      if (purchaseOrderId === undefined) continue
      if (answer.status === 'fulfilled') read.push({ purchaseOrderId, observed: answer.value })
      else {
        const reason: unknown = answer.reason
        const again =
          isOfTheOrder(reason) && (answered || (after !== '' && (await answersFor(context, after, options))))
            ? (await Promise.allSettled([askAgain(context, purchaseOrderId, options)]))[0]
            : answer
        if (again.status === 'fulfilled') read.push(again.value)
        else if (read.length > 0 && again.reason instanceof MarketplaceFailure) return read
        else throw again.reason
      }
    }
  }
  return read
}

const pageOfRead = (
  { client, settings }: StreamContext,
  ids: readonly string[],
  read: readonly ReadOrder[],
  askedAt: Date,
): FetchedPage<PurchaseOrder> => {
  const answers = read.flatMap(({ observed }) => (observed === null ? [] : [observed]))
  const complete = read.length === ids.length && ids.length < settings.sweepStep
  return {
    records: answers.map((answer) => answer.record),
    unreadable: read.flatMap(({ purchaseOrderId, fault }) => (fault === undefined ? [] : [{ key: purchaseOrderId, fault }])),
    totalCount: null,
    nextCursor: complete ? null : (read.at(-1)?.purchaseOrderId ?? null),
    observedAt: earliestOf(answers, askedAt),
    marketplaceNow: client.clock().now(),
    correlationId: answers.at(-1)?.correlationId ?? `none, ${askedAt.toISOString()}`,
  }
}

const sweepAfter = async (context: StreamContext, after: string, options: CallOptions): Promise<FetchedPage<PurchaseOrder>> => {
  const { client, database, settings } = context
  const askedAt = client.clock().now()
  const ids = await openOrdersAfter(database, client.sellerId, after, settings.sweepStep)
  const read = await readEach(context, ids, after, options)
  const missing = read.filter(({ observed, fault }) => observed === null && fault === undefined)
  return { ...pageOfRead(context, ids, read, askedAt), missing: missing.map(({ purchaseOrderId }) => purchaseOrderId) }
}

const namedAfter = async (context: StreamContext, after: string, options: CallOptions): Promise<FetchedPage<PurchaseOrder>> => {
  const { client, database, settings } = context
  const askedAt = client.clock().now()
  const wanted = { after, days: settings.oldestDays, limit: settings.sweepStep }
  const ids = await namedOrdersToAsk(database, client.sellerId, wanted)
  const read = await readEach(context, ids, after, options)
  const answers = read.map(({ purchaseOrderId, observed, fault }) => ({
    purchaseOrderId,
    answer: fault ?? (observed === null ? 'none' : observed.record.ok ? 'stored' : observed.record.fault),
  }))
  const page = pageOfRead(context, ids, read, askedAt)
  if (ids.length === 0) return { ...page, unasked: true }
  return { ...page, alongside: (tx) => noteNamedAsked(tx, client.sellerId, answers) }
}

/** Orders that a return, the inventory log or an event names and that no list has shown: asked for by their ids. */
const named: SyncStream<PurchaseOrder> = {
  counted: false,
  checksCount: false,
  followsWatermark: false,
  plan: (context) => [windowNow(context)],
  clamp: (_context, window) => window,
  first: (context, _window, options) => namedAfter(context, '', options),
  next: (context, _window, cursor, options) => namedAfter(context, cursor, options),
}

/** Every open order, one by one, in the order of ids: what no list has shown stays missed for a day at most. */
const sweep: SyncStream<PurchaseOrder> = {
  seldom: true,
  counted: false,
  checksCount: false,
  followsWatermark: false,
  plan: ({ client }) => {
    const now = client.clock().now()
    return [{ from: now, to: now, part: null }]
  },
  clamp: (_context, window) => window,
  first: (context, _window, options) => sweepAfter(context, '', options),
  next: (context, _window, cursor, options) => sweepAfter(context, cursor, options),
}

/** Orders of one node type (the window's part) by creation, for a range that someone asked for. */
const backfill: SyncStream<PurchaseOrder> = {
  counted: true,
  checksCount: true,
  followsWatermark: false,
  narrows: true,
  retriedBy: rereadStream,
  across: ({ client }, window) => ({ from: window.from, to: client.clock().now() }),
  plan: () => [],
  clamp: ({ client, settings }, window) => clampToWall(window, client.clock().now(), settings.oldestDays),
  first: ({ client, settings }, window, options) =>
    client.orders.list(
      {
        shipNodeType: window.part ?? 'SellerFulfilled',
        createdFrom: window.from,
        createdTo: window.to,
        ...(window.across === undefined ? {} : { lastModifiedFrom: window.across.from, lastModifiedTo: window.across.to }),
        limit: settings.pageSize,
      },
      options,
    ),
  next: ({ client }, _window, cursor, options) => client.orders.continue(cursor, 'list', options),
}

/** What was created lately, whatever its last change says: what the lists showed later than the look-back, and orders that closed unseen. */
const reread: SyncStream<PurchaseOrder> = {
  ...backfill,
  seldom: true,
  complete: 'resource',
  plan: (context) => planReread(context, nodeTypes),
}

const streams: ReadonlyMap<string, SyncStream<PurchaseOrder>> = new Map([
  ...nodeTypes.map((nodeType): [string, SyncStream<PurchaseOrder>] => [`changed:${nodeType}`, changed(nodeType)]),
  ['released', released],
  ['sweep', sweep],
  ['named', named],
  [rereadStream, reread],
])

/** Orders: by last change for each node type, released ones, and every open order once a day. */
export const ordersSync: SyncDefinition<PurchaseOrder> = {
  resource: 'orders',
  streams: [...streams.keys()],
  intervalMs: (stream, pollMs) => (stream === 'named' ? Math.max(pollMs, namedEveryMs) : pollMs),
  stream: (name) => (name.startsWith(backfillPrefix) ? backfill : (streams.get(name) ?? null)),
  backfillParts: nodeTypes,
  parse: (rawText) => parseOrder(rawText),
  find: findDifferingOrders,
  store: async (tx, sellerId, observedAt, records, { afterSave }) => {
    const { changed: written, fresh } = await storeDifferingOrders(tx, sellerId, observedAt, records)
    if (fresh.length > 0) await afterSave?.(tx, { sellerId, newOrders: fresh })
    return written
  },
  noteMissing: noteMissingOrders,
}
