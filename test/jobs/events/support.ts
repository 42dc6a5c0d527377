import type { ParsedRecord } from '../../../src/clients/http/record.ts'
import type { PurchaseOrder } from '../../../src/domain/orders/order.ts'
import type { AcceptParts } from '../../../src/jobs/events/accept.ts'
import { createOrderFetcher, type EventSellers } from '../../../src/jobs/events/fetch-order.ts'
import type { Database } from '../../../src/store/db/database.ts'

/** A marketplace that answers with the orders it is given, counts questions, and fails when told to. */
export const marketplace = () => {
  const orders = new Map<string, PurchaseOrder>()
  const state = { asked: 0, failure: null as Error | null }
  return {
    state,
    orders,
    get: async (purchaseOrderId: string) => {
      state.asked += 1
      if (state.failure !== null) throw state.failure
      const found = orders.get(purchaseOrderId)
      if (found === undefined) return null
      const record: ParsedRecord<PurchaseOrder> = {
        ok: true,
        key: purchaseOrderId,
        value: found,
        rawText: JSON.stringify({ purchaseOrderId, lines: found.lines }),
      }
      return { record, observedAt: new Date('2026-03-01T12:00:00Z'), correlationId: 'c-1', httpStatus: 200 }
    },
  }
}

/** What events need, around a marketplace of the test's own. The clock of pauses moves only when told. */
export const parts = (
  database: Database,
  shop: ReturnType<typeof marketplace>,
  sellerIds: readonly string[] = ['s-1'],
  more: Partial<AcceptParts> = {},
): AcceptParts & { readonly woken: string[]; readonly clock: { nowMs: number } } => {
  const woken: string[] = []
  const clock = { nowMs: 1_000_000 }
  const sellers: EventSellers = {
    only: () => (sellerIds.length === 1 ? (sellerIds[0] ?? null) : null),
    has: (sellerId) => sellerIds.includes(sellerId),
  }
  return {
    database,
    sellers,
    woken,
    clock,
    fetcher: createOrderFetcher({
      database,
      getOrdersClient: () => shop,
      quiet: { warn: () => undefined },
      secondAskMs: 5,
      now: () => clock.nowMs,
    }),
    onStored: (commandIds) => void woken.push(...commandIds),
    ...more,
  }
}
