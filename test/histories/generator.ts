import fc from 'fast-check'
import {
  type Act,
  type Answer,
  type Deed,
  type Disturbance,
  type Effect,
  type History,
  type LineUnits,
  moments,
  type Node,
  type PlannedEvent,
  type PlannedOrder,
  type PlannedReturn,
  type Rule,
  type Write,
} from './history.ts'

/**
 * Histories at random. What no engine could withstand is left out: whatever happens at the marketplace shows in every read before the
 * settle time is over, the marketplace's own coded refusals are true, and nobody else leaves our marks.
 */

/** An effect comes so late at most, and a read of one order lags so far behind at most: together less than the settle time. */
const latestMs = 54_000

const pickOne = <Value>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values)
/** Of a list that is only known later; see `wrapped`. */
const place = fc.nat({ max: 1 })
const few = pickOne(1, 1, 2)

const moment = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 10 }).map((steps) => steps * 1_000) },
  { weight: 2, arbitrary: fc.nat({ max: 20 }).map((steps) => steps * 10_000) },
)

const order: fc.Arbitrary<PlannedOrder> = fc.record({
  state: pickOne('acknowledged', 'acknowledged', 'shipped', 'shipped', 'created'),
  lines: fc.array(
    fc.record({ units: fc.integer({ min: 2, max: 8 }), cents: pickOne(1_000, 999, 333) }).map(({ units, cents }) => ({
      units,
      priceCents: units * cents,
      taxCents: Math.round(units * cents * 0.08),
    })),
    { minLength: 1, maxLength: 2 },
  ),
})

const lineUnits = fc.record({ line: place, units: few })
const lines = fc.uniqueArray(lineUnits, { minLength: 1, maxLength: 2, selector: ({ line }) => line })
const reason = pickOne(0, 0, 0, 1)

const returned: fc.Arbitrary<PlannedReturn> = fc.record({ order: place, atMs: pickOne(0, 0, 0, 3_000, 40_000), lines })

/** What the ERP would say; what it can say depends on how the order stands, see `fittedEvent`. */
interface Wish {
  readonly kind: number
  readonly order: number
  readonly parcels: readonly { readonly tracking: number; readonly lines: readonly LineUnits[] }[]
  readonly reason: number
  readonly cents: number | null
  readonly bySku: boolean
  /** A tracking number that becomes another one. */
  readonly corrects: { readonly tracking: number; readonly to: number }
}

const wish: fc.Arbitrary<Wish> = fc.record({
  kind: fc.nat({ max: 59 }),
  order: place,
  parcels: fc.array(fc.record({ tracking: few, lines }), { minLength: 1, maxLength: 2 }),
  reason,
  cents: pickOne(null, null, null, 250),
  bySku: fc.boolean(),
  corrects: fc.record({ tracking: pickOne(1, 1, 2, 3), to: pickOne(3, 3, 4, 2) }),
})

/** What somebody else would do; what can be done depends on how the order stands, see `fittedDeed`. */
interface DeedWish {
  readonly kind: number
  readonly order: number
  readonly line: number
  readonly units: number
  readonly cents: number
}

const deed: fc.Arbitrary<DeedWish> = fc.record({
  kind: fc.nat({ max: 59 }),
  order: place,
  line: place,
  units: few,
  cents: pickOne(1_080, 1_079, 250),
})

interface Wished {
  readonly atMs: number
  readonly wish: Wish
  readonly copies: number
  readonly inbox: boolean
  /** The same once more, as an event of its own. */
  readonly twinAfterMs: number | null
  /** The twin says something else of the same units: a refund through the other way, or a correction of what was dispatched. */
  readonly otherwise: boolean
}

const wished: fc.Arbitrary<Wished> = fc.record({
  atMs: moment,
  wish,
  copies: pickOne(1, 1, 1, 2),
  inbox: pickOne(false, false, false, true),
  twinAfterMs: pickOne(null, null, 0, 5_000, 5_000, 60_000),
  otherwise: fc.boolean(),
})

