import type { CallOptions } from '../../../clients/http/call-options.ts'
import { Malformed, MarketplaceFailure, Refused, Throttled, Unavailable } from '../../../clients/http/errors.ts'
import type { ParsedRecord } from '../../../clients/http/record.ts'
import { type InventoryLogPage, inventoryLogEndpoint } from '../../../clients/marketplace/inventory-log.ts'
import type { InventoryLogEntry } from '../../../domain/inventory/inventory-log.ts'
import { advancePass, beginPass, type LogPass, type PassStep, passAfter } from '../../../domain/inventory/inventory-log-pass.ts'
import {
  findReadUpTo,
  firstHalf,
  isFullRead,
  isWithinReach,
  logWindow,
  provenPart,
} from '../../../domain/inventory/inventory-log-schedule.ts'
import type { CompletePart } from '../../../store/inventory/inventory-log.ts'
import { type DueSku, findOtherSku } from '../../../store/inventory/inventory-skus.ts'
import type { StreamContext } from '../engine/stream.ts'
import { dayMs } from '../engine/sync-settings.ts'
import { mayBeAboutRecord } from '../recovery/skip-rules.ts'

const concurrency = 4
/** A page starts no further SKUs once it has this many entries, and leaves the rest of a long log to the next page. */
const maxEntries = 1_000
/** Maximum entries of a window: a larger window is read in parts, so that entries moving between pages cost little. */
const maxInWindow = 1_000
/** Minimum wait when the rate budget is used up: a tenth of a minute's calls becomes available, so fewer runs do the same work. */
const minThrottleMs = 5_000

/** If this many consecutive entries cannot be read, the log itself cannot be read. */
const maxCorruptInARow = 3

const unsettled = 'its log kept changing while it was read; it is read again in the next run'

/** Result of reading the log of one SKU. */
export interface SkuReading {
  readonly due: DueSku
  readonly records: readonly ParsedRecord<InventoryLogEntry>[]
  readonly pages: readonly InventoryLogPage[]
  readonly readUpTo: Date | null
  readonly readAt: Date | null
  /** Where the next reading continues; null when everything due was read, or when it has to restart. */
  readonly pass: LogPass | null
  readonly fault: string | null
  /** It covers everything that the marketplace provides. */
  readonly full: boolean
  /** It started at the beginning. */
  readonly restarted: boolean
  /** Unreadable entries by their position in a window, although those around them are readable; and whether an earlier run found such ones. */
  readonly corrupt: ReadonlyMap<string, MarketplaceFailure>
  readonly corruptBefore: boolean
  /** Parts of which every entry was read. */
  readonly completeParts: readonly CompletePart[]
  /** Why it ended early; null: it did not. */
  readonly failure: MarketplaceFailure | null
}

const buildStart = (
  { client, settings }: StreamContext,
  { pass, ...due }: DueSku,
): Pick<SkuReading, 'pass' | 'full' | 'restarted' | 'corruptBefore'> => {
  const marketplaceNow = client.clock().now()
  if (pass !== null && isWithinReach(pass.window, marketplaceNow)) {
    return { pass, full: pass.full ?? false, restarted: false, corruptBefore: pass.corrupt ?? false }
  }
  const window = logWindow(due, { marketplaceNow, lagMs: settings.lagMs, precision: client.of(inventoryLogEndpoint).precision })
  const first = window === null ? null : beginPass(window, window.to)
  return { pass: first, full: isFullRead(due, marketplaceNow), restarted: true, corruptBefore: false }
}

/** The entries that a completely read window proves to exist; null if entries could not be read, or if the answers had no count. */
const findCompletePart = (
  { client }: StreamContext,
  sku: string,
  pass: LogPass,
  page: InventoryLogPage,
  since: Date,
): CompletePart | null => {
  const keys = [...pass.seen, ...page.records.flatMap((record) => (record.ok ? [record.key] : []))]
  const ids = new Set(keys.map((key) => decodeURIComponent(key.slice(key.indexOf('/') + 1))))
  const isRead = pass.unreadable === 0 && page.records.every((record) => record.ok)
  const part = provenPart(pass.window, client.of(inventoryLogEndpoint).precision)
  if (!isRead || part === null || page.totalCount === null || ids.size < page.totalCount) return null
  return { sku, ...part, ids: [...ids], observedAt: since }
}

