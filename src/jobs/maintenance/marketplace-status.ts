import { MarketplaceFailure } from '../../clients/http/errors.ts'
import { apiStatusEndpoint } from '../../clients/marketplace/utilities/api-status.ts'
import type { QuietLog } from '../../observability/log.ts'
import { buildErrorFields } from '../../queues/errors.ts'
import { renewSyncAlarms } from '../../store/alarms/alarms.ts'
import { findSellersWithDueStatus, storeMarketplaceStatus } from '../../store/alarms/marketplace-status.ts'
import type { Database } from '../../store/db/database.ts'
import type { SellerRegistry } from '../sellers/registry.ts'

/** Dependencies of reading the marketplace's status. */
export interface MarketplaceStatusParts {
  readonly database: Database
  readonly quiet: Pick<QuietLog, 'warn' | 'recovered'>
  readonly sellers: Pick<SellerRegistry, 'settings' | 'worksFor' | 'client'>
}

/**
 * Reads what each marketplace reports about its own operations, where that is due, and stores it for all sellers of this process at the same address: one of
 * them asks. A marketplace that does not answer is asked again by the next job.
 */
export const readMarketplaceStatuses = async (
  { database, quiet, sellers }: MarketplaceStatusParts,
  signal: AbortSignal,
): Promise<void> => {
  // Clients are taken before anything is waited for: a seller may be dropped meanwhile.
  const served = sellers
    .settings()
    .filter(({ sellerId }) => sellers.worksFor(sellerId))
    .flatMap(({ sellerId, marketplaceUrl, profile }) => {
      const status = sellers.client(sellerId).of(apiStatusEndpoint)
      return status === null ? [] : [{ sellerId, status, marketplace: JSON.stringify([marketplaceUrl, profile]) }]
    })
  if (served.length === 0) return
  const due = await findSellersWithDueStatus(
    database,
    served.map(({ sellerId }) => sellerId),
  )
  for (const ofMarketplace of Map.groupBy(served, ({ marketplace }) => marketplace).values()) {
    const asking = ofMarketplace.find(({ sellerId }) => due.has(sellerId))
    if (asking === undefined || signal.aborted) continue
    const { sellerId, status, marketplace } = asking
    const topic = `marketplace status ${marketplace}`
    try {
      const reported = await status.list({ signal, lane: 'poll' })
      const sellerIds = ofMarketplace.map((one) => one.sellerId)
      await storeMarketplaceStatus(
        database,
        sellerIds,
        reported.map(({ updatedAt, ...group }) => ({ ...group, since: updatedAt })),
      )
      // Their next failed runs may come ten minutes later.
      await renewSyncAlarms(database, sellerIds)
      quiet.recovered(topic, 'the status of the marketplace is read again')
    } catch (error) {
      if (!(error instanceof MarketplaceFailure)) throw error
      const fields = { ...buildErrorFields(error), seller_id: sellerId }
      quiet.warn(topic, fields, 'the status of the marketplace cannot be read; it is requested again in a minute')
    }
  }
}
