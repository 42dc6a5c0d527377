import fc from 'fast-check'
import type { Lie, LieRule, ReadingHistory, Temper, TrueReadingOrder } from './history.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const minutes = (from: number, to: number) => fc.integer({ min: from, max: to }).map((each) => each * minuteMs)

const statuses = [400, 401, 403, 404, 410, 422, 500, 502, 503] as const
const lies: readonly Lie[] = ['omit', 'delay', 'repeat', 'reorder', 'truncate', 'fail', 'none', 'drop', 'circle']

const orders: fc.Arbitrary<TrueReadingOrder> = fc
  .record({
    // Seconds matter: records that share one are what halving cannot part.
    createdMs: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: -6 * 86_400, max: 0 }).map((seconds) => seconds * 1_000) },
      { weight: 2, arbitrary: minutes(0, 180) },
    ),
    changes: fc.array(fc.oneof(minutes(1, 240), minutes(300, 2_000)), { maxLength: 2 }),
    node: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0 as const) },
      { weight: 1, arbitrary: fc.constantFrom(1 as const, 2 as const) },
    ),
    hiddenForMs: fc.oneof(
      { weight: 12, arbitrary: fc.constant<number | null>(0) },
      { weight: 2, arbitrary: fc.oneof(minutes(1, 60), minutes(60, 400)) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    namedBy: fc.oneof(
      { weight: 4, arbitrary: fc.constant('lists' as const) },
      { weight: 1, arbitrary: fc.constantFrom('event' as const, 'return' as const) },
    ),
    poison: fc.oneof(
      { weight: 99, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc.record({
          status: fc.constantFrom(400, 403, 500),
          untilMs: fc.option(minutes(10, 240)),
        }),
      },
    ),
  })
  .map(({ createdMs, changes, ...rest }) => {
    let at = createdMs
    const changedMs = changes.map((after) => {
      at += after
      return at
    })
    return { createdMs, changedMs: changedMs.filter((each) => each < 4 * hourMs), ...rest }
  })

const rules: fc.Arbitrary<LieRule> = fc.record({
  lie: fc.constantFrom(...lies),
  fromMs: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: minutes(1, 120) }),
  forMs: minutes(5, 90),
  share: fc.constantFrom(0.1, 0.3, 1),
  pages: fc.constantFrom('first' as const, 'further' as const, 'all' as const),
  status: fc.constantFrom(...statuses),
  lagMs: minutes(5, 240),
})

const tempers: fc.Arbitrary<Temper> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Temper>({ is: 'good' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('dead' as const),
      every: fc.integer({ min: 1, max: 4 }),
      status: fc.constantFrom(...statuses),
      untilMs: minutes(5, 90),
    }),
  },
)

/** Histories of which an engine can withstand each. */
export const readingHistories: fc.Arbitrary<ReadingHistory> = fc.record({
  dice: fc.nat(1_000_000),
  orders: fc.array(orders, { minLength: 1, maxLength: 10 }),
  rules: fc.array(rules, { maxLength: 2 }),
  temper: tempers,
  processes: fc.constantFrom(1 as const, 2 as const),
  kills: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 3 }),
})

/** The history of a seed: always the same. */
export const buildReadingHistory = (seed: number): ReadingHistory => {
  const [drawn] = fc.sample(readingHistories, { seed, numRuns: 1, unbiased: true })
  if (drawn === undefined) throw new Error('no history was drawn')
  return drawn
}

/** The smallest history of which `fails` still holds; the seed's own must fail. */
export const shrinkReading = async (
  seed: number,
  fails: (history: ReadingHistory) => Promise<boolean>,
  timeLimitMs: number,
): Promise<ReadingHistory> => {
  const result = await fc.check(
    fc.asyncProperty(readingHistories, async (each) => !(await fails(each))),
    { seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: timeLimitMs, markInterruptAsFailure: false },
  )
  return result.counterexample?.[0] ?? buildReadingHistory(seed)
}
