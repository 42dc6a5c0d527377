import { ordersEndpoint } from '../../../clients/marketplace/orders/orders.ts'
import { findTimestamp } from '../../../clients/marketplace/timestamps.ts'
import { vocabulary } from '../../../clients/marketplace/vocabulary.ts'
import { deniedAnswer, storedAnswer } from '../../../domain/orders/named-orders.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { namedStream, recordNamedAnswers, takeNamedOrders } from '../../../store/orders/named-orders.ts'
import { listOpenOrders, sampleOrderTimes } from '../../../store/orders/order-samples.ts'
import { findDifferingOrders, markMissingOrders, storeDifferingOrders } from '../../../store/orders/orders.ts'
import { resource } from '../engine/resource.ts'
import type { ControlRecord, PagedStream, StreamContext } from '../engine/stream.ts'
import {
  afterKeys,
  controlRecordsAt,
  followsChanges,
  fullList,
  oldestCreation,
  type ReachDays,
  range,
  rereads,
  type WalkPage,
  walk,
} from '../engine/streams.ts'
import { type ReadOrder, readEach } from './orders-by-id.ts'

const { shipNodes } = vocabulary
const releasedNodeTypes = shipNodes.all.filter((nodeType) => nodeType !== shipNodes.marketplace)
/** The scheduler only supplements the relay, which adds a job as soon as a named order is due. */
const namedEveryMs = 900_000

const reachDays: ReachDays = ({ oldestDays }) => oldestDays

// Stored orders of one node type, requested by their creation time, as lists show them.
const listControlRecords = async (
  { client, database, settings }: StreamContext,
  shipNodeType: string,
): Promise<readonly ControlRecord[]> =>
  controlRecordsAt(
    await sampleOrderTimes(database, client.sellerId, { shipNodeType, days: settings.oldestDays, waiting: false }),
    ({ from, to }, options) =>
      client.of(ordersEndpoint).list({ shipNodeType, createdFrom: from, createdTo: to, limit: 1 }, options),
  )

/**
 * Orders of one node type by last change. The query always has a range of creation times: without it a query by last change silently omits every order
 * that was created more than seven days ago (public facts 2.3).
 */
const changed = (shipNodeType: string): PagedStream<PurchaseOrder> =>
  followsChanges({
    operation: ordersEndpoint.operations.list,
    reachDays,
    across: (context) => ({ from: oldestCreation(context), to: context.client.clock().now() }),
    createdFrom: (context, { across }) => across?.from ?? oldestCreation(context),
    controlRecords: (context) => listControlRecords(context, shipNodeType),
    list: (context, window, options) =>
      context.client.of(ordersEndpoint).list(
        {
          shipNodeType,
          createdFrom: window.across?.from ?? oldestCreation(context),
          ...(window.across === undefined ? {} : { createdTo: window.across.to }),
          lastModifiedFrom: window.from,
          lastModifiedTo: window.to,
          limit: context.settings.pageSize,
        },
        options,
      ),
    next: ({ client }, cursor, options) => client.of(ordersEndpoint).continue(cursor, 'list', options),
  })

/** All orders that wait to be acknowledged: the first list that shows a new order. */
const released = fullList<PurchaseOrder>({
  operation: ordersEndpoint.operations.released,
  parts: releasedNodeTypes,
  reachDays,
  across: null,
  controlRecords: async ({ client, database, settings }, { part }) =>
    controlRecordsAt(
      await sampleOrderTimes(database, client.sellerId, { shipNodeType: part, days: settings.oldestDays, waiting: true }),
      ({ from, to }, options) =>
        client
          .of(ordersEndpoint)
          .listReleased(
            { createdFrom: from, createdTo: to, ...(part === null ? {} : { shipNodeType: part }), limit: 1 },
            options,
          ),
    ),
  list: ({ client, settings }, window, options) =>
    client.of(ordersEndpoint).listReleased(
      {
        createdFrom: window.from,
        createdTo: window.to,
        ...(window.part === null ? {} : { shipNodeType: window.part }),
        limit: settings.pageSize,
      },
      options,
    ),
  next: ({ client }, cursor, options) => client.of(ordersEndpoint).continue(cursor, 'released', options),
})

/** Orders that the marketplace reports it does not have. */
const listDenied = (read: readonly ReadOrder[]): readonly string[] =>
  read.flatMap(({ purchaseOrderId, observed, fault }) => (observed === null && fault === undefined ? [purchaseOrderId] : []))

