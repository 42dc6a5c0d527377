import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import type { InventoryLogQuery } from '../../../src/clients/marketplace/inventory-log.ts'
import { inventoryLogEndpoint } from '../../../src/clients/marketplace/inventory-log.ts'
import { parseInventoryLogEntry } from '../../../src/clients/marketplace/inventory-log-record.ts'
import { walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { type ClientSettings, forever, sendJson, startClient, startMarketplace } from '../servers.ts'

const entry = {
  id: '9001',
  fcName: 'KY1',
  changedUnits: -1,
  transactionTime: '2026-10-01T12:00:00.250Z',
  transactionLocation: 'Inventory',
  transactionReasonCode: 'SIP',
  transactionReasonDesc: 'Shipped to Customer',
  transactionType: 'Ship',
  shipmentId: 'SH-1',
}

const query: InventoryLogQuery = {
  sku: 'MUG/1 #2',
  gtin: '00012345678905',
  from: new Date('2026-09-01T08:00:00.400Z'),
  to: new Date('2026-10-02T03:00:00.400Z'),
  limit: 200,
  offset: 50,
}

const envelope = (inventoryLog: unknown, headers: unknown = { limit: 50, offset: 50, totalCount: 51 }) => ({
  headers,
  payload: { gtin: '00012345678905', vendorSku: 'MUG/1 #2', productName: 'Mug', inventoryLog },
})

/** Asks a marketplace that answers like this. */
const ask = async (status: number, body: unknown, settings: ClientSettings = {}) => {
  const { url, seen } = await startMarketplace((_request, response) => sendJson(response, status, body))
  const { client, unknownValues } = startClient(url, settings)
  const page = await client.of(inventoryLogEndpoint).page(query, { signal: forever() })
  return { page, target: seen.at(-1)?.target, unknownValues }
}

test('a GTIN that comes as a number has its zeros again, and an answer without one keeps the one that was asked for', async () => {
  const answer = (gtin: unknown) => ({ headers: { totalCount: 0 }, payload: { gtin, productName: null, inventoryLog: [] } })
  expect((await ask(200, answer(12_345_678_905))).page).toMatchObject({ gtin: '00012345678905', productName: null })
  expect((await ask(200, answer(undefined))).page).toMatchObject({ gtin: query.gtin })
})

test('a SKU is asked for as the marketplace spells it, and its entries have its normal form', async () => {
  const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, envelope([entry])))
  const { client } = startClient(url)
  const spelt = { ...query, sku: 'P\u00d6T', marketplaceSku: ' PO\u0308T' }
  const page = await client.of(inventoryLogEndpoint).page(spelt, { signal: forever() })
  expect(seen.at(-1)?.target).toContain('sellerSku=%20PO%CC%88T&')
  expect(page.records[0]).toMatchObject({ key: 'P%C3%96T/9001', value: { sku: 'P\u00d6T' } })
})

test('a page of the log: by SKU between whole seconds, entries with the SKU they were asked for', async () => {
  const { page, target, unknownValues } = await ask(200, envelope([entry]))
  expect(target).toBe(
    '/v3/fulfillment/inventory-log?sellerSku=MUG%2F1%20%232&startDate=2026-09-01T08%3A00%3A00Z&endDate=2026-10-02T03%3A00%3A01Z&limit=50&offset=50',
  )
  expect(page).toMatchObject({ totalCount: 51, gtin: '00012345678905', productName: 'Mug', nextCursor: null })
  expect(page.records).toHaveLength(1)
  expect(page.records[0]).toMatchObject({
    ok: true,
    key: 'MUG%2F1%20%232/9001',
    value: {
      id: '9001',
      sku: 'MUG/1 #2',
      gtin: '00012345678905',
      fcName: 'KY1',
      changedUnits: -1,
      transactionTime: new Date('2026-10-01T12:00:00.250Z'),
      transactionLocation: 'Inventory',
      transactionReasonCode: 'SIP',
      transactionReasonDescription: 'Shipped to Customer',
      transactionType: 'Ship',
      shipmentId: 'SH-1',
      raw: entry,
    },
  })
  expect(unknownValues).toEqual([])
})

