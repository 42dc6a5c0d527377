import { maxOffset, type Query, readWhole, readWord, returnDate } from '../calls/query.ts'
import { refuseParameter } from '../core/errors.ts'
import { viewReturn } from '../http/return-view.ts'
import type { ReturnOrder } from '../rules/returns-model.ts'
import type { ReturnFilter } from '../store/returns.ts'
import type { World } from '../world.ts'
import type { ListPage, ReadOptions } from './orders-read.ts'

const defaultLimit = 10
const maxLimit = 200
const filterParameters = [
  'returnOrderId',
  'customerOrderId',
  'status',
  'returnType',
  'isWFSEnabled',
  'replacementInfo',
  'returnCreationStartDate',
  'returnCreationEndDate',
  'returnLastModifiedStartDate',
  'returnLastModifiedEndDate',
] as const

/** `GET /v3/returns`: newest first, by offset, over a set that moves (public facts, section 4.1). */
export const listReturns = (world: World, query: Query, options: ReadOptions): ListPage => {
  const { sellerId, asOf, now } = options
  const limit = readWhole(query, 'limit', defaultLimit, [1, maxLimit])
  const offset = readWhole(query, 'offset', 0, [0, maxOffset])
  const created = readWindow(query, 'returnCreationStartDate', 'returnCreationEndDate')
  const modified = readWindow(query, 'returnLastModifiedStartDate', 'returnLastModifiedEndDate')
  const wfs = readWord(query, 'isWFSEnabled', ['Y', 'N'])
  const filter: ReturnFilter = {
    sellerId,
    returnOrderId: query.get('returnOrderId'),
    customerOrderId: query.get('customerOrderId'),
    status: readWord(query, 'status', ['INITIATED', 'DELIVERED', 'COMPLETED']),
    returnType: readWord(query, 'returnType', ['REPLACEMENT', 'REFUND', 'PREORDER']),
    wfs: wfs === null ? null : wfs === 'Y',
    createdFrom: created.from,
    createdTo: created.to,
    modifiedFrom: modified.from,
    modifiedTo: modified.to,
    asOf,
    now,
  }
  const totalCount = world.returns.count(filter)
  const view = (order: ReturnOrder): Record<string, unknown> => viewReturn(order, options.liveFields)
  const records = world.returns.list(filter, limit, offset).map(view)
  const next = offset + records.length
  const overlap = Math.min(offset, options.previousRows)
  return {
    totalCount,
    limit,
    records,
    previous: overlap === 0 ? [] : world.returns.list(filter, overlap, offset - overlap).map(view),
    onCursor: query.get('offset') !== null,
    nextCursor: records.length === limit && next < totalCount ? buildCursor(query, sellerId, limit, next) : null,
  }
}

/** A window needs both of its ends (public facts, section 4.1). */
const readWindow = (query: Query, start: string, end: string): { from: number | null; to: number | null } => {
  const from = returnDate(query, start)
  const to = returnDate(query, end)
  if ((from === null) !== (to === null))
    throw refuseParameter(from === null ? start : end, `${start} and ${end} must be given together`)
  if (from !== null && to !== null && from > to) throw refuseParameter(start, `${start} must not be after ${end}`)
  return { from, to }
}

const buildCursor = (query: Query, sellerId: string, limit: number, offset: number): string => {
  const parts = [`sellerId=${encodeURIComponent(sellerId)}`, `limit=${limit}`, `offset=${offset}`]
  for (const name of filterParameters) {
    const value = query.get(name)
    if (value !== null) parts.push(`${name}=${encodeURIComponent(value)}`)
  }
  return `?${parts.join('&')}`
}