const others: fc.Arbitrary<readonly Act[]> = fc
  .tuple(
    fc.array(
      moment.map((atMs): Act => ({ atMs, does: 'sync' })),
      { maxLength: 2 },
    ),
    fc.array(
      fc
        .tuple(pickOne(200_000, 400_000, 900_000), pickOne('retry' as const, 'reject' as const))
        .map(([atMs, unapplied]): Act => ({ atMs, does: 'decide', unapplied })),
      { maxLength: 1 },
    ),
  )
  .map((each) => each.flat())

const node: fc.Arbitrary<Node> = fc.record({
  skewMs: pickOne(0, 0, -1_500, 3_000),
  orderLagMs: pickOne(0, 0, 2_000, 30_000, latestMs),
  listLagMs: pickOne(0, 60_000, 300_000),
})

// ── answers ──

type Told = Pick<Rule, 'answer' | 'effect'>

const effect: fc.Arbitrary<Effect> = fc.record({
  of: pickOne('all', 'all', 'all', 'all', 'nothing', 'nothing', 'some lines', 'some units', 'more'),
  afterMs: pickOne(0, 0, 200, 20_000, latestMs),
})
const nothing = { of: 'nothing', afterMs: 0 } as const

/** Answers that leave open what happened. */
const open: fc.Arbitrary<Answer> = fc.oneof(
  {
    weight: 5,
    arbitrary: pickOne<Answer>({ is: 'dropped' }, { is: 'cut' }, { is: 'garbage' }, { is: 'stale' }, { is: 'partial' }),
  },
  { weight: 3, arbitrary: pickOne(408, 423, 500, 504).map((status): Answer => ({ is: 'coded', status })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(pickOne(408, 425, 502, 503, 520), pickOne('html' as const, 'xml' as const, 'empty' as const, 'json' as const))
      .map(([status, body]): Answer => ({ is: 'gateway', status, body })),
  },
  { weight: 2, arbitrary: fc.boolean().map((withOrder): Answer => ({ is: 'errors', withOrder })) },
  {
    weight: 3,
    arbitrary: pickOne<Answer>(
      { is: 'true' },
      { is: 'already done' },
      { is: 'unreadable' },
      { is: 'another order' },
      { is: 'unstorable' },
    ),
  },
)

/** Answers that are only given where nothing was done. */
const closed: fc.Arbitrary<Answer> = fc.oneof(
  pickOne<Answer>({ is: 'refusal' }, { is: 'already done' }, { is: 'coded', status: 401 }, { is: 'coded', status: 404 }),
  fc
    .tuple(pickOne(400, 403, 404), pickOne('html' as const, 'xml' as const, 'empty' as const, 'json' as const))
    .map(([status, body]): Answer => ({ is: 'gateway', status, body })),
  pickOne(null, 5, 60).map((seconds): Answer => ({ is: 'throttled', seconds })),
)

const writeTold: fc.Arbitrary<Told> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ answer: open, effect }) },
  { weight: 1, arbitrary: closed.map((answer) => ({ answer, effect: nothing })) },
)

const readTold: fc.Arbitrary<Told> = fc
  .oneof(
    pickOne<Answer>(
      { is: 'true' },
      { is: 'dropped' },
      { is: 'cut' },
      { is: 'garbage' },
      { is: 'unreadable' },
      { is: 'another order' },
    ),
    pickOne<Answer>({ is: 'unstorable' }, { is: 'throttled', seconds: 20 }),
    pickOne(404, 404, 500, 403, 423).map((status): Answer => ({ is: 'coded', status })),
    fc
      .tuple(pickOne(403, 404, 502), pickOne('html' as const, 'empty' as const))
      .map(([status, body]): Answer => ({ is: 'gateway', status, body })),
  )
  .map((answer) => ({ answer, effect: null }))

/** A rule before it is known which operations there will be. */
interface RuleWish extends Omit<Rule, 'operation' | 'answer' | 'effect' | 'meanwhile'> {
  readonly meanwhile: DeedWish | null
  readonly operation: number
  readonly told: Told
}

