import { expect, test } from 'vitest'
import { describeMissing } from '../../console/lib/parcels.ts'

test('units that a parcel has lost are refunded ones, up to those refunded of the line', () => {
  const [whole, half, gone] = [
    { quantity: 2, shownQuantity: 2 },
    { quantity: 2, shownQuantity: 1 },
    { quantity: 2, shownQuantity: 0 },
  ] as const
  expect(describeMissing({ refunded: 2, shipments: [whole, gone] }, gone, false)).toBe('2 of them refunded')
  expect(describeMissing({ refunded: 3, shipments: [half, gone] }, half, false)).toBe('1 of them refunded')
  expect(describeMissing({ refunded: 2, shipments: [half, gone] }, half, false)).toBe('the marketplace now shows 1 in it')
  expect(describeMissing({ refunded: 0, shipments: [gone] }, gone, true)).toBe('the marketplace showed 0 in it')
})