// A retry would get the same answer.
const isFinal = (failure: MarketplaceFailure): boolean => failure instanceof Refused || failure instanceof Malformed

// The failure may come from one corrupt entry: the run before failed too, or the failure is final after readable pages.
const mayBeAboutEntry = ({ due, pages }: SkuReading, error: unknown, options: CallOptions): error is MarketplaceFailure =>
  mayBeAboutRecord(error, options) && (due.fault !== null || (pages.length > 0 && isFinal(error)))

/** The pass after an entry that cannot be read. */
const skipEntry = (pass: LogPass): LogPass => ({ ...pass, offset: pass.offset + 1, unreadable: pass.unreadable + 1 })

const stepAfter = ({ client }: StreamContext, pass: LogPass, page: InventoryLogPage): PassStep => {
  const keys = page.records.flatMap((record) => (record.ok ? [record.key] : []))
  const shown = { keys, unreadable: page.records.length - keys.length, totalCount: page.totalCount }
  const step = advancePass(pass, shown, maxInWindow)
  if (step.kind !== 'large') return step
  const half = firstHalf(pass.window, client.of(inventoryLogEndpoint).precision)
  return half === null ? advancePass(pass, shown, Number.POSITIVE_INFINITY) : { kind: 'on', pass: beginPass(half, pass.until) }
}

// Reads the log of one SKU, window by window and page by page. If it has to stop early, the entries so far count. If a page cannot be read, entries are
// requested one by one until the corrupt one is found and left out; then the page size grows again.
const readSku = async (context: StreamContext, due: DueSku, options: CallOptions): Promise<SkuReading> => {
  const { client, settings } = context
  const { precision } = client.of(inventoryLogEndpoint)
  const pages: InventoryLogPage[] = []
  const corrupt = new Map<string, MarketplaceFailure>()
  const start = buildStart(context, due)
  let pass = start.pass
  let reading: SkuReading = {
    ...start,
    due,
    records: [],
    pages,
    readUpTo: null,
    readAt: null,
    pass: null,
    fault: null,
    corrupt,
    completeParts: [],
    failure: null,
  }
  let limit = settings.pageSize
  /** The pass after the last readable page, and the unreadable entries since. */
  let lastGood = pass
  let missed: readonly string[] = []
  // For a window that an earlier run began, the time of its first page is unknown.
  let since: Date | null = null
  while (pass !== null) {
    const { window, offset } = pass
    let page: InventoryLogPage
    try {
      const query = { sku: due.sku, marketplaceSku: due.marketplaceSku ?? null, gtin: due.gtin, ...window, limit, offset }
      page = await client.of(inventoryLogEndpoint).page(query, options)
    } catch (error) {
      if (!(error instanceof MarketplaceFailure)) throw error
      if (!mayBeAboutEntry(reading, error, options) || missed.length === maxCorruptInARow) {
        for (const place of missed) corrupt.delete(place)
        return { ...reading, pass: lastGood, failure: error }
      }
      if (limit > 1) {
        limit = 1
        continue
      }
      const place = `no. ${offset + 1} of ${window.from.toISOString()} to ${window.to.toISOString()}`
      corrupt.set(place, error)
      missed = [...missed, place]
      pass = skipEntry(pass)
      continue
    }
    missed = []
    limit = Math.min(limit * 2, settings.pageSize)
    pages.push(page)
    if (offset === 0) since = page.observedAt
    reading = { ...reading, records: [...reading.records, ...page.records] }
    const step = stepAfter(context, pass, page)
    if (step.kind === 'unsettled') return { ...reading, fault: unsettled }
    if (step.kind === 'on') {
      pass = step.pass
      lastGood = pass
      continue
    }
    const part = since === null ? null : findCompletePart(context, due.sku, pass, page, since)
    const completeParts = part === null ? reading.completeParts : [...reading.completeParts, part]
    reading = { ...reading, completeParts, readUpTo: findReadUpTo(window, precision), readAt: page.observedAt }
    pass = passAfter(pass, precision)
    lastGood = pass
    if (reading.records.length >= maxEntries) break
  }
  return { ...reading, pass }
}

