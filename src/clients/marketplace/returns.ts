import type { ReturnOrder } from '../../domain/return.ts'
import type { CallOptions } from '../call-options.ts'
import { wireReturnPage } from '../contract/returns.ts'
import type { Operations } from '../endpoint.ts'
import { perMinute } from '../operation.ts'
import type { Page } from '../record.ts'
import { endpoint, type Host } from './endpoint.ts'
import type { ReadEnvelope } from './paging.ts'
import { fetchPage, listCall, queryString, walk, wireDate, withCursor } from './paging.ts'
import { parseReturn, returnReader } from './return-record.ts'

/** Returns by last change or by creation. Both ends are always sent: half a window is refused. */
export type ReturnListQuery =
  | { readonly lastModifiedFrom: Date; readonly lastModifiedTo: Date; readonly limit: number }
  | { readonly createdFrom: Date; readonly createdTo: Date; readonly limit: number }

/** Returns of one seller. Every method throws a `MarketplaceFailure`. */
export interface ReturnsClient {
  list(query: ReturnListQuery, options: CallOptions): Promise<Page<ReturnOrder>>
  continue(cursor: string, options: CallOptions): Promise<Page<ReturnOrder>>
  pages(query: ReturnListQuery, options: CallOptions): AsyncGenerator<Page<ReturnOrder>, void, undefined>
}

/** Limit: public facts, section 5.1. */
const operations = {
  list: { name: 'returns.list', limit: perMinute(50), payloadKeys: ['returnOrders'] },
} as const satisfies Operations

const path = '/v3/returns'
const recordsAt = ['returnOrders']

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireReturnPage.safeParse(envelope)
  // Neither records nor a remark about them: this is some other document.
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

/** The returns operation of the specification, section 9, for one seller. */
const createReturnsClient = ({ caller, connection, onUnknownValue }: Host): ReturnsClient => {
  const page = (address: string, options: CallOptions) =>
    fetchPage(caller, listCall(operations.list, address, recordsAt), options, returnReader, readEnvelope, onUnknownValue)
  const returns: ReturnsClient = {
    list: (query, options) => page(target(query, connection.profile.maxPageSize), options),
    continue: (cursor, options) => page(withCursor(path, cursor), options),
    pages: (query, options) =>
      walk(
        () => returns.list(query, options),
        (cursor) => returns.continue(cursor, { signal: options.signal }),
        (last) =>
          caller.misfit(listCall(operations.list, path, recordsAt), {
            correlationId: last.correlationId,
            httpStatus: 200,
          }),
      ),
  }
  return returns
}

/** Returns (specification, section 9). */
export const returnsEndpoint = endpoint({ host: 'marketplace', operations, read: parseReturn, create: createReturnsClient })
