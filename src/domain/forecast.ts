/** So many hours a forecast looks ahead at most: a week. */
export const mostForecastHours = 168

/** What the number of pages that are left of a backfill is based on. */
export const estimateBases = ['windows-read', 'window-under-way', 'nothing'] as const

/** See {@link estimateBases}. */
export type EstimateBasis = (typeof estimateBases)[number]

/** How far a backfill is, in windows and records. */
export interface BackfillProgress {
  /** Windows that are left, the one under way among them. */
  readonly windowsLeft: number
  readonly windowsDone: number
  /** Records that have come, of all windows. */
  readonly seen: number
  /** … and of the window under way. */
  readonly windowSeen: number
  /** How many the window under way has, as its first page said; null: it has none yet, or did not say. */
  readonly windowTotal: number | null
  readonly pageSize: number
}

/** How many pages of a backfill are left. */
export interface PagesLeft {
  readonly pages: number
  readonly basis: EstimateBasis
}

/**
 * Pages that are left of a backfill. Windows that nobody has looked at yet are taken to hold as much as those that were read do on average, or as
 * the one under way; where nothing is known each counts as one page, which is the least that it takes.
 */
export const pagesLeft = ({ windowsLeft, windowsDone, seen, windowSeen, windowTotal, pageSize }: BackfillProgress): PagesLeft => {
  if (windowsLeft === 0) return { pages: 0, basis: 'nothing' }
  const pagesOf = (records: number): number => Math.max(1, Math.ceil(records / pageSize))
  const [perWindow, basis]: readonly [number, EstimateBasis] =
    windowsDone > 0
      ? [pagesOf((seen - windowSeen) / windowsDone), 'windows-read']
      : windowTotal !== null
        ? [pagesOf(windowTotal), 'window-under-way']
        : [1, 'nothing']
  const underWay = windowTotal === null ? perWindow : pagesOf(windowTotal - windowSeen)
  return { pages: underWay + (windowsLeft - 1) * perWindow, basis }
}

/** A backfill, and when it will have been read. */
export interface ForecastBackfill extends PagesLeft {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  readonly windowsLeft: number
  readonly operation: string
  /** Null: not within the time that is looked ahead. */
  readonly endsAt: Date | null
}

/** What a seller will use of the limit of an operation. */
export interface ForecastOperation {
  readonly sellerId: string
  readonly operation: string
  readonly tokens: number
  readonly perMs: number
  readonly calls: number
  /** Most calls that the limit allows within the time. */
  readonly allowed: number
  readonly share: number
  /** How often something has to wait for the limit. */
  readonly waits: number
}

/** A command that will be sent after the marketplace wants it done, or not at all within the time. */
export interface ForecastCommand {
  readonly commandId: string
  readonly sellerId: string
  readonly purchaseOrderId: string | null
  readonly kind: string
  readonly lines: readonly string[]
  readonly actBy: Date
  /** Null: not within the time. */
  readonly expectedAt: Date | null
}

/** An order whose deadline comes within the time, and for which nothing is to be sent: the ERP has not said anything yet. */
export interface WaitingOrder {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly wants: 'acknowledge' | 'ship'
  readonly by: Date
}

/** Answer to the question what comes next. */
export interface Forecast {
  readonly from: Date
  readonly until: Date
  readonly sellerIds: readonly string[]
  /** What was taken for granted, one sentence each. */
  readonly assumptions: readonly string[]
  readonly backfills: readonly ForecastBackfill[]
  readonly operations: readonly ForecastOperation[]
  readonly commands: {
    readonly open: number
    readonly sent: number
    readonly late: number
    readonly unsent: number
    /** The first of those that are late, by their deadlines. */
    readonly lateOnes: readonly ForecastCommand[]
  }
  readonly shipBy: {
    /** Orders whose shipment is queued and leaves late. */
    readonly atRisk: readonly ForecastCommand[]
    readonly waitingForErp: readonly WaitingOrder[]
    readonly waitingForErpCount: number
  }
  readonly polls: { readonly runs: number; readonly lateP99Ms: number; readonly lateMostMs: number }
}
