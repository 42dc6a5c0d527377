import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseBehavioralAudience, parseContextualTarget } from '../../../src/clients/display/target-record.ts'
import { parseTaxonomyNode, readTaxonomyRow } from '../../../src/clients/display/taxonomy-record.ts'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { asRecord } from '../../../src/clients/http/json.ts'
import type { Page } from '../../../src/clients/http/record.ts'
import { forever, sendJson } from '../servers.ts'
import { buildFailure, type Display, startDisplay } from './support.ts'

const all = { startIndex: 0, count: 100 }
const options = () => ({ signal: forever() })

const pans = {
  level: 1,
  name: 'Home',
  taxonomies: { level: 2, name: 'Kitchen', taxonomies: { level: 3, name: 'Pans', itemCount: 290 } },
}
const tools = {
  level: 1,
  name: 'Tools',
  attributes: { type: 'skin_color', values: [{ value: 'good', count: 1 }] },
  itemCount: 290,
}
const taxonomies = (...data: readonly unknown[]) => ({ code: 'success', details: '', totalResults: data.length, data })

const buildBody = (request: { readonly body: string } | undefined): unknown => JSON.parse(request?.body ?? 'null')

const answered = async (body: unknown, ask: (display: Display) => Promise<Page<unknown>>) => {
  const started = await startDisplay((_request, response) => sendJson(response, 200, body))
  return { ...started, page: await ask(started.display) }
}

describe('listing taxonomies', () => {
  test('asks with flat keys, brackets and all', async () => {
    const { display, seen } = await startDisplay((_request, response) => sendJson(response, 200, taxonomies()))
    await display.taxonomies.list(all, options())
    const filters = { brandName: ['Acme'], department: ['Home'], category: ['Kitchen', 'Bath'], subCategory: ['Pans'] }
    await display.taxonomies.list({ level: 2, filters, startIndex: 40, count: 20 }, options())
    await display.taxonomies.list({ filters: { brandName: [] }, ...all }, options())
    expect(seen.map(buildBody)).toEqual([
      { advertiserId: 10001, startIndex: 0, count: 100 },
      {
        advertiserId: 10001,
        'filter[level]': 2,
        'filter[brandName]': ['Acme'],
        'filter[department]': ['Home'],
        'filter[category]': ['Kitchen', 'Bath'],
        'filter[subCategory]': ['Pans'],
        startIndex: 40,
        count: 20,
      },
      { advertiserId: 10001, startIndex: 0, count: 100 },
    ])
  })

  test.each([
    [{ startIndex: -1, count: 1 }],
    [{ startIndex: 0, count: 0 }],
    [{ startIndex: 0.5, count: 1 }],
    [{ startIndex: 0, count: 1, level: 4 as 3 }],
  ])('%j is not sent', async (query) => {
    const { display, seen } = await startDisplay((_request, response) => sendJson(response, 200, taxonomies()))
    await expect(display.taxonomies.list(query, options())).rejects.toThrow(RangeError)
    expect(seen).toEqual([])
  })

  test('gives one record for each chain, with its own text', async () => {
    const { page } = await answered(taxonomies(pans, tools), (display) => display.taxonomies.list(all, options()))
    expect(page.records).toMatchObject([
      {
        ok: true,
        key: '3 | Home | Kitchen | Pans',
        value: { level: 3, name: 'Pans', path: ['Home', 'Kitchen', 'Pans'], itemCount: 290, attributes: null },
        rawText: JSON.stringify(pans),
      },
      {
        ok: true,
        key: '1 | Tools',
        value: { level: 1, path: ['Tools'], attributes: { type: 'skin_color', values: [{ value: 'good', count: 1 }] } },
      },
    ])
    expect(page).toMatchObject({ totalCount: 2, nextCursor: null })
  })

  test('the count may be spelled item_count, and the envelope may stand in an array', async () => {
    const { page } = await answered([taxonomies({ level: 1, name: 'Tools', item_count: 7 })], (display) =>
      display.taxonomies.list(all, options()),
    )
    expect(page.records).toMatchObject([{ ok: true, value: { itemCount: 7 } }])
  })

  test('a list of children is one record for each branch, which reads back as itself', async () => {
    const row = {
      level: 1,
      name: 'Home',
      taxonomies: [
        {
          level: 2,
          name: 'Kitchen',
          taxonomies: [
            { level: 3, name: 'Pans', itemCount: 1 },
            { level: 3, name: 'Pots', itemCount: 2 },
          ],
        },
        { level: 2, name: 'Bath', taxonomies: { level: 3, name: 'Towels', itemCount: 12345678901234567890n } },
        { level: 2, name: 'Garden', taxonomies: [] },
        null,
      ],
    }
    const text = JSON.stringify(taxonomies(row), (_key, value) => (typeof value === 'bigint' ? 'WIDE' : value))
    const { page } = await answered(text.replace('"WIDE"', '123'), (display) => display.taxonomies.list(all, options()))
    expect(page.records.map(({ ok, key }) => [ok, key])).toEqual([
      [true, '3 | Home | Kitchen | Pans'],
      [true, '3 | Home | Kitchen | Pots'],
      [true, '3 | Home | Bath | Towels'],
      [true, '2 | Home | Garden'],
      [false, null],
    ])
    for (const record of page.records) expect(parseTaxonomyNode(record.rawText)).toEqual(record)
  })

  test('the next page begins where this one ends, until fewer rows come than were asked for', async () => {
    const rows = Array.from({ length: 5 }, (_, index) => ({ level: 1, name: `D${index}`, itemCount: index }))
    const { display, seen } = await startDisplay((request, response) => {
      const { startIndex, count } = JSON.parse(request.body)
      sendJson(response, 200, taxonomies(...rows.slice(startIndex, startIndex + count)))
    })
    const names: (string | null)[] = []
    for (let startIndex = 0; ; ) {
      const page = await display.taxonomies.list({ startIndex, count: 2 }, options())
      names.push(...page.records.map(({ key }) => key))
      if (page.nextCursor === null) break
      startIndex = Number(page.nextCursor)
    }
    expect(names).toEqual(rows.map(({ name }) => `1 | ${name}`))
    expect(seen).toHaveLength(3)
  })

  test('a short page is the last one unless it says that there is more', async () => {
    const page = async (totalResults: unknown) =>
      (await answered({ ...taxonomies(tools), totalResults }, (display) => display.taxonomies.list(all, options()))).page
    expect((await page(1)).nextCursor).toBeNull()
    expect((await page(1_546)).nextCursor).toBe('1')
    expect((await page('many')).nextCursor).toBeNull()
  })
})

