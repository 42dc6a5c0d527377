import { parseOrder } from '../../clients/client.ts'
import { MarketplaceFailure } from '../../clients/errors.ts'
import type { CallOptions, Observed } from '../../clients/interface.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { clampToWall, wallMarginMs } from '../../domain/windows.ts'
import { namedOrdersToAsk, noteNamedAsked } from '../../store/named-orders.ts'
import {
  findDifferingOrders,
  knownOrderIds,
  noteMissingOrders,
  openOrdersAfter,
  storeDifferingOrders,
  storedMoments,
} from '../../store/orders.ts'
import { failuresOf } from '../../store/sync-states.ts'
import {
  backfillPrefix,
  clampAsked,
  dayMs,
  earliestOf,
  type FetchedPage,
  planByLastChange,
  planReread,
  rereadStream,
  type StreamContext,
  type SyncDefinition,
  type SyncStream,
  type Witness,
  windowNow,
  witnessesAt,
} from './definition.ts'
import { asksToPassOver, failuresWithoutOthers, mayBeOfOne } from './passing-over.ts'

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

// Stored orders of one node type, asked for by their creation as lists show them.
const listWitnesses = async ({ client, database, settings }: StreamContext, shipNodeType: string): Promise<readonly Witness[]> =>
  witnessesAt(
    await storedMoments(database, client.sellerId, { shipNodeType, days: settings.oldestDays, waiting: false }),
    ({ from, to }, options) => client.orders.list({ shipNodeType, createdFrom: from, createdTo: to, limit: 1 }, options),
  )

