import { stockEndpoint } from '../../../clients/marketplace/stock.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { stockStore } from '../../../store/inventory/stock.ts'
import { withdrawUnlistedStock } from '../../../store/inventory/stock-differences.ts'
import { findNewReadings, recordReadings } from '../../../store/inventory/stock-readings.ts'
import { listing } from '../engine/listings.ts'
import { resource } from '../engine/resource.ts'
import { NotEnrolled } from '../recovery/errors.ts'

const all = listing({
  endpoint: stockEndpoint,
  operation: stockEndpoint.operations.list,
  parts: [null],
  list: async (items, _part, { startIndex, count }, options) => {
    const page = await items.list({ offset: startIndex, limit: count }, options)
    if (page === null) throw new NotEnrolled('the marketplace has no stock of this seller')
    return { ...page, moved: page.isShort }
  },
  // The stock is compared with the inventory log. Records without units on hand cannot be compared.
  inSameTransaction: async ({ client: { sellerId }, database }, { records, observedAt }) => {
    const listed = records.flatMap((record) => {
      if (!record.ok || record.value.onHandUnits === null) return []
      const { sku, gtin, onHandUnits } = record.value
      return [{ sku, gtin, units: onHandUnits }]
    })
    const readings = await findNewReadings(database, sellerId, observedAt, listed)
    return readings.length === 0 ? undefined : (tx) => recordReadings(tx, sellerId, observedAt, readings)
  },
})

/** Stock on hand at the fulfilment service, for sellers that are enrolled in it, where the profile has the operation. */
export const stock = resource({
  name: 'inventory',
  endpoint: stockEndpoint,
  poll: pollIntervals.inventory,
  enrolment: 'needed',
  streams: { all },
  table: {
    ...stockStore,
    noteMissing: async (tx, sellerId, observedAt, skus) => {
      const missing = await stockStore.noteMissing(tx, sellerId, observedAt, skus)
      await withdrawUnlistedStock(tx, sellerId, skus)
      return missing
    },
  },
})