describe('a failure of the host', () => {
  test.each([
    [200, { code: 'failure', details: 'TOO_MANY_FILTERS_PROVIDED_IN_REQUEST' }],
    [400, { code: 'failure', details: 'TOO_MANY_FILTERS_PROVIDED_IN_REQUEST' }],
    [200, { code: 'failure', details: ['TOO_MANY_FILTERS_PROVIDED_IN_REQUEST'] }],
    [200, [{ code: 'failure', details: 'TOO_MANY_FILTERS_PROVIDED_IN_REQUEST', data: [] }]],
  ])('%i %j is a refusal that names its code', async (status, body) => {
    const { display } = await startDisplay((_request, response) => sendJson(response, status, body))
    const failure = await buildFailure(display.taxonomies.list(all, options()))
    expect(failure).toMatchObject({ kind: 'refused', httpStatus: status })
    expect(failure.faults[0]?.code).toBe('TOO_MANY_FILTERS_PROVIDED_IN_REQUEST')
    expect(failure.message).toContain('TOO_MANY_FILTERS_PROVIDED_IN_REQUEST')
  })

  test('with words is a refusal that keeps them out of its message', async () => {
    const { display } = await startDisplay((_request, response) =>
      sendJson(response, 200, { code: 'failure', details: ['no such audience', 'for Jane Doe'] }),
    )
    const failure = await buildFailure(display.contextual.list(all, options()))
    expect(failure).toMatchObject({
      kind: 'refused',
      faults: [{ code: 'failure', description: 'no such audience; for Jane Doe' }],
    })
    expect(failure.message).not.toContain('Jane')
  })

  test.each([500, 503, 520, 521])('%i is tried again later', async (status) => {
    const { display } = await startDisplay((_request, response) => sendJson(response, status, { code: 'failure', details: 'x' }))
    expect((await buildFailure(display.taxonomies.list(all, options()))).kind).toBe('unavailable')
  })
})

