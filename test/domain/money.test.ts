import { expect, test } from 'vitest'
import { countDecimals, countMinorDigits, formatAmount } from '../../src/domain/values/money.ts'

test.each([
  ['41.5', 'USD', '41.50 USD'],
  ['-3', 'USD', '-3.00 USD'],
  ['1.2345', 'USD', '1.2345 USD'],
  ['1500', 'JPY', '1500 JPY'],
  ['41.5', null, '41.50'],
  ['41.5', 'dollars', '41.50 dollars'],
])('%s in %s is shown as %s', (amount, currency, shown) => {
  expect(formatAmount(amount, currency)).toBe(shown)
})

test('digits after the point', () => {
  expect([countMinorDigits('USD'), countMinorDigits('JPY'), countMinorDigits('KWD'), countMinorDigits(null)]).toEqual([
    2, 0, 3, 2,
  ])
  expect([countDecimals('3.001'), countDecimals('3.100'), countDecimals('3')]).toEqual([3, 1, 0])
})
