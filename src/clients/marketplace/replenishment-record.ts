import type { ReplenishmentRecommendation } from '../../domain/replenishment.ts'
import type { WireReplenishment } from '../contract/replenishment.ts'
import { wireReplenishment } from '../contract/replenishment.ts'
import { wholeNumber } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, readAny, textOf } from '../record.ts'

const unitsOf = (field: string, value: string | number | null | undefined): number | null => {
  if (value === undefined || value === null || value === '') return null
  const units = wholeNumber(value)
  if (units === null) throw new RecordFault(`${field}: not a whole number of units`)
  return units
}

const recommendationOf = (wire: WireReplenishment, raw: Readonly<Record<string, unknown>>): ReplenishmentRecommendation => ({
  itemId: textOf(wire.itemId),
  gtin: textOf(wire.gtin),
  upc: textOf(wire.upc),
  vendorSku: String(wire.vendorSku),
  suggestedQuantity: unitsOf('suggestedQty', wire.suggestedQty),
  maxQuantity: unitsOf('maxQty', wire.maxQty),
  raw,
})

/** How a recommendation is read. */
export const replenishmentReader: RecordReader<WireReplenishment, ReplenishmentRecommendation> = {
  resource: 'replenishment',
  schema: wireReplenishment,
  keyField: 'vendorSku',
  toDomain: recommendationOf,
}

/** Reads one recommendation from its JSON text (exact) or from a parsed value; for replaying records in quarantine. Never throws. */
export const parseReplenishment = (
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<ReplenishmentRecommendation> => readAny(replenishmentReader, raw, onUnknownValue)
