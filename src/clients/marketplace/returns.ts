import type { RefundReturnPayload } from '../../domain/commands/command.ts'
import type { ReturnOrder } from '../../domain/orders/return.ts'
import { noOrderId } from '../../domain/values/text.ts'
import { type RefundReturnBody, wireReturnPage } from '../contract/returns.ts'
import type { Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { perMinute } from '../http/operation.ts'
import type { ReturnCommands, ReturnWriter } from '../http/order-commands.ts'
import { type Page, readRecord } from '../http/record.ts'
import { endpoint, type Host, writeEndpoint } from './endpoint.ts'
import type { ReadEnvelope } from './paging.ts'
import { buildListCall, fetchPage, iteratePages, queryString, wireDate, withCursor } from './paging.ts'
import { parseReturn, returnReader } from './return-record.ts'

/** Returns by last change or by creation. Both ends are always sent: the marketplace refuses a window without one. */
export type ReturnListQuery =
  | { readonly lastModifiedFrom: Date; readonly lastModifiedTo: Date; readonly limit: number }
  | { readonly createdFrom: Date; readonly createdTo: Date; readonly limit: number }

/** A request that refunds units through their return. It contains only JSON values, since it is stored as the intent. */
export interface RefundReturnRequest {
  readonly operation: 'returns.refund'
  readonly path: string
  readonly body: RefundReturnBody
}

/** Returns of one seller. Every method throws a `MarketplaceFailure`. */
export interface ReturnsClient extends ReturnCommands<RefundReturnRequest> {
  list(query: ReturnListQuery, options: CallOptions): Promise<Page<ReturnOrder>>
  continue(cursor: string, options: CallOptions): Promise<Page<ReturnOrder>>
  pages(query: ReturnListQuery, options: CallOptions): AsyncGenerator<Page<ReturnOrder>, void, undefined>
}

/** Limit: public facts, section 5.1. */
const operations = {
  list: { name: 'returns.list', limit: perMinute(50), payloadKeys: ['returnOrders'] },
  // The answer echoes the request.
  refund: { name: 'returns.refund', limit: perMinute(60), payloadKeys: ['refundLines', 'returnOrderId'], write: true },
} as const satisfies Operations

const path = '/v3/returns'
const recordsAt = ['returnOrders']

/**
 * Path of the refund through a return.
 *
 * @throws RangeError for an invalid id, which would result in another path
 */
const refundPath = (returnOrderId: string): string => {
  const wrong = returnOrderId === '' ? 'must not be empty' : noOrderId(returnOrderId)
  if (wrong !== null) throw new RangeError(`the id of a return ${wrong}`)
  return `${path}/${encodeURIComponent(returnOrderId)}/refund`
}

/** The units of each line of the return; several entries of one line are added up. */
const refundBody = ({ customerOrderId, lines }: RefundReturnPayload, unitOfMeasure: string): RefundReturnBody => {
  const units = new Map<number, number>()
  for (const { returnLineNumber, quantity } of lines) units.set(returnLineNumber, (units.get(returnLineNumber) ?? 0) + quantity)
  return {
    customerOrderId,
    refundLines: [...units].map(([returnOrderLineNumber, measurementValue]) => ({
      returnOrderLineNumber,
      quantity: { unitOfMeasure, measurementValue },
    })),
  }
}

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireReturnPage.safeParse(envelope)
  // Without records and metadata it is another document.
  if (data === undefined || (data.returnOrders === undefined && data.meta === undefined)) return null
  return { totalCount: data.meta?.totalCount, nextCursor: data.meta?.nextCursor }
}

const target = (query: ReturnListQuery, maxPageSize: number): string => {
  const window =
    'lastModifiedFrom' in query
      ? {
          returnLastModifiedStartDate: wireDate(query.lastModifiedFrom, 'from'),
          returnLastModifiedEndDate: wireDate(query.lastModifiedTo, 'to'),
        }
      : { returnCreationStartDate: wireDate(query.createdFrom, 'from'), returnCreationEndDate: wireDate(query.createdTo, 'to') }
  return path + queryString({ ...window, limit: Math.min(query.limit, maxPageSize) })
}

/**
 * The returns operation of the specification, section 9, and the request of the refund through a return (public facts, section 4.3), for one seller.
 */
const createReturnsClient = ({ caller, connection, onUnknownValue }: Host): ReturnsClient => {
  const page = (address: string, options: CallOptions) =>
    fetchPage(caller, buildListCall(operations.list, address, recordsAt), options, returnReader, readEnvelope, onUnknownValue)
  const { vocabulary, unitOfMeasurement } = connection.profile
  const returns: ReturnsClient = {
    refund:
      vocabulary.returns === null
        ? null
        : {
            operation: operations.refund,
            request: (payload) => ({
              operation: operations.refund.name,
              path: refundPath(payload.returnOrderId),
              body: refundBody(payload, unitOfMeasurement),
            }),
          },
    async get(returnOrderId, options) {
      const call = buildListCall(operations.list, path + queryString({ returnOrderId }), recordsAt)
      const answer = await caller.call(call, options)
      if (!answer.found) return null
      if (readEnvelope(answer.envelope) === null) throw caller.unexpectedAnswer(call, answer)
      const [cut, ...others] = answer.records
      if (cut === undefined) return null
      const record = readRecord(returnReader, cut, onUnknownValue, caller.compareRecords(call.operation))
      // A marketplace that ignores the parameter answers with other returns.
      if (others.length > 0 || (record.key !== null && record.key !== returnOrderId)) throw caller.unexpectedAnswer(call, answer)
      const { correlationId, httpStatus, sentMs } = answer
      return { record, observedAt: caller.clock.at(sentMs), correlationId, httpStatus }
    },
    list: (query, options) => page(target(query, connection.profile.maxPageSize), options),
    continue: (cursor, options) => page(withCursor(path, cursor), options),
    pages: (query, options) =>
      iteratePages(
        () => returns.list(query, options),
        (cursor) => returns.continue(cursor, { signal: options.signal }),
        (last) =>
          caller.unexpectedAnswer(buildListCall(operations.list, path, recordsAt), {
            correlationId: last.correlationId,
            httpStatus: 200,
          }),
      ),
  }
  return returns
}

/** The refund through a return (public facts, section 4.3), for one seller. */
const createReturnsWriter = ({ caller }: Host): ReturnWriter<RefundReturnRequest> => ({
  async send(request, options) {
    const call: Call = {
      operation: operations.refund,
      method: 'POST',
      target: request.path,
      body: JSON.stringify(request.body),
      recordsAt: ['refundLines'],
    }
    const { correlationId, httpStatus, answeredMs } = await caller.call(call, options)
    return { record: null, observedAt: caller.clock.at(answeredMs), correlationId, httpStatus }
  },
})

/** Returns (specification, section 9). */
export const returnsEndpoint = endpoint({ host: 'marketplace', operations, read: parseReturn, create: createReturnsClient })

/** The refund through a return. */
export const returnWrites = writeEndpoint(createReturnsWriter)
