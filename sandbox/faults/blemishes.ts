import { isObject, type JsonObject } from '../core/json.ts'
import type { Random } from '../core/random.ts'

type Breakage = (record: JsonObject, keyField: string) => unknown

/** Different ways to make a record of any kind unusable. */
const breakages: readonly [Breakage, ...Breakage[]] = [
  (record, keyField) => Object.fromEntries(Object.entries(record).filter(([name]) => name !== keyField)),
  (record, keyField) => ({ ...record, [keyField]: { unexpected: true } }),
  () => null,
]

/** More ways for what has lines: orders and returns. */
const breakagesOfLines: readonly [Breakage, ...Breakage[]] = [
  (record, keyField) => Object.fromEntries(Object.entries(record).filter(([name]) => name !== keyField)),
  (record) => ({ ...record, orderLines: 'none', returnOrderLines: 'none' }),
  (record, keyField) => ({ ...record, [keyField]: { unexpected: true } }),
  (record) => ({
    ...record,
    orderLines: { orderLine: [{ lineNumber: null, orderLineQuantity: { amount: 'two' } }] },
    returnOrderLines: [42],
  }),
  () => null,
]

/** The record, unusable. */
export const breakRecord = (record: JsonObject, keyField: string, random: Random): unknown => {
  const hasLines = 'orderLines' in record || 'returnOrderLines' in record
  return random.pick(hasLines ? breakagesOfLines : breakages)(record, keyField)
}

const unknownFields = { loyaltyTier: { name: 'GOLD', since: 2031 }, giftOptions: [], futureFlag: true } as const

/**
 * The record with fields and words that no text mentions. Only words that say nothing about units change: a unit in Created
 * may be called OnHold, but nothing shipped, cancelled or refunded is hidden.
 */
export const addUnknownValues = (record: JsonObject): JsonObject => ({ ...mapDeep(record), ...unknownFields })

/** Texts that no rule about units or money needs. */
const plainTexts: ReadonlySet<string> = new Set(['productName', 'itemName', 'fcName', 'boxCatalogType', 'taxonPath', 'upc'])

/** The record with objects in place of some texts. */
export const changeTypes = (record: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(record).map(([name, inner]) => {
      if (typeof inner === 'string') return [name, plainTexts.has(name) ? { text: inner } : inner]
      if (Array.isArray(inner)) return [name, inner.map((item) => (isObject(item) ? changeTypes(item) : item))]
      return [name, isObject(inner) ? changeTypes(inner) : inner]
    }),
  )

const newWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: { Created: 'OnHold', RETURN_INITIATED: 'RETURN_UNDER_REVIEW', RUNNING: 'LEARNING' },
  methodCode: { Standard: 'Drone' },
  refundChannelName: { GIFT_CARD: 'STORE_WALLET' },
  addressType: { OFFICE: 'LOCKER' },
  boxCatalogType: { typeA: 'typeQ' },
  transactionType: { Receipt: 'Inbound' },
  stockStatus: { 'In-stock': 'Low-stock' },
  transactionReasonCode: { ADJ: 'RCL' },
  audienceType: { PERSONA: 'INTEREST' },
  attribute: { LIFESTYLE: 'MOOD' },
}

const mapDeep = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (typeof inner === 'string') return [name, newWords[name]?.[inner] ?? inner]
      if (Array.isArray(inner))
        return [name, inner.map((item) => (isObject(item) ? { ...mapDeep(item), futureField: 'unknown' } : item))]
      return [name, isObject(inner) ? mapDeep(inner) : inner]
    }),
  )
