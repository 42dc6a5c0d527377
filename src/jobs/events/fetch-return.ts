import type { CallOptions } from '../../clients/http/call-options.ts'
import { MarketplaceFailure } from '../../clients/http/errors.ts'
import type { ReturnCommands } from '../../clients/http/order-commands.ts'
import type { Observed } from '../../clients/http/record.ts'
import type { ReturnOrder } from '../../domain/orders/return.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Database } from '../../store/db/database.ts'
import { findOrdersOfReturn, type ReturnKey, storeReturn } from '../../store/orders/returns.ts'
import { isSellerInactive } from '../../store/sellers/sellers.ts'
import { storageFault } from '../../store/versioned/versions.ts'
import { errorMessage } from '../../util/error-message.ts'
import type { OrderPresence } from './fetch-order.ts'

/** Fetches returns that an event names before a sync has brought them. */
export interface ReturnFetcher {
  /** Never throws for what the marketplace does; throws when Postgres fails. */
  ensure(key: ReturnKey, signal: AbortSignal): Promise<OrderPresence>
}

/** Dependencies of a fetcher of returns. */
export interface ReturnFetcherParts {
  readonly database: Database
  /** The marketplace's returns of one seller. */
  readonly findReturns: (sellerId: string) => Pick<ReturnCommands, 'get'>
  readonly quiet: Pick<QuietLog, 'warn'>
  /** Timeout of the marketplace, in milliseconds. */
  readonly fetchTimeoutMs?: number
  /** Our own clock, epoch ms. */
  readonly now?: () => number
}

/** Fetches one return and stores it. What cannot be read or stored is left to the sync of returns, which quarantines it. */
export const createReturnFetcher = ({
  database,
  findReturns,
  quiet,
  fetchTimeoutMs = 10_000,
  now = Date.now,
}: ReturnFetcherParts): ReturnFetcher => {
  const later = (reason: string, againInMs: number | null = null): OrderPresence => ({ presence: 'later', reason, againInMs })

  const store = async ({ sellerId, returnOrderId }: ReturnKey, { record, observedAt }: Observed<ReturnOrder>) => {
    if (!record.ok) return later(`return ${returnOrderId} cannot be read (${record.fault})`)
    try {
      await database.transaction((tx) => storeReturn(tx, sellerId, observedAt, record))
      return { presence: 'stored' } as const
    } catch (error) {
      const fault = storageFault(error)
      if (fault === null) throw error
      return later(`return ${returnOrderId} cannot be stored (${fault})`)
    }
  }

  return {
    ensure: async (key, signal) => {
      const { sellerId, returnOrderId } = key
      if ((await findOrdersOfReturn(database, sellerId, returnOrderId)) !== null) return { presence: 'stored' }
      if (await isSellerInactive(database, sellerId)) return later(`seller ${sellerId} is stopped or paused`)
      const options: CallOptions = { signal: AbortSignal.any([signal, AbortSignal.timeout(fetchTimeoutMs)]) }
      let observed: Observed<ReturnOrder> | null
      try {
        observed = await findReturns(sellerId).get(returnOrderId, options)
      } catch (error) {
        const fields = { err: error, seller_id: sellerId, return_order_id: returnOrderId }
        quiet.warn(`return-lookup:${sellerId}`, fields, 'an event waits: its return cannot be fetched now')
        const retryAt = error instanceof MarketplaceFailure ? error.retryAt : null
        return later(errorMessage(error), retryAt === null ? null : Math.max(0, retryAt.getTime() - now()))
      }
      return observed === null ? { presence: 'unknown' } : store(key, observed)
    },
  }
}
