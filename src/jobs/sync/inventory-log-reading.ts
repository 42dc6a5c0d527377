import type { CallOptions } from '../../clients/call-options.ts'
import { Malformed, MarketplaceFailure, Refused, Throttled, Unavailable } from '../../clients/errors.ts'
import { type InventoryLogPage, inventoryLogEndpoint } from '../../clients/marketplace/inventory-log.ts'
import type { ParsedRecord } from '../../clients/record.ts'
import type { InventoryLogEntry } from '../../domain/inventory-log.ts'
import { advancePass, beginPass, type LogPass, type PassStep, passAfter } from '../../domain/inventory-log-pass.ts'
import { firstHalf, isFullRead, isWithinReach, logWindow, provenPart, readUpToOf } from '../../domain/inventory-log-schedule.ts'
import type { WholePart } from '../../store/inventory-log.ts'
import { anotherSku, type DueSku } from '../../store/inventory-skus.ts'
import { mayBeOfOne } from './passing-over.ts'
import { dayMs } from './settings.ts'
import type { StreamContext } from './stream.ts'

const concurrency = 4
/** A page takes up no more SKUs once it holds so many entries, and leaves the rest of a long log to the next one. */
const mostEntries = 1_000
/** Entries of one window: with more the window is read in parts, so that what moves under its pages costs little. */
const mostInWindow = 1_000
/** After the budget has ended, so much time lets a tenth of a minute's calls come together: fewer runs do the same work. */
const restMs = 5_000

/** So many entries in a row that cannot be had are not single ones: the log itself cannot be read. */
const mostSpoiltInARow = 3

const unsettled = 'its log kept changing while it was read; it is read again in the next run'

/** What asking for the log of one SKU brought. */
export interface SkuReading {
  readonly due: DueSku
  readonly records: readonly ParsedRecord<InventoryLogEntry>[]
  readonly pages: readonly InventoryLogPage[]
  readonly readUpTo: Date | null
  readonly readAt: Date | null
  /** Where to go on; null when everything that was due is read, or when it has to start again. */
  readonly pass: LogPass | null
  readonly fault: string | null
  /** Over all of the log's reach, and restarted. */
  readonly full: boolean
  readonly begun: boolean
  /** Entries that can never be had, by their place in a window, though those around them can; and that an earlier run met such ones. */
  readonly spoilt: ReadonlyMap<string, MarketplaceFailure>
  readonly spoiltBefore: boolean
  /** Parts of which all that is there has come. */
  readonly whole: readonly WholePart[]
  /** Why it ended early. */
  readonly failure: MarketplaceFailure | null
}

const startOf = (
  { client, settings }: StreamContext,
  { pass, ...due }: DueSku,
): Pick<SkuReading, 'pass' | 'full' | 'begun' | 'spoiltBefore'> => {
  const marketplaceNow = client.clock().now()
  if (pass !== null && isWithinReach(pass.window, marketplaceNow)) {
    return { pass, full: pass.full ?? false, begun: false, spoiltBefore: pass.spoilt ?? false }
  }
  const window = logWindow(due, { marketplaceNow, lagMs: settings.lagMs, precision: client.of(inventoryLogEndpoint).precision })
  const first = window === null ? null : beginPass(window, window.to)
  return { pass: first, full: isFullRead(due, marketplaceNow), begun: true, spoiltBefore: false }
}

/** What a window that was read whole has proven to be there; null where entries could not be read, or the answers did not say how many there are. */
const wholePart = (
  { client }: StreamContext,
  sku: string,
  pass: LogPass,
  page: InventoryLogPage,
  since: Date,
): WholePart | null => {
  const keys = [...pass.seen, ...page.records.flatMap((record) => (record.ok ? [record.key] : []))]
  const ids = new Set(keys.map((key) => decodeURIComponent(key.slice(key.indexOf('/') + 1))))
  const isRead = pass.unreadable === 0 && page.records.every((record) => record.ok)
  const part = provenPart(pass.window, client.of(inventoryLogEndpoint).precision)
  if (!isRead || part === null || page.totalCount === null || ids.size < page.totalCount) return null
  return { sku, ...part, ids: [...ids], observedAt: since }
}

// The same question would be answered the same way again.
const isFinal = (failure: MarketplaceFailure): boolean => failure instanceof Refused || failure instanceof Malformed

// It failed in the run before too, or it fails finally behind what came: some entry may spoil the page that it is on.
const mayBeOfAnEntry = ({ due, pages }: SkuReading, error: unknown, options: CallOptions): error is MarketplaceFailure =>
  mayBeOfOne(error, options) && (due.fault !== null || (pages.length > 0 && isFinal(error)))

/** The pass beyond an entry that cannot be had. */
const withoutOne = (pass: LogPass): LogPass => ({ ...pass, offset: pass.offset + 1, unreadable: pass.unreadable + 1 })

