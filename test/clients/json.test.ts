import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import {
  asRecord,
  cutRecords,
  decimalText,
  exactJsonNumber,
  parseExact,
  parseTimestamp,
  storableJson,
  sumDecimals,
  wholeNumber,
} from '../../src/clients/http/json.ts'
import { vocabulary } from '../support/vocabulary.ts'

const path = ['list', 'elements', 'order']

const buildPage = (recordTexts: readonly string[], spacing = ''): string => {
  const joined = recordTexts.join(`,${spacing}`)
  return `{"list":${spacing}{"meta":{"x":"[}\\"order\\":["},"elements":{"other":[1,{"order":[]}],"order"${spacing}:${spacing}[${spacing}${joined}${spacing}]},"z":null}}`
}

describe('cutRecords', () => {
  test('gives every record back, character by character, and leaves a parsable envelope', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom('', ' ', '\n\t '), fc.boolean(), (values, spacing, pretty) => {
        const texts = values.map((value) => JSON.stringify(value, null, pretty ? 2 : 0))
        const cut = cutRecords(buildPage(texts, spacing), path)
        expect(cut?.records.map((record) => record.text)).toEqual(texts)
        expect(JSON.parse(cut?.envelopeText ?? '')).toMatchObject({ list: { elements: { order: [] }, z: null } })
      }),
    )
  })

  test('takes a single object for one record', () => {
    expect(cutRecords('{"order": {"a":[1,"}"]} }', ['order'])?.records.map((record) => record.text)).toEqual(['{"a":[1,"}"]}'])
  })

  test('gives up on a text that is broken around the records, wherever it is cut off', () => {
    const text = buildPage(['{"a":"x\\\\"}', '{"b":[1,2]}'])
    for (let length = 0; length < text.length; length += 1) {
      const cut = cutRecords(text.slice(0, length), path)
      // Either nothing was cut, or the envelope shows that the text is broken: no half page passes for a whole one.
      if (cut !== null) expect(() => JSON.parse(cut.envelopeText)).toThrow(SyntaxError)
    }
  })

  test('an array of records that ends in anything but its bracket is no page', () => {
    // Without the rest of the array the envelope would be in order.
    for (const end of ['}}', 'x}', ':}']) expect(cutRecords(`{"order":[{"a":1}${end}`, ['order'])).toBeNull()
  })

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        cutRecords(text, ['order'])
        cutRecords(`{"order":${text}`, ['order'])
        cutRecords(`{"order":[${text}]}`, ['order'])
      }),
    )
  })

  test('finds the records under their whole name', () => {
    const text = '{"orders":[{"a":1}],"orde":[{"a":2}],"order":[{"a":3}]}'
    expect(cutRecords(text, ['order'])?.records.map((record) => record.text)).toEqual(['{"a":3}'])
    expect(cutRecords('{"orders":[{"a":1}]}', ['order'])).toBeNull()
  })

  test('a record that is nested too deeply does not corrupt its neighbours', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
    const cut = cutRecords(`{"order":[{"a":1},${nested(100)},${nested(101)},{"a":[2]}]}`, ['order'])
    expect(cut?.records.map((record) => record.isTooDeep)).toEqual([false, false, true, false])
  })

  test('a broken record does not reach into its neighbours', () => {
    const cut = cutRecords('{"order":[{"a":1},{"a":nope},{"a":3}]}', ['order'])
    expect(cut?.records.map((record) => record.text)).toEqual(['{"a":1}', '{"a":nope}', '{"a":3}'])
  })
})

describe('characters that Postgres cannot hold', () => {
  test.each([
    [String.raw`"a\u0000b"`, '"a\ufffdb"'],
    [String.raw`"cut \ud83c"`, '"cut \ufffd"'],
    [String.raw`"\uDF09 \uD83C\u0041"`, '"\ufffd \ufffd\\u0041"'],
    [String.raw`{"\u0000":"\\\ud83c"}`, '{"\ufffd":"\\\\\ufffd"}'],
  ])('%s becomes %s', (text, stored) => {
    expect(storableJson(text)).toBe(stored)
    expect(() => JSON.parse(stored)).not.toThrow()
  })

  test.each([String.raw`"\\u0000"`, String.raw`"\\\\ud83c"`, String.raw`"\ud83c\udf09"`, String.raw`"\u00e9 \n \u0001"`])(
    '%s stays',
    (text) => {
      expect(storableJson(text)).toBe(text)
    },
  )

  test('no text holds one afterwards, and what holds none is not changed', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('\\', '\0', '\ud83c', '\udf09', 'u0000', 'a', '"', 'é')), (parts) => {
        const text = parts.join('')
        const read: unknown = JSON.parse(storableJson(JSON.stringify(text)))
        expect(read).toBe(text.toWellFormed().replaceAll('\0', '\ufffd'))
      }),
    )
  })
})

