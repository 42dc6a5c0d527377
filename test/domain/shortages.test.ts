import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type OpenDifference, sumShortages } from '../../src/domain/inventory/shortages.ts'

const open = (
  month: string,
  kind: OpenDifference['kind'],
  difference: number,
  more: Partial<OpenDifference> = {},
): OpenDifference => ({
  month,
  kind,
  difference,
  copiedUnits: 0,
  lateUnits: 0,
  listed: true,
  complete: true,
  ...more,
})
const shortages = (...differences: readonly OpenDifference[]) => Object.fromEntries(sumShortages(differences))

test('units that the ending lacks are gone', () => {
  expect(shortages(open('2026-03', 'balance', -5))).toEqual({ '2026-03': { unexplained: 5, returned: 0, uncertain: {} } })
  expect(shortages(open('2026-03', 'found', -2))).toEqual({ '2026-03': { unexplained: 2, returned: 0, uncertain: {} } })
})

test('a shortage that is right again later is uncertain, as far as it is', () => {
  expect(shortages(open('2026-03', 'balance', -5), open('2026-04', 'carry-over', 5))).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: { 'other-month': 5 } },
    '2026-04': { unexplained: 0, returned: 0, uncertain: {} },
  })
  expect(shortages(open('2026-03', 'balance', -5), open('2026-06', 'carry-over', 3))).toMatchObject({
    '2026-03': { unexplained: 2, uncertain: { 'other-month': 3 } },
  })
})

test('what passed midnight between report and log is not gone, in either direction', () => {
  const later = shortages(open('2026-03', 'sold', 2), open('2026-04', 'sold', -2))
  expect(later).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: { 'cut-off': 2 } },
    '2026-04': { unexplained: 0, returned: 0, uncertain: {} },
  })
  const earlier = shortages(open('2026-03', 'sold', -2), open('2026-04', 'sold', 2))
  expect(earlier).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: {} },
    '2026-04': { unexplained: 0, returned: 0, uncertain: { 'cut-off': 2 } },
  })
  // A loss that the report counts a month later than the log hides no other one.
  expect(shortages(open('2026-02', 'balance', -4), open('2026-03', 'lost', -2), open('2026-04', 'lost', 2))).toMatchObject({
    '2026-02': { unexplained: 4, returned: 0, uncertain: {} },
  })
})

test('what is likely a copy is neither gone nor makes good what is', () => {
  expect(shortages(open('2026-03', 'returned', -3, { copiedUnits: 3 }))).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: { 'log-copy': 3 } },
  })
  // The copy is a part of the difference, or the difference a part of the copies.
  expect(shortages(open('2026-03', 'returned', -5, { copiedUnits: 3 }))).toEqual({
    '2026-03': { unexplained: 2, returned: 2, uncertain: { 'log-copy': 3 } },
  })
  expect(shortages(open('2026-03', 'returned', -2, { copiedUnits: 3 }))).toMatchObject({
    '2026-03': { unexplained: 0, uncertain: { 'log-copy': 2 } },
  })
  // Copies in the other direction do not make the difference.
  expect(shortages(open('2026-03', 'other', -2, { copiedUnits: -3 }))).toMatchObject({ '2026-03': { unexplained: 2 } })
  expect(shortages(open('2026-03', 'sold', -3, { copiedUnits: -3 }), open('2026-03', 'balance', -2))).toEqual({
    '2026-03': { unexplained: 2, returned: 0, uncertain: {} },
  })
})

test.each([
  [
    'a late return makes the whole difference',
    'returned',
    -2,
    { lateUnits: 2 },
    { unexplained: 0, uncertain: { 'older-report': 2 } },
  ],
  [
    'a late entry makes a part of it',
    'returned',
    -5,
    { lateUnits: 2 },
    { unexplained: 3, returned: 3, uncertain: { 'older-report': 2 } },
  ],
  ['more came late than is missing', 'found', -2, { lateUnits: 9 }, { unexplained: 0, uncertain: { 'older-report': 2 } }],
  ['a late entry removes units that are missing anyway', 'other', -2, { lateUnits: -2 }, { unexplained: 2, uncertain: {} }],
  [
    'one unit is a copy, another one came late',
    'returned',
    -2,
    { copiedUnits: 1, lateUnits: 1 },
    { unexplained: 0, uncertain: { 'log-copy': 1, 'older-report': 1 } },
  ],
] as const)('entries that are newer than the report are uncertain: %s', (_, kind, difference, more, expected) => {
  expect(shortages(open('2026-03', kind, difference, more))).toMatchObject({ '2026-03': expected })
})

test('a late sale still settles what lacks in its month, until the report counts it', () => {
  const sale = open('2026-03', 'sold', -2, { lateUnits: -2 })
  expect(shortages(sale, open('2026-03', 'other', -2))).toMatchObject({ '2026-03': { unexplained: 0 } })
})

