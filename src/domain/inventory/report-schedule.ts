import { addDays, addMonths, type Calendar } from '../values/calendar.ts'

/**
 * When the inventory reconciliation report of a month is requested (specification, its notes on the report; public facts,
 * section 7.2): it is generated daily at 7 am of the marketplace's calendar with everything up to the preceding midnight, and should be
 * retrieved at most once an hour.
 *
 * - The running month is requested once after each generation.
 * - A past month is requested until its generation of the 10th day of the next month, since late bookings still change it.
 * - After that it is requested once in 30 days for six months: as long as a seller may still file claims.
 * - A month whose difference depends on an entry of the log that was reported after its report was read is requested once after the next
 *   generation, and once more a day after the entry if the file was not generated again.
 * - A month after the oldest known one without a report is requested until there is one: a false "none", or an interrupted run, leaves no
 *   gap. Once the month counts as final, each interval is twice as long as the one before, up to 30 days.
 * - A report that is generated on request is asked about every five minutes until its file is there, for six hours at most; then the request has failed.
 * - If the answer is a file of an earlier generation, it is requested again every hour for six hours: the new one is late, or "7 am PST"
 *   was meant without daylight saving time.
 */

const generationHour = 7
const hourMs = 3_600_000
/** Minimum interval between two requests of a month's report, for every result of the first. */
const retrievalPauseMs = hourMs
/** Minimum interval between two questions about a requested report. */
const checkPauseMs = 5 * 60_000
/** A requested report is ready in 15 to 45 minutes (public facts, section 13); after this time it is requested again. */
const requestTimeoutMs = 6 * hourMs
/** The file of a request that is older is out of date. */
const requestLifetimeMs = 24 * hourMs
/** How long after a generation the file is asked for again, when an earlier one came. */
const lateFileMs = 6 * hourMs
/** The last generation of a month that is waited for is the one of this day of the next month. */
const lastGenerationDay = 10
/** How often, and for how many months, a month is read again after it counts as final. */
const rereadPauseMs = 30 * 24 * hourMs
const rereadMonths = 6
/** A report that is read this long after an entry of the log counts it, whenever the file was generated: one generation lies between. */
const lateEntryMs = 24 * hourMs
/** Reports begin with this month. */
export const firstReportMonth = '2022-01'

/** State of a month's report. */
export interface ReportMonth {
  /** `YYYY-MM`, by the marketplace's calendar, as all months and midnights here. */
  readonly month: string
  /** When its report was last requested, with any result; null if never. On the marketplace's clock, as all times here. */
  readonly triedAt: Date | null
  /** When the newest report that came was made, and when it came; null before the first. */
  readonly newest: { readonly generatedAt: Date; readonly retrievedAt: Date } | null
  /** The newest entry of the log that is newer than the report and makes a difference; null: none. */
  readonly lateEntryAt: Date | null
  /** A report is downloaded and waits to be imported. */
  readonly waiting: boolean
  /** Consecutive attempts without a file. */
  readonly failures: number
  /** A report that the marketplace generates on request; null: none is requested. */
  readonly requested: RequestedReport | null
}

/** A request for a report that is not downloaded yet. */
export interface RequestedReport {
  readonly requestId: string
  readonly requestedAt: Date
  /** When its progress was last read; null: never. */
  readonly checkedAt: Date | null
}

/** A month of which nothing is known yet. */
export const unknownMonth = (month: string): ReportMonth => ({
  month,
  triedAt: null,
  newest: null,
  lateEntryAt: null,
  waiting: false,
  failures: 0,
  requested: null,
})

const pauseEnd = (triedAt: Date | null, now: Date, pauseMs: number): Date | null => {
  if (triedAt === null || Math.abs(now.getTime() - triedAt.getTime()) >= pauseMs) return null
  return new Date(triedAt.getTime() + pauseMs)
}

/**
 * When a month's report may be asked for again; null when now is fine. A try that lies further ahead than the pause was dated by a
 * clock that has been set since, and counts no more.
 */
export const retrievalPauseEnd = (triedAt: Date | null, now: Date): Date | null => pauseEnd(triedAt, now, retrievalPauseMs)

/** When the progress of a request may be read; null: now. */
export const checkPauseEnd = ({ requestedAt, checkedAt }: RequestedReport, now: Date): Date | null =>
  pauseEnd(checkedAt ?? requestedAt, now, checkPauseMs)

/** Whether a report may have been made before an entry of the log that was read at this time. */
export const isOlderThanEntry = (
  { generatedAt, retrievedAt }: { readonly generatedAt: Date; readonly retrievedAt: Date },
  entryAt: Date,
): boolean => generatedAt < entryAt && retrievedAt.getTime() < entryAt.getTime() + lateEntryMs

/** The state of a request by its age: `late` if its report should have been ready, `old` if its file would be out of date. */
export const judgeRequest = ({ requestedAt }: RequestedReport, now: Date): 'recent' | 'late' | 'old' => {
  const ageMs = now.getTime() - requestedAt.getTime()
  if (ageMs < requestTimeoutMs) return 'recent'
  return ageMs < requestLifetimeMs ? 'late' : 'old'
}

