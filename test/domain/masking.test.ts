import { expect, test } from 'vitest'
import { masked, maskedText } from '../../src/domain/values/masking.ts'

test('texts about a buyer are hidden at any depth, and nothing else is', () => {
  const record = {
    purchaseOrderId: '1',
    customerEmailId: 'a@b.example',
    shippingInfo: {
      phone: '555',
      methodCode: 'Standard',
      postalAddress: { name: 'Kim', address1: 'Main St 1', address2: null, city: 'Oslo', state: 'OS', postalCode: '0150' },
    },
    orderLines: [{ item: { productName: 'Kettle', sku: 'K' }, charges: [{ chargeName: 'ItemPrice', amount: 3 }] }],
    seenAt: new Date(0),
  }
  expect(masked(record)).toEqual({
    ...record,
    customerEmailId: '•••',
    shippingInfo: {
      phone: '•••',
      methodCode: 'Standard',
      postalAddress: { name: '•••', address1: '•••', address2: null, city: 'Oslo', state: 'OS', postalCode: '•••' },
    },
  })
  expect(masked('Kim')).toBe('Kim')
  expect(masked({ phone: ['1', ''], zip: 12, buyer_name: 'K' })).toEqual({ phone: ['•••', ''], zip: '•••', buyer_name: '•••' })
})

test('a text loses what is about a buyer, stays as it is where there is nothing, and is hidden where it is not JSON', () => {
  expect(maskedText('{ "id": 1, "name": "Kim" }')).toBe('{"id":1,"name":"•••"}')
  expect(maskedText('{ "id": 1,\n "amount": 2.50 }')).toBe('{ "id": 1,\n "amount": 2.50 }')
  for (const opaque of ['{"name": "Kim"', 'Kim', '"Kim"', '']) expect(maskedText(opaque)).toBe('•••')
})