test('a report without a row says nothing of the stock', () => {
  expect(shortages(open('2026-03', 'other', -7, { listed: false }), open('2026-03', 'sold', -4, { listed: false }))).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: { 'no-row': 7 } },
  })
  expect(shortages(open('2026-03', 'row', -9, { listed: false }))).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: { 'no-row': 9 } },
  })
})

test('what the report admits is claimed as such, and a wrong cell that another one makes good counts for nothing', () => {
  expect(shortages(open('2026-03', 'lost', 2))).toEqual({ '2026-03': { unexplained: 0, returned: 0, uncertain: {} } })
  expect(shortages(open('2026-03', 'sold', 3), open('2026-03', 'balance', 3))).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: {} },
  })
})

test('units that the log calls otherwise are claimed as what the report admits, and hide nothing else that lacks', () => {
  for (const called of ['damaged', 'other', 'sold'] as const) {
    const mislabelled = [open('2026-03', 'lost', 3), open('2026-03', called, called === 'other' ? 3 : -3)]
    expect(shortages(...mislabelled)).toEqual({ '2026-03': { unexplained: 0, returned: 0, uncertain: {} } })
    expect(shortages(...mislabelled, open('2026-03', 'balance', -3))).toEqual({
      '2026-03': { unexplained: 3, returned: 0, uncertain: {} },
    })
    expect(shortages(open('2026-02', 'balance', -3), ...mislabelled)).toMatchObject({
      '2026-02': { unexplained: 3, returned: 0, uncertain: {} },
    })
  }
  expect(shortages(open('2026-03', 'damaged', 2), open('2026-03', 'lost', -5), open('2026-03', 'balance', -9))).toEqual({
    '2026-03': { unexplained: 6, returned: 0, uncertain: {} },
  })
})

test('a loss that only the report counts takes nothing from what the other cells make good, nor from what another month does', () => {
  const loss = open('2026-04', 'lost', 3)
  expect(shortages(open('2026-04', 'sold', 3), open('2026-04', 'balance', 3), loss)).toEqual({
    '2026-04': { unexplained: 0, returned: 0, uncertain: {} },
  })
  expect(shortages(open('2026-04', 'returned', 3), open('2026-04', 'balance', -3), loss)).toEqual({
    '2026-04': { unexplained: 0, returned: 0, uncertain: {} },
  })
  expect(shortages(open('2026-03', 'balance', -3), open('2026-04', 'carry-over', 3), loss)).toEqual({
    '2026-03': { unexplained: 0, returned: 0, uncertain: { 'other-month': 3 } },
    '2026-04': { unexplained: 0, returned: 0, uncertain: {} },
  })
})

test('a surplus settles the month right after it, not a later one', () => {
  expect(shortages(open('2026-03', 'balance', 3), open('2026-04', 'carry-over', -3))).toMatchObject({
    '2026-04': { unexplained: 0, uncertain: { 'other-month': 3 } },
  })
  expect(shortages(open('2026-03', 'balance', 3), open('2026-05', 'carry-over', -3))).toMatchObject({
    '2026-05': { unexplained: 3, returned: 0, uncertain: {} },
  })
})

test('what lacks in a month that its report does not count to its end is uncertain, and its surplus settles earlier months', () => {
  const now = { complete: false }
  expect(shortages(open('2026-03', 'balance', -5), open('2026-04', 'balance', -3, now))).toEqual({
    '2026-03': { unexplained: 5, returned: 0, uncertain: {} },
    '2026-04': { unexplained: 0, returned: 0, uncertain: { 'incomplete-month': 3 } },
  })
  expect(shortages(open('2026-03', 'balance', -5), open('2026-04', 'carry-over', 5, now))).toMatchObject({
    '2026-03': { unexplained: 0, uncertain: { 'other-month': 5 } },
  })
})

test('returns that the report does not count are told apart, as far as units lack', () => {
  expect(shortages(open('2026-03', 'returned', -4))).toMatchObject({ '2026-03': { unexplained: 4, returned: 4 } })
  expect(shortages(open('2026-03', 'returned', -4), open('2026-03', 'balance', -2))).toMatchObject({
    '2026-03': { unexplained: 6, returned: 4 },
  })
  expect(shortages(open('2026-03', 'returned', -4), open('2026-03', 'balance', 3))).toMatchObject({
    '2026-03': { unexplained: 1, returned: 1 },
  })
})

test('whatever the differences, no more is unexplained than the stock lacks in all, and never less than it ends without', () => {
  const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05']
  const units = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(units, (effects) => {
      const found = [...sumShortages(effects.map((effect, at) => open(months[at] ?? '', 'balance', effect))).values()]
      const unexplained = found.reduce((sum, each) => sum + each.unexplained, 0)
      const uncertain = found.reduce((sum, each) => sum + (each.uncertain['other-month'] ?? 0), 0)
      const lacking = effects.reduce((sum, effect) => sum + Math.max(0, -effect), 0)
      expect(unexplained + uncertain).toBe(lacking)
      expect(unexplained).toBeGreaterThanOrEqual(Math.max(0, -effects.reduce((sum, effect) => sum + effect, 0)))
    }),
  )
})
