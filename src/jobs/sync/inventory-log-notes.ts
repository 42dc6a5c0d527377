import { Refused, Throttled } from '../../clients/errors.ts'
import { nextFullReadAt, nextReadAt } from '../../domain/inventory-log-schedule.ts'
import type { LogRead } from '../../store/inventory-skus.ts'
import type { SkuReading } from './inventory-log-reading.ts'
import { dayMs } from './settings.ts'

const afterRefusalMs = dayMs

const latest = (...moments: readonly (Date | null)[]): Date | null =>
  moments.reduce((newest, moment) => (moment !== null && (newest === null || moment > newest) ? moment : newest), null)

const hasSpoilt = ({ spoilt, spoiltBefore }: SkuReading): boolean => spoiltBefore || spoilt.size > 0

/** What to write down of a reading; null when there is nothing. */
export const noteOf = (reading: SkuReading, marketplaceNow: Date): LogRead | null => {
  const { due, records, pages, readUpTo, readAt, fault, full, begun, failure } = reading
  const isSpoilt = hasSpoilt(reading)
  const pass = reading.pass === null ? null : { ...reading.pass, full, spoilt: isSpoilt }
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
    // What had to be left out is tried again as soon as what differs is.
    fullDueAt: pages.length > 0 && (isSpoilt || (full && begun)) ? nextFullReadAt(marketplaceNow, due.differs || isSpoilt) : null,
    pass,
    fault,
  }
  if (failure === null) {
    const dueAt = fault === null ? nextReadAt(marketplaceNow, movedAt) : marketplaceNow
    return { ...noted, dueAt: pass === null ? dueAt : null }
  }
  // Dead credentials are no fault of any SKU: the next page fails for them.
  if (failure.credentialsDead) return pages.length === 0 ? null : { ...noted, dueAt: null }
  if (failure instanceof Refused) {
    return { ...noted, pass: null, fault: failure.message, dueAt: new Date(marketplaceNow.getTime() + afterRefusalMs) }
  }
  if (pages.length > 0) return { ...noted, dueAt: null }
  return failure instanceof Throttled ? null : { ...noted, fault: failure.message, dueAt: marketplaceNow }
}

/** What is in quarantine for a log that cannot be read, and for entries of one. Keys of entries hold a slash, these do not. */
const logKey = (sku: string): string => encodeURIComponent(sku)
const partKey = (sku: string): string => `${logKey(sku)}?entries`

/**
 * Logs that cannot be read although others can: those that are refused, and those that have failed in the run before too. And entries that
 * cannot be had although those around them can.
 */
export const unreadableOf = (
  { due, failure, spoilt }: SkuReading,
  notes: readonly LogRead[],
): { key: string; fault: string }[] => {
  const [first] = spoilt
  const part =
    first === undefined
      ? []
      : [
          {
            key: partKey(due.sku),
            fault: `${spoilt.size} of its entries cannot be had, first ${first[0]}: ${first[1].message}`,
          },
        ]
  if (failure === null || !(failure instanceof Refused || due.fault !== null)) return part
  const isFault = notes.some(({ sku, fault }) => sku === due.sku && fault === failure.message)
  return isFault ? [...part, { key: logKey(due.sku), fault: failure.message }] : part
}

/** What is readable now: the log as such, and once all of it has come, every entry of it. */
export const answeredOf = (reading: SkuReading): readonly string[] => {
  const { due, failure, pass, full, fault } = reading
  if (failure !== null) return []
  const isWhole = full && pass === null && fault === null && !hasSpoilt(reading)
  return isWhole ? [logKey(due.sku), partKey(due.sku)] : [logKey(due.sku)]
}
