/**
 * Reading a range of a log by limit and offset while entries may still be added to it. A window's bounds are fixed; changes between the
 * pages appear as a total that changes, or as fewer distinct entries than announced, and the window is read again. A range with too many
 * entries is read in windows, oldest first.
 */

import type { TimeWindow } from '../sync/windows.ts'
import { findOverlapMs, type LogPrecision } from './inventory-log-schedule.ts'

/** Maximum number of repeated readings of a window. */
const rereads = 2

/** One reading of a window, with its progress. */
export interface LogPass {
  readonly window: TimeWindow
  /** End of the range that the window belongs to. */
  readonly until: Date
  /** Where the next page begins. */
  readonly offset: number
  /** Distinct entries of this pass, and the number of unreadable ones. */
  readonly seen: ReadonlySet<string>
  readonly unreadable: number
  /** As stated by the last page; null before the first, or if no page states it. */
  readonly totalCount: number | null
  /** The total changed from one page to the next. */
  readonly moved: boolean
  /** Distinct entries of earlier passes, and what each of them found, as `read/announced`. */
  readonly known: ReadonlySet<string>
  readonly earlier: readonly string[]
  /** Of a range whose reading is suspended: `full`: it is the whole log; `corrupt`: a part of it had to be left out. */
  readonly full?: boolean
  readonly corrupt?: boolean
}

/** What a page of a pass brought: keys of its entries, as often as they came, and how many could not be read. */
export interface PassPage {
  readonly keys: readonly string[]
  readonly unreadable: number
  readonly totalCount: number | null
}

/**
 * What to do after a page: go `on` with the pass given (the next page, or the first of another reading of the window), or stop. `settled`:
 * the window is read; `unsettled`: it moved through all passes, and is not. `large`: it holds more than `maxEntries`.
 */
export type PassStep =
  | { readonly kind: 'on'; readonly pass: LogPass }
  | { readonly kind: 'settled' }
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'large' }

/** The start of the first reading of a window in a range that ends at `until`. */
export const beginPass = (window: TimeWindow, until: Date): LogPass => ({
  window,
  until,
  offset: 0,
  seen: new Set(),
  unreadable: 0,
  totalCount: null,
  moved: false,
  known: new Set(),
  earlier: [],
})

// What could not be read may be readable the next time, so it too is worth another pass; but when two passes agree, it stays so.
const endPass = (pass: LogPass): PassStep => {
  const { window, until, seen, unreadable, totalCount, moved, earlier } = pass
  const known = pass.known.union(seen)
  const isWhole = !moved && seen.size + unreadable >= (totalCount ?? 0)
  const lacks = unreadable > 0 && (totalCount === null || known.size < totalCount)
  if (isWhole && !lacks) return { kind: 'settled' }
  const found = `${known.size}/${totalCount ?? '?'}`
  if (earlier.includes(found)) return { kind: 'settled' }
  if (earlier.length >= rereads) return { kind: isWhole ? 'settled' : 'unsettled' }
  return { kind: 'on', pass: { ...beginPass(window, until), known, earlier: [...earlier, found] } }
}

/**
 * The step after a page. The next one begins behind the entries that were really received, however many were asked for; one that was received
 * twice counts once, so that none is skipped. A pass ends when as many came as announced, or when a page brings nothing new.
 */
export const advancePass = (pass: LogPass, { keys, unreadable, totalCount }: PassPage, maxEntries: number): PassStep => {
  const total = totalCount ?? pass.totalCount
  if (pass.offset === 0 && total !== null && total > maxEntries) return { kind: 'large' }
  const advanced: LogPass = {
    ...pass,
    offset: pass.offset + new Set(keys).size + unreadable,
    seen: new Set([...pass.seen, ...keys]),
    unreadable: pass.unreadable + unreadable,
    totalCount: total,
    moved: pass.moved || (pass.totalCount !== null && total !== pass.totalCount),
  }
  const nothingNew = advanced.seen.size === pass.seen.size && unreadable === 0
  return nothingNew || (total !== null && advanced.offset >= total) ? endPass(advanced) : { kind: 'on', pass: advanced }
}

/** The start of the pass for the rest of a range after this pass's window is read; null: nothing is left. */
export const passAfter = ({ window, until }: LogPass, precision: LogPrecision): LogPass | null =>
  window.to >= until ? null : beginPass({ from: new Date(window.to.getTime() - findOverlapMs(precision)), to: until }, until)