test('the live service is asked by GTIN and day; a SKU without a GTIN is not asked for', async () => {
  const connection = { profile: walmartUs, headerPrefix: 'WM' }
  const { target } = await ask(200, envelope([]), { connection })
  expect(target).toBe(
    '/v3/fulfillment/inventory-log?gtin=00012345678905&startDate=2026-09-01&endDate=2026-10-02&limit=50&offset=50',
  )
  const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, envelope([])))
  const { client } = startClient(url, { connection })
  await expect(client.of(inventoryLogEndpoint).page({ ...query, gtin: null }, { signal: forever() })).rejects.toThrow(RangeError)
  expect(seen).toEqual([])
})

test('a log that is asked by GTIN and is of another SKU is not read', async () => {
  const answer = envelope([entry])
  const another = { ...answer, payload: { ...answer.payload, vendorSku: 'MUG-USED' } }
  await expect(ask(200, another, { connection: { profile: walmartUs } })).rejects.toMatchObject({ kind: 'malformed' })
  const own = { ...answer, payload: { ...answer.payload, vendorSku: ' mug/1 #2' } }
  expect((await ask(200, own, { connection: { profile: walmartUs } })).page.records).toHaveLength(1)
})

test('numbers as text, missing headers, lists that are null or absent', async () => {
  const texts = { ...entry, id: 12345678901234567890n, changedUnits: '12.0', transactionTime: '1790856000250', fcName: 7 }
  const body = JSON.stringify(envelope([{ ...texts, id: 0 }], { totalCount: '1' })).replace('"id":0', '"id":12345678901234567890')
  const { page } = await ask(200, body)
  expect(page.totalCount).toBe(1)
  expect(page.records[0]).toMatchObject({
    ok: true,
    value: { id: '12345678901234567890', changedUnits: 12, fcName: '7', transactionTime: new Date(1_790_856_000_250) },
  })
  for (const empty of [
    { payload: { inventoryLog: null } },
    { headers: { totalCount: 0 }, payload: null },
    { status: 'OK', payload: {} },
    { headers: null, payload: { inventoryLog: [] } },
  ]) {
    const { page: none } = await ask(200, empty)
    expect(none).toMatchObject({ records: [], gtin: query.gtin })
  }
})

test.each([
  ['Inventory Adjustment', 'Adjustment'],
  ['ADJUSTMENTS', 'Adjustment'],
  ['inventoryAdjustment', 'Adjustment'],
  ['CUSTOMER_RETURN', 'Return'],
  ['Shipped', 'Ship'],
  ['Shipment Return', 'Shipment Return'],
])('the type %j is read as %j', async (came, type) => {
  const { page } = await ask(200, envelope([{ ...entry, transactionType: came }]))
  expect(page.records[0]).toMatchObject({ ok: true, value: { transactionType: type, raw: { transactionType: came } } })
})

test.each([
  ['2026-04-01', '2026-04-01T07:00:00Z'],
  ['04/01/2026', '2026-04-01T07:00:00Z'],
  ['2026-12-01', '2026-12-01T08:00:00Z'],
])('a day without a time (%j) is a Pacific one', async (transactionTime, moment) => {
  const { page } = await ask(200, envelope([{ ...entry, transactionTime }]))
  expect(page.records[0]).toMatchObject({ ok: true, value: { transactionTime: new Date(moment) } })
})

test('unknown words are kept and counted', async () => {
  const { page, unknownValues } = await ask(
    200,
    envelope([{ ...entry, transactionType: 'Teleport', transactionLocation: 'Attic', transactionReasonCode: 'ZZZ' }]),
  )
  expect(page.records[0]).toMatchObject({ ok: true, value: { transactionType: 'Teleport', transactionReasonCode: 'ZZZ' } })
  expect(unknownValues.map(({ resource, field, value }) => [resource, field, value])).toEqual([
    ['inventory-log', 'transactionType', 'Teleport'],
    ['inventory-log', 'transactionLocation', 'Attic'],
  ])
})