const stepAfter = ({ client }: StreamContext, pass: LogPass, page: InventoryLogPage): PassStep => {
  const keys = page.records.flatMap((record) => (record.ok ? [record.key] : []))
  const shown = { keys, unreadable: page.records.length - keys.length, totalCount: page.totalCount }
  const step = advancePass(pass, shown, mostInWindow)
  if (step.kind !== 'large') return step
  const half = firstHalf(pass.window, client.of(inventoryLogEndpoint).precision)
  return half === null ? advancePass(pass, shown, Number.POSITIVE_INFINITY) : { kind: 'on', pass: beginPass(half, pass.until) }
}

// Reads the log of one SKU, window after window and page after page. When it has to end before, what came counts. Where a page cannot be
// had, entries are asked for one by one until the bad one stands alone and is left out; then pages grow again.
const readSku = async (context: StreamContext, due: DueSku, options: CallOptions): Promise<SkuReading> => {
  const { client, settings } = context
  const { precision } = client.of(inventoryLogEndpoint)
  const pages: InventoryLogPage[] = []
  const spoilt = new Map<string, MarketplaceFailure>()
  const start = startOf(context, due)
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
    spoilt,
    whole: [],
    failure: null,
  }
  let limit = settings.pageSize
  /** The pass behind the last page that came, and the entries that could not be had since. */
  let solid = pass
  let missed: readonly string[] = []
  // Of a window that was begun in an earlier run nobody knows when its first page was asked for.
  let since: Date | null = null
  while (pass !== null) {
    const { window, offset } = pass
    let page: InventoryLogPage
    try {
      const query = { sku: due.sku, gtin: due.gtin, ...window, limit, offset }
      page = await client.of(inventoryLogEndpoint).page(query, options)
    } catch (error) {
      if (!(error instanceof MarketplaceFailure)) throw error
      if (!mayBeOfAnEntry(reading, error, options) || missed.length === mostSpoiltInARow) {
        for (const place of missed) spoilt.delete(place)
        return { ...reading, pass: solid, failure: error }
      }
      if (limit > 1) {
        limit = 1
        continue
      }
      const place = `no. ${offset + 1} of ${window.from.toISOString()} to ${window.to.toISOString()}`
      spoilt.set(place, error)
      missed = [...missed, place]
      pass = withoutOne(pass)
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
      solid = pass
      continue
    }
    const part = since === null ? null : wholePart(context, due.sku, pass, page, since)
    const whole = part === null ? reading.whole : [...reading.whole, part]
    reading = { ...reading, whole, readUpTo: readUpToOf(window, precision), readAt: page.observedAt }
    pass = passAfter(pass, precision)
    solid = pass
    if (reading.records.length >= mostEntries) break
  }
  return { ...reading, pass }
}

const isThrottled = ({ failure }: SkuReading): boolean => failure instanceof Throttled

// A server fault may pass at once; whoever asks again at the end of the page has waited a little.
const mayPass = ({ failure, pages }: SkuReading): boolean => failure instanceof Unavailable && pages.length === 0

// A few at a time. A budget or a run that ends leaves the rest to the next page.
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
    if (options.signal.aborted || entries >= mostEntries || some.some(isThrottled)) break
  }
  return readings
}

/** Reads the logs of some SKUs, a few at a time; those of which a server fault kept everything are asked for once more. */
export const readBatch = async (
  context: StreamContext,
  skus: readonly DueSku[],
  options: CallOptions,
): Promise<readonly SkuReading[]> => {
  const readings = await readEach(context, skus, options)
  const failed = readings.filter(mayPass).map(({ due }) => due)
  const pointless = failed.length === readings.length || options.signal.aborted || readings.some(isThrottled)
  if (failed.length === 0 || pointless) return readings
  const second = new Map((await readEach(context, failed, options)).map((reading) => [reading.due.sku, reading]))
  return readings.map((reading) => second.get(reading.due.sku) ?? reading)
}

// Whether the marketplace answers for some other SKU, one that it answered for before if there is one.
const answersForAnother = async (
  { client, database }: StreamContext,
  readings: readonly SkuReading[],
  options: CallOptions,
): Promise<boolean> => {
  const { sellerId } = client
  const inventoryLog = client.of(inventoryLogEndpoint)
  const asked = readings.map(({ due }) => due.sku)
  const other = await anotherSku(database, sellerId, asked, inventoryLog.keyedBy === 'gtin')
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
 * The failure that is the run's and not that of single SKUs: nothing came at all. Otherwise failures are noted at their SKUs, so that one
 * that the marketplace cannot cope with does not hold up the others. Where only refusals came, another SKU shows which it is.
 */
export const failureOf = async (
  context: StreamContext,
  readings: readonly SkuReading[],
  options: CallOptions,
): Promise<Error | null> => {
  const failures = readings.flatMap(({ failure }) => failure ?? [])
  const [first] = failures
  if (first === undefined || readings.some(({ pages }) => pages.length > 0)) return null
  const throttled = failures.find((failure) => failure instanceof Throttled)
  if (throttled !== undefined) return throttled.notBefore(new Date(Date.now() + restMs))
  const whole = failures.find((failure) => failure.credentialsDead || !isFinal(failure))
  if (whole !== undefined) return whole
  return (await answersForAnother(context, readings, options)) ? null : first
}