const findRule = (told: fc.Arbitrary<Told>, heldMs: fc.Arbitrary<number>): fc.Arbitrary<RuleWish> =>
  fc.record({
    operation: fc.nat({ max: 11 }),
    told,
    fromMs: pickOne(0, 0, 0, 0, 60_000, 115_000),
    call: pickOne(1, 1, 1, 2, 3),
    calls: pickOne(1, 1, 1, 2, 5),
    node: fc.option(fc.nat({ max: 2 })),
    heldMs,
    answerHeldMs: pickOne(0, 0, 0, 0, 20_000, 90_000, 200_000),
    meanwhile: fc.option(deed, { freq: 2 }),
  })

const writeRule = findRule(writeTold, pickOne(0, 0, 0, 10_000, 25_000))
const readRule = findRule(readTold, pickOne(0, 0, 0, 10_000, 100_000, 300_000))
const tokenRule = findRule(fc.constant({ answer: { is: 'true' }, effect: null }), pickOne(0, 70_000, 200_000))

const disturbance: fc.Arbitrary<Disturbance> = fc.record({
  moment: pickOne(...moments, 'before intent', 'after intent', 'before outcome', 'after outcome'),
  time: pickOne(1, 1, 2, 3),
  does: pickOne('dies', 'pauses', 'pauses', 'sleeps', 'error'),
  forMs: pickOne(1_000, 40_000, 100_000, 200_000),
})

// ── fitting ──

const wrapped = (at: number, length: number): number => at % length

const eventTypes = {
  created: ['dispatched', 'dispatched', 'unfulfillable', 'accepted', 'credit'],
  acknowledged: ['dispatched', 'dispatched', 'dispatched', 'unfulfillable', 'unfulfillable', 'credit', 'corrected'],
  shipped: ['credit', 'credit', 'return refunded', 'return refunded', 'return refunded', 'return refunded', 'corrected'],
} as const satisfies Record<PlannedOrder['state'], readonly PlannedEvent['type'][]>

/** What is wished, as far as the order allows it: what we would refuse at once tells nothing. */
const fittedEvent = (
  { kind, parcels, ...wished }: Wish,
  { orders, returns }: Pick<History, 'orders' | 'returns'>,
): PlannedEvent => {
  const at = wrapped(wished.order, orders.length)
  const planned = orders[at]
  const types = eventTypes[planned?.state ?? 'acknowledged']
  const back = returns.findIndex(({ order: of }) => of === at)
  const wanted = types[kind % types.length] ?? 'credit'
  const type = wanted === 'return refunded' && back < 0 ? 'credit' : wanted
  const count = planned?.lines.length ?? 1
  const within = (entries: readonly LineUnits[]): LineUnits[] =>
    entries.map((entry) => ({ ...entry, line: wrapped(entry.line, count) })).slice(0, count)
  const entries = within(parcels[0]?.lines ?? [])
  switch (type) {
    case 'accepted':
      return { type, order: at }
    case 'dispatched':
      return { type, order: at, parcels: parcels.map((parcel) => ({ ...parcel, lines: within(parcel.lines) })) }
    case 'unfulfillable':
      return { type, order: at, lines: entries.map((entry) => ({ ...entry, reason: wished.reason })) }
    case 'credit':
      return { type, order: at, lines: entries.map((entry) => ({ ...entry, reason: wished.reason, cents: wished.cents })) }
    case 'return refunded': {
      const there = returns[back]?.lines.length ?? 1
      const named = (parcels[0]?.lines ?? []).map((entry) => ({ ...entry, line: wrapped(entry.line, there) })).slice(0, there)
      return { type, order: at, return: back, lines: named.map((entry) => ({ ...entry, bySku: wished.bySku })) }
    }
    case 'corrected': {
      const { tracking, to } = wished.corrects
      return { type, order: at, tracking: planned?.state === 'shipped' ? 0 : tracking, to }
    }
  }
}

