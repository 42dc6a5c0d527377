import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InventoryLogEntry } from '../../src/domain/inventory/inventory-log.ts'
import {
  findMovementKind,
  hasUnknownReason,
  type MovementKind,
  movementKinds,
  normalizeWords,
} from '../../src/domain/inventory/log-reasons.ts'
import {
  type DiscrepancyKind,
  explainByLog,
  isMovementKind,
  type ReportedUnits,
  reconcile,
} from '../../src/domain/inventory/reconciliation.ts'
import { movementWording } from '../store/support/inventory.ts'

type Entry = Omit<InventoryLogEntry, 'raw'>

const outgoing: readonly MovementKind[] = ['sold', 'lost', 'damaged']

interface Movement {
  readonly kind: MovementKind
  /** As the report counts them; of other adjustments with their sign. */
  readonly units: number
}

const buildEntry = ({ kind, units }: Movement, index: number): Entry => {
  const [transactionType, transactionReasonCode, transactionReasonDescription] = movementWording[kind]
  return {
    id: String(index),
    sku: 'A',
    gtin: null,
    fcName: 'KY1',
    changedUnits: outgoing.includes(kind) ? -units : units,
    transactionTime: new Date(Date.UTC(2026, 2, 2, 0, 0, index)),
    transactionLocation: 'Inventory',
    transactionReasonCode,
    transactionReasonDescription,
    transactionType,
    shipmentId: `shipment-${index}`,
  }
}

const sumAll = (movements: readonly Movement[], kind: MovementKind): number =>
  movements.filter((movement) => movement.kind === kind).reduce((sum, { units }) => sum + units, 0)

/** The row that a report without faults has of these movements. */
const buildRow = (beginningQuantity: number, movements: readonly Movement[]): ReportedUnits => ({
  beginningQuantity,
  endingQuantity: movements.reduce((sum, { kind, units }) => sum + (outgoing.includes(kind) ? -units : units), beginningQuantity),
  sold: sumAll(movements, 'sold'),
  returned: sumAll(movements, 'returned'),
  lost: sumAll(movements, 'lost'),
  found: sumAll(movements, 'found'),
  damaged: sumAll(movements, 'damaged'),
  otherAdjustments: sumAll(movements, 'other'),
})

const columns = {
  sold: 'sold',
  returned: 'returned',
  lost: 'lost',
  found: 'found',
  damaged: 'damaged',
  other: 'otherAdjustments',
} as const satisfies Record<MovementKind, keyof ReportedUnits>

const check = (report: ReportedUnits, log: readonly Entry[] | null, endingBefore: number | null = null) =>
  reconcile({ report, endingBefore, movements: log }).differences

const anyMovement = fc.oneof(
  fc.record({
    kind: fc.constantFrom<MovementKind>('sold', 'returned', 'lost', 'found', 'damaged'),
    units: fc.integer({ min: 1, max: 50 }),
  }),
  fc.record({ kind: fc.constant<MovementKind>('other'), units: fc.integer({ min: -20, max: 500 }) }),
)
const anyMonth = fc.record({ beginning: fc.integer({ min: 0, max: 1_000 }), movements: fc.array(anyMovement, { maxLength: 30 }) })

describe('a month that is in order', () => {
  it('has no differences, whichever sign the report gives what left', () => {
    fc.assert(
      fc.property(anyMonth, fc.boolean(), ({ beginning, movements }, negative) => {
        const row = buildRow(beginning, movements)
        const report = negative ? { ...row, sold: -row.sold, lost: -row.lost, damaged: -row.damaged } : row
        expect(check(report, movements.map(buildEntry), beginning)).toEqual([])
      }),
    )
  })

  it('is in order again when a late correction is in both', () => {
    fc.assert(
      fc.property(anyMonth, fc.array(anyMovement, { maxLength: 5 }), ({ beginning, movements }, late) => {
        const all = [...movements, ...late]
        const early = check(buildRow(beginning, movements), all.map(buildEntry))
        // Corrections that cancel each other out within a kind leave no trace.
        const expected = movementKinds.filter((kind) => sumAll(late, kind) !== 0)
        expect(early.map(({ kind }) => kind)).toEqual(expected)
        for (const { kind, difference } of early) if (isMovementKind(kind)) expect(difference).toBe(-sumAll(late, kind))
        expect(check(buildRow(beginning, all), all.map(buildEntry))).toEqual([])
      }),
    )
  })
})

