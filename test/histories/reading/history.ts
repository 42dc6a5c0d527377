/** What a marketplace does to its lists for a while. Each is about the share of requests, or of orders, that the dice pick. */
export type Lie =
  /** Orders are in no list. */
  | 'omit'
  /** Lists show everything as it was a while ago. */
  | 'delay'
  /** The last row of the page before comes again, in front. */
  | 'repeat'
  /** Each page comes in an order of its own, and the whole list in another one each time. */
  | 'reorder'
  /** The answer ends in its middle. */
  | 'truncate'
  /** The answer is an error. */
  | 'fail'
  /** "None there", though there are some. */
  | 'none'
  /** The answer is an error, unless it has no rows. */
  | 'render'
  /** The connection is dropped. */
  | 'drop'
  /** A page gives the cursor again by which it was asked for. */
  | 'circle'

/** One rule of lying, from a moment on for so long; milliseconds from the beginning. */
export interface LieRule {
  readonly lie: Lie
  readonly fromMs: number
  readonly forMs: number
  /** From 0 to 1: of the orders for `omit`, of the requests for all others. */
  readonly share: number
  /** Which pages. */
  readonly pages: 'first' | 'further' | 'all'
  /** Of an error. */
  readonly status: number
  /** For `delay`. */
  readonly lagMs: number
}

/** An order as it truly is. */
export interface TrueReadingOrder {
  /** Milliseconds from the beginning; negative: before it. */
  readonly createdMs: number
  /** Later changes: the first acknowledges it, the second ships it. */
  readonly changedMs: readonly number[]
  readonly node: 0 | 1 | 2
  /** In no list until so long after its creation; `null`: for ever. */
  readonly hiddenForMs: number | null
  /** Who names it, when it is created: nothing but a list, an event of the ERP, a return. */
  readonly namedBy: 'lists' | 'event' | 'return'
  /** Pages on which it stands are answered with this status, until then; `null` for ever. */
  readonly poison: { readonly status: number; readonly untilMs: number | null } | null
}

/** What becomes of cursors. */
export type Temper =
  | { readonly is: 'good' }
  /** Every n-th cursor that is given until then (null: for ever) is dead from the start, and stays so; it is answered with this status. */
  | { readonly is: 'dead'; readonly every: number; readonly status: number; readonly untilMs: number | null }

/** A history of reading: plain JSON, so that it can be kept. */
export interface ReadingHistory {
  readonly dice: number
  readonly orders: readonly TrueReadingOrder[]
  readonly rules: readonly LieRule[]
  readonly temper: Temper
  readonly processes: 1 | 2
  /** The process that runs dies at its so many-th transaction from the beginning. */
  readonly kills: readonly number[]
}

/** The calmest history, with these parts of it otherwise. */
export const readingHistory = (parts: Partial<ReadingHistory>): ReadingHistory => ({
  dice: 1,
  orders: [],
  rules: [],
  temper: { is: 'good' },
  processes: 1,
  kills: [],
  ...parts,
})

/** An order that was created so many minutes before the beginning (negative: after it), and is as plain as can be otherwise. */
export const orderAgo = (minutes: number, parts: Partial<TrueReadingOrder> = {}): TrueReadingOrder => ({
  createdMs: -minutes * 60_000,
  changedMs: [],
  node: 0,
  hiddenForMs: 0,
  namedBy: 'lists',
  poison: null,
  ...parts,
})

/** A rule that holds from the beginning on, for all pages. */
export const lying = (lie: Lie, forMinutes: number, parts: Partial<LieRule> = {}): LieRule => ({
  lie,
  fromMs: 0,
  forMs: forMinutes * 60_000,
  share: 1,
  pages: 'all',
  status: 500,
  lagMs: 3_600_000,
  ...parts,
})

/** When the last lie ends, milliseconds from the beginning; what lasts for ever does not count. */
export const lyingEndsMs = ({ rules, orders }: ReadingHistory): number =>
  Math.max(
    0,
    ...rules.map(({ fromMs, forMs }) => fromMs + forMs),
    ...orders.map(({ createdMs, hiddenForMs }) => createdMs + (hiddenForMs ?? 0)),
    ...orders.map(({ poison }) => poison?.untilMs ?? 0),
    ...orders.flatMap(({ changedMs, createdMs }) => [createdMs, ...changedMs]),
  )