/** What says something else of the same units; null: nothing does. */
const otherEvent = (event: PlannedEvent, { corrects }: Wish, { returns }: Pick<History, 'returns'>): PlannedEvent | null => {
  switch (event.type) {
    case 'dispatched':
      return { type: 'corrected', order: event.order, tracking: event.parcels[0]?.tracking ?? 1, to: corrects.to }
    case 'corrected':
      return { type: 'corrected', order: event.order, tracking: event.to, to: corrects.to === event.to ? 1 : corrects.to }
    case 'return refunded': {
      const lines = event.lines.map(({ line, units }) => ({
        line: returns[event.return]?.lines[line]?.line ?? 0,
        units,
        reason: 0,
        cents: null,
      }))
      return { type: 'credit', order: event.order, lines }
    }
    default:
      return null
  }
}

const fittedPosts = (
  { wish: wanted, twinAfterMs, otherwise, ...one }: Wished,
  frame: Pick<History, 'orders' | 'returns'>,
): readonly Act[] => {
  const event = fittedEvent(wanted, frame)
  const first: Act = { ...one, does: 'post', event }
  if (twinAfterMs === null) return [first]
  const other = otherwise ? otherEvent(event, wanted, frame) : null
  return [first, { ...first, atMs: one.atMs + twinAfterMs, event: other ?? event }]
}

const deedTypes = {
  created: ['buyer cancels', 'buyer cancels all', 'colleague acknowledges', 'colleague cancels'],
  acknowledged: [
    'buyer cancels',
    'buyer cancels all',
    'colleague ships',
    'colleague ships',
    'colleague cancels',
    'carrier delivers',
  ],
  shipped: [
    'marketplace refunds',
    'marketplace refunds return',
    'marketplace refunds return',
    'marketplace refunds money',
    'colleague refunds',
    'carrier delivers',
  ],
} as const satisfies Record<PlannedOrder['state'], readonly string[]>

const fittedDeed = (wanted: DeedWish, { orders, returns }: Pick<History, 'orders' | 'returns'>): Deed => {
  const at = wrapped(wanted.order, orders.length)
  const planned = orders[at]
  const types = deedTypes[planned?.state ?? 'acknowledged']
  const type = types[wanted.kind % types.length] ?? 'buyer cancels'
  const on = { order: at, line: wrapped(wanted.line, planned?.lines.length ?? 1) }
  switch (type) {
    case 'buyer cancels':
      return { does: type, ...on, units: wanted.units }
    case 'buyer cancels all':
      return { does: 'buyer cancels', order: at, line: null, units: null }
    case 'colleague acknowledges':
      return { does: type, order: at }
    case 'colleague ships':
    case 'colleague cancels':
      return { does: type, ...on, units: wanted.units }
    case 'carrier delivers':
      return { does: type, ...on, units: null }
    case 'marketplace refunds return': {
      const back = returns.findIndex(({ order: of }) => of === at)
      if (back < 0) return { does: 'marketplace refunds', ...on, units: 1, cents: wanted.cents }
      const line = wrapped(wanted.line, returns[back]?.lines.length ?? 1)
      return { does: type, return: back, line, units: wanted.units }
    }
    case 'marketplace refunds money':
      return { does: 'marketplace refunds', ...on, units: 0, cents: wanted.cents }
    case 'marketplace refunds':
    case 'colleague refunds':
      return { does: type, ...on, units: 1, cents: wanted.cents }
  }
}

const findOperationKind = {
  accepted: 'acknowledge',
  dispatched: 'ship',
  unfulfillable: 'cancel',
  credit: 'refund',
  'return refunded': 'refund-return',
  corrected: 'correct',
} as const satisfies Record<PlannedEvent['type'], Write>

/** A write that stands still before its effect has less time left until then. */
const timely = (each: Rule): Rule =>
  each.effect === null
    ? each
    : { ...each, effect: { ...each.effect, afterMs: Math.min(each.effect.afterMs, latestMs - each.heldMs) } }

