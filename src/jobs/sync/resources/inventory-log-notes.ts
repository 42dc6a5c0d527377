import { Refused, Throttled } from '../../../clients/http/errors.ts'
import { nextFullReadAt, nextReadAt } from '../../../domain/inventory/inventory-log-schedule.ts'
import type { LogRead } from '../../../store/inventory/inventory-skus.ts'
import type { ReadPart } from '../../../store/inventory/unread-log.ts'
import { dayMs } from '../engine/sync-settings.ts'
import type { SkuReading } from './inventory-log-reading.ts'

const afterRefusalMs = dayMs

const latest = (...times: readonly (Date | null)[]): Date | null =>
  times.reduce((newest, time) => (time !== null && (newest === null || time > newest) ? time : newest), null)

const hasCorrupt = ({ corrupt, corruptBefore }: SkuReading): boolean => corruptBefore || corrupt.size > 0

const hasUnread = ({ records }: SkuReading): boolean => records.some(({ ok }) => !ok)

/** The stored state of a SKU's log after a reading; null when nothing is to be stored. */
export const findNote = (reading: SkuReading, marketplaceNow: Date): LogRead | null => {
  const { due, records, pages, readUpTo, readAt, fault, full, restarted, failure } = reading
  const isCorrupt = hasCorrupt(reading) || hasUnread(reading)
  const pass = reading.pass === null ? null : { ...reading.pass, full, corrupt: isCorrupt }
  const times = records.flatMap((record) => (record.ok ? [record.value.transactionTime] : []))
  const movedAt = latest(due.movedAt, ...times)
  const noted = {
    sku: due.sku,
    gtin: pages.at(-1)?.gtin ?? null,
    productName: pages.at(-1)?.productName ?? null,
    readUpTo,
    readAt,
    movedBefore: due.movedAt,
    movedAt,
    // Entries that were left out are retried as soon as a discrepancy is read again.
    fullDueAt:
      pages.length > 0 && (isCorrupt || (full && restarted)) ? nextFullReadAt(marketplaceNow, due.differs || isCorrupt) : null,
    pass,
    fault,
  }
  if (failure === null) {
    const dueAt = fault === null ? nextReadAt(marketplaceNow, movedAt) : marketplaceNow
    return { ...noted, dueAt: pass === null ? dueAt : null }
  }
  // Refused credentials are not a fault of a SKU: the next page fails because of them.
  if (failure.credentialsDead) return pages.length === 0 ? null : { ...noted, dueAt: null }
  if (failure instanceof Refused) {
    return { ...noted, pass: null, fault: failure.message, dueAt: new Date(marketplaceNow.getTime() + afterRefusalMs) }
  }
  if (pages.length > 0) return { ...noted, dueAt: null }
  return failure instanceof Throttled ? null : { ...noted, fault: failure.message, dueAt: marketplaceNow }
}

/** Keys in quarantine of a log that cannot be read, and of its unreadable entries. Keys of single entries contain a slash, these do not. */
const logKey = (sku: string): string => encodeURIComponent(sku)
const partKey = (sku: string): string => `${logKey(sku)}?entries`

/**
 * Logs that cannot be read although others can: those that are refused, and those that also failed in the run before. And entries that cannot be read
 * although those around them can.
 */
export const listUnreadable = (
  { due, failure, corrupt }: SkuReading,
  notes: readonly LogRead[],
): { key: string; fault: string }[] => {
  const [first] = corrupt
  const part =
    first === undefined
      ? []
      : [
          {
            key: partKey(due.sku),
            fault: `${corrupt.size} of its entries cannot be read, first ${first[0]}: ${first[1].message}`,
          },
        ]
  if (failure === null || !(failure instanceof Refused || due.fault !== null)) return part
  const isFault = notes.some(({ sku, fault }) => sku === due.sku && fault === failure.message)
  return isFault ? [...part, { key: logKey(due.sku), fault: failure.message }] : part
}

/** The parts of a log of which every entry was read: the whole log, or single windows. */
export const listReadParts = (reading: SkuReading): readonly ReadPart[] => {
  const { due, completeParts, full, pass, fault, failure, restarted, pages } = reading
  const parts = completeParts.map(({ from, to, observedAt }): ReadPart => ({ sku: due.sku, range: { from, to }, observedAt }))
  const isAll =
    full && restarted && pass === null && fault === null && failure === null && !hasCorrupt(reading) && !hasUnread(reading)
  const [first] = pages
  return isAll && first !== undefined ? [...parts, { sku: due.sku, range: null, observedAt: first.observedAt }] : parts
}

/** Quarantine keys that are readable now: the log itself, and every entry of it once the whole log was read. */
export const answeredSkus = (reading: SkuReading): readonly string[] => {
  const { due, failure, pass, full, fault } = reading
  if (failure !== null) return []
  const isWhole = full && pass === null && fault === null && !hasCorrupt(reading)
  return isWhole ? [logKey(due.sku), partKey(due.sku)] : [logKey(due.sku)]
}
