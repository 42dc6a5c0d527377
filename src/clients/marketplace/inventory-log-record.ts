import { hash } from 'node:crypto'
import type { InventoryLogEntry } from '../../domain/inventory/inventory-log.ts'
import { isObject } from '../../domain/values/values.ts'
import type { WireInventoryLogEntry } from '../contract/inventory-log.ts'
import { publishedInventoryLogEntry, wireInventoryLogEntry, wireInventoryLogPage } from '../contract/inventory-log.ts'
import { cutRecords, decimalText, jsonOrNull, parseTimestamp } from '../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseSku, RecordFault, readRecord, toText } from '../http/record.ts'
import { vocabulary } from './vocabulary.ts'

/** Path to the entries of an answer. */
export const entriesAt = ['payload', 'inventoryLog']

const maxUnits = 2_147_483_647

const knownValues = {
  transactionType: new Set(['Receipt', 'Adjustment', 'Ship', 'Return']),
  transactionLocation: new Set(['Inventory', 'Salvage']),
} as const

/** The product of a log. Its entries do not contain it. */
export interface LogOwner {
  readonly sku: string
  readonly gtin: string | null
}

const typePatterns = [
  ['Ship', /\b(?:ship|ships|shipped|shipments?|sales?|sold)\b/],
  ['Return', /\breturn(?:s|ed)?\b/],
  ['Receipt', /\breceipts?\b|\breceived?\b/],
  ['Adjustment', /\badjust(?:ment|ments|ed)?\b/],
] as const

