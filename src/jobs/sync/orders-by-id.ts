import type { CallOptions } from '../../clients/call-options.ts'
import { MarketplaceFailure } from '../../clients/errors.ts'
import { ordersEndpoint } from '../../clients/marketplace/orders.ts'
import type { Observed } from '../../clients/record.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { knownOrderIds } from '../../store/known-orders.ts'
import { failuresOf } from '../../store/sync-states.ts'
import { asksToPassOver, failuresWithoutOthers, mayBeOfOne } from './passing-over.ts'
import { dayMs } from './settings.ts'
import type { StreamContext } from './stream.ts'

const askedAtOnce = 4

/** What asking for one order has brought. */
export interface ReadOrder {
  readonly purchaseOrderId: string
  readonly observed: Observed<PurchaseOrder> | null
  /** Why it could not be read, although the marketplace answers for others. */
  readonly fault?: string
}

/** How the marketplace answers for other orders, asked for by their ids. */
type Others = 'with rows' | 'not' | 'none known'

/** Orders by which an outage is distinguished from one order that is never answered for: those that came in this run, then stored ones. */
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
   * Asks for known orders until one comes. "None there" is no answer here: the part that renders orders may be down.
   *
   * @throws what speaks of no order, such as the end of the budget
   */
  async answer(except: readonly string[]): Promise<Others> {
    const { client, database, settings } = this.#context
    this.#stored ??= await knownOrderIds(database, client.sellerId, settings.oldestDays)
    const ids = [...(this.#came === null ? [] : [this.#came]), ...this.#stored].filter((id) => !except.includes(id))
    for (const id of ids) {
      try {
        if ((await client.of(ordersEndpoint).get(id, this.#options)) !== null) return 'with rows'
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
      client.of(ordersEndpoint).list({ shipNodeType: client.vocabulary.shipNodes.seller, ...range }, this.#options),
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
    return { purchaseOrderId, observed: await client.of(ordersEndpoint).get(purchaseOrderId, options) }
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
  for (let at = 0; at < purchaseOrderIds.length; at += askedAtOnce) {
    const ids = purchaseOrderIds.slice(at, at + askedAtOnce)
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

/**
 * Reads orders one by one. When the budget ends in between, what came before counts. An order that is never answered for is passed over,
 * as long as the marketplace answers for others, which come behind it, or are stored.
 *
 * @throws what kept the first of them from being read, when that is not known to be a matter of this order
 */
export const readEach = async (
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
