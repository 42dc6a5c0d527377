import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import { noOrderId } from '../../../domain/values/text.ts'
import { wireOrderPage } from '../../contract/orders.ts'
import type { Answer, Call } from '../../http/call.ts'
import type { CallOptions, SendOptions } from '../../http/call-options.ts'
import type { Operations } from '../../http/endpoint.ts'
import { type Operation, perMinute } from '../../http/operation.ts'
import type { OrderCommands, OrderWriter } from '../../http/order-commands.ts'
import type { Observed, Page, ParsedRecord } from '../../http/record.ts'
import { readRecord } from '../../http/record.ts'
import { endpoint, type Host, writeEndpoint } from '../endpoint.ts'
import type { ReadEnvelope } from '../paging.ts'
import { buildListCall, fetchPage, iteratePages, queryString, wireDate, withCursor } from '../paging.ts'
import { createOrderCommands, type SupportedOrderCommands } from './order-commands.ts'
import { orderReader, parseOrder } from './order-record.ts'
import type { OrderRequests, WireRequest } from './order-requests.ts'
import { createOrderRequests, orderPath } from './order-requests.ts'

/** Orders by creation and, optionally, last change. `createdFrom` is always sent: by default the marketplace returns seven days. */
export interface OrderListQuery {
  readonly shipNodeType: string
  readonly createdFrom: Date
  readonly createdTo?: Date
  readonly lastModifiedFrom?: Date
  readonly lastModifiedTo?: Date
  readonly limit: number
}

/** Orders to be acknowledged, by creation. The operation has no filter by last change. */
export interface ReleasedOrderQuery {
  readonly createdFrom: Date
  readonly createdTo: Date
  readonly shipNodeType?: string
  readonly limit: number
}

/** Orders of one seller. Every method but `prepare` throws a `MarketplaceFailure`. */
export interface OrdersClient extends OrderCommands<WireRequest> {
  list(query: OrderListQuery, options: CallOptions): Promise<Page<PurchaseOrder>>
  listReleased(query: ReleasedOrderQuery, options: CallOptions): Promise<Page<PurchaseOrder>>
  /** The next page. The cursor is appended to the address unchanged. After a 400 the cursor has expired: restart the window. */
  continue(cursor: string, which: 'list' | 'released', options: CallOptions): Promise<Page<PurchaseOrder>>
  /** All pages, one after another. A repeated cursor throws `Malformed`. */
  pages(query: OrderListQuery, options: CallOptions): AsyncGenerator<Page<PurchaseOrder>, void, undefined>
  readonly prepare: OrderRequests
  readonly commands: SupportedOrderCommands
}

/** The writes of orders. */
export interface OrdersWriter extends OrderWriter<WireRequest> {
  /**
   * Sends a write in exactly one request. After `Unavailable` with `staleToken`, the write was not processed, and the next request gets a new token. After
   * `Unknown`, read back before sending again. An unreadable record of the answer is `ok: false`.
   */
  send(request: WireRequest, options: SendOptions): Promise<Observed<PurchaseOrder>>
}

/** An order in any of these places beside errors: it is unknown whether the write was done. */
const writtenKeys = ['order', 'list.elements', 'payload'] as const

/** Limits: public facts, section 5.1. */
const operations = {
  list: { name: 'orders.list', limit: perMinute(5000), payloadKeys: ['list.elements', 'list.meta'] },
  released: { name: 'orders.released', limit: perMinute(60), payloadKeys: ['list.elements', 'list.meta'] },
  get: { name: 'orders.get', limit: perMinute(5000), payloadKeys: ['order'] },
  acknowledge: { name: 'orders.acknowledge', limit: perMinute(60), payloadKeys: writtenKeys, write: true },
  ship: { name: 'orders.ship', limit: perMinute(60), payloadKeys: writtenKeys, write: true },
  cancel: { name: 'orders.cancel', limit: perMinute(60), payloadKeys: writtenKeys, write: true },
  refund: { name: 'orders.refund', limit: perMinute(60), payloadKeys: writtenKeys, write: true },
} as const satisfies Operations

const writes: { readonly [Name in WireRequest['operation']]: Operation<Name> } = {
  'orders.acknowledge': operations.acknowledge,
  'orders.ship': operations.ship,
  'orders.cancel': operations.cancel,
  'orders.refund': operations.refund,
}

const recordsAt = ['list', 'elements', 'order']
const recordAt = ['order']
const paths = { list: '/v3/orders', released: '/v3/orders/released' } as const

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireOrderPage.safeParse(envelope)
  return data === undefined ? null : { totalCount: data.list.meta?.totalCount, nextCursor: data.list.meta?.nextCursor }
}

