import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseOrder } from '../../src/clients/marketplace/orders/order-record.ts'
import { parseReturn } from '../../src/clients/marketplace/return-record.ts'
import { parseShippingSettings } from '../../src/clients/marketplace/shipping-settings-record.ts'
import { isObject } from '../../src/domain/values/values.ts'
import { wireLine, wireOrderSample, wireReturnSample } from './samples.ts'

const money = { amount: 1.5, currency: 'USD' }
const refund = {
  refundId: 'R-1',
  refundCharges: {
    refundCharge: [{ refundReason: 'Damaged', charge: { chargeType: 'PRODUCT', chargeAmount: { currency: 'USD', amount: -2 } } }],
  },
}
const settings = {
  accountConfigs: {
    carrierConfigs: [
      {
        carriers: [{ carrierName: 'UPS', carrierService: 'GROUND' }],
        configurations: [
          {
            regions: [{ regionCode: 'C', states: [{ stateCode: 'TX' }], subRegions: [{ states: [{ stateCode: 'OH' }] }] }],
            addressTypes: ['STREET'],
            shippingCharge: [{ perShippingCharge: { unitOfMeasure: 'LB', shippingAndHandling: money } }],
          },
        ],
      },
    ],
  },
}

/** Every list of one element in a record, each as the same record without the brackets of that list. */
const withoutBrackets = (value: unknown, at = ''): readonly { readonly at: string; readonly value: unknown }[] => {
  if (Array.isArray(value)) {
    const inner = value.flatMap((element: unknown, index) =>
      withoutBrackets(element, `${at}[${index}]`).map((one) => ({ at: one.at, value: value.toSpliced(index, 1, one.value) })),
    )
    return value.length === 1 ? [{ at, value: value[0] }, ...inner] : inner
  }
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    withoutBrackets(member, `${at}.${key}`).map((one) => ({ at: one.at, value: { ...value, [key]: one.value } })),
  )
}

/** What a record says, without its own JSON and that of its parts. */
const said = (record: unknown): unknown =>
  JSON.parse(JSON.stringify(record, (key, value: unknown) => (/raw/i.test(key) ? undefined : value)))

describe.each([
  [
    'an order',
    parseOrder,
    wireOrderSample('107', { orderLines: { orderLine: [wireLine('1', 3, { refunds: { refund: [refund] } })] } }),
    4,
  ],
  [
    'an order with the other place of refunds',
    parseOrder,
    wireOrderSample('107', { orderLines: { orderLine: [wireLine('1', 3, { refund: [refund] })] } }),
    4,
  ],
  ['a return', parseReturn, wireReturnSample('207'), 1],
  ['shipping settings', (raw: unknown) => parseShippingSettings(JSON.stringify(raw)), settings, 9],
])('%s', (_name, parse, sample, least) => {
  const whole = parse(sample)
  const bare = withoutBrackets(sample)

  test('has lists of one', () => {
    expect(whole).toMatchObject({ ok: true })
    expect(bare.length).toBeGreaterThanOrEqual(least)
  })

  test.each(bare)('says the same without the brackets of $at', ({ value }) => {
    expect(said(parse(value))).toEqual(said(whole))
  })
})

test('every list of objects in an answer is read in this way', async () => {
  const files = (await readdir('src/clients', { recursive: true })).filter((file) => file.endsWith('.ts'))
  const texts = await Promise.all(files.map((file) => readFile(path.join('src/clients', file), 'utf8')))
  // Of an answer whose records were cut out an empty list is left; texts are no objects; nodes of a taxonomy are put in a list here.
  const others =
    /z\.array\((?!z\.unknown\(\)|z\.never\(\)|z\.string\(\)|text\)|element\)|wireTaxonomyNode\)|wireShippingCharge\)\.length\(1\))/g
  expect(texts.flatMap((text, index) => [...text.matchAll(others)].map(() => files[index]))).toEqual([])
})
