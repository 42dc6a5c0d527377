import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findPastState, type RecordedState } from '../../src/domain/commands/command-history.ts'
import { findValidVersion, replayOrder } from '../../src/domain/orders/order-history.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'

const epoch = Date.UTC(2026, 0, 1)
const at = (minute: number): Date => new Date(epoch + minute * 60_000)

test('the version at a time is the one that was valid then, for any history', () => {
  // Versions of no length, which are never valid, are possible: two writes within a millisecond.
  const history = fc.record({
    first: fc.nat(50),
    lengths: fc.array(fc.nat(5), { maxLength: 12 }),
    removed: fc.nat(12),
    asked: fc.integer({ min: -5, max: 120 }),
  })
  fc.assert(
    fc.property(history, ({ first, lengths, removed, asked }) => {
      const bounds = [first]
      for (const length of lengths) bounds.push((bounds.at(-1) ?? 0) + length)
      const versions = bounds.map((from, index) => ({ from, to: bounds[index + 1] ?? Number.POSITIVE_INFINITY }))
      const kept = versions.slice(Math.min(removed, versions.length - 1))
      const [oldest] = kept
      const periods = kept.map(({ from, to }) => ({ from: at(from), to: Number.isFinite(to) ? at(to) : null }))
      const found = findValidVersion(periods, at(first), at(asked))
      if (asked < first) expect(found).toEqual({ found: 'not-yet-known', firstSeenAt: at(first) })
      else if (oldest !== undefined && asked < oldest.from)
        expect(found).toEqual({ found: 'not-kept', oldestFrom: at(oldest.from) })
      else {
        const index = kept.findIndex(({ from, to }) => from <= asked && asked < to)
        expect(found).toEqual({ found: 'version', index, ...periods[index] })
      }
    }),
  )
})

test('a version that was written again unchanged is valid since its first writing', () => {
  const periods = [
    { from: at(0), to: at(10) },
    { from: at(20), to: null },
  ]
  expect(findValidVersion(periods, at(0), at(15))).toEqual({ found: 'version', index: 1, from: at(10), to: null })
})

test('the replay keeps charges as first seen and lines that a later version lacks, without the JSON of the marketplace', () => {
  const line = orderLine('1', 'A', 3)
  const first = purchaseOrder('1', [{ ...line, raw: { secret: 1 } }, orderLine('2', 'B', 1)])
  const free = line.charges.map((charge) => ({ ...charge, amount: '0' }))
  const second = purchaseOrder('1', [{ ...line, charges: free, units: { ...line.units, cancelled: 3 } }])
  const replayed = replayOrder([first, { ...second, raw: { secret: 2 } }])
  expect(replayed?.order.lines.map(({ lineNumber }) => lineNumber)).toEqual(['1', '2'])
  expect(replayed?.order.lines[0]).toMatchObject({ charges: line.charges, units: { cancelled: 3 } })
  expect(replayed?.open).toBe(false)
  expect(JSON.stringify(replayed)).not.toContain('secret')
  expect(replayOrder([])).toBeNull()
})

test.each<readonly [string, number, readonly RecordedState[], RecordedState]>([
  ['before its request', 1, [], { state: 'pending', reason: null, at: at(0) }],
  ['while its request is in progress', 3, [], { state: 'sending', reason: null, at: at(2) }],
  ['after its request', 5, [], { state: 'verifying', reason: null, at: at(4) }],
  ['after its end', 9, [], { state: 'confirmed', reason: null, at: at(8) }],
  ['at a recorded state', 7, [{ state: 'held', reason: 'unclear', at: at(6) }], { state: 'held', reason: 'unclear', at: at(6) }],
  [
    'before a recorded state',
    5,
    [{ state: 'held', reason: 'unclear', at: at(6) }],
    { state: 'verifying', reason: null, at: at(4) },
  ],
])('the state of a command %s', (_, asked, recorded, expected) => {
  const attempts = [{ startedAt: at(2), finishedAt: at(4), outcome: 'unknown' }]
  const command = { state: 'confirmed', createdAt: at(0), settledAt: at(8), attempts } as const
  expect(findPastState(command, recorded, at(asked))).toEqual(expected)
})

test('a command whose request was not sent is pending again', () => {
  const attempts = [{ startedAt: at(2), finishedAt: at(4), outcome: 'not-sent' }]
  const command = { state: 'confirmed', createdAt: at(0), settledAt: at(8), attempts } as const
  const sending: RecordedState = { state: 'sending', reason: null, at: at(2) }
  expect(findPastState(command, [sending], at(3))).toEqual(sending)
  expect(findPastState(command, [sending], at(5))).toEqual({ state: 'pending', reason: null, at: at(4) })
})