const optionalDate = (date: Date | undefined, edge: 'from' | 'to'): string | undefined =>
  date === undefined ? undefined : wireDate(date, edge)

const buildListTarget = (query: OrderListQuery, maxPageSize: number): string => {
  return (
    paths.list +
    queryString({
      // The default is seven days ago, which also silently limits a query by last change (public facts, section 2.3).
      createdStartDate: wireDate(query.createdFrom, 'from'),
      createdEndDate: optionalDate(query.createdTo, 'to'),
      lastModifiedStartDate: optionalDate(query.lastModifiedFrom, 'from'),
      lastModifiedEndDate: optionalDate(query.lastModifiedTo, 'to'),
      shipNodeType: query.shipNodeType,
      limit: Math.min(query.limit, maxPageSize),
    })
  )
}

const releasedTarget = (query: ReleasedOrderQuery, maxPageSize: number): string =>
  paths.released +
  queryString({
    createdStartDate: wireDate(query.createdFrom, 'from'),
    createdEndDate: wireDate(query.createdTo, 'to'),
    shipNodeType: query.shipNodeType,
    limit: Math.min(query.limit, maxPageSize),
  })

/** The only order of an answer. Another order, or none, is an unexpected answer. */
const readOnlyRecord = (
  { caller, onUnknownValue }: Host,
  call: Call,
  answer: Answer,
  purchaseOrderId: string,
): ParsedRecord<PurchaseOrder> => {
  const [cut] = answer.records
  if (cut === undefined || answer.records.length !== 1) throw caller.unexpectedAnswer(call, answer)
  const record = readRecord(orderReader, cut, onUnknownValue, caller.compareRecords(call.operation))
  if (record.key !== null && record.key !== purchaseOrderId) throw caller.unexpectedAnswer(call, answer)
  return record
}

/** The reading order operations of the specification, section 9, and the requests of the writing ones, for one seller. */
const createOrdersClient = (host: Host): OrdersClient => {
  const {
    caller,
    connection: { profile, quantityField },
    onUnknownValue,
  } = host
  const page = (which: 'list' | 'released', target: string, options: CallOptions) =>
    fetchPage(caller, buildListCall(operations[which], target, recordsAt), options, orderReader, readEnvelope, onUnknownValue)

  const prepare = createOrderRequests({ ...profile, quantityField })
  const orders: OrdersClient = {
    list: (query, options) => page('list', buildListTarget(query, profile.maxPageSize), options),
    listReleased: (query, options) => page('released', releasedTarget(query, profile.maxPageSize), options),
    continue: (cursor, which, options) => page(which, withCursor(paths[which], cursor), options),
    pages: (query, options) =>
      iteratePages(
        () => orders.list(query, options),
        // A grant and a correlation id belong to one request: later pages get their own.
        (cursor) => orders.continue(cursor, 'list', { signal: options.signal }),
        (last) =>
          caller.unexpectedAnswer(buildListCall(operations.list, paths.list, recordsAt), {
            correlationId: last.correlationId,
            httpStatus: 200,
          }),
      ),
    async get(purchaseOrderId, options) {
      // The token would be sent to another path; no order has such an id.
      if (purchaseOrderId === '' || noOrderId(purchaseOrderId) !== null) return null
      const call = buildListCall(operations.get, orderPath(purchaseOrderId), recordAt)
      const answer = await caller.call(call, options)
      if (!answer.found) return null
      return observed(answer, readOnlyRecord(host, call, answer, purchaseOrderId), caller.clock.at(answer.sentMs))
    },
    prepare,
    commands: createOrderCommands(operations, prepare, profile),
  }
  return orders
}

/** The writing order operations of the specification, section 9, for one seller. */
const createOrdersWriter = (host: Host): OrdersWriter => ({
  async send(request, options) {
    const { caller } = host
    const call: Call = {
      operation: writes[request.operation],
      method: 'POST',
      target: request.path,
      body: request.body === null ? null : JSON.stringify(request.body),
      recordsAt: recordAt,
    }
    const answer = await caller.call(call, options)
    return observed(answer, readOnlyRecord(host, call, answer, request.purchaseOrderId), caller.clock.at(answer.answeredMs))
  },
})

const observed = (answer: Answer, record: ParsedRecord<PurchaseOrder>, observedAt: Date): Observed<PurchaseOrder> => ({
  record,
  observedAt,
  correlationId: answer.correlationId,
  httpStatus: answer.httpStatus,
})

/** Orders (specification, section 9). */
export const ordersEndpoint = endpoint({ host: 'marketplace', operations, read: parseOrder, create: createOrdersClient })

/** The writes of orders. */
export const orderWrites = writeEndpoint(createOrdersWriter)
