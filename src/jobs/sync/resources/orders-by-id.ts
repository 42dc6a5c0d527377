import type { CallOptions } from '../../../clients/http/call-options.ts'
import { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { Observed } from '../../../clients/http/record.ts'
import { ordersEndpoint } from '../../../clients/marketplace/orders/orders.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import { sampleOrderIds } from '../../../store/orders/order-samples.ts'
import { readFailures } from '../../../store/sync/sync-states.ts'
import type { StreamContext } from '../engine/stream.ts'
import { dayMs } from '../engine/sync-settings.ts'
import { failedRequestsBeforeSkip, failedRunsWithoutProbes, mayBeAboutRecord } from '../recovery/skip-rules.ts'

const concurrency = 4

/** Result of reading one order. */
export interface ReadOrder {
  readonly purchaseOrderId: string
  readonly observed: Observed<PurchaseOrder> | null
  /** Why it cannot be read, although the marketplace answers for others. */
  readonly fault?: string
}

/** How the marketplace answers requests for other orders by id. */
type ProbeResult = 'with rows' | 'not' | 'none known'

/** Control records: known orders that distinguish an outage from a single order that always fails. First those read in this run, then stored ones. */
class ControlOrders {
  readonly #context: StreamContext
  readonly #options: CallOptions
  #lastRead: string | null = null
  #stored: readonly string[] | null = null

  constructor(context: StreamContext, options: CallOptions) {
    this.#context = context
    this.#options = options
  }

  noteRead(purchaseOrderId: string): void {
    this.#lastRead = purchaseOrderId
  }

  /**
   * Requests known orders until one is returned. "Not found" does not count: the part of the marketplace that renders orders may be down.
   *
   * @throws errors that are not about an order, such as a used-up rate budget
   */
  async probe(except: readonly string[]): Promise<ProbeResult> {
    const { client, database, settings } = this.#context
    this.#stored ??= await sampleOrderIds(database, client.sellerId, settings.oldestDays)
    const ids = [...(this.#lastRead === null ? [] : [this.#lastRead]), ...this.#stored].filter((id) => !except.includes(id))
    for (const id of ids) {
      try {
        if ((await client.of(ordersEndpoint).get(id, this.#options)) !== null) return 'with rows'
      } catch (error) {
        if (!mayBeAboutRecord(error, this.#options)) throw error
      }
    }
    return ids.length === 0 ? 'none known' : 'not'
  }

  /** Whether an order may be skipped although no other one is known: after several failures in a row, while lists can be read. */
  async maySkipAlone(stream: string): Promise<boolean> {
    const { client, database } = this.#context
    const failures = await readFailures(database, { sellerId: client.sellerId, resource: 'orders', stream })
    if (failures + 1 < failedRunsWithoutProbes) return false
    // A second in which hardly any order was created: the corrupt order may break lists too.
    const startMs = client.clock().now().getTime() - 30 * dayMs
    const range = { createdFrom: new Date(startMs), createdTo: new Date(startMs + 1_000), limit: 1 }
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

const requestOrder = async (
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

// Requests a few at a time. Stops at a failure that is not about a single order, or when known orders fail too.
const requestEach = async (
  context: StreamContext,
  purchaseOrderIds: readonly string[],
  control: ControlOrders,
  options: CallOptions,
): Promise<readonly (ReadOrder | FailedRead)[]> => {
  const answers: (ReadOrder | FailedRead)[] = []
  for (let at = 0; at < purchaseOrderIds.length; at += concurrency) {
    const ids = purchaseOrderIds.slice(at, at + concurrency)
    const some = await Promise.all(ids.map((id) => requestOrder(context, id, options)))
    for (const answer of some) if (!isFailed(answer) && answer.observed !== null) control.noteRead(answer.purchaseOrderId)
    answers.push(...some)
    const failed = some.filter(isFailed)
    if (failed.length === 0) continue
    if (failed.some(({ failure }) => !mayBeAboutRecord(failure, options))) break
    const [probe] = await Promise.allSettled([control.probe(failed.map(({ purchaseOrderId }) => purchaseOrderId))])
    // If the probe itself was not possible, the failed orders cannot be retried either.
    if (probe.status === 'rejected' || probe.value === 'not') break
  }
  return answers
}

// Retries an order that failed. It is skipped only if a known order can be read after its last failure.
const retryOrder = async (
  context: StreamContext,
  { purchaseOrderId, failure }: FailedRead,
  { control, failed, stream }: { readonly control: ControlOrders; readonly failed: readonly string[]; readonly stream: string },
  options: CallOptions,
): Promise<ReadOrder | FailedRead> => {
  let last = failure
  for (let tries = 1; tries < failedRequestsBeforeSkip && mayBeAboutRecord(last, options); tries += 1) {
    const answer = await requestOrder(context, purchaseOrderId, options)
    if (!isFailed(answer)) return answer
    last = answer.failure
  }
  if (!mayBeAboutRecord(last, options)) return { purchaseOrderId, failure: last }
  const [probe] = await Promise.allSettled([control.probe(failed)])
  if (probe.status === 'rejected') return { purchaseOrderId, failure: probe.reason }
  const skip = probe.value === 'with rows' || (probe.value === 'none known' && (await control.maySkipAlone(stream)))
  return skip ? { purchaseOrderId, observed: null, fault: last.message } : { purchaseOrderId, failure: last }
}

/**
 * Reads orders one by one. If the rate budget is used up in between, the orders read so far are returned. An order that always fails is skipped, as long
 * as the marketplace answers for other orders.
 *
 * @throws the failure of the first order, unless it is known to be about this order only
 */
export const readEach = async (
  context: StreamContext,
  stream: string,
  purchaseOrderIds: readonly string[],
  options: CallOptions,
): Promise<readonly ReadOrder[]> => {
  const control = new ControlOrders(context, options)
  const answers = await requestEach(context, purchaseOrderIds, control, options)
  const failed = answers.filter(isFailed).map(({ purchaseOrderId }) => purchaseOrderId)
  const read: ReadOrder[] = []
  for (const answer of answers) {
    const judged = isFailed(answer) ? await retryOrder(context, answer, { control, failed, stream }, options) : answer
    if (!isFailed(judged)) read.push(judged)
    else if (read.length > 0 && judged.failure instanceof MarketplaceFailure) return read
    else throw judged.failure
  }
  return read
}
