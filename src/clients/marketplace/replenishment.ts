import type { Call, Caller } from '../caller.ts'
import { wireReplenishmentPage } from '../contract/replenishment.ts'
import { MarketplaceFailure } from '../errors.ts'
import type { ReplenishmentClient, ReplenishmentQuery } from '../interface.ts'
import type { Profile } from '../profiles/profile.ts'
import type { ReadEnvelope } from './paging.ts'
import { readPage } from './paging.ts'
import type { OnUnknownValue } from './record.ts'
import { replenishmentReader } from './replenishment-record.ts'

const RECORDS_AT = ['payload', 'replenishments']

/** Only these are success: recommendations that a partial answer lacks would look withdrawn. */
const FINE = /^(?:OK|NO_CONTENT)$/i

const readEnvelope: ReadEnvelope = (envelope) => {
  const { data } = wireReplenishmentPage.safeParse(envelope)
  if (data === undefined || !FINE.test(data.status ?? 'OK')) return null
  return { totalCount: null, nextCursor: null }
}

/** What the live service answers when it knows none of the items: a fault of its own, by the code, and yet no fault (public facts, section 6.1). */
function knowsNoneOfThem(error: unknown): error is MarketplaceFailure {
  return (
    error instanceof MarketplaceFailure &&
    error.faults.some(({ code, description }) => code === '500.WFS.100' && /\binvalid\b/i.test(description ?? ''))
  )
}

/** The recommended shipment quantity of the specification, section 5, for one seller; path and names of the keys are the profile's. */
export function createReplenishmentClient(
  caller: Caller,
  { replenishmentPath, replenishmentRequest }: Profile,
  onUnknownValue: OnUnknownValue,
): ReplenishmentClient {
  const { keysIn, gtins, skus, mostKeys } = replenishmentRequest

  function callOf(query: ReplenishmentQuery): Call {
    const [name, keys] = 'skus' in query ? [skus, query.skus] : [gtins, query.gtins]
    if (keys.length === 0 || keys.length > mostKeys) {
      throw new RangeError(`a recommendation is asked for 1 to ${mostKeys} items, not for ${keys.length}`)
    }
    const inBody = keysIn === 'body'
    const parameters = keys.map((key) => `${encodeURIComponent(name)}=${encodeURIComponent(key)}`)
    return {
      operation: 'replenishment.recommend',
      method: 'POST',
      target: inBody ? replenishmentPath : `${replenishmentPath}?${parameters.join('&')}`,
      body: inBody ? JSON.stringify({ [name]: keys }) : null,
      // A lookup in all but its method: it changes nothing, so it may be repeated.
      write: false,
      recordsAt: RECORDS_AT,
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
