import { readFile } from 'node:fs/promises'
import { CloudEvent } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { allChangeTypes, changeTypes } from '../../src/domain/changes/catalogue.ts'
import { buildChangeEvent } from '../../src/domain/changes/cloud-event.ts'
import { findTypes, matchesTypes, typePatternSchema } from '../../src/domain/changes/filter.ts'
import { buildChangesPage } from '../../src/domain/changes/page.ts'
import { faultOfChange } from '../support/changes.ts'

test('docs/changes.md is what the catalogue makes of it: npm run changes-page writes it', async () => {
  expect(await readFile('docs/changes.md', 'utf8')).toBe(buildChangesPage())
})

describe('the catalogue', () => {
  test.each(allChangeTypes)('%s has an example of its data, without members that are not named', (type) => {
    const { example } = changeTypes[type]
    expect(faultOfChange({ type, data: example })).toBeNull()
  })

  test('finds other types, other data, and members that it does not name', () => {
    expect(faultOfChange({ type: 'order.sen', data: {} })).toContain('not in the catalogue')
    expect(faultOfChange({ type: 'seller.stopped', data: { reason: 1 } })).toContain('reason')
    expect(faultOfChange({ type: 'seller.stopped', data: { reason: 'x', why: 'y' } })).toContain('does not name')
  })

  test('every change is a CloudEvent that the official library takes', () => {
    for (const type of allChangeTypes) {
      const event = buildChangeEvent({
        ...{ seq: 7n, sellerId: 'S/1', type, purchaseOrderId: null, lineNumber: null, returnOrderId: 'r', commandId: null },
        ...{ data: changeTypes[type].example, occurredAt: new Date('2026-03-01T00:00:00Z') },
      })
      expect(new CloudEvent({ ...event }).validate()).toBe(true)
      expect(event).toMatchObject({ id: '7', source: '/tallyman/S%2F1', type, subject: 'r', returnorderid: 'r' })
      expect(event).not.toHaveProperty('purchaseorderid')
    }
  })
})

describe('a filter by types', () => {
  test.each([
    ['order.seen', ['order.seen'], true],
    ['order.seen', ['order.*'], true],
    ['order_line.changed', ['order.*'], false],
    ['order_line.changed', ['command.*', 'order_line.changed'], true],
    ['order.seen', ['*'], true],
    ['of.yesterday', [], true],
    ['of.yesterday', ['order.*'], false],
  ])('%s of %j: %s', (type, wanted, expected) => {
    expect(matchesTypes(type, wanted)).toBe(expected)
  })

  test('means types of the catalogue', () => {
    expect(findTypes(['return.*'])).toEqual(['return.seen', 'return.erased'])
    expect(findTypes(['return.*', '*'])).toBeNull()
    expect(findTypes([])).toBeNull()
    for (const pattern of ['*', 'order.*', 'order.seen']) expect(typePatternSchema.safeParse(pattern).success).toBe(true)
    for (const pattern of ['', 'order', 'order.', 'ord*', '*.seen', 'order.seen2'])
      expect(typePatternSchema.safeParse(pattern).success).toBe(false)
  })
})
