import { z } from 'zod'
import { identifier, lenient, numberLike, text } from './lenient.ts'
import { describePublished } from './published.ts'

/**
 * The stock on hand on the wire, as the live service publishes it; the specification does not have it. Loose: unknown fields are kept. Units are
 * not lenient; those that a record leaves out are unknown.
 */

const units = numberLike.nullish()

/** Units by the days since they arrived; the oldest ones are published under two names. */
const wireAge = z.looseObject({
  '0To90days': units,
  '91To180days': units,
  '181To270days': units,
  '271To365days': units,
  '365PlusDays': units,
  '366PlusDays': units,
})

/** The stock of one item. */
export const wireStock = z.looseObject({
  itemInformation: z.looseObject({
    sku: identifier,
    itemName: lenient(text),
    gtin: lenient(text),
    itemID: lenient(text),
    offerID: lenient(text),
    brand: lenient(text),
    itemCondition: lenient(text),
  }),
  inventoryData: z.looseObject({
    publishingStatus: lenient(text),
    itemLifecycle: lenient(text),
    stockStatus: lenient(text),
    availableUnits: numberLike,
    reservedUnits: units,
    onhandUnits: units,
    inboundUnits: units,
    unavailableUnits: z.looseObject({ inventoryReviewUnits: units, inventoryMovementUnits: units }).nullish(),
    inventoryAge: wireAge.nullish(),
    firstInStockDate: lenient(text),
  }),
  inventoryInsights: lenient(
    z.looseObject({
      daysOfSupply: lenient(numberLike),
      outOfStockDate: lenient(text),
      salesForecastWeek1to4: lenient(numberLike),
      salesForecastWeek5to8: lenient(numberLike),
      salesForecastWeek9to12: lenient(numberLike),
      sellThroughRate: lenient(numberLike),
      suggestedUnits: lenient(numberLike),
      surplusUnits: lenient(numberLike),
    }),
  ),
})

/** A page without its records (one that still holds any was not understood). */
export const wireStockPage = z.looseObject({
  headers: lenient(z.looseObject({ totalCount: lenient(numberLike), limit: lenient(numberLike) })),
  payload: z.looseObject({ inventory: z.array(z.unknown()).max(0) }).nullish(),
})

/** The stock of one item on the wire. */
export type WireStock = z.infer<typeof wireStock>

/** What is published about the stock of an item. */
export const publishedStock = describePublished(wireStock, {
  values: {
    'inventoryData.publishingStatus': ['PUBLISHED', 'UNPUBLISHED', 'PROCESSING', 'STAGE', 'ERROR', 'WFS_INELIGIBLE'],
    'inventoryData.itemLifecycle': ['ACTIVE', 'RETIRED', 'ARCHIVED'],
    'inventoryData.stockStatus': ['Out of stock', 'In stock', 'At risk'],
  },
})
