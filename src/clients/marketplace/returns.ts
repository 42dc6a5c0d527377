import type { Caller } from '../caller.ts'
import { wireReturnPage } from '../contract/returns.ts'
import type { CallOptions, ReturnListQuery, ReturnsClient } from '../interface.ts'
import type { ReadEnvelope } from './paging.ts'
import { fetchPage, listCall, queryString, walk, wireDate, withCursor } from './paging.ts'
import type { OnUnknownValue } from './record.ts'
import { returnReader } from './return-record.ts'

const PATH = '/v3/returns'
const RECORDS_AT = ['returnOrders']

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireReturnPage.safeParse(envelope)
  // Neither records nor a remark about them: this is some other document.
  if (data === undefined || (data.returnOrders === undefined && data.meta === undefined)) return null
  return { totalCount: data.meta?.totalCount, nextCursor: data.meta?.nextCursor }
}

function target(query: ReturnListQuery, maxPageSize: number): string {
  const window =
    'lastModifiedFrom' in query
      ? {
          returnLastModifiedStartDate: wireDate(query.lastModifiedFrom, 'from'),
          returnLastModifiedEndDate: wireDate(query.lastModifiedTo, 'to'),
        }
      : { returnCreationStartDate: wireDate(query.createdFrom, 'from'), returnCreationEndDate: wireDate(query.createdTo, 'to') }
  return PATH + queryString({ ...window, limit: Math.min(query.limit, maxPageSize) })
}

/** The returns operation of the specification, section 9, for one seller. */
export function createReturnsClient(caller: Caller, maxPageSize: number, onUnknownValue: OnUnknownValue): ReturnsClient {
  const page = (address: string, options: CallOptions) =>
    fetchPage(caller, listCall('returns.list', address, RECORDS_AT), options, returnReader, readEnvelope, onUnknownValue)
  const returns: ReturnsClient = {
    list: (query, options) => page(target(query, maxPageSize), options),
    continue: (cursor, options) => page(withCursor(PATH, cursor), options),
    pages: (query, options) =>
      walk(
        () => returns.list(query, options),
        (cursor) => returns.continue(cursor, { signal: options.signal }),
        (last) =>
          caller.misfit(listCall('returns.list', PATH, RECORDS_AT), { correlationId: last.correlationId, httpStatus: 200 }),
      ),
  }
  return returns
}
