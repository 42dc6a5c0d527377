import type { InventoryLogEntry } from '../../domain/inventory-log.ts'
import type { WireInventoryLogEntry } from '../contract/inventory-log.ts'
import { wireInventoryLogEntry, wireInventoryLogPage } from '../contract/inventory-log.ts'
import { cutRecords, decimalText, jsonOrNull, moment } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, readRecord, textOf } from '../record.ts'
import { vocabulary } from './vocabulary.ts'

/** Where the entries of an answer are. */
export const entriesAt = ['payload', 'inventoryLog']

const maxUnits = 2_147_483_647

const knownValues = {
  transactionType: new Set(['Receipt', 'Adjustment', 'Ship', 'Return']),
  transactionLocation: new Set(['Inventory', 'Salvage']),
} as const

/** Whose log an entry belongs to; the entry itself does not say. */
export interface LogOwner {
  readonly sku: string
  readonly gtin: string | null
}

const typeWords = [
  ['Ship', /\b(?:ship|ships|shipped|shipments?|sales?|sold)\b/],
  ['Return', /\breturn(?:s|ed)?\b/],
  ['Receipt', /\breceipts?\b|\breceived?\b/],
  ['Adjustment', /\badjust(?:ment|ments|ed)?\b/],
] as const

/** The type as the documentation spells it, where one word of what came names it: `ADJUSTMENTS`, `Inventory Adjustment`. Otherwise what came. */
const typeOf = (text: string | null): string | null => {
  const words = (text ?? '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z]+/g, ' ')
    .toLowerCase()
  const named = typeWords.filter(([, pattern]) => pattern.test(words))
  const [first] = named
  return first === undefined || named.length > 1 ? text : first[0]
}

const dayForm = /^\d{4}-\d{2}-\d{2}$/

/** When an entry was made. A day without a time is one of the calendar by which the report counts. */
const transactionTimeOf = (value: WireInventoryLogEntry['transactionTime']): Date => {
  const time = moment(value, vocabulary.calendar)
  if (time === null) throw new RecordFault('transactionTime: not a moment')
  const day = String(value).trim()
  return dayForm.test(day) ? vocabulary.calendar.midnight(day) : time
}

const changedUnitsOf = (value: string | number): number => {
  const decimal = decimalText(value)
  const units = Number(decimal)
  if (decimal === null || !Number.isInteger(units) || Math.abs(units) > maxUnits)
    throw new RecordFault('changedUnits: not a whole number of units')
  // No minus zero.
  return units + 0
}

const entryOf = (
  { sku, gtin }: LogOwner,
  wire: WireInventoryLogEntry,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): InventoryLogEntry => {
  const transactionTime = transactionTimeOf(wire.transactionTime)
  const changedUnits = changedUnitsOf(wire.changedUnits)
  for (const field of ['transactionType', 'transactionLocation'] as const) {
    const value = textOf(wire[field])
    if (value !== null && !knownValues[field].has(value)) onUnknownValue({ resource: 'inventory-log', field, value })
  }
  return {
    id: String(wire.id),
    sku,
    gtin,
    fcName: textOf(wire.fcName),
    changedUnits,
    transactionTime,
    transactionLocation: textOf(wire.transactionLocation),
    transactionReasonCode: textOf(wire.transactionReasonCode),
    transactionReasonDescription: textOf(wire.transactionReasonDesc),
    transactionType: typeOf(textOf(wire.transactionType)),
    shipmentId: textOf(wire.shipmentId),
    raw,
  }
}

/** How the entries of one log are read. */
export const inventoryLogReader = (owner: LogOwner): RecordReader<WireInventoryLogEntry, InventoryLogEntry> => ({
  resource: 'inventory-log',
  schema: wireInventoryLogEntry,
  keyField: 'id',
  toDomain: (wire, raw, onUnknownValue) => entryOf(owner, wire, raw, onUnknownValue),
})

/**
 * An entry as a record of its own: its key names the SKU too, and its text is the answer's envelope around the entry as it came, so that
 * it can be read again without the answer. Product names are left out, as a new name is no new version of a movement.
 */
export const ownedRecord = (
  { sku, gtin }: LogOwner,
  record: ParsedRecord<InventoryLogEntry>,
): ParsedRecord<InventoryLogEntry> => {
  const { key } = record
  const envelope = JSON.stringify({ gtin: gtin ?? undefined, vendorSku: sku }).slice(0, -1)
  const rawText = `{"payload":${envelope},"inventoryLog":[${record.rawText}]}}`
  // The separator cannot occur in either part.
  return key === null
    ? { ...record, rawText }
    : { ...record, key: `${encodeURIComponent(sku)}/${encodeURIComponent(key)}`, rawText }
}

/** Reads one entry from its text as {@link ownedRecord} makes it; for replaying records in quarantine. Never throws. */
export const parseInventoryLogEntry = (
  rawText: string,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<InventoryLogEntry> => {
  const cut = cutRecords(rawText, entriesAt)
  const [record] = cut?.records ?? []
  const { data } = wireInventoryLogPage.safeParse(cut === null ? null : jsonOrNull(cut.envelopeText))
  const sku = textOf(data?.payload?.vendorSku)
  if (record === undefined || sku === null) return { ok: false, key: null, fault: 'record: no entry of a SKU', rawText }
  const owner = { sku, gtin: textOf(data?.payload?.gtin) }
  return ownedRecord(owner, readRecord(inventoryLogReader(owner), record, onUnknownValue))
}