describe('what was injected is what is found', () => {
  it('entries that the log lacks', () => {
    fc.assert(
      fc.property(anyMonth, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), ({ beginning, movements }, kept) => {
        const lost = movements.filter((_movement, index) => kept[index] === false)
        const log = movements.map(buildEntry).filter((_entry, index) => kept[index] !== false)
        const found = check(buildRow(beginning, movements), log)
        expect(found.map(({ kind, difference }) => [kind, difference])).toEqual(
          movementKinds.map((kind) => [kind, sumAll(lost, kind)]).filter(([, units]) => units !== 0),
        )
        for (const difference of found) {
          const { kind } = difference
          if (!isMovementKind(kind) || kind === 'other') continue
          expect(explainByLog({ ...difference, kind }, log)).toMatchObject({
            verdict: 'missing',
            certainty: 'unknown',
            entries: [],
          })
        }
      }),
    )
  })

  it('entries that the log holds twice, by their ids', () => {
    fc.assert(
      fc.property(anyMonth, fc.nat(), fc.integer({ min: 1, max: 3 }), ({ beginning, movements }, pick, times) => {
        const original = movements.map(buildEntry)
        const doubled = original[pick % Math.max(1, original.length)]
        fc.pre(doubled !== undefined && doubled.changedUnits !== 0)
        const copies = Array.from({ length: times }, (_, copy) => ({ ...doubled, id: `copy-${copy}` }))
        const log = [...original, ...copies]
        const found = check(buildRow(beginning, movements), log)
        const kind = findMovementKind(doubled)
        if (kind === null) throw new Error('every entry here belongs to a kind')
        const surplus = times * Math.abs(doubled.changedUnits) * (kind === 'other' ? Math.sign(doubled.changedUnits) : 1)
        expect(found).toMatchObject([{ kind, difference: -surplus }])
        const [difference] = found
        if (difference === undefined) throw new Error('a difference was expected')
        const explanation = explainByLog({ ...difference, kind }, log)
        expect(explanation.verdict).toBe('extra')
        // A report that counts none of a kind leaves no doubt; of anything else the copies are the likeliest.
        expect(['certain', 'likely']).toContain(explanation.certainty)
        for (const copy of copies) expect(explanation.entries).toContainEqual(copy)
        if (explanation.certainty === 'likely') expect(explanation.entries).toEqual(copies)
      }),
    )
  })

  it('cells of the row that were tampered with', () => {
    fc.assert(
      fc.property(
        anyMonth,
        fc.constantFrom(...movementKinds),
        fc.integer({ min: -40, max: 40 }),
        ({ beginning, movements }, kind, change) => {
          const row = buildRow(beginning, movements)
          const column = columns[kind]
          fc.pre(change !== 0 && (kind === 'other' || row[column] + change >= 0))
          const direction = outgoing.includes(kind) ? -1 : 1
          const found = check({ ...row, [column]: row[column] + change }, movements.map(buildEntry))
          expect(found.map((one) => [one.kind, one.difference])).toEqual([
            ['balance', -direction * change],
            [kind, change],
          ])
        },
      ),
    )
  })

  it('quantities at the beginning and the end that do not fit', () => {
    const anyChange = fc.integer({ min: -40, max: 40 })
    fc.assert(
      fc.property(anyMonth, anyChange, anyChange, ({ beginning, movements }, atBeginning, atEnd) => {
        const row = buildRow(beginning, movements)
        const report = {
          ...row,
          beginningQuantity: row.beginningQuantity + atBeginning,
          endingQuantity: row.endingQuantity + atEnd,
        }
        const expected: [DiscrepancyKind, number][] = [
          ['balance', atEnd - atBeginning],
          ['carry-over', atBeginning],
        ]
        const found = check(report, movements.map(buildEntry), beginning)
        expect(found.map((one) => [one.kind, one.difference])).toEqual(expected.filter(([, units]) => units !== 0))
      }),
    )
  })
})

it('does not judge by a log that was not read so far, nor by a month before that is not known', () => {
  const row = { ...buildRow(10, [{ kind: 'sold', units: 4 }]), endingQuantity: 5 }
  expect(check(row, null)).toEqual([{ kind: 'balance', reportUnits: 5, expectedUnits: 6, difference: -1 }])
})