/** How long a month that is over, and of which no report has come, is left alone after so many tries. */
const holePauseMs = (failures: number): number => Math.min(retrievalPauseMs * 2 ** Math.max(0, failures - 1), rereadPauseMs)

/** When the reports of a marketplace are made and asked for, by its calendar. */
export const reportSchedule = ({ hour, midnight, formatDay, formatMonth, monthBounds }: Calendar) => {
  /** The newest generation of reports at this moment. */
  const latestGeneration = (now: Date): Date => {
    const today = formatDay(now)
    const generation = hour(today, generationHour)
    return generation <= now ? generation : hour(addDays(today, -1), generationHour)
  }

  /** The generation that is the first to know something of a month: on its second day. */
  const firstGeneration = (month: string): Date => hour(`${month}-02`, generationHour)

  /** The generation after which a month counts as final. */
  const lastGeneration = (month: string): Date => hour(`${addMonths(month, 1)}-${lastGenerationDay}`, generationHour)

  /** Whether there can be a report of a month. */
  const isReported = (month: string, now: Date): boolean =>
    month >= firstReportMonth && firstGeneration(month) <= latestGeneration(now)

  /** The midnight up to which a month's report counts movements, by the moment at which it was made. */
  const coveredUntil = (month: string, generatedAt: Date): Date => {
    const { from, to } = monthBounds(month)
    const counted = midnight(formatDay(latestGeneration(generatedAt)))
    return new Date(Math.min(Math.max(counted.getTime(), from.getTime()), to.getTime()))
  }

  /** Whether nothing new is waited for, though it may still be claimed by. */
  const isFinal = (month: string, now: Date): boolean =>
    lastGeneration(month) <= now && month >= addMonths(formatMonth(now), -rereadMonths)

  /** Whether a report is to be read again for a late entry: after the next generation, and then a day after the entry. */
  const isDueForEntry = (newest: NonNullable<ReportMonth['newest']>, entryAt: Date | null, now: Date): boolean => {
    if (entryAt === null || !isOlderThanEntry(newest, entryAt)) return false
    const isReadSince = newest.retrievedAt >= entryAt
    return isReadSince ? now.getTime() >= entryAt.getTime() + lateEntryMs : latestGeneration(now) >= entryAt
  }

  /** Whether a month's report should be asked for now, or imported because it is here already. */
  const isDue = ({ month, triedAt, newest, lateEntryAt, waiting, failures, requested }: ReportMonth, now: Date): boolean => {
    if (waiting) return true
    if (requested !== null) return checkPauseEnd(requested, now) === null
    if (!isReported(month, now) || retrievalPauseEnd(triedAt, now) !== null) return false
    if (newest === null) return lastGeneration(month) > now || pauseEnd(triedAt, now, holePauseMs(failures)) === null
    if (isDueForEntry(newest, lateEntryAt, now)) return true
    const wantedMs = Math.min(latestGeneration(now).getTime(), lastGeneration(month).getTime())
    if (newest.generatedAt.getTime() >= wantedMs) {
      return isFinal(month, now) && now.getTime() - newest.retrievedAt.getTime() >= rereadPauseMs
    }
    return newest.retrievedAt.getTime() < wantedMs || now.getTime() < wantedMs + lateFileMs
  }

  /**
   * The months to ask for now, newest first: of the running month, the one before and all since the oldest of which there is a report (a
   * daemon that was off for long catches up, and so does one that could not have some of them), the ones that are due.
   */
  const dueMonths = (known: readonly ReportMonth[], now: Date): readonly string[] => {
    const byMonth = new Map(known.map((entry) => [entry.month, entry]))
    const running = formatMonth(now)
    const oldest = known.reduce(
      (oldestKnown, { month, newest }) => (newest !== null && month < oldestKnown ? month : oldestKnown),
      addMonths(running, -1),
    )
    const due: string[] = []
    for (let month = running; month >= oldest; month = addMonths(month, -1)) {
      if (isDue(byMonth.get(month) ?? unknownMonth(month), now)) due.push(month)
    }
    return due
  }

  /** The months of a range that can have a report, oldest first. Empty when all of it is older than the first report. */
  const reportMonths = (range: { readonly from: Date; readonly to: Date }): readonly string[] => {
    const last = formatMonth(new Date(range.to.getTime() - 1))
    const wanted = formatMonth(range.from)
    const months: string[] = []
    for (let month = wanted < firstReportMonth ? firstReportMonth : wanted; month <= last; month = addMonths(month, 1))
      months.push(month)
    return months
  }

  /** The part of a range for which there are no reports, since they begin later; null when there is none. */
  const rangeBeforeReports = (range: {
    readonly from: Date
    readonly to: Date
  }): { readonly from: Date; readonly to: Date } | null => {
    const { from: begin } = monthBounds(firstReportMonth)
    return range.from < begin ? { from: range.from, to: range.to < begin ? range.to : begin } : null
  }

  return { latestGeneration, isReported, coveredUntil, isDue, dueMonths, reportMonths, rangeBeforeReports }
}
