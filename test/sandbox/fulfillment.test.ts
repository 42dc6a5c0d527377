import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { findMonth, monthAfter, pacificDay, pacificHour } from '../../sandbox/core/pacific.ts'
import { buildDialect } from '../../sandbox/settings.ts'
import { at, connect, fetchToken, items, type Json, type Reply, startTestSandbox, type TestClient } from './support.ts'

const log = '/v3/fulfillment/inventory-log'
const report = '/v3/report/wfs/InventoryReconciliationReport'
const channelsPath = '/v3/fulfillment/orders-fulfillments/channel-details'
const recommend = '/v3/wfs/recommendation/shipment-quantity'
const dayMs = 86_400_000

const started = async (profile: 'specification' | 'walmart-us' = 'specification'): Promise<TestClient> => {
  const dialect = buildDialect(profile)
  const sandbox = await startTestSandbox({ dialect })
  const client = await connect(sandbox.url, { prefix: dialect.headerPrefix })
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

const findNow = async (client: TestClient): Promise<number> =>
  Date.parse(String(at(await client.control('GET', '/clock'), 'now')))

/** Puts the virtual clock at a moment of the coming days. */
const advanceTo = async (client: TestClient, moment: number): Promise<void> => {
  await client.control('POST', '/clock', { advance: `${moment - (await findNow(client))}ms` })
  await client.renewToken()
}

const code = (reply: Reply): string => String(at(reply.json, 'errors', 0, 'code') ?? at(reply.json, 'errors', 'error', 0, 'code'))

const findGtin = async (client: TestClient, sku: string): Promise<string> => {
  const known = items(await client.control('GET', '/inventory'), 'items').find((item) => at(item, 'sku') === sku)
  return String(at(known ?? null, 'gtin'))
}

describe('inventory log', () => {
  const list = (client: TestClient, query: string): Promise<Reply> => client.call('GET', `${log}?${query}`)

  test('answers in the envelope of the specification, newest first, 50 unless a limit says otherwise', async () => {
    const client = await started()
    const { status, json } = await list(client, 'sellerSku=CANDLE-CEDAR')
    expect(status).toBe(200)
    expect(at(json, 'headers')).toEqual({ limit: 50, offset: 0, totalCount: expect.any(Number) })
    expect(at(json, 'payload')).toMatchObject({
      gtin: expect.stringMatching(/^00\d{12}$/),
      vendorSku: 'CANDLE-CEDAR',
      productName: 'Soy Candle, Cedar and Amber, 8 oz',
    })
    const entries = items(json, 'payload', 'inventoryLog')
    expect(entries).toHaveLength(50)
    for (const entry of entries) {
      expect(entry).toMatchObject({
        id: expect.any(String),
        fcName: expect.any(String),
        changedUnits: expect.any(Number),
        transactionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        transactionLocation: expect.stringMatching(/^(Inventory|Salvage)$/),
        transactionReasonCode: expect.stringMatching(/^(SIP|RTN|RCV|LOS|FND|DMG|ADJ)$/),
        transactionReasonDesc: expect.any(String),
        transactionType: expect.stringMatching(/^(Receipt|Adjustment|Ship|Return)$/),
      })
      expect(typeof at(entry, 'shipmentId') === 'string').toBe(at(entry, 'transactionType') === 'Receipt')
    }
    const times = entries.map((entry) => String(at(entry, 'transactionTime')))
    expect(times).toEqual([...times].sort().reverse())
  })

  test('pages by offset over the last 90 days, and the pages make the whole', async () => {
    const client = await started()
    const ids = new Set<Json>()
    let total = -1
    for (let offset = 0; ids.size !== total; offset += 20) {
      const { json } = await list(client, `sellerSku=CANDLE-CEDAR&limit=20&offset=${offset}`)
      total = Number(at(json, 'headers', 'totalCount'))
      const page = items(json, 'payload', 'inventoryLog')
      expect(page.length).toBeGreaterThan(0)
      for (const entry of page) {
        ids.add(at(entry, 'id'))
        expect(Date.parse(String(at(entry, 'transactionTime')))).toBeGreaterThan((await findNow(client)) - 90 * dayMs - 60_000)
      }
    }
    expect(items((await list(client, `sellerSku=CANDLE-CEDAR&offset=${total}`)).json, 'payload', 'inventoryLog')).toEqual([])
    const longer = await list(
      client,
      `sellerSku=CANDLE-CEDAR&startDate=${new Date((await findNow(client)) - 360 * dayMs).toISOString()}`,
    )
    expect(Number(at(longer.json, 'headers', 'totalCount'))).toBeGreaterThan(total)
  })

  test('takes bounds as moments or whole UTC days, both inclusive', async () => {
    const client = await started()
    await client.control('POST', '/inventory/movements', {
      movements: [1, 2, 3].map((day) => ({ sku: 'DATED', changedUnits: day, transactionTime: parseTimestamp(day) })),
    })
    const units = async (query: string): Promise<readonly Json[]> =>
      items((await list(client, `sellerSku=DATED&${query}`)).json, 'payload', 'inventoryLog').map((entry) =>
        at(entry, 'changedUnits'),
      )
    expect(await units(`startDate=${parseTimestamp(2)}&endDate=${parseTimestamp(1)}`)).toEqual([1, 2])
    expect(await units(`startDate=${parseTimestamp(2).slice(0, 10)}&endDate=${parseTimestamp(2).slice(0, 10)}`)).toEqual([2])
    expect(await units(`endDate=${new Date(Date.parse(parseTimestamp(2)) - 1_000).toISOString()}`)).toEqual([3])
    expect(await units(`startDate=${encodeURIComponent(parseTimestamp(1).replace('.000Z', '+00:00'))}`)).toEqual([1])
    expect(await units('')).toEqual([1, 2, 3])
  })

  test('filters and sorts', async () => {
    const client = await started()
    const add = (changedUnits: number, transactionType: string, more: object = {}): object => ({
      ...{ sku: 'MIXED', changedUnits, transactionType, ...more },
    })
    await client.control('POST', '/inventory/movements', {
      movements: [
        add(30, 'Receipt', { shipmentId: '77WFA', transactionReasonCode: 'RCV' }),
        add(-2, 'Ship', { transactionReasonCode: 'SIP' }),
        add(1, 'Return', { transactionReasonCode: 'RTN', transactionLocation: 'Salvage' }),
      ],
    })
    const units = async (query: string): Promise<readonly Json[]> =>
      items((await list(client, `sellerSku=MIXED&${query}`)).json, 'payload', 'inventoryLog').map((entry) =>
        at(entry, 'changedUnits'),
      )
    expect(await units('transactionType=Ship')).toEqual([-2])
    expect(await units('transactionLocation=Salvage')).toEqual([1])
    expect(await units('shipmentId=77WFA')).toEqual([30])
    expect(await units('sort_by=changedUnits')).toEqual([-2, 1, 30])
    expect(await units('sort_by=transactionReasonCode&sort_order=DESC')).toEqual([-2, 1, 30])
    expect(await units('sort_order=ASC')).toEqual([30, -2, 1])
  })

  test.each([
    ['', 'MISSING_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&limit=0', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&limit=201', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&offset=-1', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&startDate=yesterday', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&endDate=2026-02-30', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&endDate=2026-02-30T10:00:00Z', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&startDate=2001-01-01', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&startDate=2026-10-05&endDate=2026-10-04', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&transactionType=Gift', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&transactionLocation=Moon', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&sort_by=fcName', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
    ['sellerSku=A&sort_order=UP', 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'],
  ])('refuses %j', async (query, expected) => {
    const reply = await list(await started(), query)
    expect([reply.status, code(reply)]).toEqual([400, expected])
  })

  test('an unknown SKU is 404, a known one without entries is an empty list', async () => {
    const client = await started()
    const reply = await list(client, 'sellerSku=NOBODY')
    expect([reply.status, code(reply)]).toEqual([404, 'CONTENT_NOT_FOUND.GMP_INVENTORY_API'])
    await client.control('POST', '/inventory', { skus: 1, entriesPerSku: 0, prefix: 'STILL' })
    const empty = await list(client, 'sellerSku=STILL-000001')
    expect([empty.status, at(empty.json, 'headers', 'totalCount')]).toEqual([200, 0])
    await client.control('PUT', '/faults', { emptyAnswer: 'emptyList' })
    expect((await list(client, 'sellerSku=NOBODY')).status).toBe(200)
  })

  test('is asked by GTIN on the live service', async () => {
    const client = await started('walmart-us')
    const gtin = await findGtin(client, 'CANDLE-CEDAR')
    expect(
      at((await list(client, `gtin=${gtin}&startDate=${parseTimestamp(20).slice(0, 10)}`)).json, 'payload', 'vendorSku'),
    ).toBe('CANDLE-CEDAR')
    expect((await list(client, 'sellerSku=CANDLE-CEDAR')).status).toBe(400)
    expect((await list(client, 'gtin=123')).status).toBe(400)
  })

  test('ids are unique within an item, not beyond it', async () => {
    const client = await started()
    const ids = async (sku: string): Promise<readonly Json[]> =>
      items((await list(client, `sellerSku=${sku}&limit=200`)).json, 'payload', 'inventoryLog').map((entry) => at(entry, 'id'))
    const [first, second] = [await ids('CANDLE-CEDAR'), await ids('TENT-2P')]
    expect(new Set(first).size).toBe(first.length)
    expect(first.some((id) => second.includes(id))).toBe(true)
  })

  test('blemishes strike its entries', async () => {
    const client = await started()
    await client.control('PUT', '/faults', { duplicateRows: 1, unknownValue: 1 })
    const page = items((await list(client, 'sellerSku=CANDLE-CEDAR&limit=10')).json, 'payload', 'inventoryLog')
    expect(page).toHaveLength(11)
    expect(page[0]).toMatchObject({ futureFlag: true })
    const received = await list(client, 'sellerSku=CANDLE-CEDAR&transactionType=Receipt&limit=1')
    expect(at(received.json, 'payload', 'inventoryLog', 0, 'transactionType')).toBe('Inbound')
    await client.control('PUT', '/faults', { malformedRecord: 1 })
    const broken = items((await list(client, 'sellerSku=CANDLE-CEDAR&limit=10')).json, 'payload', 'inventoryLog')
    expect(broken.filter((entry) => typeof at(entry, 'id') !== 'string')).toHaveLength(1)
    await client.control('POST', '/faults/next', { fault: 'tooManyRequests', operation: 'inventory-log.list' })
    expect((await list(client, 'sellerSku=CANDLE-CEDAR')).status).toBe(429)
  })
})

describe('reconciliation report', () => {
  const ask = (client: TestClient, month: string, more = '', path = report): Promise<Reply> =>
    client.call('GET', `${path}?startDate=${month}-01&endDate=${month}-28${more}`)
  const lastMonth = async (client: TestClient): Promise<string> => monthAfter(findMonth(await findNow(client)).name, -1)

  test('is a CSV file with a name that tells when it was made, on both paths', async () => {
    const client = await started()
    const month = await lastMonth(client)
    const reply = await ask(client, month)
    expect(reply.headers.get('content-type')).toBe('text/csv')
    expect(reply.headers.get('content-disposition')).toMatch(
      /^attachment; filename=InventoryReconciliationReport_\d{4}-\d\d-\d\dT1[45]_00_00\.\d{3}Z\.csv$/,
    )
    const [headings, ...rows] = parse(reply.text)
    expect(headings).toEqual([
      'GTIN',
      'SKU',
      'Item Name',
      'Beginning Quantity',
      'Ending Quantity',
      'Units Sold',
      'Units Returned',
      'Units Lost',
      'Units Found',
      'Units Damaged',
      'Other Adjustments',
    ])
    expect(rows).toHaveLength(21)
    expect(reply.text).toContain('"Soy Candle, Cedar and Amber, 8 oz"')
    expect((await ask(client, month, '', '/v3/report/wfs/inventory-reconciliation-report')).text).toBe(reply.text)
    expect((await ask(client, month, '', '/v3/report/wfs/inventoryReconciliationReport')).status).toBe(404)
  })

  test('is made of whole months, for any two days of one month', async () => {
    const client = await started()
    const month = await lastMonth(client)
    const half = await client.call('GET', `${report}?startDate=${month}-10&endDate=${month}-11`)
    expect(half.text).toBe((await ask(client, month)).text)
    const several = await client.call('GET', `${report}?startDate=${monthAfter(month, -1)}-01&endDate=${month}-28`)
    expect([several.status, code(several)]).toEqual([400, 'INVALID_REQUEST_PARAM.GMP_INVENTORY_API'])
  })

  test('reaches back to 2022, and of months without stock it has no rows', async () => {
    const client = await started()
    expect(parse((await ask(client, '2022-01')).text)).toHaveLength(1)
    expect((await ask(client, '2021-12')).status).toBe(400)
    expect((await ask(client, monthAfter(await lastMonth(client), 2))).status).toBe(400)
  })

  test.each([
    'startDate=2026-10-01',
    'endDate=2026-10-01',
    'startDate=2026-10-02&endDate=2026-10-01',
    'startDate=2026-02-30&endDate=2026-02-30',
    'startDate=2026-10-01T00:00:00Z&endDate=2026-10-02',
  ])('refuses %s', async (query) => {
    const client = await started()
    expect((await client.call('GET', `${report}?${query}`)).status).toBe(400)
  })

  test('is made at seven in the morning, Pacific time, and does not change in between', async () => {
    const client = await started()
    const tomorrow = pacificDay((await findNow(client)) + dayMs)
    // Away from the first of a month, so that the days lie in one.
    const day = Number(tomorrow.slice(8)) < 3 ? pacificDay(Date.parse(tomorrow) + 4 * dayMs) : tomorrow
    const month = day.slice(0, 7)
    const seven = pacificHour(day, 7)
    await advanceTo(client, seven - 7_200_000)
    const before = await ask(client, month)
    await advanceTo(client, seven - 60_000)
    const justBefore = await ask(client, month)
    expect(justBefore.text).toBe(before.text)
    expect(justBefore.headers.get('content-disposition')).toBe(before.headers.get('content-disposition'))
    await advanceTo(client, seven + 1_000)
    const after = await ask(client, month)
    expect(after.text).not.toBe(before.text)
    expect(after.headers.get('content-disposition')).toContain(new Date(seven).toISOString().slice(0, 13))
    const covered = at(await client.control('GET', '/inventory?limit=1'), 'reports')
    expect(covered).toEqual({
      generatedAt: new Date(seven).toISOString(),
      coveredUntil: new Date(pacificHour(day, 0)).toISOString(),
    })
  })

  test('of a month that has just begun is not there before its first morning', async () => {
    const client = await started()
    const next = monthAfter(findMonth(await findNow(client)).name, 1)
    await advanceTo(client, pacificHour(`${next}-01`, 6))
    const early = await ask(client, next)
    expect([early.status, code(early)]).toEqual([404, 'CONTENT_NOT_FOUND.GMP_REPORT_API'])
    await advanceTo(client, pacificHour(`${next}-01`, 7) + 1_000)
    const rows = parse<Record<string, string>>((await ask(client, next)).text, { columns: true })
    expect(rows).toHaveLength(21)
    for (const row of rows) expect(row['Ending Quantity']).toBe(row['Beginning Quantity'])
  })

  test('of one GTIN is there in the current month only', async () => {
    const client = await started()
    const now = await findNow(client)
    const gtin = await findGtin(client, 'TENT-2P')
    const month = monthAfter(findMonth(now).name, 1)
    await advanceTo(client, pacificHour(`${month}-28`, 8))
    const rows = parse<Record<string, string>>((await ask(client, month, `&gtin=${gtin}`)).text, { columns: true })
    expect(rows.map((row) => row['SKU'])).toEqual(['TENT-2P'])
    expect((await ask(client, monthAfter(month, -1), `&gtin=${gtin}`)).status).toBe(400)
    expect((await ask(client, month, `&gtin=${gtin},${gtin}`)).status).toBe(400)
    expect((await ask(client, month, '&gtin=00000000000000')).status).toBe(404)
  })

  test('can be had once an hour for each month, on the marketplace clock', async () => {
    const client = await started()
    const month = await lastMonth(client)
    await client.control('PUT', '/limits', { enabled: true })
    expect((await ask(client, month)).status).toBe(200)
    const refused = await ask(client, month)
    expect([refused.status, code(refused)]).toEqual([429, 'REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API'])
    const wait = Number(refused.headers.get('x-next-replenishment-time')) - (await findNow(client))
    expect(wait).toBeGreaterThan(3_500_000)
    expect(wait).toBeLessThanOrEqual(3_600_000)
    expect((await ask(client, monthAfter(month, -1))).status).toBe(200)
    await client.control('POST', '/clock', { advance: '61m' })
    await client.renewToken()
    expect((await ask(client, month)).status).toBe(200)
    await client.control('PUT', '/limits', { operations: { 'reconciliation.report': null } })
    expect((await ask(client, month)).status).toBe(200)
  })

  test('is asked by month on the live service, once an hour altogether', async () => {
    const client = await started('walmart-us')
    const path = '/v3/report/wfs/inventoryReconciliationReport'
    const [year, number] = (await lastMonth(client)).split('-')
    const reply = await client.call('GET', `${path}?monthYear=${number}-${year}`)
    expect(parse(reply.text)).toHaveLength(22)
    expect((await ask(client, `${year}-${number}`)).text).toBe(reply.text)
    expect((await client.call('GET', path)).status).toBe(400)
    for (const asked of ['13-2026', '12-2021', '01-2999']) {
      const refused = await client.call('GET', `${path}?monthYear=${asked}`)
      expect([refused.status, at(refused.json, 'errors', 0, 'field')]).toEqual([400, 'monthYear'])
    }
    await client.control('PUT', '/limits', { enabled: true })
    expect((await client.call('GET', `${path}?monthYear=${number}-${year}`)).status).toBe(200)
    expect((await client.call('GET', `${path}?monthYear=01-2024`)).status).toBe(429)
  })

  test('looks otherwise on demand', async () => {
    const client = await started()
    const month = await lastMonth(client)
    await client.control('PUT', '/report', {
      columns: ['sku', 'ending', 'gtin', 'sold'],
      headings: { sold: 'Units sold in period' },
      letterCase: 'upper',
      additional: [{ heading: 'Fee, total', value: '0.00' }],
      omitSkus: ['TENT-2P'],
      negativeOutflows: true,
      byteOrderMark: true,
      lineBreak: '\r\n',
      contentType: 'application/octet-stream',
      disposition: 'attachment:',
    })
    const reply = await ask(client, month)
    expect(reply.headers.get('content-type')).toBe('application/octet-stream')
    expect(reply.headers.get('content-disposition')).toMatch(/^attachment: filename=/)
    const [headings, ...rows] = parse(reply.text, { bom: true })
    expect(headings).toEqual(['SKU', 'ENDING QUANTITY', 'GTIN', 'UNITS SOLD IN PERIOD', 'FEE, TOTAL'])
    expect(reply.text.split('\r\n')).toHaveLength(22)
    expect(rows.map(([sku]) => sku)).not.toContain('TENT-2P')
    expect(rows.some(([, , , sold]) => Number(sold) < 0)).toBe(true)
    await client.control('PUT', '/report', {})
    expect((await ask(client, month)).headers.get('content-type')).toBe('text/csv')
  })

  test('faults strike its rows, its length and its answer', async () => {
    const client = await started()
    const month = await lastMonth(client)
    const good = await ask(client, month)
    const whole = good.text
    const next = (fault: string): Promise<Json> =>
      client.control('POST', '/faults/next', { fault, operation: 'reconciliation.report' })
    await next('truncatedJson')
    const { text: cut, headers } = await ask(client, month)
    expect(headers.get('content-disposition')).toBe(good.headers.get('content-disposition'))
    expect(cut.length).toBeLessThan(whole.length)
    expect(whole.startsWith(cut)).toBe(true)
    await next('duplicateRows')
    expect(parse((await ask(client, month)).text)).toHaveLength(23)
    await next('unknownValue')
    expect(parse((await ask(client, month)).text)[0]).toContain('Future Column')
    await next('malformedRecord')
    const broken = (await ask(client, month)).text.split('\n')
    expect(broken.filter((line, index) => line !== whole.split('\n')[index])).toHaveLength(1)
    await next('serverErrorBefore')
    expect((await ask(client, month)).status).toBeGreaterThanOrEqual(500)
  })
})

describe('recommended shipment quantity', () => {
  test('is given by GTIN or by SKU, on both paths', async () => {
    const client = await started()
    const gtin = await findGtin(client, 'TENT-2P')
    const byGtin = await client.call('POST', recommend, { gtins: [gtin] })
    expect(byGtin.status).toBe(200)
    expect(byGtin.json).toEqual({
      status: 'OK',
      payload: {
        replenishments: [
          {
            itemId: expect.stringMatching(/^\d+$/),
            gtin,
            upc: gtin.slice(2),
            vendorSku: 'TENT-2P',
            suggestedQty: expect.any(Number),
            maxQty: expect.any(Number),
          },
        ],
      },
    })
    const bySku = await client.call('POST', '/v3/wfs/recommendations/inbound', { sku: ['TENT-2P', 'NOBODY', 'TENT-2P'] })
    expect(bySku.json).toEqual(byGtin.json)
    const inQuery = await client.call('POST', `${recommend}?sku=TENT-2P&sku=CANDLE-CEDAR`)
    const skus = items(inQuery.json, 'payload', 'replenishments').map((item) => at(item, 'vendorSku'))
    expect(skus).toEqual(['TENT-2P', 'CANDLE-CEDAR'])
  })

  test('follows stock and sales; without sales nothing is suggested', async () => {
    const client = await started()
    await client.control('POST', '/inventory/movements', {
      movements: [
        { sku: 'FAST', openingUnits: 60, changedUnits: -56, transactionType: 'Ship', transactionReasonCode: 'SIP' },
        { sku: 'SLOW', openingUnits: 10, changedUnits: 1 },
      ],
    })
    const reply = await client.call('POST', recommend, { sku: ['FAST', 'SLOW'] })
    const [fast, slow] = items(reply.json, 'payload', 'replenishments')
    // 56 units in 28 days, 4 left: 60 for 30 days and 180 for 90.
    expect(fast).toMatchObject({ suggestedQty: 56, maxQty: 176 })
    expect(slow).toMatchObject({ maxQty: 0 })
    expect(at(slow ?? null, 'suggestedQty')).toBeNull()
  })

  test.each([{}, { gtins: [] }, { sku: [] }, undefined, { listOfSkus: ['TENT-2P'] }])('refuses %j: 400.WFS.100', async (body) => {
    const client = await started()
    const reply = await client.call('POST', recommend, body)
    expect([reply.status, at(reply.json, 'status'), code(reply)]).toEqual([400, 'FAIL', '400.WFS.100'])
    expect(at(reply.json, 'errors', 0, 'description')).toBe('gtin/sku is required attribute.')
  })

  test('refuses both kinds of key at once, too many, and what is no array of strings', async () => {
    const client = await started()
    const many = Array.from({ length: 1_001 }, (_, index) => `SKU-${index}`)
    for (const body of [{ gtins: ['1'], sku: ['A'] }, { sku: many }, { sku: 'TENT-2P' }, { gtins: [12] }])
      expect((await client.call('POST', recommend, body)).status).toBe(400)
    expect((await client.call('POST', recommend, { sku: many.slice(0, 1_000) })).json).toEqual({
      status: 'OK',
      payload: { replenishments: [] },
    })
  })

  test('GTINs of which none is any good are the 500 of the service', async () => {
    const client = await started()
    const reply = await client.call('POST', recommend, { gtins: ['123', '00000000000017'] })
    expect([reply.status, at(reply.json, 'status'), code(reply)]).toEqual([500, 'INTERNAL_SERVER_ERROR', '500.WFS.100'])
    expect(at(reply.json, 'errors', 0, 'info')).toBe("All GTIN's are invalid")
  })

  test('has other names and needs the global headers on the live service', async () => {
    const client = await started('walmart-us')
    const headers = { WM_GLOBAL_VERSION: '3.1', WM_MARKET: 'US' }
    const reply = await client.call('POST', recommend, { listOfSkus: ['TENT-2P'] }, headers)
    const [one] = items(reply.json, 'payload', 'replenishments')
    expect(one).toMatchObject({ vendorSku: 'TENT-2P', customerFavorite: expect.any(Boolean) })
    expect((await client.call('POST', recommend, { listOfGtins: [String(at(one ?? null, 'gtin'))] }, headers)).status).toBe(200)
    for (const name of Object.keys(headers)) {
      const without = await client.call('POST', recommend, { listOfSkus: ['TENT-2P'] }, { ...headers, [name]: null })
      expect([without.status, code(without)]).toEqual([400, 'MISSING_REQUEST_HEADER.GMP_GATEWAY_API'])
    }
    expect((await client.call('POST', recommend, { sku: ['TENT-2P'] }, headers)).status).toBe(400)
  })
})

describe('sales channels', () => {
  const market = { loggedInUser: 'tester', martId: '202', xxmartid: '202' }

  test('come in the envelope of the specification, with its own spelling', async () => {
    const client = await started()
    const { status, json } = await client.call('GET', channelsPath, undefined, market)
    expect(status).toBe(200)
    expect(json).toMatchObject({ status: 'OK', header: { headerAttributes: {} }, errors: [] })
    const channels = items(json, 'payload')
    expect(channels).toHaveLength(3)
    expect(channels[0]).toEqual({
      orderChannelId: '10001',
      orderChannelName: 'Own Web Shop',
      boxCatalogType: 'typeA',
      shippping: expect.any(String),
      returnAddress: {
        line1: '12 Dock Road',
        line2: 'Gate 4',
        line3: '',
        city: 'Dayton',
        state: 'OH',
        country: 'USA',
        zip: '45402',
        addressType: 'OFFICE',
      },
      active: 'Y',
      sellerId: 'sandbox-seller',
      sellerName: 'Seller sandbox-seller',
      createdDate: '2025-03-04T09:12:33.000-08:00',
      martId: '202',
    })
  })

  test.each(['loggedInUser', 'martId', 'xxmartid'])('need the header %s', async (name) => {
    const client = await started()
    const reply = await client.call('GET', channelsPath, undefined, { ...market, [name]: null })
    expect([reply.status, code(reply), at(reply.json, 'errors', 'error', 0, 'field')]).toEqual([
      400,
      'MISSING_REQUEST_HEADER.GMP_GATEWAY_API',
      name,
    ])
  })

  test('take the marketplace headers without underscores as well, which no other operation does', async () => {
    const client = await started()
    const token = String(at((await fetchToken(client.url)).json, 'access_token'))
    const plain = {
      'XX_SEC.ACCESS_TOKEN': null,
      'XX_QOS.CORRELATION_ID': null,
      'XX_SVC.NAME': null,
      'XXSEC.ACCESSTOKEN': token,
      'XXQOS.CORRELATIONID': '0d5cb8b5-9d33-4ec5-9e2c-6f3b4b4b0f10',
      'XXSVC.NAME': 'test',
    }
    expect((await client.call('GET', channelsPath, undefined, { ...market, ...plain })).status).toBe(200)
    expect((await client.call('GET', `${log}?sellerSku=TENT-2P`, undefined, plain)).status).toBe(401)
  })

  test('need partnerId on the live service, and show its further fields', async () => {
    const client = await started('walmart-us')
    const live = { loggedInUser: 'tester', martId: '202', wmmartid: '202' }
    expect((await client.call('GET', channelsPath, undefined, live)).status).toBe(400)
    const reply = await client.call('GET', `${channelsPath}?partnerId=1`, undefined, live)
    expect(items(reply.json, 'payload')[0]).toMatchObject({ returnAddress: { firstName: 'Returns' }, partialFulfillment: false })
    const other = { loggedInUser: 'tester', wm_mart_id: '202' }
    expect((await client.call('GET', `${channelsPath}?partnerId=1`, undefined, other)).status).toBe(200)
  })

  test('are what the control route says', async () => {
    const client = await started()
    await client.control('PUT', '/channels', { shippingField: 'shipping', items: [{ orderChannelId: 'X1', active: 'true' }] })
    const channels = items((await client.call('GET', channelsPath, undefined, market)).json, 'payload')
    expect(channels).toHaveLength(1)
    expect(channels[0]).toMatchObject({
      orderChannelId: 'X1',
      orderChannelName: 'Channel X1',
      active: 'true',
      shipping: expect.any(String),
    })
    expect(at(channels[0] ?? null, 'shippping')).toBeNull()
    await client.control('PUT', '/channels', { items: [] })
    expect((await client.call('GET', channelsPath, undefined, market)).json).toMatchObject({ status: 'OK', payload: [] })
  })
})

describe('enrolment', () => {
  const market = { loggedInUser: 'tester', martId: '202', xxmartid: '202' }
  const statuses = async (client: TestClient): Promise<readonly number[]> => {
    const month = monthAfter(findMonth(await findNow(client)).name, -1)
    return [
      (await client.call('POST', recommend, { sku: ['TENT-2P'] })).status,
      (await client.call('GET', `${report}?startDate=${month}-01&endDate=${month}-02`)).status,
      (await client.call('GET', `${log}?sellerSku=TENT-2P`)).status,
      (await client.call('GET', channelsPath, undefined, market)).status,
    ]
  }

  test('opens the operations to a seller, and closes them', async () => {
    const client = await started()
    expect(await statuses(client)).toEqual([200, 200, 200, 200])
    await client.control('PUT', '/enrolment', { multichannel: false })
    expect(await statuses(client)).toEqual([200, 200, 200, 404])
    await client.control('PUT', '/enrolment', { fulfillment: false })
    expect(await statuses(client)).toEqual([404, 404, 404, 404])
    await client.control('PUT', '/enrolment', {})
    expect(await statuses(client)).toEqual([200, 200, 200, 200])
  })

  test('is missed in two shapes, by one seller and not by another', async () => {
    const client = await started()
    await client.control('POST', '/sellers', { sellerId: 'other' })
    const other = await connect(client.url, { clientId: 'other-client', clientSecret: 'other-secret' })
    await client.control('PUT', '/enrolment', { sellerId: 'other', fulfillment: false })
    const spring = await other.call('GET', `${log}?sellerSku=TENT-2P`)
    expect(spring.json).toMatchObject({ status: 404, error: 'Not Found', path: log, timestamp: expect.any(String) })
    await client.control('PUT', '/enrolment', { sellerId: 'other', fulfillment: false, answer: 'content-not-found' })
    expect(code(await other.call('GET', `${log}?sellerSku=TENT-2P`))).toBe('CONTENT_NOT_FOUND.GMP_FULFILLMENT_API')
    expect((await client.call('GET', `${log}?sellerSku=TENT-2P`)).status).toBe(200)
  })
})

/** Noon of the day so many days ago, UTC. */
const parseTimestamp = (daysAgo: number): string =>
  `${new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)}T12:00:00.000Z`
