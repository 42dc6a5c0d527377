import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseOrder } from '../../src/clients/marketplace/orders/order-record.ts'
import { findValidVersion, replayOrder } from '../../src/domain/orders/order-history.ts'
import { readOldestVersions, readOrderTimes } from '../../src/store/orders/order-versions.ts'
import { markMissingOrders } from '../../src/store/orders/orders.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { withDatabase } from '../support/database.ts'
import { storeOrders } from '../support/store.ts'
import { lineWith, orderWith, readable, wireStatus } from './support/records.ts'

const stage = withDatabase()
let sellers = 0

/** A view of an order: units of its lines by state, in the sequence of the states, so that a later view may show less. */
const view = fc.record({
  lines: fc.uniqueArray(
    fc.record({
      number: fc.constantFrom('1', '2', '3'),
      shipped: fc.nat(2),
      cancelled: fc.nat(1),
      parcel: fc.constantFrom('1ZA', '1ZB'),
      price: fc.constantFrom(0, 19.9, 25),
    }),
    { selector: ({ number }) => number, minLength: 1, maxLength: 3 },
  ),
  phone: fc.constantFrom('0000000000', '5550100', '5550101'),
  /** The marketplace did not return the order before it. */
  wasMissing: fc.boolean(),
})

const toRecord = ({ lines, phone }: typeof view extends fc.Arbitrary<infer View> ? View : never) =>
  orderWith(
    '1',
    lines.map(({ number, shipped, cancelled, parcel, price }) => {
      const trackingInfo = { carrierName: { carrier: 'UPS' }, trackingNumber: parcel, methodCode: 'Standard' }
      const counts = { Shipped: shipped, Cancelled: cancelled, Created: 3 - shipped - cancelled }
      const statuses = Object.entries(counts).flatMap(([status, units]) =>
        units === 0 ? [] : [wireStatus(status, units, status === 'Shipped' ? { trackingInfo } : {})],
      )
      const charge = {
        chargeType: 'PRODUCT',
        chargeName: 'ItemPrice',
        chargeAmount: { currency: 'USD', amount: price },
        tax: null,
      }
      return lineWith(number, 3, statuses, { charges: { charge: [charge] } })
    }),
    { shippingInfo: { phone, methodCode: 'Standard' } },
  )

test('an order at a time is what was stored then, for random histories', async () => {
  let replays = 0
  await fc.assert(
    fc.asyncProperty(fc.array(view, { minLength: 1, maxLength: 8 }), async (views) => {
      sellers += 1
      const key = { sellerId: `history-${sellers}`, purchaseOrderId: '1' }
      const stored = async () => ({
        order: await readOrder(stage.database, key.sellerId, '1'),
        row: await stage.database.prisma.order.findFirst({ where: key, select: { changedAt: true, open: true } }),
      })
      const states: Awaited<ReturnType<typeof stored>>[] = []
      for (const [index, one] of views.entries()) {
        const observedAt = new Date(Date.UTC(2026, 0, 1 + index))
        if (one.wasMissing) await stage.database.transaction((tx) => markMissingOrders(tx, key.sellerId, observedAt, ['1']))
        await storeOrders(stage.database, { sellerId: key.sellerId, records: [toRecord(one)], observedAt })
        states.push(await stored())
      }
      const times = await readOrderTimes(stage.database, key)
      if (times === null) throw new Error('the order is not stored')
      const asked = [
        ...new Set(states.flatMap(({ row }) => [row?.changedAt.getTime() ?? 0, (row?.changedAt.getTime() ?? 0) + 1])),
      ]
      for (const time of asked) {
        const expected = states.findLast(({ row }) => (row?.changedAt.getTime() ?? 0) <= time)
        const valid = findValidVersion(times.periods, times.firstSeenAt, new Date(time))
        // An order that was missing and returned unchanged, before any other version: its row has only the time of the return.
        if (valid.found === 'not-kept') {
          expect(views.some(({ wasMissing }) => wasMissing)).toBe(true)
          expect(times.periods[0]?.from.getTime()).toBeGreaterThan(time)
          continue
        }
        if (valid.found !== 'version') throw new Error(`at ${time}: ${valid.found}`)
        if (valid.to === null) {
          expect(states.at(-1)?.order).toEqual(expected?.order)
          continue
        }
        const texts = await readOldestVersions(stage.database, key, valid.index + 1)
        const replayed = replayOrder(texts.map((text) => readable(parseOrder(text)).value))
        replays += 1
        expect(replayed?.order).toEqual(expected?.order)
        expect(replayed?.open).toBe(expected?.row?.open)
      }
    }),
    { numRuns: 40 },
  )
  expect(replays).toBeGreaterThan(0)
})