/** The documented spelling of a type if exactly one matches (`ADJUSTMENTS`, `Inventory Adjustment`); otherwise the text unchanged. */
const normalizeType = (text: string | null): string | null => {
  const words = (text ?? '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z]+/g, ' ')
    .toLowerCase()
  const named = typePatterns.filter(([, pattern]) => pattern.test(words))
  const [first] = named
  return first === undefined || named.length > 1 ? text : first[0]
}

const dayForm = /^\d{4}-\d{2}-\d{2}$/

/** The time of an entry. A day without a time is a day of the calendar of the reconciliation report. */
const parseTime = (value: WireInventoryLogEntry['transactionTime']): Date | null => {
  const time = parseTimestamp(value, vocabulary.calendar)
  const day = String(value).trim()
  return time !== null && dayForm.test(day) ? vocabulary.calendar.midnight(day) : time
}

const parseTransactionTime = (value: WireInventoryLogEntry['transactionTime']): Date => {
  const time = parseTime(value)
  if (time === null) throw new RecordFault('transactionTime: not a timestamp')
  return time
}

const parseChangedUnits = (value: string | number): number => {
  const decimal = decimalText(value)
  const units = Number(decimal)
  if (decimal === null || !Number.isInteger(units) || Math.abs(units) > maxUnits)
    throw new RecordFault('changedUnits: not a whole number of units')
  // Converts minus zero to zero.
  return units + 0
}

const parseEntryFields = (
  { sku, gtin }: LogOwner,
  wire: WireInventoryLogEntry,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): InventoryLogEntry => {
  const transactionTime = parseTransactionTime(wire.transactionTime)
  const changedUnits = parseChangedUnits(wire.changedUnits)
  for (const field of ['transactionType', 'transactionLocation'] as const) {
    const value = toText(wire[field])
    if (value !== null && !knownValues[field].has(value)) onUnknownValue({ resource: 'inventory-log', field, value })
  }
  return {
    id: String(wire.id),
    sku,
    gtin,
    fcName: toText(wire.fcName),
    changedUnits,
    transactionTime,
    transactionLocation: toText(wire.transactionLocation),
    transactionReasonCode: toText(wire.transactionReasonCode),
    transactionReasonDescription: toText(wire.transactionReasonDesc),
    transactionType: normalizeType(toText(wire.transactionType)),
    shipmentId: toText(wire.shipmentId),
    raw,
  }
}

/** Parses the entries of one log. */
export const inventoryLogReader = (owner: LogOwner): RecordReader<WireInventoryLogEntry, InventoryLogEntry> => ({
  resource: 'inventory-log',
  schema: wireInventoryLogEntry,
  published: publishedInventoryLogEntry,
  keyField: 'id',
  toDomain: (wire, raw, onUnknownValue) => parseEntryFields(owner, wire, raw, onUnknownValue),
})

/** The time of an entry from its text ({@link toStandaloneRecord}), which may be unreadable otherwise. */
export const parseEntryTime = (rawText: string): Date | null => {
  const [record] = cutRecords(rawText, entriesAt)?.records ?? []
  const raw = record === undefined ? null : jsonOrNull(record.text)
  const { data } = wireInventoryLogEntry.shape.transactionTime.safeParse(isObject(raw) ? raw['transactionTime'] : null)
  return data === undefined ? null : parseTime(data)
}

/** An entry with the id of another entry of its answer. */
const toRepeatedRecord = ({ key, rawText }: ParsedRecord<InventoryLogEntry>): ParsedRecord<InventoryLogEntry> => ({
  ...{ ok: false, key: null, rawText },
  fault: `id: ${key ?? ''} appears twice in one answer, with different contents`,
})

/**
 * An entry that can be parsed again without its answer: its key contains the SKU, and its text is the entry in the envelope of the answer. Product names are
 * omitted, since a new name is no new version of a movement.
 */
const toStandaloneRecord = (
  { sku, gtin }: LogOwner,
  entry: ParsedRecord<InventoryLogEntry>,
  isRepeated: boolean,
): ParsedRecord<InventoryLogEntry> => {
  const record = isRepeated ? toRepeatedRecord(entry) : entry
  const { key } = record
  const head = { gtin: gtin ?? undefined, vendorSku: sku, repeatedId: isRepeated || undefined }
  const envelope = JSON.stringify(head).slice(0, -1)
  const rawText = `{"payload":${envelope},"inventoryLog":[${record.rawText}]}}`
  // The separators cannot occur in the encoded parts. The key of an entry without a valid id is the hash of its text.
  const name = key === null ? `?${hash('sha1', record.rawText).slice(0, 16)}` : encodeURIComponent(key)
  return { ...record, key: `${encodeURIComponent(sku)}/${name}`, rawText }
}

/**
 * The entries of one answer as standalone records. A repeated id with the same contents is the same entry. With different contents it is unknown which one is
 * correct, so the later entry is unreadable.
 */
export const toStandaloneRecords = (
  owner: LogOwner,
  records: readonly ParsedRecord<InventoryLogEntry>[],
): readonly ParsedRecord<InventoryLogEntry>[] => {
  const contentByKey = new Map<string, string>()
  return records.map((record) => {
    const content = record.ok ? JSON.stringify({ ...record.value, raw: null }) : record.rawText
    const first = record.key === null ? content : (contentByKey.get(record.key) ?? content)
    if (record.key !== null) contentByKey.set(record.key, first)
    return toStandaloneRecord(owner, record, first !== content)
  })
}

/** Parses one entry from its text ({@link toStandaloneRecord}); for records in quarantine. Never throws. */
export const parseInventoryLogEntry = (
  rawText: string,
  onUnknownValue: OnUnknownValue = () => undefined,
): ParsedRecord<InventoryLogEntry> => {
  const cut = cutRecords(rawText, entriesAt)
  const [record] = cut?.records ?? []
  const { data } = wireInventoryLogPage.safeParse(cut === null ? null : jsonOrNull(cut.envelopeText))
  const sku = parseSku(data?.payload?.vendorSku)
  if (record === undefined || sku === null) return { ok: false, key: null, fault: 'record: no entry of a SKU', rawText }
  const owner = { sku, gtin: toText(data?.payload?.gtin) }
  const read = readRecord(inventoryLogReader(owner), record, onUnknownValue)
  return toStandaloneRecord(owner, read, data?.payload?.['repeatedId'] === true)
}
