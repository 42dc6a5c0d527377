import { z } from 'zod'
import { inboundStates } from '../../domain/inventory/inbound-receipts.ts'

// Shapes of the stock on hand. Dates are sent as ISO 8601 in UTC, bigints and decimals as text.

const units = z.int().nullable()
const maybe = z.string().nullable()
const expectation = maybe.meta({ description: 'A decimal; what the marketplace expects.' })

/** The stock on hand of a SKU. */
export const stockSchema = z
  .object({
    sellerId: z.string(),
    sku: z.string(),
    itemName: maybe,
    gtin: maybe,
    itemId: maybe,
    offerId: maybe,
    brand: maybe,
    itemCondition: maybe,
    publishingStatus: maybe,
    lifecycle: maybe,
    stockStatus: maybe,
    availableUnits: z.int().meta({ description: 'Units that can be sold.' }),
    reservedUnits: units.meta({ description: 'Units of orders that are not shipped yet.' }),
    onHandUnits: units.meta({ description: 'Available, reserved and unavailable units.' }),
    inboundUnits: units.meta({ description: 'Units on their way to the fulfillment service.' }),
    inReviewUnits: units.meta({ description: 'Unavailable: the marketplace reviews them.' }),
    inMovementUnits: units.meta({ description: 'Unavailable: they move between warehouses.' }),
    ageUnits: z
      .object({ days0To90: units, days91To180: units, days181To270: units, days271To365: units, daysOver365: units })
      .meta({ description: 'Units by the days since they arrived.' }),
    firstInStockOn: maybe.meta({ description: '`YYYY-MM-DD`.' }),
    insights: z.object({
      daysOfSupply: expectation,
      outOfStockOn: maybe.meta({ description: '`YYYY-MM-DD`.' }),
      salesForecastWeeks1To4: expectation,
      salesForecastWeeks5To8: expectation,
      salesForecastWeeks9To12: expectation,
      sellThroughRate: expectation,
      suggestedUnits: expectation,
      surplusUnits: expectation,
    }),
    missingSince: z.date().nullable().meta({ description: "Since then the marketplace's list is without the SKU." }),
    observedAt: z.date().meta({ description: "When the marketplace returned this version, on the marketplace's clock." }),
    changedAt: z.date(),
  })
  .meta({ id: 'StockOnHand' })

/** A difference between stock on hand and inventory log. */
export const stockDifferenceSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    sku: z.string(),
    gtin: maybe,
    countedUnits: z.int().meta({ description: "Units on hand, by the marketplace's list." }),
    balanceUnits: z
      .int()
      .meta({ description: 'The opening units, and the movements of the inventory log from `openingAt` to `asOf`.' }),
    difference: z.int().meta({ description: 'countedUnits minus balanceUnits.' }),
    asOf: z.date().meta({ description: "When the list stated the counted units, on the marketplace's clock." }),
    openingUnits: z.int().meta({ description: 'The ending of the newest monthly report that covers no later time than `asOf`.' }),
    openingAt: z.date().meta({ description: 'Up to when that report counts movements.' }),
    unitPrice: maybe.meta({ description: "The SKU's last known price when this was found or last changed." }),
    value: maybe.meta({ description: 'The differing units at that price.' }),
    currency: maybe,
    state: z.enum(['open', 'resolved']),
    resolution: z
      .enum(['agrees', 'withdrawn'])
      .nullable()
      .meta({ description: 'agrees: list and log agree again; withdrawn: they can no longer be compared.' }),
    firstSeenAt: z.date(),
    changedAt: z.date(),
    resolvedAt: z.date().nullable(),
  })
  .meta({ id: 'StockDifference' })

/** A SKU in an inbound shipment. */
export const inboundLineSchema = z
  .object({
    sellerId: z.string(),
    shipmentId: z.string().meta({ description: 'As in the inventory log.' }),
    sku: z.string(),
    sentUnits: z.int(),
    receivedUnits: z.int().meta({ description: 'Receipts of the inventory log with this shipment id, with their corrections.' }),
    difference: z.int().meta({ description: 'receivedUnits minus sentUnits.' }),
    shippedAt: z.date(),
    expectedBy: z
      .date()
      .meta({ description: 'When all units should be received: from the event, or 30 days after `shippedAt`.' }),
    deliveredAt: z
      .date()
      .nullable()
      .meta({ description: 'When the fulfillment center got the shipment, from the event; null: it states none.' }),
    firstReceivedAt: z.date().nullable().meta({ description: 'The first receipt of the SKU; null: none.' }),
    completeAt: z.date().nullable().meta({ description: 'Since when all sent units are received; null: they are not.' }),
    logReadUpTo: z
      .date()
      .nullable()
      .meta({ description: 'Up to when the log of the SKU was read when the two were compared; null: never.' }),
    state: z.enum(inboundStates).meta({
      description:
        'open: less was received, and the log is not read up to `expectedBy`; short: it is; complete: as many as sent; over: more than sent; unknown-sku: nothing was received, and neither orders, stock, reports nor the log have the SKU.',
    }),
    late: z.boolean().meta({ description: 'Not all units were received by `expectedBy`.' }),
    firstSeenAt: z.date(),
    changedAt: z.date(),
  })
  .meta({ id: 'InboundShipmentLine' })
