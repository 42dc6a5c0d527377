/**
 * A history: what an ERP, a marketplace, buyers, colleagues, carriers and the machine do to the command engine, as plain JSON. The same
 * history always plays the same way, so a failing one can be cut down and kept.
 *
 * Orders, lines, processes and nodes are named by their place in their list, from 0. Times are virtual milliseconds since the beginning.
 */
export interface History {
  readonly orders: readonly PlannedOrder[]
  readonly returns: readonly PlannedReturn[]
  /** Daemons that share the database. */
  readonly processes: 1 | 2
  readonly autoAcknowledge: boolean
  /** Seed of the engine's own dice, which spread its waits. */
  readonly dice: number
  readonly nature: Nature
  readonly acts: readonly Act[]
  readonly rules: readonly Rule[]
  readonly disturbances: readonly Disturbance[]
}

/** An order as it stands when the history begins. */
export interface PlannedOrder {
  readonly state: 'created' | 'acknowledged' | 'shipped'
  readonly lines: readonly PlannedLine[]
}

/** Money is in cents and for all units of the line together. */
export interface PlannedLine {
  readonly units: number
  readonly priceCents: number
  readonly taxCents: number
}

/** A buyer sends units back, as far as they are shipped by then and not in another return. Its lines are numbered in this order, from 1. */
export interface PlannedReturn {
  readonly order: number
  readonly atMs: number
  readonly lines: readonly LineUnits[]
}

/** How the marketplace is made. */
export interface Nature {
  /** They answer in turn. */
  readonly nodes: readonly Node[]
  /** Refuses to ship or cancel more units than a line has left. Otherwise units appear from nowhere, so that what is done twice shows. */
  readonly countsUnits: boolean
  /** Shows refunded units in a state of their own; otherwise a refund shows as money only. */
  readonly showsRefundedUnits: boolean
  /** Units that are refunded still show their tracking number. */
  readonly refundsKeepTracking: boolean
  /** Units that are refunded through their order count as those of their returns, the oldest first. */
  readonly countsCredits: boolean
  /** Life of an access token in seconds. */
  readonly tokenSeconds: number
}

/** One server of the marketplace. */
export interface Node {
  /** Its clock, ahead of the true one. */
  readonly skewMs: number
  /** A read of a single order shows it as it was so long ago. */
  readonly orderLagMs: number
  /** A page of the order list shows orders as they were so long ago. */
  readonly listLagMs: number
}

// ── what others do ───────────────────────────────────────────────────────────────────────────────────────

/** What happens at a moment. */
export type Act = { readonly atMs: number } & (
  | { readonly does: 'post'; readonly event: PlannedEvent; readonly copies: number; readonly inbox: boolean }
  | { readonly does: 'sync' }
  /** A person decides what is held, by the truth; `blindly`: says `unapplied` of everything, whatever the truth. */
  | { readonly does: 'decide'; readonly unapplied: 'retry' | 'reject'; readonly blindly?: true }
  | Deed
)

/** So many units of a line. */
export interface LineUnits {
  readonly line: number
  readonly units: number
}

/** An event of the ERP. */
export type PlannedEvent =
  | { readonly type: 'accepted'; readonly order: number }
  | { readonly type: 'dispatched'; readonly order: number; readonly parcels: readonly PlannedParcel[] }
  | {
      readonly type: 'unfulfillable'
      readonly order: number
      readonly lines: readonly (LineUnits & { readonly reason: number })[]
    }
  | {
      readonly type: 'credit'
      readonly order: number
      readonly lines: readonly (LineUnits & { readonly reason: number; readonly cents: number | null })[]
    }
  /** A line is one of the return; `bySku`: it is named by its SKU. */
  | {
      readonly type: 'return refunded'
      readonly order: number
      readonly return: number
      readonly lines: readonly (LineUnits & { readonly bySku: boolean })[]
    }
  /** Numbers as those of parcels; 0: that of the units of line 0 that were shipped before the history. */
  | { readonly type: 'corrected'; readonly order: number; readonly tracking: number; readonly to: number }

/** One parcel; equal numbers are equal tracking numbers. */
export interface PlannedParcel {
  readonly tracking: number
  readonly lines: readonly LineUnits[]
}

/** What somebody else does at the marketplace. `units` null: all that can be had. */
export type Deed =
  | { readonly does: 'buyer cancels'; readonly order: number; readonly line: number | null; readonly units: number | null }
  | { readonly does: 'colleague acknowledges'; readonly order: number }
  | {
      readonly does: 'colleague ships' | 'colleague cancels'
      readonly order: number
      readonly line: number
      readonly units: number
    }
  | {
      readonly does: 'colleague refunds' | 'marketplace refunds'
      readonly order: number
      readonly line: number
      /** 0: money only. */
      readonly units: number
      readonly cents: number
    }
  /** Units of a line of the return. */
  | { readonly does: 'marketplace refunds return'; readonly return: number; readonly line: number; readonly units: number }
  | { readonly does: 'carrier delivers'; readonly order: number; readonly line: number; readonly units: number | null }

// ── what the marketplace answers ─────────────────────────────────────────────────────────────────────────