describe('the kind of an entry', () => {
  it.each([
    ['Ship', 'SIP', 'Shipped to Customer', 'sold'],
    ['SHIP', null, null, 'sold'],
    ['Return', 'RTN', 'Customer Return', 'returned'],
    ['Receipt', 'RCV', 'Received, two found missing', 'other'],
    ['Adjustment', 'LOS', null, 'lost'],
    ['Adjustment', null, 'Missing from inbound', 'lost'],
    ['Adjustment', 'LOST_IN_WAREHOUSE', null, 'lost'],
    ['Adjustment', 'InventoryLoss', null, 'lost'],
    ['Adjustment', 'X1', 'Lost units found', 'found'],
    ['Adjustment', 'FND', null, 'found'],
    ['Adjustment', 'DMG', 'Lost to damage', 'damaged'],
    ['Adjustment', 'ADJ', 'Inventory Correction', 'other'],
    ['Adjustment', 'CLOSE', 'Foundation gloss', 'other'],
    ['Adjustment', null, 'Lost: item not found', 'lost'],
    ['Adjustment', null, 'Misplaced', 'lost'],
    ['Adjustment', null, 'Misplaced item found', 'found'],
    ['Adjustment', null, 'Unable to locate', 'lost'],
    ['Adjustment', null, 'Item could not be located', 'lost'],
    ['Adjustment', null, "Can't find item", 'lost'],
    ['Adjustment', null, 'Located in reserve', 'found'],
    ['Adjustment', null, 'Inventory shrinkage', 'lost'],
    ['Adjustment', 'ADJ', 'Shrink', 'lost'],
    ['Adjustment', null, 'Found missing at cycle count', 'lost'],
    ['Adjustment', null, 'Found to be damaged', 'damaged'],
    ['Adjustment', null, 'Broken', 'damaged'],
    ['Adjustment', null, 'Defective', 'damaged'],
    ['Adjustment', null, 'Crushed carton', 'damaged'],
    ['Adjustment', 'INVENTORY_RECOVERED', null, 'found'],
    ['Adjustment', null, 'Not able to locate', 'lost'],
    ['Adjustment', null, 'Not able to find', 'lost'],
    ['Adjustment', null, 'not currently found', 'lost'],
    ['Adjustment', null, 'Item was not physically found', 'lost'],
    ['Adjustment', null, 'wasnt found', 'lost'],
    ['Adjustment', null, 'couldnt locate', 'lost'],
    ['Adjustment', null, 'Not been able to be located', 'lost'],
    ['Adjustment', null, 'Search ended without item being found', 'lost'],
    ['Adjustment', null, '0 units found', 'lost'],
    ['Adjustment', null, 'Location empty: 0 found', 'lost'],
    ['Adjustment', null, 'Expected 0, found 3', 'found'],
    ['Adjustment', 'A-0', 'Found in FC', 'found'],
    ['Adjustment', null, 'Nothing found', 'lost'],
    ['Adjustment', null, 'Found nothing', 'lost'],
    ['Adjustment', null, 'No longer missing', 'found'],
    ['Adjustment', null, 'No longer found', 'lost'],
    ['Adjustment', null, 'No damage found', 'other'],
    ['Adjustment', null, 'Not damaged', 'other'],
    ['Adjustment', null, 'Not lost', 'other'],
    ['Adjustment', null, 'Not as it was when found', 'other'],
    ['Adjustment', null, 'Not scanned, later found', 'found'],
    ['Adjustment', null, 'Not received, damaged', 'damaged'],
    ['Transfer', 'LOS', 'Lost', 'other'],
    [null, null, null, 'other'],
  ])('%s %s %s is %s', (type, code, description, kind) => {
    const reason = { transactionReasonCode: code, transactionReasonDescription: description }
    const entry = { changedUnits: 1, transactionType: type, ...reason }
    expect(findMovementKind({ ...entry, transactionLocation: 'Inventory' })).toBe(kind)
    expect(findMovementKind({ ...entry, transactionLocation: 'Salvage' })).toBeNull()
  })
})

it('is what the seller says of a code or of a description, before any word of it', () => {
  const entry = { changedUnits: -1, transactionType: 'Adjustment', transactionLocation: 'Inventory' }
  const reasons = new Map([
    [normalizeWords('Q7'), 'lost'],
    [normalizeWords('FoundInAudit'), 'other'],
  ] as const)
  const findKind = (code: string | null, description: string | null) =>
    findMovementKind({ ...entry, transactionReasonCode: code, transactionReasonDescription: description }, reasons)
  expect(findKind('q7', 'Found')).toBe('lost')
  expect(findKind('A1', 'Found in audit')).toBe('other')
  expect(findKind('A1', 'Damaged')).toBe('damaged')
})

it('is other, and its reason unknown, where units are found by words and leave by number, unless the seller says so', () => {
  const taken = { ...buildEntry({ kind: 'found', units: -3 }, 0) }
  expect(findMovementKind(taken)).toBe('other')
  expect(hasUnknownReason(taken)).toBe(true)
  const reasons = new Map([[normalizeWords('Found in Warehouse'), 'found']] as const)
  expect(findMovementKind(taken, reasons)).toBe('found')
  expect(hasUnknownReason(taken, reasons)).toBe(false)
  expect(findMovementKind({ ...taken, changedUnits: 3 })).toBe('found')
})