const isThrottled = ({ failure }: SkuReading): boolean => failure instanceof Throttled

// A server error may be short: the request is retried at the end of the page, after a little time.
const mayRecover = ({ failure, pages }: SkuReading): boolean => failure instanceof Unavailable && pages.length === 0

// A few at a time. When the rate budget is used up or the run ends, the rest is left to the next page.
const readEach = async (
  context: StreamContext,
  skus: readonly DueSku[],
  options: CallOptions,
): Promise<readonly SkuReading[]> => {
  const readings: SkuReading[] = []
  let entries = 0
  for (let at = 0; at < skus.length; at += concurrency) {
    const some = await Promise.all(skus.slice(at, at + concurrency).map((due) => readSku(context, due, options)))
    readings.push(...some)
    entries += some.reduce((sum, { records }) => sum + records.length, 0)
    if (options.signal.aborted || entries >= maxEntries || some.some(isThrottled)) break
  }
  return readings
}

/** Reads the logs of some SKUs, a few at a time; retries once those of which a server error prevented every page. */
export const readBatch = async (
  context: StreamContext,
  skus: readonly DueSku[],
  options: CallOptions,
): Promise<readonly SkuReading[]> => {
  const readings = await readEach(context, skus, options)
  const failed = readings.filter(mayRecover).map(({ due }) => due)
  const pointless = failed.length === readings.length || options.signal.aborted || readings.some(isThrottled)
  if (failed.length === 0 || pointless) return readings
  const second = new Map((await readEach(context, failed, options)).map((reading) => [reading.due.sku, reading]))
  return readings.map((reading) => second.get(reading.due.sku) ?? reading)
}

// Whether the marketplace answers for another SKU, if possible one that it has answered for before.
const probeOtherSku = async (
  { client, database }: StreamContext,
  readings: readonly SkuReading[],
  options: CallOptions,
): Promise<boolean> => {
  const { sellerId } = client
  const inventoryLog = client.of(inventoryLogEndpoint)
  const requested = readings.map(({ due }) => due.sku)
  const other = await findOtherSku(database, sellerId, requested, inventoryLog.keyedBy === 'gtin')
  if (other === null) return false
  const to = client.clock().now()
  try {
    await inventoryLog.page({ ...other, from: new Date(to.getTime() - dayMs), to, limit: 1, offset: 0 }, options)
    return true
  } catch (error) {
    if (error instanceof MarketplaceFailure && isFinal(error)) return false
    throw error
  }
}

/**
 * The failure of the whole run: no SKU could be read. Otherwise failures are stored for their SKUs, so that one SKU that always fails does not block
 * the others. If there were only refusals, another SKU shows whether they concern single SKUs.
 */
export const findRunFailure = async (
  context: StreamContext,
  readings: readonly SkuReading[],
  options: CallOptions,
): Promise<Error | null> => {
  const failures = readings.flatMap(({ failure }) => failure ?? [])
  const [first] = failures
  if (first === undefined || readings.some(({ pages }) => pages.length > 0)) return null
  const throttled = failures.find((failure) => failure instanceof Throttled)
  if (throttled !== undefined) return throttled.notBefore(new Date(Date.now() + minThrottleMs))
  const whole = failures.find((failure) => failure.credentialsDead || !isFinal(failure))
  if (whole !== undefined) return whole
  return (await probeOtherSku(context, readings, options)) ? null : first
}
