import { z } from 'zod'
import { identifier, lenient, numberLike, text, timestampLike } from './lenient.ts'
import { describePublished } from './published.ts'

/**
 * The inventory log on the wire (specification, "Inventory log entry"; public facts, section 7.1). Loose: unknown fields are kept. Units
 * and their time are not lenient.
 */

/** One movement of stock. */
export const wireInventoryLogEntry = z.looseObject({
  id: identifier,
  fcName: lenient(text),
  changedUnits: numberLike,
  transactionTime: timestampLike,
  transactionLocation: lenient(text),
  transactionReasonCode: lenient(text),
  transactionReasonDesc: lenient(text),
  transactionType: lenient(text),
  shipmentId: lenient(text),
})

/** A page of the log, its entries cut out (a page that still contains some is unreadable). */
export const wireInventoryLogPage = z.looseObject({
  headers: lenient(z.looseObject({ limit: lenient(numberLike), offset: lenient(numberLike), totalCount: lenient(numberLike) })),
  payload: z
    .looseObject({
      gtin: lenient(text),
      vendorSku: lenient(text),
      productName: lenient(text),
      inventoryLog: z.array(z.unknown()).max(0).nullish(),
    })
    .nullish(),
})

/** An entry on the wire. */
export type WireInventoryLogEntry = z.infer<typeof wireInventoryLogEntry>

/** What is published about an entry (specification; public facts, section 7.1). */
export const publishedInventoryLogEntry = describePublished(wireInventoryLogEntry, {
  values: {
    transactionType: ['Receipt', 'Adjustment', 'Ship', 'Return'],
    transactionLocation: ['Inventory', 'Salvage'],
  },
})