/** Writes of the marketplace. A correction calls the same address as a shipment, and has rules of its own. */
export const writes = ['acknowledge', 'ship', 'cancel', 'refund', 'correct', 'refund-return'] as const
/** One of {@link writes}. */
export type Write = (typeof writes)[number]
/** Operations of the marketplace that the engine uses. */
export type Operation = 'token' | 'list' | 'get' | 'list returns' | 'get return' | Write

/** What becomes of the n-th and the following calls of an operation. The first rule that fits counts. */
export interface Rule {
  readonly operation: Operation
  /** Calls count from this moment on, so that a story does not hang on how often the engine has asked before. */
  readonly fromMs: number
  /** The first call that it is about, counted from 1. */
  readonly call: number
  readonly calls: number
  /** Which node answers; null: the next in turn. */
  readonly node: number | null
  readonly effect: Effect | null
  readonly answer: Answer
  /** The request stands still for so long before anything happens: on its way, or because its process was suspended. */
  readonly heldMs: number
  /** The answer stands still for so long, after the effect. */
  readonly answerHeldMs: number
  /** What others do right before the effect. */
  readonly meanwhile: readonly Deed[]
}

/** What a write really does; null in a rule: all when it is answered with 200 and an order, nothing otherwise. */
export interface Effect {
  /** `some lines`: the first line only. `some units`: one unit less of each line. `more`: three times the money. */
  readonly of: 'all' | 'nothing' | 'some lines' | 'some units' | 'more'
  readonly afterMs: number
}

/** An answer. */
export type Answer =
  /** 200 with the order as it is; a read shows it as late as its node is. */
  | { readonly is: 'true' }
  /** 200 with the order as it was before. */
  | { readonly is: 'stale' }
  /** 200, in which only the first line shows what has changed. */
  | { readonly is: 'partial' }
  /** 200 with errors in place of the order, or beside it. */
  | { readonly is: 'errors'; readonly withOrder: boolean }
  /** The marketplace's own coded refusal of this request. */
  | { readonly is: 'refusal' }
  /** The marketplace's own words for what was done before (public facts 6.4). */
  | { readonly is: 'already done' }
  /** Coded JSON of the marketplace with any status. */
  | { readonly is: 'coded'; readonly status: number }
  /** A gateway's words. */
  | { readonly is: 'gateway'; readonly status: number; readonly body: 'html' | 'xml' | 'empty' | 'json' }
  /** 429; `seconds` null: without saying how long. */
  | { readonly is: 'throttled'; readonly seconds: number | null }
  /** The connection ends without an answer, in the middle of it, or the answer is no JSON. */
  | { readonly is: 'dropped' | 'cut' | 'garbage' }
  /** An order, or a return, that cannot be understood, is another one, or that Postgres cannot hold. */
  | { readonly is: 'unreadable' | 'another order' | 'unstorable' }

// ── what the machine does ────────────────────────────────────────────────────────────────────────────────

/**
 * Moments between the steps of the engine. `before intent` and `after intent` stand around the transaction that stores what will be sent,
 * `outcome` around the one that stores what came of it, `read-back` around the one that judges a read, `acceptance` around those of an event.
 */
export const moments = [
  'before intent',
  'after intent',
  'before outcome',
  'after outcome',
  'before read-back',
  'after read-back',
  'before acceptance',
  'after acceptance',
] as const

/** One of {@link moments}. */
export type Moment = (typeof moments)[number]

/** What happens at the n-th time (from 1) that any process comes to a moment. */
export interface Disturbance {
  readonly moment: Moment
  readonly time: number
  /** `error`: Postgres answers with a fault; after a transaction it was committed all the same. */
  readonly does: 'dies' | 'pauses' | 'sleeps' | 'error'
  /** Of a pause; asleep, the monotonic clock of the process stands still as well. */
  readonly forMs: number
}

// ── the frame ────────────────────────────────────────────────────────────────────────────────────────────

/** Settle time of the engine, in virtual milliseconds. */
export const settleTimeMs = 120_000
/** Longest life of a request. */
export const requestTimeoutMs = 30_000

const calm: History = {
  orders: [],
  returns: [],
  processes: 1,
  autoAcknowledge: false,
  dice: 1,
  nature: {
    nodes: [{ skewMs: 0, orderLagMs: 0, listLagMs: 0 }],
    countsUnits: true,
    showsRefundedUnits: true,
    refundsKeepTracking: true,
    countsCredits: true,
    tokenSeconds: 900,
  },
  acts: [],
  rules: [],
  disturbances: [],
}

/** A history out of what matters in it; all else is calm. */
export const history = (parts: Partial<Omit<History, 'nature'>> & { readonly nature?: Partial<Nature> }): History => ({
  ...calm,
  ...parts,
  nature: { ...calm.nature, ...parts.nature },
})

/** A rule out of what matters in it. */
export const rule = (parts: Pick<Rule, 'operation' | 'answer'> & Partial<Rule>): Rule => ({
  fromMs: 0,
  call: 1,
  calls: 1,
  node: null,
  effect: null,
  heldMs: 0,
  answerHeldMs: 0,
  meanwhile: [],
  ...parts,
})