it.each([
  ['Adjustment', 'ZX', 'Quarantine', true],
  ['Adjustment', null, 'No damage found', true],
  ['Adjustment', 'ADJ', null, false],
  ['Adjustment', null, 'Inventory Correction', false],
  ['Adjustment', null, null, false],
  ['Adjustment', 'Q7', null, false],
  ['Receipt', 'ZX', 'Quarantine', false],
])('the reason of %s %s %s is unknown: %s', (type, code, description, unknown) => {
  const entry = { changedUnits: 1, transactionType: type, transactionReasonCode: code, transactionReasonDescription: description }
  expect(hasUnknownReason({ ...entry, transactionLocation: null }, new Map([['q7', 'lost']]))).toBe(unknown)
})

describe('the signs of a row', () => {
  const sale = (units: number): Entry => ({ ...buildEntry({ kind: 'sold', units }, 1), changedUnits: -units })
  const row = (beginning: number, ending: number, sold: number): ReportedUnits => ({
    ...buildRow(beginning, []),
    endingQuantity: ending,
    sold,
  })

  it('say that what was sold before is taken back, where nothing else fits', () => {
    expect(check(row(10, 11, -1), [sale(-1)])).toEqual([])
    expect(check(row(10, 11, -1), null)).toEqual([])
    expect(check({ ...row(10, 9, 0), returned: -1 }, null)).toEqual([])
  })

  it('say that units left, with one among them that is taken back', () => {
    expect(check({ ...row(10, 8, -3), lost: 1 }, [sale(3), buildEntry({ kind: 'lost', units: -1 }, 2)])).toEqual([])
    expect(check(row(10, 7, -3), [sale(2)])).toMatchObject([{ kind: 'sold', reportUnits: 3, expectedUnits: 2 }])
  })
})

describe('a SKU without a row', () => {
  const log = [buildEntry({ kind: 'sold', units: 4 }, 1), buildEntry({ kind: 'lost', units: 2 }, 2)]
  const without = (movements: readonly Entry[] | null, endingWhenListed: number | null = null) =>
    reconcile({ report: null, endingBefore: 5, endingWhenListed, movements }).differences

  it('counts nothing of what the log shows', () => {
    expect(without(log, 9)).toEqual([
      { kind: 'sold', reportUnits: 0, expectedUnits: 4, difference: -4 },
      { kind: 'lost', reportUnits: 0, expectedUnits: 2, difference: -2 },
    ])
  })

  it('differs by the stock that its row stated, where the log says nothing', () => {
    const gone = { kind: 'row', reportUnits: 0, expectedUnits: 9, difference: -9 }
    expect(without([], 9)).toEqual([gone])
    expect(without(null, 9)).toEqual([gone])
    expect(without([], 0)).toEqual([])
    expect(without([])).toEqual([])
  })
})

describe('what explains a surplus in the log', () => {
  const log = [
    { kind: 'sold', units: 2 },
    { kind: 'sold', units: 5 },
    { kind: 'sold', units: 2 },
    { kind: 'lost', units: 2 },
  ] as const
  const entries = log.map(buildEntry)
  const buildSurplus = (reportUnits: number, expectedUnits: number) =>
    ({ kind: 'sold', reportUnits, expectedUnits, difference: reportUnits - expectedUnits }) as const
  const listIds = (explanation: { readonly entries: readonly Entry[] }) => explanation.entries.map(({ id }) => id)

  it('is every entry of the kind when the report counts none', () => {
    const explanation = explainByLog(buildSurplus(0, 9), entries)
    expect(explanation).toMatchObject({ verdict: 'extra', certainty: 'certain' })
    expect(listIds(explanation)).toEqual(['0', '1', '2'])
  })

  it('may be any entry of just so many units', () => {
    const explanation = explainByLog(buildSurplus(7, 9), entries)
    expect(explanation).toMatchObject({ verdict: 'extra', certainty: 'possible' })
    expect(listIds(explanation)).toEqual(['0', '2'])
  })

  it('is unknown when none fits', () => {
    expect(explainByLog(buildSurplus(8, 9), entries)).toEqual({
      copiedUnits: 0,
      verdict: 'extra',
      certainty: 'unknown',
      entries: [],
    })
  })

  it('are other adjustments that stand out, or units that are missing', () => {
    const receipts = [100, 40].map((units, index) => buildEntry({ kind: 'other', units }, index))
    const other = (reportUnits: number) =>
      ({ kind: 'other', reportUnits, expectedUnits: 140, difference: reportUnits - 140 }) as const
    expect(explainByLog(other(100), receipts)).toMatchObject({ verdict: 'extra', certainty: 'possible', entries: [{ id: '1' }] })
    expect(explainByLog(other(130), receipts)).toMatchObject({ verdict: 'missing', certainty: 'unknown' })
    expect(explainByLog(other(150), receipts)).toMatchObject({ verdict: 'missing', certainty: 'unknown' })
  })
})