const buildPage = ({ settings }: StreamContext, ids: readonly string[], read: readonly ReadOrder[]): WalkPage<PurchaseOrder> => {
  const answers = read.flatMap(({ observed }) => (observed === null ? [] : [observed]))
  const complete = read.length === ids.length && ids.length < settings.sweepStep
  return {
    answers,
    records: answers.map((answer) => answer.record),
    unreadable: read.flatMap(({ purchaseOrderId, fault }) => (fault === undefined ? [] : [{ key: purchaseOrderId, fault }])),
    answered: listDenied(read),
    next: complete ? null : (read.at(-1)?.purchaseOrderId ?? null),
  }
}

/** The answer to the request of an order, as `judgeAnswer` reads it. */
const findAnswer = ({ purchaseOrderId, observed, fault }: ReadOrder): string => {
  if (fault !== undefined) return fault
  if (observed === null) return deniedAnswer
  const { record } = observed
  if (!record.ok) return record.fault
  return record.key === purchaseOrderId ? storedAnswer : 'the marketplace returned another order'
}

/** Orders that something else names and that no list has shown: requested by id. */
const named = walk<PurchaseOrder>({
  operation: ordersEndpoint.operations.get,
  reads: 'orders that others name and that are not stored, by id',
  pace: { times: 1, minMs: namedEveryMs },
  places: afterKeys,
  step: async (context, { after }, options) => {
    const { client, database, settings } = context
    const due = await takeNamedOrders(database, client.sellerId, { after, limit: settings.sweepStep })
    if (due.length === 0) return null
    const asks = new Map(due.map((order) => [order.purchaseOrderId, order.asks]))
    const ids = [...asks.keys()]
    const read = await readEach(context, namedStream.stream, ids, options)
    const answers = read.map((order) => ({
      purchaseOrderId: order.purchaseOrderId,
      asks: asks.get(order.purchaseOrderId) ?? 0,
      answer: findAnswer(order),
    }))
    const page = buildPage(context, ids, read)
    return { ...page, inSameTransaction: (tx) => recordNamedAnswers(tx, client.sellerId, answers) }
  },
})

/** Every open order, one by one, in the order of ids: a change that no list has shown is missed for at most a day. */
const sweep = walk<PurchaseOrder>({
  operation: ordersEndpoint.operations.get,
  reads: 'every open order, by id',
  pace: { setting: pollIntervals.orderSweep, runs: 'always' },
  places: afterKeys,
  step: async (context, { after }, options) => {
    const { client, database, settings } = context
    const ids = await listOpenOrders(database, client.sellerId, after, settings.sweepStep)
    const read = await readEach(context, 'sweep', ids, options)
    return { ...buildPage(context, ids, read), missing: listDenied(read) }
  },
})

/** Orders of one node type (the window's part) by creation. */
const byCreation = range<PurchaseOrder>({
  operation: ordersEndpoint.operations.list,
  parts: shipNodes.all,
  reachDays,
  controlRecords: (context, { part }) => listControlRecords(context, part ?? shipNodes.seller),
  across: ({ client }, window) => ({ from: window.from, to: client.clock().now() }),
  list: ({ client, settings }, window, options) =>
    client.of(ordersEndpoint).list(
      {
        shipNodeType: window.part ?? shipNodes.seller,
        createdFrom: window.from,
        createdTo: window.to,
        ...(window.across === undefined ? {} : { lastModifiedFrom: window.across.from, lastModifiedTo: window.across.to }),
        limit: settings.pageSize,
      },
      options,
    ),
  next: ({ client }, cursor, options) => client.of(ordersEndpoint).continue(cursor, 'list', options),
})

/** Orders: by last change for each node type, released ones, and every open order once a day. */
export const orders = resource({
  name: 'orders',
  endpoint: ordersEndpoint,
  poll: pollIntervals.orders,
  streams: {
    ...Object.fromEntries(shipNodes.all.map((nodeType) => [`changed:${nodeType}`, changed(nodeType)])),
    released,
    sweep,
    [namedStream.stream]: named,
    // For orders that the lists showed later than the look-back, and orders that were closed unseen.
    reread: rereads(byCreation),
  },
  backfill: byCreation,
  createdAt: (rawText) => findTimestamp(rawText, 'orderDate'),
  table: {
    findDiffering: findDifferingOrders,
    store: async (tx, sellerId, observedAt, records, { afterSave }) => {
      const { changed: written, fresh } = await storeDifferingOrders(tx, sellerId, observedAt, records)
      if (fresh.length > 0) await afterSave?.(tx, { sellerId, newOrders: fresh })
      return written
    },
    noteMissing: markMissingOrders,
  },
})
