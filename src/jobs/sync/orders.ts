import { momentInText } from '../../clients/marketplace/moments.ts'
import { ordersEndpoint } from '../../clients/marketplace/orders.ts'
import { vocabulary } from '../../clients/marketplace/vocabulary.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { openOrdersAfter, storedMoments } from '../../store/known-orders.ts'
import { namedOrdersToAsk, noteNamedAsked } from '../../store/named-orders.ts'
import { findDifferingOrders, noteMissingOrders, storeDifferingOrders } from '../../store/orders.ts'
import type { IntervalSetting } from './intervals.ts'
import { type ReadOrder, readEach } from './orders-by-id.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'
import type { PagedStream, StreamContext, Witness } from './stream.ts'
import {
  behindKeys,
  followsChanges,
  oldestCreation,
  type ReachDays,
  range,
  rereads,
  standingList,
  type WalkPage,
  walk,
  witnessesAt,
} from './streams.ts'

const { shipNodes } = vocabulary
const releasedNodeTypes = shipNodes.all.filter((nodeType) => nodeType !== shipNodes.marketplace)
/** Orders that others name are looked for this often at most: lists show most of them in the meantime. */
const namedEveryMs = 900_000

const reachDays: ReachDays = ({ oldestDays }) => oldestDays

// Stored orders of one node type, asked for by their creation as lists show them.
const listWitnesses = async ({ client, database, settings }: StreamContext, shipNodeType: string): Promise<readonly Witness[]> =>
  witnessesAt(
    await storedMoments(database, client.sellerId, { shipNodeType, days: settings.oldestDays, waiting: false }),
    ({ from, to }, options) =>
      client.of(ordersEndpoint).list({ shipNodeType, createdFrom: from, createdTo: to, limit: 1 }, options),
  )

/**
 * Orders of one node type by last change. Their creation is always asked for too: without it a query by last change silently loses every order
 * that was created more than seven days ago (public facts 2.3).
 */
const changed = (shipNodeType: string): PagedStream<PurchaseOrder> =>
  followsChanges({
    operation: ordersEndpoint.operations.list,
    reachDays,
    across: (context) => ({ from: oldestCreation(context), to: context.client.clock().now() }),
    createdFrom: (context, { across }) => across?.from ?? oldestCreation(context),
    witnesses: (context) => listWitnesses(context, shipNodeType),
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

/** All orders that wait to be acknowledged: the first place where a new order shows. */
const released = standingList<PurchaseOrder>({
  operation: ordersEndpoint.operations.released,
  parts: releasedNodeTypes,
  reachDays,
  across: null,
  witnesses: async ({ client, database, settings }, { part }) =>
    witnessesAt(
      await storedMoments(database, client.sellerId, { shipNodeType: part, days: settings.oldestDays, waiting: true }),
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

/** Orders that the marketplace says it does not have. */
const deniedOf = (read: readonly ReadOrder[]): readonly string[] =>
  read.flatMap(({ purchaseOrderId, observed, fault }) => (observed === null && fault === undefined ? [purchaseOrderId] : []))

const pageOfRead = ({ settings }: StreamContext, ids: readonly string[], read: readonly ReadOrder[]): WalkPage<PurchaseOrder> => {
  const answers = read.flatMap(({ observed }) => (observed === null ? [] : [observed]))
  const complete = read.length === ids.length && ids.length < settings.sweepStep
  return {
    answers,
    records: answers.map((answer) => answer.record),
    unreadable: read.flatMap(({ purchaseOrderId, fault }) => (fault === undefined ? [] : [{ key: purchaseOrderId, fault }])),
    answered: deniedOf(read),
    next: complete ? null : (read.at(-1)?.purchaseOrderId ?? null),
  }
}

/** Orders that a return, the inventory log or an event names and that no list has shown: asked for by their ids. */
const named = walk<PurchaseOrder>({
  operation: ordersEndpoint.operations.get,
  reads: 'orders that others name and that are not stored, by id',
  pace: { times: 1, leastMs: namedEveryMs },
  places: behindKeys,
  step: async (context, { after }, options) => {
    const { client, database, settings } = context
    const wanted = { after, days: settings.oldestDays, limit: settings.sweepStep }
    const ids = await namedOrdersToAsk(database, client.sellerId, wanted)
    if (ids.length === 0) return null
    const read = await readEach(context, 'named', ids, options)
    const answers = read.map(({ purchaseOrderId, observed, fault }) => ({
      purchaseOrderId,
      answer: fault ?? (observed === null ? 'none' : observed.record.ok ? 'stored' : observed.record.fault),
    }))
    const page = pageOfRead(context, ids, read)
    return { ...page, alongside: (tx) => noteNamedAsked(tx, client.sellerId, answers) }
  },
})

/** How often every open order is asked for. */
const sweepEvery: IntervalSetting<'POLL_ORDER_SWEEP'> = {
  variable: 'POLL_ORDER_SWEEP',
  ordinaryMs: dayMs,
  demonstrationMs: dayMs,
}

/** Every open order, one by one, in the order of ids: what no list has shown stays missed for a day at most. */
const sweep = walk<PurchaseOrder>({
  operation: ordersEndpoint.operations.get,
  reads: 'every open order, by id',
  pace: { setting: sweepEvery, runs: 'always', restsAfterRestart: false },
  places: behindKeys,
  step: async (context, { after }, options) => {
    const { client, database, settings } = context
    const ids = await openOrdersAfter(database, client.sellerId, after, settings.sweepStep)
    const read = await readEach(context, 'sweep', ids, options)
    return { ...pageOfRead(context, ids, read), missing: deniedOf(read) }
  },
})

/** Orders of one node type (the window's part) by creation. */
const byCreation = range<PurchaseOrder>({
  operation: ordersEndpoint.operations.list,
  parts: shipNodes.all,
  reachDays,
  witnesses: (context, { part }) => listWitnesses(context, part ?? shipNodes.seller),
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
  poll: { variable: 'POLL_ORDERS', ordinaryMs: 60_000, demonstrationMs: 5_000 },
  streams: {
    ...Object.fromEntries(shipNodes.all.map((nodeType) => [`changed:${nodeType}`, changed(nodeType)])),
    released,
    sweep,
    named,
    // What the lists showed later than the look-back, and orders that closed unseen.
    reread: rereads(byCreation),
  },
  past: byCreation,
  createdAt: (rawText) => momentInText(rawText, 'orderDate'),
  table: {
    findDiffering: findDifferingOrders,
    store: async (tx, sellerId, observedAt, records, { afterSave }) => {
      const { changed: written, fresh } = await storeDifferingOrders(tx, sellerId, observedAt, records)
      if (fresh.length > 0) await afterSave?.(tx, { sellerId, newOrders: fresh })
      return written
    },
    noteMissing: noteMissingOrders,
  },
})
