import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { publishedOrder } from '../../src/clients/contract/orders.ts'
import { describePublished } from '../../src/clients/contract/published.ts'
import { publishedReturn } from '../../src/clients/contract/returns.ts'
import { wireTaxonomyChain } from '../../src/clients/contract/taxonomies.ts'
import { findUnknownStatus, listAnnouncements } from '../../src/clients/http/answer-drift.ts'
import { conforms, describeValue, findDrift, type Shape } from '../../src/domain/drift/shape.ts'
import { wireLine, wireOrderSample, wireReturnSample } from '../clients/samples.ts'

const wireStatus = z.object({ status: z.string().nullish() })
const statusOnly = describePublished(wireStatus, { values: { status: ['In stock'] } })

const find = (raw: unknown, published: Shape = publishedOrder): readonly string[] =>
  findDrift(published, raw).map(({ kind, path, example }) => `${kind} ${path}: ${example}`)

const orderWithLine = (overrides: Readonly<Record<string, unknown>>) =>
  wireOrderSample('108', { orderLines: { orderLine: [wireLine('1', 1), wireLine('2', 1, overrides)] } })

describe('a record and its published form', () => {
  test('conform if the record has only what is published', () => {
    for (const raw of [wireOrderSample('108'), { ...wireOrderSample('108'), shipNode: {}, orderSummary: null }])
      expect([conforms(publishedOrder, raw), find(raw)]).toEqual([true, []])
    const one = wireReturnSample('R-1')
    expect([conforms(publishedReturn, one), find(one, publishedReturn)]).toEqual([true, []])
  })

  test('a single object in place of a list of objects is a list of one', () => {
    const raw = wireOrderSample('108', { orderLines: { orderLine: wireLine('1', 1, { newField: 1 }) } })
    expect(find(raw)).toEqual(['field orderLines.orderLine[].newField: number'])
  })

  test.each([
    ['a field', { ...wireOrderSample('108'), loyaltyTier: { name: 'GOLD' } }, ['field loyaltyTier: object']],
    ['a field of a line', orderWithLine({ gift: 'with a card' }), ['field orderLines.orderLine[].gift: text of 11 characters']],
    [
      'a value of an enumeration',
      orderWithLine({ orderLineStatuses: { orderLineStatus: [{ status: 'OnHold' }, { status: 'OnHold' }] } }),
      ['value orderLines.orderLine[].orderLineStatuses.orderLineStatus[].status: OnHold'],
    ],
    ['another type', { ...wireOrderSample('108'), customerEmailId: 7 }, ['type customerEmailId: number in place of text']],
    ['text in place of an object', { ...wireOrderSample('108'), shipNode: 'Dock 7' }, ['type shipNode: text in place of object']],
    ['a list in place of an object', { ...wireOrderSample('108'), shipNode: [1] }, ['type shipNode: list in place of object']],
    [
      'text in place of a list',
      { ...wireOrderSample('108'), orderLines: { orderLine: 'none' } },
      ['type orderLines.orderLine: text in place of list'],
    ],
    ['another record', 7, ['type : number in place of object']],
  ])('differ in %s', (_what, raw, expected) => {
    expect([conforms(publishedOrder, raw), find(raw)]).toEqual([false, expected])
  })

  test('a place of several lines is found once, different values apart', () => {
    const status = (word: string) => ({ orderLineStatuses: { orderLineStatus: [{ status: word }] }, gift: true })
    const raw = wireOrderSample('108', {
      orderLines: {
        orderLine: [wireLine('1', 1, status('OnHold')), wireLine('2', 1, status('Lost')), wireLine('3', 1, status('Lost'))],
      },
    })
    const place = 'orderLines.orderLine[].orderLineStatuses.orderLineStatus[].status'
    expect(find(raw).toSorted()).toEqual([
      'field orderLines.orderLine[].gift: boolean',
      `value ${place}: Lost`,
      `value ${place}: OnHold`,
    ])
  })

  test('values are compared without case and punctuation', () => {
    const shape = (raw: unknown) => find({ status: raw }, statusOnly)
    expect([shape('In-stock'), shape('IN_STOCK'), shape('in stock'), shape(''), shape(null)]).toEqual([[], [], [], [], []])
    expect(shape('Low-stock')).toEqual(['value status: text of 9 characters'])
  })
})

describe('personal data', () => {
  test('a value that is no plain word of an enumeration is described by its length', () => {
    const raw = orderWithLine({ orderLineStatuses: { orderLineStatus: [{ status: 'Held for Ada Example, ada@example.org' }] } })
    expect(JSON.stringify(findDrift(publishedOrder, raw))).not.toMatch(/Ada|example\.org/)
    expect(findDrift(publishedOrder, raw)).toMatchObject([{ kind: 'value', value: '', example: 'text of 37 characters' }])
  })

  test.each(['ada@example.org', '+15550100100', 'order5550100100', 'Ada Example', '', 'a'.repeat(61)])(
    'a field named %j could be data, and is not named',
    (name) => {
      expect(find({ ...wireOrderSample('108'), [name]: 'x' })).toEqual(['field *: text of 1 character'])
    },
  )

  test('texts, lists and objects are described without their contents', () => {
    expect(['Ada', ['Ada'], { name: 'Ada' }, null, 7, true].map(describeValue)).toEqual([
      ...['text of 3 characters', 'list of 1', 'object', 'null', 'number', 'boolean'],
    ])
  })
})

describe('an answer', () => {
  test('any header whose name has deprecat or sunset announces an end', () => {
    const headers = {
      'content-type': 'application/json',
      sunset: 'Sat, 27 Mar 2027 00:00:00 GMT',
      'x-deprecation-state': ['ANNOUNCED'],
      'wm_sunset.contact': 'ada@example.org (Ada)',
    }
    expect(listAnnouncements(headers)).toEqual([
      { kind: 'header', path: 'sunset', value: 'Sat, 27 Mar 2027 00:00:00 GMT', example: 'Sat, 27 Mar 2027 00:00:00 GMT' },
      { kind: 'header', path: 'x-deprecation-state', value: 'ANNOUNCED', example: 'ANNOUNCED' },
      { kind: 'header', path: 'wm_sunset.contact', value: '', example: 'text of 21 characters' },
    ])
  })

  test.each([
    [200, null],
    [404, null],
    [521, null],
    [null, null],
    [418, { kind: 'status', path: '418', value: '', example: 'HTTP 418' }],
    [302, { kind: 'status', path: '302', value: '', example: 'HTTP 302' }],
  ])('the status %s', (status, expected) => {
    expect(findUnknownStatus(status)).toEqual(expected)
  })
})

test('a publication must not name a place that the schema does not have', () => {
  expect(() => describePublished(wireStatus, { also: { address: ['street'] } })).toThrow('nothing is published at address')
  expect(() => describePublished(wireTaxonomyChain, { values: { level: ['1'] } })).toThrow('nothing is published at level')
})
