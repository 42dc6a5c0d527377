/** What the number of pages that are left of a backfill is based on. */
export const estimateBases = ['windows-read', 'window-under-way', 'nothing'] as const

/** How far a backfill is, in windows and records. */
export interface BackfillProgress {
  /** Windows that are left, the current one included. */
  readonly windowsLeft: number
  readonly windowsDone: number
  /** Records received, of all windows. */
  readonly seen: number
  /** … and of the current window. */
  readonly windowSeen: number
  /** Records of the current window, as its first page stated; null: no page was read yet, or it did not state it. */
  readonly windowTotal: number | null
  readonly pageSize: number
}

/** How many pages of a backfill are left. */
export interface PagesLeft {
  readonly pages: number
  readonly basis: (typeof estimateBases)[number]
}

/**
 * Pages that are left of a backfill. A window that was not read yet counts with the average of those that were read, or with
 * the records of the current one; if neither is known, it counts as one page, which is the minimum.
 */
export const pagesLeft = ({ windowsLeft, windowsDone, seen, windowSeen, windowTotal, pageSize }: BackfillProgress): PagesLeft => {
  if (windowsLeft === 0) return { pages: 0, basis: 'nothing' }
  const countPages = (records: number): number => Math.max(1, Math.ceil(records / pageSize))
  const [perWindow, basis]: readonly [number, PagesLeft['basis']] =
    windowsDone > 0
      ? [countPages((seen - windowSeen) / windowsDone), 'windows-read']
      : windowTotal !== null
        ? [countPages(windowTotal), 'window-under-way']
        : [1, 'nothing']
  const current = windowTotal === null ? perWindow : countPages(windowTotal - windowSeen)
  return { pages: current + (windowsLeft - 1) * perWindow, basis }
}
