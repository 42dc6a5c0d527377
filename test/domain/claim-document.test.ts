import { expect, test } from 'vitest'
import { type ClaimNumbers, explainClaim, explainInbound } from '../../src/domain/inventory/claim-arithmetic.ts'
import { type ClaimEvidence, toEvidenceCsv, toEvidenceHtml } from '../../src/domain/inventory/claim-document.ts'

const numbers: ClaimNumbers = {
  ...{ month: '2026-03', sku: 'MUG', kind: 'missing', units: 3, grossUnits: 5, uncertain: { 'log-copy': 2 }, foundLater: 4 },
  ...{ unitPrice: '4.9900', value: '14.97', currency: 'USD' },
  row: { beginning: 20, ending: 12, units: { sold: 2, returned: 0, lost: 1, found: 0, damaged: 0, other: 0 } },
  differences: [
    { kind: 'balance', reportUnits: 12, expectedUnits: 17 },
    { kind: 'sold', reportUnits: 2, expectedUnits: 4 },
  ],
}

test('the arithmetic names each step with its numbers', () => {
  expect(explainClaim(numbers)).toEqual([
    'The report of 2026-03: 20 at the beginning - 2 sold - 1 lost = 17. It states 12 at the end.',
    'The report states 12 units at the end; its beginning and its movements make 17.',
    'The report counts 2 units (sold); the inventory log has 4.',
    '5 units are missing without a movement that explains them.',
    '2 units of them came back later or in the same month: 5 - 2 = 3.',
    '4 units were found in later months; found units settle the latest losses first.',
    'Not claimed: 2 units, because the log may have a copy of an entry.',
    'Claimed: 3 units at 4.99 USD each, the last known price = 14.97 USD.',
  ])
  expect(explainClaim({ ...numbers, unitPrice: '44.2633' }).at(-1)).toContain('3 units at 44.2633 USD each')
  expect(explainClaim({ ...numbers, kind: 'damaged' }).join(' ')).not.toContain('later months')
  expect(
    explainClaim({
      ...numbers,
      row: null,
      differences: [],
      grossUnits: 1,
      units: 1,
      uncertain: {},
      foundLater: 0,
      unitPrice: null,
    }),
  ).toEqual([
    'The report of 2026-03 has no row of this SKU.',
    '1 unit is missing without a movement that explains them.',
    'Claimed: 1 unit. No price of the SKU is known.',
  ])
})

test('the arithmetic of an inbound shipment counts from its delivery, or from its first receipt', () => {
  const inbound = {
    ...{ shipmentId: '1WFA', sentUnits: 10, receivedUnits: 7, shippedAt: '2026-03-01T00:00:00Z', deliveredAt: null },
    ...{ firstReceivedAt: '2026-03-06T00:00:00Z', logReadUpTo: '2026-03-20T00:00:00Z' },
    ...{ units: 3, unitPrice: '4.9900', value: '14.97', currency: 'USD' },
  }
  expect(explainInbound(inbound)).toEqual([
    '10 units were sent with the inbound shipment 1WFA at 2026-03-01T00:00:00Z.',
    'The delivery is counted from the first receipt of the shipment in the inventory log, 2026-03-06T00:00:00Z.',
    'The inventory log, read up to 2026-03-20T00:00:00Z, has 7 received with this shipment.',
    '10 - 7 = 3: 3 units were not received.',
    'Claimed: 3 units at 4.99 USD each, the last known price = 14.97 USD.',
  ])
  expect(explainInbound({ ...inbound, deliveredAt: '2026-03-05T00:00:00Z' })[1]).toBe(
    'The shipment was delivered at 2026-03-05T00:00:00Z, as the sender states.',
  )
})

const evidence: ClaimEvidence = {
  ...{
    id: '7',
    sellerId: 's-1',
    sku: '=1+1, "A"',
    gtin: null,
    month: '2026-03',
    kind: 'missing',
    units: 3,
    certainty: 'compared',
  },
  ...{
    value: '14.97',
    currency: 'USD',
    state: 'open',
    deadline: '2026-10-01T07:00:00.000Z',
    reference: null,
    shipmentId: null,
    centers: ['KY1'],
    arithmetic: ['3 < 5'],
  },
  reportRows: [{ month: '2026-03', fileName: 'report.csv', generatedAt: null, columns: { 'Vendor SKU': 'A', Lost: '<b>3</b>' } }],
  logEntries: [
    {
      ...{ id: 'e1', transactionTime: '2026-03-05T12:00:00.000Z', changedUnits: -2, movement: 'lost', fcName: 'KY1' },
      ...{
        shipmentId: null,
        type: 'Adjustment',
        reasonCode: 'LOS',
        reasonDescription: 'Lost in Warehouse',
        location: 'Inventory',
      },
    },
  ],
  payments: [
    {
      ...{ lineKey: '2026-04-11/7', reportDate: '2026-04-11', postedOn: '2026-04-05', description: 'Lost <b>units</b>' },
      ...{ units: 3, amount: '14.97', currency: 'USD' },
    },
  ],
  omittedEntries: 0,
}

test('the table has one row for each piece of evidence, quoted, and no formula', () => {
  expect(toEvidenceCsv([evidence]).split('\r\n')).toEqual([
    'claim,seller,sku,gtin,month,kind,part,time,units,center,reference,text,deadline',
    `7,s-1,"'=1+1, ""A""",,2026-03,missing,claim,,3,KY1,,"open, compared, 14.97 USD",2026-10-01T07:00:00.000Z`,
    `7,s-1,"'=1+1, ""A""",,2026-03,missing,arithmetic,,,,,3 < 5,`,
    `7,s-1,"'=1+1, ""A""",,2026-03,missing,report,,,,report.csv,"2026-03: {""Vendor SKU"":""A"",""Lost"":""<b>3</b>""}",`,
    `7,s-1,"'=1+1, ""A""",,2026-03,missing,log,2026-03-05T12:00:00.000Z,-2,KY1,e1,"lost, Adjustment, LOS, Lost in Warehouse, Inventory",`,
    `7,s-1,"'=1+1, ""A""",,2026-03,missing,payment,2026-04-05,3,,2026-04-11/7,Lost <b>units</b>: 14.97 USD,`,
    '',
  ])
})

test('the page escapes what came from the marketplace', () => {
  const page = toEvidenceHtml('Claim 7', [evidence])
  expect(page).toContain('<td>&lt;b&gt;3&lt;/b&gt;</td>')
  expect(page).toContain('<li>3 &lt; 5</li>')
  expect(page).toContain('<h2>3 missing of =1+1, &quot;A&quot;, 2026-03</h2>')
  expect(page).not.toMatch(/<script|<b>/)
  const inbound = toEvidenceHtml('Claim 7', [{ ...evidence, sku: 'A', kind: 'inbound', shipmentId: '1WFA' }])
  expect(inbound).toContain('<h2>3 not received of A, 2026-03</h2>')
  expect(toEvidenceHtml('Claims for 2026-03', [])).toContain('There is no such claim.')
})