describe('listing targets', () => {
  const target = {
    id: 9_007_199_254_740_993n,
    name: 'Pans',
    taxonPath: 'Home | Kitchen|Pans',
    reach: ['TIER 1', 'TIER_7'],
    isDisabled: false,
  }
  const text = (value: object) =>
    JSON.stringify(value, (_key, entry) => (typeof entry === 'bigint' ? `#${entry}#` : entry)).replaceAll(/"#(\d+)#"/g, '$1')

  test('a contextual target is read, its id to the last digit', async () => {
    const { page, seen, unknownValues } = await answered(
      text({ totalResults: 1, contextual: [target, { id: 2, name: 'Pots', reach: ['TIER_9'], isDisabled: true }] }),
      (display) => display.contextual.list({ ids: ['9007199254740993'], searchText: 'pa"n', ...all }, options()),
    )
    expect(seen[0]?.target).toBe('/api/v2/targeting/list')
    expect(seen[0]?.body).toBe(
      '{"advertiserId":10001,"Filter[tactic]":"contextual","Filter[id]":[9007199254740993],"searchText":"pa\\"n","startIndex":0,"count":100}',
    )
    expect(page.records).toMatchObject([
      {
        key: '9007199254740993',
        value: {
          id: '9007199254740993',
          taxonPath: ['Home', 'Kitchen', 'Pans'],
          reach: ['TIER_1', 'TIER_7'],
          reachBands: ['LOW', 'HIGH'],
          isDisabled: false,
        },
      },
      { key: '2', value: { taxonPath: null, reach: ['TIER_9'], reachBands: [], isDisabled: true } },
    ])
    expect(unknownValues).toEqual([{ resource: 'contextual-target', field: 'reach', value: 'TIER_9' }])
  })

  test('a behavioral audience is read, in upper case, and asked for in lower case', async () => {
    const audiences = [
      { id: 1, name: 'A', taxonPath: 'Home|Bath', audienceType: 'retail', attribute: 'Historical', isDisabled: false },
      { id: 2, name: 'B', audienceType: 'PETS', attribute: 'LOYAL', isDisabled: false },
      { id: 3, name: 'C' },
    ]
    const { page, seen, unknownValues } = await answered({ totalResults: 3, behavioral: audiences }, (display) =>
      display.behavioral.list({ audienceType: 'RETAIL', attribute: 'HISTORICAL', ...all }, options()),
    )
    expect(buildBody(seen[0])).toEqual({
      advertiserId: 10001,
      'Filter[tactic]': 'behavioral',
      'Filter[audienceType]': 'retail',
      'Filter[attribute]': 'historical',
      startIndex: 0,
      count: 100,
    })
    expect(page.records).toMatchObject([
      { value: { audienceType: 'RETAIL', attribute: 'HISTORICAL', taxonPath: ['Home', 'Bath'], isDisabled: false } },
      { value: { audienceType: 'PETS', attribute: 'LOYAL', taxonPath: null } },
      { value: { audienceType: null, attribute: null, isDisabled: null } },
    ])
    expect(unknownValues.map(({ field, value }) => [field, value])).toEqual([
      ['audienceType', 'PETS'],
      ['attribute', 'LOYAL'],
    ])
  })

  test('an illegal pair is not sent', async () => {
    const { display, seen } = await startDisplay((_request, response) => sendJson(response, 200, { behavioral: [] }))
    const refused = display.behavioral.list({ audienceType: 'retail', attribute: 'AGE', ...all }, options())
    await expect(refused).rejects.toThrow(/audienceType retail with attribute AGE/)
    await expect(refused).rejects.toThrow(RangeError)
    await expect(display.behavioral.list(all, options())).rejects.toThrow(RangeError)
    await expect(display.contextual.list({ ids: ['1,2'], ...all }, options())).rejects.toThrow(RangeError)
    expect(seen).toEqual([])
    await display.behavioral.list({ audienceType: 'custom', ...all }, options())
    await display.behavioral.list({ searchText: 'pets', ...all }, options())
    expect(seen).toHaveLength(2)
  })

  test.each([
    ['{"id":"abc","name":"x"}', null],
    ['{"name":"x"}', null],
    ['{"id":1.5}', null],
    ['{"id":9223372036854775808}', null],
    ['{"id":7,"isDisabled":"perhaps"}', '7'],
    ['null', null],
  ])('%s is kept as a fault', (raw, key) => {
    expect(parseContextualTarget(raw)).toMatchObject({ ok: false, key, rawText: raw })
    expect(parseBehavioralAudience(raw)).toMatchObject({ ok: false, key, rawText: raw })
  })
})

