import type { ReplenishmentRecommendation } from '../../domain/replenishment.ts'
import type { CallOptions } from '../call-options.ts'
import type { Call } from '../caller.ts'
import { wireReplenishmentPage } from '../contract/replenishment.ts'
import type { Operations } from '../endpoint.ts'
import { MarketplaceFailure } from '../errors.ts'
import { perMinute } from '../operation.ts'
import type { Page } from '../record.ts'
import { endpoint, type Host } from './endpoint.ts'
import type { ReadEnvelope } from './paging.ts'
import { readPage } from './paging.ts'
import { parseReplenishment, replenishmentReader } from './replenishment-record.ts'

/** Items to ask a recommendation for, by SKU or by GTIN; at most as many as the profile allows in one request. */
export type ReplenishmentQuery = { readonly skus: readonly string[] } | { readonly gtins: readonly string[] }

/** What the marketplace recommends to send to the fulfilment service. */
export interface ReplenishmentClient {
  /**
   * Recommendations on one page; items that have none are left out of it.
   *
   * @throws MarketplaceFailure; RangeError when no key, or more than one request may carry, is given
   */
  recommend(query: ReplenishmentQuery, options: CallOptions): Promise<Page<ReplenishmentRecommendation>>
  /** Most keys that one request may carry. */
  readonly mostKeys: number
}

/** A lookup in all but its method: it changes nothing, so it may be repeated. Limit: public facts, section 5.1. */
const operations = {
  recommend: { name: 'replenishment.recommend', limit: perMinute(100), payloadKeys: ['payload'] },
} as const satisfies Operations

const recordsAt = ['payload', 'replenishments']

/** Only these are success: recommendations that a partial answer lacks would look withdrawn. */
const fine = /^(?:OK|NO_CONTENT)$/i

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireReplenishmentPage.safeParse(envelope)
  if (data === undefined || !fine.test(data.status ?? 'OK')) return null
  return { totalCount: null, nextCursor: null }
}

/** What the live service answers when it knows none of the items: a fault of its own, by the code, and yet no fault (public facts, section 6.1). */
const knowsNoneOfThem = (error: unknown): error is MarketplaceFailure =>
  error instanceof MarketplaceFailure &&
  error.faults.some(({ code, description }) => code === '500.WFS.100' && /\binvalid\b/i.test(description ?? ''))

/** The recommended shipment quantity of the specification, section 5, for one seller; path and names of the keys are the profile's. */
const createReplenishmentClient = ({ caller, connection, onUnknownValue }: Host): ReplenishmentClient => {
  const { replenishmentPath, replenishmentRequest } = connection.profile
  const { keysIn, gtins, skus, mostKeys } = replenishmentRequest

  const callOf = (query: ReplenishmentQuery): Call => {
    const [name, keys] = 'skus' in query ? [skus, query.skus] : [gtins, query.gtins]
    if (keys.length === 0 || keys.length > mostKeys) {
      throw new RangeError(`a recommendation is asked for 1 to ${mostKeys} items, not for ${keys.length}`)
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
    mostKeys,
    async recommend(query, options) {
      const call = callOf(query)
      const askedAt = caller.clock.now()
      try {
        const answer = await caller.call(call, options)
        return await readPage(caller, call, answer, replenishmentReader, readEnvelope, onUnknownValue)
      } catch (error) {
        if (!knowsNoneOfThem(error)) throw error
        return {
          records: [],
          totalCount: null,
          nextCursor: null,
          observedAt: askedAt,
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