test.each([
  ['changedUnits', 1.5],
  ['changedUnits', 'many'],
  ['changedUnits', null],
  ['changedUnits', 2_147_483_648],
  ['transactionTime', 'yesterday'],
  ['transactionTime', null],
  ['transactionTime', '20260401'],
  ['id', ''],
])('an entry whose %s is %j is kept as text, its neighbours are read, and it can be read again later', async (field, value) => {
  const { page } = await ask(
    200,
    envelope([
      { ...entry, [field]: value },
      { ...entry, id: 'another' },
    ]),
  )
  const [faulty, neighbour] = page.records
  expect(neighbour?.ok).toBe(true)
  const { page: repairedPage } = await ask(200, envelope([entry]))
  const [good] = repairedPage.records
  if (faulty === undefined || faulty.ok) throw new Error('it was read')
  expect(faulty.fault).toContain(field)
  expect(parseInventoryLogEntry(faulty.rawText)).toEqual(faulty)
  const repaired = faulty.rawText.replace(
    `"${field}":${JSON.stringify(value)}`,
    `"${field}":${JSON.stringify({ ...entry }[field])}`,
  )
  expect(parseInventoryLogEntry(repaired)).toEqual(good)
})

test('an id that comes twice names one entry if both say the same; otherwise the later one waits for a person', async () => {
  const { page } = await ask(200, envelope([entry, { ...entry, note: 'again' }, { ...entry, changedUnits: -7 }]))
  const [first, same, other] = page.records
  expect([first?.ok, same?.ok, same?.key]).toEqual([true, true, first?.key])
  expect(other).toMatchObject({ ok: false, fault: `id: ${entry.id} appears twice in one answer, with different contents` })
  expect(parseInventoryLogEntry(other?.rawText ?? '')).toEqual(other)
})

test('"nothing there" is an empty page; any other 404 is a refusal', async () => {
  const notFound = (code: string) => ({ errors: { error: [{ code, severity: 'INFO', category: 'DATA' }] } })
  const { page } = await ask(404, notFound('CONTENT_NOT_FOUND.GMP_INVENTORY_API'))
  expect(page).toMatchObject({ records: [], totalCount: 0, gtin: query.gtin })
  await expect(ask(404, notFound('URI_NOT_FOUND'))).rejects.toMatchObject({ kind: 'refused', httpStatus: 404 })
})

test('an answer that is some other document is malformed', async () => {
  for (const other of [
    { list: { elements: {} } },
    [],
    'null',
    '"no"',
    { payload: 'soon' },
    { payload: { inventoryLog: 'none' } },
  ]) {
    await expect(ask(200, other)).rejects.toMatchObject({ kind: 'malformed' })
  }
})

test('whatever the answer holds: a page, or a failure of the client', async () => {
  let body: unknown = null
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, JSON.stringify(body) ?? 'null'))
  const { client } = startClient(url)
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(null))
  const oddEntry = fc.oneof(
    odd,
    fc
      .record(Object.fromEntries(Object.keys(entry).map((key) => [key, odd])), { requiredKeys: [] })
      .map((fields) => ({ ...entry, ...fields })),
  )
  const oddBody = fc.oneof(
    odd,
    fc.record({ headers: odd, payload: odd }, { requiredKeys: [] }),
    fc
      .tuple(fc.oneof(fc.array(oddEntry, { maxLength: 4 }), odd), odd)
      .map(([list, totalCount]) => envelope(list, { totalCount })),
  )
  await fc.assert(
    fc.asyncProperty(oddBody, async (value) => {
      body = value
      try {
        const page = await client.of(inventoryLogEndpoint).page(query, { signal: forever() })
        for (const record of page.records) {
          const again = parseInventoryLogEntry(record.rawText)
          expect(again).toEqual(record)
          if (record.ok) expect(Number.isInteger(record.value.changedUnits)).toBe(true)
        }
      } catch (error) {
        if (!(error instanceof MarketplaceFailure)) throw error
      }
    }),
    { numRuns: 400 },
  )
})
