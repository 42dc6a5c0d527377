import type { PurchaseOrder } from '../../domain/order.ts'
import { noOrderId } from '../../domain/text.ts'
import type { Answer, Call, Caller } from '../caller.ts'
import { wireOrderPage } from '../contract/orders.ts'
import type { CallOptions, Observed, OrderListQuery, OrdersClient, ParsedRecord, ReleasedOrderQuery } from '../interface.ts'
import { orderReader } from './order-record.ts'
import type { RequestDialect } from './order-requests.ts'
import { createOrderRequests, orderPath } from './order-requests.ts'
import type { ReadEnvelope } from './paging.ts'
import { fetchPage, listCall, queryString, walk, wireDate, withCursor } from './paging.ts'
import type { OnUnknownValue } from './record.ts'
import { readRecord } from './record.ts'

const RECORDS_AT = ['list', 'elements', 'order']
const RECORD_AT = ['order']
const PATHS = { list: '/v3/orders', released: '/v3/orders/released' } as const

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireOrderPage.safeParse(envelope)
  return data === undefined ? null : { totalCount: data.list.meta?.totalCount, nextCursor: data.list.meta?.nextCursor }
}

function optionalDate(date: Date | undefined, edge: 'from' | 'to'): string | undefined {
  return date === undefined ? undefined : wireDate(date, edge)
}

function listTarget(query: OrderListQuery, maxPageSize: number): string {
  return (
    PATHS.list +
    queryString({
      // Left out, it means seven days ago and silently cuts a query by last change (public facts, section 2.3).
      createdStartDate: wireDate(query.createdFrom, 'from'),
      createdEndDate: optionalDate(query.createdTo, 'to'),
      lastModifiedStartDate: optionalDate(query.lastModifiedFrom, 'from'),
      lastModifiedEndDate: optionalDate(query.lastModifiedTo, 'to'),
      shipNodeType: query.shipNodeType,
      limit: Math.min(query.limit, maxPageSize),
    })
  )
}

function releasedTarget(query: ReleasedOrderQuery, maxPageSize: number): string {
  return (
    PATHS.released +
    queryString({
      createdStartDate: wireDate(query.createdFrom, 'from'),
      createdEndDate: wireDate(query.createdTo, 'to'),
      shipNodeType: query.shipNodeType,
      limit: Math.min(query.limit, maxPageSize),
    })
  )
}

/** The order operations of the specification, section 9, for one seller. */
export function createOrdersClient(
  caller: Caller,
  dialect: RequestDialect & { readonly maxPageSize: number },
  onUnknownValue: OnUnknownValue,
): OrdersClient {
  const operationOf = { list: 'orders.list', released: 'orders.released' } as const
  const page = (which: 'list' | 'released', target: string, options: CallOptions) =>
    fetchPage(caller, listCall(operationOf[which], target, RECORDS_AT), options, orderReader, readEnvelope, onUnknownValue)

  /** The one order of an answer; an answer about another order, or none, is no answer to what was asked. */
  function onlyRecord(call: Call, answer: Answer, purchaseOrderId: string): ParsedRecord<PurchaseOrder> {
    const [cut] = answer.records
    if (cut === undefined || answer.records.length !== 1) throw caller.misfit(call, answer)
    const record = readRecord(orderReader, cut, onUnknownValue)
    if (record.key !== null && record.key !== purchaseOrderId) throw caller.misfit(call, answer)
    return record
  }

  const orders: OrdersClient = {
    list: (query, options) => page('list', listTarget(query, dialect.maxPageSize), options),
    listReleased: (query, options) => page('released', releasedTarget(query, dialect.maxPageSize), options),
    continue: (cursor, which, options) => page(which, withCursor(PATHS[which], cursor), options),
    pages: (query, options) =>
      walk(
        () => orders.list(query, options),
        // A grant and a correlation id are for one request: the later pages get their own.
        (cursor) => orders.continue(cursor, 'list', { signal: options.signal }),
        (last) =>
          caller.misfit(listCall('orders.list', PATHS.list, RECORDS_AT), { correlationId: last.correlationId, httpStatus: 200 }),
      ),
    async get(purchaseOrderId, options) {
      // Another path would be asked for, with the token; no order has such an id.
      if (purchaseOrderId === '' || noOrderId(purchaseOrderId) !== null) return null
      const call = listCall('orders.get', orderPath(purchaseOrderId), RECORD_AT)
      const answer = await caller.call(call, options)
      if (!answer.found) return null
      return observed(answer, onlyRecord(call, answer, purchaseOrderId), caller.clock.at(answer.sentMs))
    },
    prepare: createOrderRequests(dialect),
    async send(request, options) {
      const call: Call = {
        operation: request.operation,
        method: 'POST',
        target: request.path,
        body: request.body === null ? null : JSON.stringify(request.body),
        write: true,
        recordsAt: RECORD_AT,
      }
      const answer = await caller.call(call, options)
      return observed(answer, onlyRecord(call, answer, request.purchaseOrderId), caller.clock.at(answer.answeredMs))
    },
  }
  return orders
}

function observed(answer: Answer, record: ParsedRecord<PurchaseOrder>, observedAt: Date): Observed<PurchaseOrder> {
  return { record, observedAt, correlationId: answer.correlationId, httpStatus: answer.httpStatus }
}