/** Hostile histories, most of them hostile in several ways at once. */
export const histories: fc.Arbitrary<History> = fc
  .record({
    orders: fc.array(order, { minLength: 1, maxLength: 2 }),
    back: fc.array(returned, { minLength: 1, maxLength: 2 }),
    processes: pickOne<1 | 2>(1, 2),
    autoAcknowledge: pickOne(false, false, false, true),
    dice: fc.nat({ max: 1_000 }),
    nature: fc.record({
      nodes: fc.array(node, { minLength: 1, maxLength: 3 }),
      countsUnits: fc.boolean(),
      showsRefundedUnits: pickOne(true, true, false),
      refundsKeepTracking: fc.boolean(),
      countsCredits: fc.boolean(),
      tokenSeconds: pickOne(900, 900, 30),
    }),
    /** The orders are stored before anything is asked of them. */
    known: pickOne(true, true, false),
    wishes: fc.array(wished, { minLength: 1, maxLength: 3 }),
    others,
    deeds: fc.array(fc.tuple(moment, deed), { maxLength: 2 }),
    writeRules: fc.array(writeRule, { minLength: 1, maxLength: 3 }),
    readRules: fc.array(readRule, { maxLength: 2 }),
    listRules: fc.array(findRule(readTold, fc.constant(0)), { maxLength: 1 }),
    tokenRules: fc.array(tokenRule, { maxLength: 1 }),
    disturbances: fc.array(disturbance, { maxLength: 3 }),
  })
  .map(({ known, back, wishes, others: rest, deeds, writeRules, readRules, listRules, tokenRules, ...drawn }): History => {
    const { orders, autoAcknowledge } = drawn
    const returns = back.map((each): PlannedReturn => {
      const shipped = orders.findIndex(({ state }) => state === 'shipped')
      const at = shipped < 0 ? wrapped(each.order, orders.length) : shipped
      const count = orders[at]?.lines.length ?? 1
      return { ...each, order: at, lines: each.lines.map((entry) => ({ ...entry, line: wrapped(entry.line, count) })) }
    })
    const frame = { orders, returns }
    const posts = wishes.flatMap((each) => fittedPosts(each, frame))
    const isReturning = posts.some((act) => act.does === 'post' && act.event.type === 'return refunded')
    const greetings = orders.flatMap(({ state }, at): Act[] =>
      state === 'created' && !autoAcknowledge
        ? [{ atMs: 0, does: 'post', event: { type: 'accepted', order: at }, copies: 1, inbox: false }]
        : [],
    )
    const acts = [...greetings, ...posts]
    const writes = acts.flatMap((act) => (act.does === 'post' ? [findOperationKind[act.event.type]] : []))
    const ruled = (operation: Rule['operation'], { told, operation: _chosen, meanwhile, ...each }: RuleWish): Rule => ({
      ...each,
      operation,
      ...told,
      meanwhile: meanwhile === null ? [] : [fittedDeed(meanwhile, frame)],
    })
    return {
      ...drawn,
      returns,
      acts: [
        ...(known ? [{ atMs: 0, does: 'sync' } as const] : []),
        ...acts,
        ...rest,
        ...deeds.map(([atMs, each]): Act => ({ atMs, ...fittedDeed(each, frame) })),
      ],
      rules: [
        ...writeRules.map((each) => timely(ruled(writes[each.operation % writes.length] ?? 'ship', each))),
        ...readRules.map((each) => ruled(isReturning && each.operation % 2 === 0 ? 'get return' : 'get', each)),
        ...listRules.map((each) => ruled('list', each)),
        ...tokenRules.map((each) => ruled('token', each)),
      ],
    }
  })

/** The n-th seed of a row; rows of up to a million do not overlap. */
export const countSeed = (row: number, index: number): number => row * 1_000_000 + index

/** The history of a seed: always the same. */
export const buildHistory = (seed: number): History => {
  const [drawn] = fc.sample(histories, { seed, numRuns: 1, unbiased: true })
  if (drawn === undefined) throw new Error('no history was drawn')
  return drawn
}

/** The smallest history, found by leaving out and making smaller, of which `fails` still holds; the seed's own must fail. */
export const shrink = async (
  seed: number,
  fails: (history: History) => Promise<boolean>,
  timeLimitMs: number,
): Promise<History> => {
  const result = await fc.check(
    fc.asyncProperty(histories, async (each) => !(await fails(each))),
    { seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: timeLimitMs, markInterruptAsFailure: false },
  )
  return result.counterexample?.[0] ?? buildHistory(seed)
}