/** Orders of one node type by last change. */
const changed = (shipNodeType: string): SyncStream<PurchaseOrder> => ({
  counted: true,
  checksCount: true,
  followsWatermark: true,
  narrows: true,
  across: (context) => ({ from: oldest(context), to: context.client.clock().now() }),
  createdFrom: (context, { across }) => across?.from ?? oldest(context),
  witnesses: (context) => listWitnesses(context, shipNodeType),
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
  createdFrom: (_context, { from }) => from,
  witnesses: async ({ client, database, settings }, { part }) =>
    witnessesAt(
      await storedMoments(database, client.sellerId, { shipNodeType: part, days: settings.oldestDays, waiting: true }),
      ({ from, to }, options) =>
        client.orders.listReleased(
          { createdFrom: from, createdTo: to, ...(part === null ? {} : { shipNodeType: part }), limit: 1 },
          options,
        ),
    ),
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

/** How the marketplace answers for other orders, asked for by their ids. */
type Others = 'with rows' | 'not' | 'none known'

/** Orders by which an outage is told from one order that is never answered for: those that came in this run, then stored ones. */
class KnownOrders {
  readonly #context: StreamContext
  readonly #options: CallOptions
  #came: string | null = null
  #stored: readonly string[] | null = null

  constructor(context: StreamContext, options: CallOptions) {
    this.#context = context
    this.#options = options
  }

  came(purchaseOrderId: string): void {
    this.#came = purchaseOrderId
  }

  /**
   * Asks for known orders until one comes. "None there" is no answer here: whoever renders orders may be down.
   *
   * @throws what speaks of no order, such as the end of the budget
   */
  async answer(except: readonly string[]): Promise<Others> {
    const { client, database, settings } = this.#context
    this.#stored ??= await knownOrderIds(database, client.sellerId, settings.oldestDays)
    const ids = [...(this.#came === null ? [] : [this.#came]), ...this.#stored].filter((id) => !except.includes(id))
    for (const id of ids) {
      try {
        if ((await client.orders.get(id, { signal: this.#options.signal })) !== null) return 'with rows'
      } catch (error) {
        if (!mayBeOfOne(error, this.#options)) throw error
      }
    }
    return ids.length === 0 ? 'none known' : 'not'
  }

  /** Whether an order may be passed over though no other is known: after failures in a row, while the lists are answered. */
  async mayPassOverAlone(stream: string): Promise<boolean> {
    const { client, database } = this.#context
    const failures = await failuresOf(database, { sellerId: client.sellerId, resource: 'orders', stream })
    if (failures + 1 < failuresWithoutOthers) return false
    // A second in which hardly any order was created: the order itself may spoil the lists too.
    const past = client.clock().now().getTime() - 30 * dayMs
    const range = { createdFrom: new Date(past), createdTo: new Date(past + 1_000), limit: 1 }
    const [answer] = await Promise.allSettled([
      client.orders.list({ shipNodeType: 'SellerFulfilled', ...range }, { signal: this.#options.signal }),
    ])
    return answer.status === 'fulfilled'
  }
}

interface FailedRead {
  readonly purchaseOrderId: string
  readonly failure: unknown
}

const isFailed = (answer: ReadOrder | FailedRead): answer is FailedRead => 'failure' in answer

const askFor = async (
  { client }: StreamContext,
  purchaseOrderId: string,
  options: CallOptions,
): Promise<ReadOrder | FailedRead> => {
  try {
    return { purchaseOrderId, observed: await client.orders.get(purchaseOrderId, { signal: options.signal }) }
  } catch (failure) {
    return { purchaseOrderId, failure }
  }
}

// Asks a few at a time, up to what speaks of no single order, or to failures beside which no known order comes either.
const askForEach = async (
  context: StreamContext,
  purchaseOrderIds: readonly string[],
  known: KnownOrders,
  options: CallOptions,
): Promise<readonly (ReadOrder | FailedRead)[]> => {
  const answers: (ReadOrder | FailedRead)[] = []
  for (let at = 0; at < purchaseOrderIds.length; at += sweepConcurrency) {
    const ids = purchaseOrderIds.slice(at, at + sweepConcurrency)
    const some = await Promise.all(ids.map((id) => askFor(context, id, options)))
    for (const answer of some) if (!isFailed(answer) && answer.observed !== null) known.came(answer.purchaseOrderId)
    answers.push(...some)
    const failed = some.filter(isFailed)
    if (failed.length === 0) continue
    if (failed.some(({ failure }) => !mayBeOfOne(failure, options))) break
    const [others] = await Promise.allSettled([known.answer(failed.map(({ purchaseOrderId }) => purchaseOrderId))])
    // What has kept them from being asked meets those that failed too.
    if (others.status === 'rejected' || others.value === 'not') break
  }
  return answers
}

// An order that failed, asked for again. It is passed over only when a known order comes after it has failed to the last.
const readAgain = async (
  context: StreamContext,
  { purchaseOrderId, failure }: FailedRead,
  { known, failed, stream }: { readonly known: KnownOrders; readonly failed: readonly string[]; readonly stream: string },
  options: CallOptions,
): Promise<ReadOrder | FailedRead> => {
  let last = failure
  for (let asks = 1; asks < asksToPassOver && mayBeOfOne(last, options); asks += 1) {
    const answer = await askFor(context, purchaseOrderId, options)
    if (!isFailed(answer)) return answer
    last = answer.failure
  }
  if (!mayBeOfOne(last, options)) return { purchaseOrderId, failure: last }
  const [others] = await Promise.allSettled([known.answer(failed)])
  if (others.status === 'rejected') return { purchaseOrderId, failure: others.reason }
  const passOver = others.value === 'with rows' || (others.value === 'none known' && (await known.mayPassOverAlone(stream)))
  return passOver ? { purchaseOrderId, observed: null, fault: last.message } : { purchaseOrderId, failure: last }
}

// Reads orders one by one. When the budget ends in between, what came before counts. An order that is never answered for is passed over,
// as long as the marketplace answers for others, which come behind it, or are stored.
const readEach = async (
  context: StreamContext,
  stream: string,
  purchaseOrderIds: readonly string[],
  options: CallOptions,
): Promise<readonly ReadOrder[]> => {
  const known = new KnownOrders(context, options)
  const answers = await askForEach(context, purchaseOrderIds, known, options)
  const failed = answers.filter(isFailed).map(({ purchaseOrderId }) => purchaseOrderId)
  const read: ReadOrder[] = []
  for (const answer of answers) {
    const judged = isFailed(answer) ? await readAgain(context, answer, { known, failed, stream }, options) : answer
    if (!isFailed(judged)) read.push(judged)
    else if (read.length > 0 && judged.failure instanceof MarketplaceFailure) return read
    else throw judged.failure
  }
  return read
}

/** Orders that the marketplace says it does not have. */
const deniedOf = (read: readonly ReadOrder[]): readonly string[] =>
  read.flatMap(({ purchaseOrderId, observed, fault }) => (observed === null && fault === undefined ? [purchaseOrderId] : []))

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
    answered: deniedOf(read),
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
  const read = await readEach(context, 'sweep', ids, options)
  return { ...pageOfRead(context, ids, read, askedAt), missing: deniedOf(read) }
}

const namedAfter = async (context: StreamContext, after: string, options: CallOptions): Promise<FetchedPage<PurchaseOrder>> => {
  const { client, database, settings } = context
  const askedAt = client.clock().now()
  const wanted = { after, days: settings.oldestDays, limit: settings.sweepStep }
  const ids = await namedOrdersToAsk(database, client.sellerId, wanted)
  const read = await readEach(context, 'named', ids, options)
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
  createdFrom: (_context, { from }) => from,
  witnesses: (context, { part }) => listWitnesses(context, part ?? 'SellerFulfilled'),
  across: ({ client }, window) => ({ from: window.from, to: client.clock().now() }),
  plan: () => [],
  clamp: (context, window) => clampAsked(window, context, context.settings.oldestDays),
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
  reachDays: ({ oldestDays }) => oldestDays,
  parse: (rawText) => parseOrder(rawText),
  find: findDifferingOrders,
  store: async (tx, sellerId, observedAt, records, { afterSave }) => {
    const { changed: written, fresh } = await storeDifferingOrders(tx, sellerId, observedAt, records)
    if (fresh.length > 0) await afterSave?.(tx, { sellerId, newOrders: fresh })
    return written
  },
  noteMissing: noteMissingOrders,
}
