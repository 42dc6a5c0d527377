import type { ReplenishmentRecommendation } from '../../domain/inventory/replenishment.ts'
import { normalSku } from '../../domain/values/text.ts'
import type { WireReplenishment } from '../contract/replenishment.ts'
import { publishedReplenishment, wireReplenishment } from '../contract/replenishment.ts'
import { wholeNumber } from '../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, parseSku, RecordFault, toText } from '../http/record.ts'

const parseUnits = (field: string, value: string | number | null | undefined): number | null => {
  if (value === undefined || value === null || value === '') return null
  const units = wholeNumber(value)
  if (units === null) throw new RecordFault(`${field}: not a whole number of units`)
  return units
}

const parseKey = ({ vendorSku }: Readonly<Record<string, unknown>>): string | null =>
  typeof vendorSku === 'string' || typeof vendorSku === 'number' ? parseSku(vendorSku) : null

const parseRecommendation = (wire: WireReplenishment, raw: Readonly<Record<string, unknown>>): ReplenishmentRecommendation => ({
  itemId: toText(wire.itemId),
  gtin: toText(wire.gtin),
  upc: toText(wire.upc),
  vendorSku: normalSku(String(wire.vendorSku)),
  suggestedQuantity: parseUnits('suggestedQty', wire.suggestedQty),
  maxQuantity: parseUnits('maxQty', wire.maxQty),
  raw,
})

/** Parses a recommendation. */
export const replenishmentReader: RecordReader<WireReplenishment, ReplenishmentRecommendation> = {
  resource: 'replenishment',
  schema: wireReplenishment,
  published: publishedReplenishment,
  keyField: parseKey,
  toDomain: parseRecommendation,
}

/** Parses one recommendation from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws. */
export const parseReplenishment = (
  raw: unknown,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<ReplenishmentRecommendation> => parseRecord(replenishmentReader, raw, onUnknownValue)
