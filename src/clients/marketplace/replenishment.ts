import type { ReplenishmentRecommendation } from '../../domain/inventory/replenishment.ts'
import { wireReplenishmentPage } from '../contract/replenishment.ts'
import type { Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { MarketplaceFailure } from '../http/errors.ts'
import { perMinute } from '../http/operation.ts'
import type { Page } from '../http/record.ts'
import { endpoint, type Host } from './endpoint.ts'
import type { ReadEnvelope } from './paging.ts'
import { readPage } from './paging.ts'
import { parseReplenishment, replenishmentReader } from './replenishment-record.ts'

/** Items to be recommended, by SKU or by GTIN. The profile limits their number in one request. */
export type ReplenishmentQuery = { readonly skus: readonly string[] } | { readonly gtins: readonly string[] }

/** Recommended quantities to send to the fulfilment service. */
export interface ReplenishmentClient {
  /**
   * Recommendations on one page, without items that have none.
   *
   * @throws MarketplaceFailure; RangeError for no keys or too many
   */
  recommend(query: ReplenishmentQuery, options: CallOptions): Promise<Page<ReplenishmentRecommendation>>
  /** Maximum number of keys in one request. */
  readonly maxKeys: number
}

/** A read in spite of its method POST: it changes nothing, so it may be repeated. Limit: public facts, section 5.1. */
const operations = {
  recommend: { name: 'replenishment.recommend', limit: perMinute(100), payloadKeys: ['payload'] },
} as const satisfies Operations

const recordsAt = ['payload', 'replenishments']

/** The statuses of complete answers: recommendations that are missing in a partial answer would be read as withdrawn. */
const successStatus = /^(?:OK|NO_CONTENT)$/i

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireReplenishmentPage.safeParse(envelope)
  if (data === undefined || !successStatus.test(data.status ?? 'OK')) return null
  return { totalCount: null, nextCursor: null }
}

/** The answer of the live service for unknown items: a server error by its code, although nothing has failed (public facts, section 6.1). */
const isUnknownItems = (error: unknown): error is MarketplaceFailure =>
  error instanceof MarketplaceFailure &&
  error.faults.some(({ code, description }) => code === '500.WFS.100' && /\binvalid\b/i.test(description ?? ''))

/** The recommended shipment quantity of the specification, section 5, for one seller. The profile has the path and the names of the keys. */
const createReplenishmentClient = ({ caller, connection, onUnknownValue }: Host): ReplenishmentClient => {
  const { replenishmentPath, replenishmentRequest } = connection.profile
  const { keysIn, gtins, skus, maxKeys } = replenishmentRequest

  const buildCall = (query: ReplenishmentQuery): Call => {
    const [name, keys] = 'skus' in query ? [skus, query.skus] : [gtins, query.gtins]
    if (keys.length === 0 || keys.length > maxKeys) {
      throw new RangeError(`a recommendation request needs 1 to ${maxKeys} items, not ${keys.length}`)
    }
    const inBody = keysIn === 'body'
    const parameters = keys.map((key) => `${encodeURIComponent(name)}=${encodeURIComponent(key)}`)
    return {
      operation: operations.recommend,
      method: 'POST',
      target: inBody ? replenishmentPath : `${replenishmentPath}?${parameters.join('&')}`,
      body: inBody ? JSON.stringify({ [name]: keys }) : null,
      recordsAt: recordsAt,
    }
  }

  return {
    maxKeys,
    async recommend(query, options) {
      const call = buildCall(query)
      const requestedAt = caller.clock.now()
      try {
        const answer = await caller.call(call, options)
        return await readPage(caller, call, answer, replenishmentReader, readEnvelope, onUnknownValue)
      } catch (error) {
        if (!isUnknownItems(error)) throw error
        return {
          records: [],
          totalCount: null,
          nextCursor: null,
          observedAt: requestedAt,
          marketplaceNow: caller.clock.now(),
          correlationId: error.correlationId,
        }
      }
    },
  }
}

/** The recommended shipment quantity (specification, section 5). */
export const replenishmentEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseReplenishment,
  create: createReplenishmentClient,
})