describe('exact numbers', () => {
  // The second is the first integer that a double cannot hold.
  test.each(['12345678901234567890', '9007199254740993', '0.1234567890123456789', '1e400', '-99999999999999999.99', '1.5E3'])(
    '%s keeps its own digits',
    (literal) => {
      const [record] = cutRecords(`{"order":[{"n":${literal},"s":"${literal}"}]}`, ['order'])?.records ?? []
      expect(record?.hasWideNumber).toBe(true)
      expect(parseExact(record ?? asRecord('null'))).toEqual({ n: literal, s: literal })
    },
  )

  test('ordinary numbers stay numbers, and digits inside strings are nobody’s business', () => {
    const record = asRecord('{"n":-12.30,"s":"12345678901234567890"}')
    expect(record.hasWideNumber).toBe(false)
    expect(parseExact(record)).toEqual({ n: -12.3, s: '12345678901234567890' })
  })

  test('any decimal of money survives the way from text through JSON to text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (cents) => {
        const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0')
        const literal = `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
        const parsed = parseExact(asRecord(`[${literal}]`))
        const text = decimalText(Array.isArray(parsed) ? parsed[0] : null)
        expect(sumDecimals([text ?? '', sumDecimals([literal]).startsWith('-') ? literal.slice(1) : `-${literal}`])).toBe('0')
      }),
    )
  })

  test('decimalText writes exponents out and refuses what is no decimal', () => {
    expect(decimalText(1e-7)).toBe('0.0000001')
    expect(decimalText('1.5e3')).toBe('1500')
    expect(decimalText(' 2.50 ')).toBe('2.50')
    for (const value of [
      '1e999',
      'abc',
      '',
      '--1',
      Number.NaN,
      Number.POSITIVE_INFINITY,
      null,
      undefined,
      {},
      true,
      '0x10',
      '9'.repeat(41),
    ]) {
      expect(decimalText(value)).toBeNull()
    }
  })

  test('exactJsonNumber refuses a decimal that no JSON number of ours can carry', () => {
    expect(JSON.stringify(exactJsonNumber('-1.10'))).toBe('-1.1')
    expect(exactJsonNumber('-0.07')).toBe(-0.07)
    expect(() => exactJsonNumber('-99999999999999999.99')).toThrow(RangeError)
    expect(() => exactJsonNumber('one')).toThrow(RangeError)
  })

  test('wholeNumber reads units and nothing else', () => {
    expect(['3', 3, '3.0', ' 3 ', 3.0].map(wholeNumber)).toEqual([3, 3, 3, 3, 3])
    expect(['-1', 1.5, '', 'x', 2 ** 31, null, [], 1e300].map(wholeNumber)).toEqual(Array.from({ length: 8 }, () => null))
  })
})

describe('moment', () => {
  test('one without a zone is of UTC, wherever the program runs', () => {
    vi.stubEnv('TZ', 'America/New_York')
    try {
      const expected = new Date('2026-03-04T05:06:07.000Z')
      expect(new Date('2026-03-04T05:06:07')).not.toEqual(expected)
      for (const text of ['2026-03-04T05:06:07', '2026-03-04 05:06:07', '2026-03-04T05:06:07.000', '2026-03-04T00:06:07-05:00'])
        expect(parseTimestamp(text)).toEqual(expected)
    } finally {
      vi.unstubAllEnvs()
    }
  })
  test('reads epoch ms, epoch s and ISO 8601, as numbers or text', () => {
    const expected = new Date('2025-10-09T08:53:20.000Z')
    for (const value of [1_760_000_000_000, 1_760_000_000, '1760000000000', '1760000000', '2025-10-09T08:53:20Z']) {
      expect(parseTimestamp(value)).toEqual(expected)
    }
  })

  test("reads the form of the guides as the marketplace's wall time, wherever the program runs", () => {
    for (const zone of ['America/New_York', 'Asia/Tokyo']) {
      vi.stubEnv('TZ', zone)
      try {
        // One before and one after the clocks go forward.
        expect(parseTimestamp('03/24/2022 9:29 am', vocabulary.calendar)).toEqual(new Date('2022-03-24T16:29:00Z'))
        expect(parseTimestamp('3/1/2022 9:29 PM', vocabulary.calendar)).toEqual(new Date('2022-03-02T05:29:00Z'))
        expect(parseTimestamp('03/24/2022 12:05 AM', vocabulary.calendar)).toEqual(new Date('2022-03-24T07:05:00Z'))
        expect(parseTimestamp('03/24/2022', vocabulary.calendar)).toEqual(new Date('2022-03-24T07:00:00Z'))
        expect(parseTimestamp('2022-03-24', vocabulary.calendar)).toEqual(new Date('2022-03-24T00:00:00Z'))
        // Without a calendar nobody knows whose wall time it is.
        expect(parseTimestamp('03/24/2022')).toBeNull()
        expect(parseTimestamp('2022-03-24T09:29:00.5+0200', vocabulary.calendar)).toEqual(new Date('2022-03-24T07:29:00.500Z'))
      } finally {
        vi.unstubAllEnvs()
      }
    }
  })

  test.each([
    'Shipped 3',
    'March 2022',
    '13/24/2022',
    '02/30/2022',
    '2026-02-30T00:00:00Z',
    '03/24/2022 13:00 am',
    'now',
    '',
    '20220324',
    20_220_324,
    '3',
    0,
  ])('%j is none', (value) => {
    expect(parseTimestamp(value)).toBeNull()
  })

  test('never gives an impossible date', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const date = parseTimestamp(value)
        if (date !== null) expect(Number.isNaN(date.getTime())).toBe(false)
      }),
    )
    expect(parseTimestamp('not a date')).toBeNull()
    expect(parseTimestamp(8.7e18)).toBeNull()
  })
})
