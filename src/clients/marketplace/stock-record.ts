import type { StockOnHand } from '../../domain/inventory/stock.ts'
import { publishedStock, type WireStock, wireStock } from '../contract/stock.ts'
import { decimalText } from '../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, parseSku, RecordFault, rawUnder, toText } from '../http/record.ts'
import { parseTimestamp } from './timestamps.ts'

type WireData = WireStock['inventoryData']

const maxUnits = 2_147_483_647

/** Published values, as {@link normalWord} spells them. */
const knownValues = {
  publishingStatus: new Set(['published', 'unpublished', 'processing', 'stage', 'error', 'wfsineligible']),
  itemLifecycle: new Set(['active', 'retired', 'archived']),
  stockStatus: new Set(['outofstock', 'instock', 'atrisk']),
} as const

/** The live service spells one status in several ways: `In-stock`, `IN_STOCK`. */
const normalWord = (value: string): string => value.toLowerCase().replaceAll(/[^a-z]/g, '')

/** Whole units; null where the field is absent. */
const parseUnits = (value: string | number | null | undefined, field: string): number | null => {
  if (value === undefined || value === null || value === '') return null
  const units = Number(decimalText(value) ?? Number.NaN)
  if (!Number.isInteger(units) || Math.abs(units) > maxUnits) throw new RecordFault(`${field}: not a whole number of units`)
  // No minus zero.
  return units + 0
}

const parseAvailable = ({ availableUnits }: WireData): number => {
  const units = parseUnits(availableUnits, 'availableUnits')
  if (units === null) throw new RecordFault('availableUnits: missing')
  return units
}

const dayForm = /^\d{4}-\d{2}-\d{2}(?!\d)/

/** A day as `YYYY-MM-DD`; of a timestamp, the day that it names. */
const parseDay = (value: string | number | null | undefined, field: string, onUnknownValue: OnUnknownValue): string | null => {
  const read = parseTimestamp(value, { resource: 'stock', field }, onUnknownValue)
  return read === null ? null : (dayForm.exec(String(value))?.[0] ?? read.toISOString().slice(0, 'yyyy-mm-dd'.length))
}

/** A GTIN has 14 digits, zeros in front included (public facts, section 7.3), which a number would have lost. */
const parseGtin = (value: string | number | null | undefined): string | null =>
  typeof value === 'number' ? String(value).padStart(14, '0') : toText(value)

const parseAge = (age: WireData['inventoryAge']): StockOnHand['ageUnits'] => ({
  days0To90: parseUnits(age?.['0To90days'], '0To90days'),
  days91To180: parseUnits(age?.['91To180days'], '91To180days'),
  days181To270: parseUnits(age?.['181To270days'], '181To270days'),
  days271To365: parseUnits(age?.['271To365days'], '271To365days'),
  daysOver365: parseUnits(age?.['365PlusDays'] ?? age?.['366PlusDays'], '365PlusDays'),
})

const parseInsights = (wire: WireStock['inventoryInsights'], onUnknownValue: OnUnknownValue): StockOnHand['insights'] => ({
  daysOfSupply: decimalText(wire?.daysOfSupply),
  outOfStockOn: parseDay(wire?.outOfStockDate, 'outOfStockDate', onUnknownValue),
  salesForecastWeeks1To4: decimalText(wire?.salesForecastWeek1to4),
  salesForecastWeeks5To8: decimalText(wire?.salesForecastWeek5to8),
  salesForecastWeeks9To12: decimalText(wire?.salesForecastWeek9to12),
  sellThroughRate: decimalText(wire?.sellThroughRate),
  suggestedUnits: decimalText(wire?.suggestedUnits),
  surplusUnits: decimalText(wire?.surplusUnits),
})

const parseStockFields = (
  { itemInformation: item, inventoryData: data, inventoryInsights }: WireStock,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): StockOnHand => {
  const sku = parseSku(item.sku)
  if (sku === null) throw new RecordFault('itemInformation.sku: empty')
  const parseStatus = (field: keyof typeof knownValues): string | null => {
    const value = toText(data[field])
    if (value !== null && !knownValues[field].has(normalWord(value))) onUnknownValue({ resource: 'stock', field, value })
    return value
  }
  return {
    sku,
    itemName: toText(item.itemName),
    gtin: parseGtin(item.gtin),
    itemId: toText(item.itemID),
    offerId: toText(item.offerID),
    brand: toText(item.brand),
    itemCondition: toText(item.itemCondition),
    publishingStatus: parseStatus('publishingStatus'),
    lifecycle: parseStatus('itemLifecycle'),
    stockStatus: parseStatus('stockStatus'),
    availableUnits: parseAvailable(data),
    reservedUnits: parseUnits(data.reservedUnits, 'reservedUnits'),
    onHandUnits: parseUnits(data.onhandUnits, 'onhandUnits'),
    inboundUnits: parseUnits(data.inboundUnits, 'inboundUnits'),
    inReviewUnits: parseUnits(data.unavailableUnits?.inventoryReviewUnits, 'inventoryReviewUnits'),
    inMovementUnits: parseUnits(data.unavailableUnits?.inventoryMovementUnits, 'inventoryMovementUnits'),
    ageUnits: parseAge(data.inventoryAge),
    firstInStockOn: parseDay(data.firstInStockDate, 'firstInStockDate', onUnknownValue),
    insights: parseInsights(inventoryInsights, onUnknownValue),
    raw,
  }
}

const parseKey = (raw: Readonly<Record<string, unknown>>): string | null => {
  const sku = rawUnder(raw, 'itemInformation', 'sku')
  return typeof sku === 'string' || typeof sku === 'number' ? parseSku(sku) : null
}

/** How the stock of an item is read. Its key is the SKU in the normal form. */
export const stockReader: RecordReader<WireStock, StockOnHand> = {
  resource: 'stock',
  schema: wireStock,
  published: publishedStock,
  keyField: parseKey,
  toDomain: parseStockFields,
}

/** Reads the stock of one item from its JSON text (exact) or from a parsed value. Never throws. */
export const parseStock = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<StockOnHand> =>
  parseRecord(stockReader, raw, onUnknownValue)