describe('any answer of the host', () => {
  test.each([
    ['{}'],
    ['[]'],
    ['[[]]'],
    ['null'],
    ['{"code":"success"}'],
    ['{"code":"success","data":null}'],
    ['{"code":"success","data":"none","totalResults":1}'],
    ['{"code":"success","data":[],"data":[{"name":"x"}]}'],
    ['{"code":"success","data":[{"level":1,"name":"x"}'],
    ['<html><body>Gateway</body></html>'],
    [''],
  ])('%s is no page, so nothing can look gone', async (text) => {
    const { display } = await startDisplay((_request, response) => sendJson(response, 200, text))
    expect((await buildFailure(display.taxonomies.list(all, options()))).kind).toBe('malformed')
    expect((await buildFailure(display.contextual.list(all, options()))).kind).toBe('malformed')
  })

  test.each([['{"code":"success","totalResults":0,"data":null}'], ['{"code":"success","totalResults":0}'], ['{"data":[]}']])(
    '%s is an empty page',
    async (text) => {
      const { page } = await answered(text, (display) => display.taxonomies.list(all, options()))
      expect(page).toMatchObject({ records: [], nextCursor: null })
    },
  )

  test('an answer without an end is refused by its size', async () => {
    const { display } = await startDisplay(
      (_request, response) => sendJson(response, 200, `{"code":"success","data":[{"filler":"${'x'.repeat(150_000)}"}]}`),
      { maxBodyBytes: 100_000 },
    )
    expect((await buildFailure(display.taxonomies.list(all, options()))).kind).toBe('malformed')
  })

  const node = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.record(
      {
        level: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        name: fc.oneof(fc.string(), fc.integer(), fc.constantFrom(null, '', ' ')),
        itemCount: fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null)),
        attributes: fc.oneof(fc.object(), fc.constant(null), fc.string()),
        taxonomies: fc.oneof(
          { depthSize: 'small' },
          fc.constant(null),
          tie('node'),
          fc.array(tie('node'), { maxLength: 3 }),
          fc.string(),
        ),
      },
      { requiredKeys: [] },
    ),
  })).node
  const target = fc.record(
    {
      id: fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null)),
      name: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
      taxonPath: fc.oneof(fc.string(), fc.object()),
      reach: fc.oneof(fc.array(fc.string()), fc.string(), fc.integer(), fc.constant(null)),
      audienceType: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
      attribute: fc.oneof(fc.string(), fc.constant(null)),
      isDisabled: fc.oneof(fc.boolean(), fc.string(), fc.constant(null)),
    },
    { requiredKeys: [] },
  )
  const rows = fc.array(fc.oneof(node, target, fc.jsonValue()), { maxLength: 6 })

  test('every row comes back, read or as its own text, or the whole answer is a failure', async () => {
    const answers: string[] = []
    const { display } = await startDisplay((_request, response) => sendJson(response, 200, answers.shift() ?? ''))
    const judge = async (text: string, list: unknown[] | null, ask: () => Promise<Page<unknown>>) => {
      answers.splice(0, answers.length, text)
      const [result] = await Promise.allSettled([ask()])
      if (result.status === 'rejected') {
        expect(result.reason).toBeInstanceOf(MarketplaceFailure)
        expect(list).toBeNull()
        return
      }
      expect(result.value.records.length).toBeGreaterThanOrEqual(list?.length ?? 0)
      for (const record of result.value.records) {
        expect(() => JSON.parse(record.rawText)).not.toThrow()
        if (!record.ok) expect(record.fault).not.toBe('')
      }
    }
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), fc.integer({ min: 0, max: 200 }), async (data, wrapped, cut) => {
        const whole = (body: object): string => JSON.stringify(wrapped ? [body] : body)
        const three = [
          [whole({ code: 'success', data }), () => display.taxonomies.list(all, options())],
          [whole({ totalResults: 1, contextual: data }), () => display.contextual.list(all, options())],
          [whole({ behavioral: data }), () => display.behavioral.list({ audienceType: 'custom', ...all }, options())],
        ] as const
        for (const [text, ask] of three) {
          await judge(text, data, ask)
          await judge(text.slice(0, Math.max(0, text.length - 1 - cut)), null, ask)
        }
      }),
      { numRuns: 80 },
    )
  })

  test('a record that was read reads back from its own text', () => {
    fc.assert(
      fc.property(fc.oneof(node, target), (raw) => {
        for (const parse of [parseTaxonomyNode, parseContextualTarget, parseBehavioralAudience]) {
          const record = parse(JSON.stringify(raw))
          expect(parse(record.rawText)).toEqual(record)
        }
      }),
    )
  })
})

test('a branch whose name holds half a character is no node; the other branches of its row are', () => {
  const row = asRecord(String.raw`{"name":"Toys","taxonomies":[{"name":"Kites \ud83e"},{"name":"Tops"}]}`)
  const read = readTaxonomyRow(row, () => undefined)
  expect(read.map(({ ok }) => ok)).toEqual([false, true])
})
