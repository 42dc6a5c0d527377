import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CountedLine, compareUnits, explain, type Units, unitFields } from '../../src/cli/doctor/compare-units.ts'

const units = (changes: Partial<Units> = {}): Units => ({
  ordered: 3,
  acknowledged: 3,
  shipped: 2,
  cancelled: 0,
  refunded: 0,
  ...changes,
})
const line = (lineNumber: string, counts: Units = units(), purchaseOrderId = 'P1', sellerId = 'S'): CountedLine => ({
  sellerId,
  purchaseOrderId,
  lineNumber,
  units: counts,
})

describe('comparing units', () => {
  test('lines that agree in any order are no difference', () => {
    expect(compareUnits([line('1'), line('2')], [line('2'), line('1')])).toEqual({ lines: 2, units: 6, differences: [] })
  })

  test.each(unitFields)('a difference in %s is found', (field) => {
    const real = units()
    const stored = units({ [field]: real[field] + 1 })
    expect(compareUnits([line('1', real)], [line('1', stored)]).differences).toEqual([
      { sellerId: 'S', purchaseOrderId: 'P1', lineNumber: '1', marketplace: real, database: stored },
    ])
  })

  test('a line that only one side knows is a difference, on either side', () => {
    const { lines, differences } = compareUnits([line('1'), line('2')], [line('1'), line('1', units(), 'P2')])
    expect(lines).toBe(3)
    expect(differences).toEqual([
      { sellerId: 'S', purchaseOrderId: 'P2', lineNumber: '1', marketplace: null, database: units() },
      { sellerId: 'S', purchaseOrderId: 'P1', lineNumber: '2', marketplace: units(), database: null },
    ])
  })

  test('the same order id of two sellers is two orders', () => {
    expect(compareUnits([line('1', units(), 'P', 'A')], [line('1', units(), 'P', 'B')]).differences).toHaveLength(2)
  })

  test('property: finds exactly the lines that were tampered with', () => {
    const counts = fc.record({
      ordered: fc.nat(9),
      acknowledged: fc.nat(9),
      shipped: fc.nat(9),
      cancelled: fc.nat(9),
      refunded: fc.nat(9),
    })
    const sides = fc.array(
      fc.record({ counts, tamper: fc.constantFrom('no', 'count', 'missing in database', 'missing at marketplace') }),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(sides, (entries) => {
        const marketplace: CountedLine[] = []
        const database: CountedLine[] = []
        const tampered: string[] = []
        for (const [index, entry] of entries.entries()) {
          const known = line(String(index), entry.counts, `P${index % 4}`)
          if (entry.tamper !== 'no') tampered.push(known.lineNumber)
          if (entry.tamper !== 'missing at marketplace') marketplace.push(known)
          const stored = entry.tamper === 'count' ? { ...entry.counts, shipped: entry.counts.shipped + 1 } : entry.counts
          if (entry.tamper !== 'missing in database') database.push({ ...known, units: stored })
        }
        const found = compareUnits(marketplace, database.reverse())
        expect(found.lines).toBe(entries.length)
        expect(found.differences.map((difference) => difference.lineNumber).sort()).toEqual(tampered.sort())
      }),
    )
  })
})

describe('explaining a difference', () => {
  const command = (id: string, state: string) => ({ id, kind: 'ship', state })
  test('settled commands explain nothing', () => {
    expect(explain([command('1', 'confirmed'), command('2', 'rejected')])).toBeNull()
  })
  test('a command in progress explains it', () => {
    expect(explain([command('1', 'confirmed'), command('2', 'verifying')])).toEqual({
      verdict: 'in progress',
      command: command('2', 'verifying'),
    })
  })
  test('a held command comes before those that wait behind it', () => {
    expect(explain([command('1', 'pending'), command('2', 'held')])?.command.id).toBe('2')
  })
})
