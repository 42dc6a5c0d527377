import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import { orders } from '../../src/jobs/sync/resources/orders.ts'
import { returns } from '../../src/jobs/sync/resources/returns.ts'
import { storageFault } from '../../src/store/versioned/versions.ts'
import type { Daemon } from './daemon.ts'

const dayMs = 86_400_000

/** A process reads a page of orders and a page of returns, and stores what differs; answers what it has seen, as lines for a person. */
export const readPages = async (daemon: Daemon, sellerId: string, nowMs: number): Promise<readonly string[]> => {
  const client = daemon.sellers.client(sellerId)
  const options = { signal: new AbortController().signal }
  const createdFrom = new Date(nowMs - dayMs)
  const told: string[] = []
  const store = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (storageFault(error) === null) throw error
    }
  }
  try {
    const page = await client.of(ordersEndpoint).list({ shipNodeType: 'SellerFulfilled', createdFrom, limit: 100 }, options)
    const records = page.records.flatMap((record) => (record.ok ? [record] : []))
    const differing = await orders.table.findDiffering(daemon.database, sellerId, records)
    for (const record of differing)
      await store(() =>
        daemon.database.transaction((tx) => orders.table.store(tx, sellerId, page.observedAt, [record], daemon.saving)),
      )
    told.push(`a page of the order list, ${differing.length} orders differ`)
    const window = { createdFrom, createdTo: new Date(nowMs + dayMs), limit: 100 }
    const found = await client.of(returnsEndpoint).list(window, options)
    const returned = found.records.flatMap((record) => (record.ok ? [record] : []))
    const changed = await returns.table.findDiffering(daemon.database, sellerId, returned)
    for (const record of changed)
      await store(() =>
        daemon.database.transaction((tx) => returns.table.store(tx, sellerId, found.observedAt, [record], daemon.saving)),
      )
    told.push(`a page of the returns, ${changed.length} differ`)
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
  }
  return told
}
