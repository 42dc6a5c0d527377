import type { StockOnHand } from '../../domain/inventory/stock.ts'
import { wireStockPage } from '../contract/stock.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { wholeNumber } from '../http/json.ts'
import { perMinute } from '../http/operation.ts'
import type { Page } from '../http/record.ts'
import { endpoint, type Host } from './endpoint.ts'
import { buildListCall, queryString, type ReadEnvelope, readPage } from './paging.ts'
import { parseStock, stockReader } from './stock-record.ts'

/** A part of the list of all items. */
export interface StockQuery {
  /** Items to skip. */
  readonly offset: number
  readonly limit: number
}

/** A page of the list; its `nextCursor` is the offset of the next one. */
export interface StockPage extends Page<StockOnHand> {
  /** It is not full although more items follow: some were left out. */
  readonly isShort: boolean
}

/** Stock on hand at the fulfilment service, item by item. */
export interface StockClient {
  /**
   * One page; null when the marketplace has no stock of this seller, who is then not enrolled.
   *
   * @throws MarketplaceFailure
   */
  list(query: StockQuery, options: CallOptions): Promise<StockPage | null>
}

/** The limit is not published; this is a neighbour's (public facts, section 5.1). */
const operations = {
  list: { name: 'inventory.list', limit: perMinute(20), payloadKeys: ['payload'] },
} as const satisfies Operations

const recordsAt = ['payload', 'inventory']

const createStockClient = ({ caller, connection, onUnknownValue }: Host): StockClient | null => {
  const { stockPath } = connection.profile
  if (stockPath === null) return null
  return {
    async list({ offset, limit }, options) {
      const call = buildListCall(operations.list, stockPath + queryString({ limit, offset }), recordsAt)
      const answer = await caller.call(call, options)
      if (!answer.found) return null
      const count = answer.records.length
      const end = offset + count
      let pageSize = limit
      const readEnvelope: ReadEnvelope = (envelope) => {
        const { data } = wireStockPage.safeParse(envelope)
        if (data === undefined) return null
        const total = wholeNumber(data.headers?.totalCount)
        // No list, or announced items that do not arrive, are no end of the list.
        if ((data.payload ?? null) === null ? total !== 0 : count === 0 && total !== null && total > offset) return null
        // The marketplace may allow fewer items than were asked for.
        pageSize = Math.min(limit, wholeNumber(data.headers?.limit) ?? limit)
        const isLast = count === 0 || (total === null ? count < pageSize : end >= total)
        return { totalCount: total, nextCursor: isLast ? null : String(end) }
      }
      const page = await readPage(caller, call, answer, stockReader, readEnvelope, onUnknownValue)
      return { ...page, isShort: page.nextCursor !== null && count < pageSize }
    },
  }
}

/** Stock on hand; a marketplace whose profile names no path does not have it. */
export const stockEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseStock,
  create: createStockClient,
})
