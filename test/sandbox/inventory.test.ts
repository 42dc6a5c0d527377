import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { monthAfter } from '../../sandbox/core/pacific.ts'
import { at, connect, items, type Json, startTestSandbox, type TestClient } from './support.ts'

const cells = ['sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const
type Cell = (typeof cells)[number]

interface Row extends Readonly<Record<Cell, number>> {
  readonly sku: string
  readonly beginning: number
  readonly ending: number
}

const started = async (options: Parameters<typeof startTestSandbox>[0] = {}): Promise<TestClient> => {
  const sandbox = await startTestSandbox(options)
  const client = await connect(sandbox.url)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

const advance = async (client: TestClient, duration: string): Promise<void> => {
  await client.control('POST', '/clock', { advance: duration })
  await client.renewToken()
}

/** The month that the latest reports cover last, and the moment up to which. */
const covered = async (client: TestClient): Promise<{ readonly until: string; readonly month: string }> => {
  const until = String(at(await client.control('GET', '/inventory?limit=1'), 'reports', 'coveredUntil'))
  return {
    until,
    month: new Date(Date.parse(until) - 1).toLocaleDateString('sv', { timeZone: 'America/Los_Angeles' }).slice(0, 7),
  }
}

const report = async (client: TestClient, month: string): Promise<ReadonlyMap<string, Row>> => {
  const reply = await client.call('GET', `/v3/report/wfs/InventoryReconciliationReport?startDate=${month}-01&endDate=${month}-02`)
  expect(reply.status, reply.text).toBe(200)
  const rows = parse<Record<string, string>>(reply.text, { columns: true })
  return new Map(
    rows.map((row) => [
      row['SKU'] ?? '',
      {
        sku: row['SKU'] ?? '',
        beginning: Number(row['Beginning Quantity']),
        ending: Number(row['Ending Quantity']),
        sold: Number(row['Units Sold']),
        returned: Number(row['Units Returned']),
        lost: Number(row['Units Lost']),
        found: Number(row['Units Found']),
        damaged: Number(row['Units Damaged']),
        other: Number(row['Other Adjustments']),
      },
    ]),
  )
}

const made = ({ beginning, sold, returned, lost, found, damaged, other }: Row): number =>
  beginning - sold + returned - lost + found - damaged + other

/** All entries of a SKU's log, page by page. */
const log = async (client: TestClient, sku: string, more = ''): Promise<readonly Json[]> => {
  const found: Json[] = []
  const start = new Date(Date.parse(String(at(await client.control('GET', '/clock'), 'now'))) - 364 * 86_400_000).toISOString()
  for (let offset = 0; ; offset += 200) {
    const path = `/v3/fulfillment/inventory-log?sellerSku=${sku}&startDate=${start}&limit=200&offset=${offset}${more}`
    const page = items((await client.call('GET', path)).json, 'payload', 'inventoryLog')
    found.push(...page)
    if (page.length < 200) return found
  }
}

const formatPlace = (entry: Json): Cell => {
  const type = at(entry, 'transactionType')
  if (type === 'Ship') return 'sold'
  if (type === 'Return') return 'returned'
  const cells: Readonly<Record<string, Cell>> = { LOS: 'lost', FND: 'found', DMG: 'damaged' }
  return cells[String(at(entry, 'transactionReasonCode'))] ?? 'other'
}

/** Sums of a log over the part of a month that the report covers, by the report's columns. */
const sums = (entries: readonly Json[], month: string, until: string): Readonly<Record<Cell, number>> => {
  const total = { sold: 0, returned: 0, lost: 0, found: 0, damaged: 0, other: 0 }
  for (const entry of entries) {
    const time = Date.parse(String(at(entry, 'transactionTime')))
    const local = new Date(time).toLocaleDateString('sv', { timeZone: 'America/Los_Angeles' })
    if (!local.startsWith(month) || time >= Date.parse(until) || at(entry, 'transactionLocation') === 'Salvage') continue
    const cell = formatPlace(entry)
    const units = Number(at(entry, 'changedUnits'))
    total[cell] += cell === 'sold' || cell === 'lost' || cell === 'damaged' ? -units : units
  }
  return total
}

interface Finding {
  readonly sku: string
  readonly month: string
  readonly what: string
  readonly difference: number
}

/** Compares report and log as a reader of the specification would, knowing nothing of what was planted. */
const findings = async (client: TestClient, months: readonly string[]): Promise<readonly Finding[]> => {
  const { until } = await covered(client)
  const found: Finding[] = []
  let before: ReadonlyMap<string, Row> | null = null
  const logs = new Map<string, readonly Json[]>()
  for (const month of months) {
    const rows = await report(client, month)
    for (const row of rows.values()) {
      const add = (what: string, difference: number): void => {
        if (difference !== 0) found.push({ sku: row.sku, month, what, difference })
      }
      const entries = logs.get(row.sku) ?? (await log(client, row.sku))
      logs.set(row.sku, entries)
      const of = sums(entries, month, until)
      for (const cell of cells) add(cell, row[cell] - of[cell])
      add('ending', row.ending - made(row))
      const last = before?.get(row.sku)
      if (last !== undefined) add('beginning', row.beginning - last.ending)
    }
    before = rows
  }
  return found
}

const planted = async (client: TestClient): Promise<readonly Finding[]> =>
  items(await client.control('GET', '/inventory/discrepancies'), 'items').map((one) => ({
    sku: String(at(one, 'sku')),
    month: String(at(one, 'month')),
    what: String(at(one, 'cell') ?? (at(one, 'kind') === 'ending-off' ? 'ending' : 'beginning')),
    difference: Number(at(one, 'reported')) - Number(at(one, 'expected')),
  }))

const sorted = (found: readonly Finding[]): readonly Finding[] =>
  [...found].sort((a, b) => `${a.month}${a.sku}${a.what}`.localeCompare(`${b.month}${b.sku}${b.what}`))

/** The months from three back, or from the given one, to the last that is covered. */
const lastMonths = async (client: TestClient, first?: string): Promise<readonly string[]> => {
  const { month: last } = await covered(client)
  const months: string[] = []
  for (let month = first ?? monthAfter(last, -3); month <= last; month = monthAfter(month, 1)) months.push(month)
  return months
}

describe('a fresh world', () => {
  test('holds the catalogue with months of history, and report and log differ exactly where discrepancies are listed', async () => {
    const client = await started()
    const listed = await planted(client)
    const kinds = items(await client.control('GET', '/inventory/discrepancies'), 'items').map((one) => at(one, 'kind'))
    expect(new Set(kinds)).toEqual(
      new Set([
        'report-without-log',
        'log-entry-missing',
        'extra-log-entry',
        'duplicate-log-entry',
        'ending-off',
        'carry-over-break',
      ]),
    )
    expect(sorted(await findings(client, await lastMonths(client)))).toEqual(sorted(listed))
    const [sku] = items(await client.control('GET', '/inventory'), 'items').map((one) => at(one, 'sku'))
    await client.control('PUT', '/stock', { sku, difference: 2 })
    await client.control('POST', '/reimbursements', { sku, units: 1, amount: '4.99' })
    expect(await client.control('GET', '/truth')).toMatchObject({
      inventoryDiscrepancies: items(await client.control('GET', '/inventory/discrepancies'), 'items'),
      stockDifferences: [{ sku, difference: 2 }],
      ...{ settlementErrors: [], reimbursements: [{ reimburses: 'lost', sku, units: 1, amount: '4.99' }] },
    })
    const state = await client.control('GET', '/state')
    expect(at(state, 'inventory')).toMatchObject({ skus: 21, discrepancies: 6 })
    expect(Number(at(state, 'inventory', 'movements'))).toBeGreaterThan(1_000)
  })

  test('is the same from the same seed, SKU by SKU, and another from another', async () => {
    const lastMonth = async (seed: string): Promise<string> => {
      const client = await started({ seed })
      const month = monthAfter((await covered(client)).month, -1)
      return (await client.call('GET', `/v3/report/wfs/InventoryReconciliationReport?startDate=${month}-01&endDate=${month}-01`))
        .text
    }
    const first = await lastMonth('7')
    expect(await lastMonth('7')).toBe(first)
    expect(await lastMonth('8')).not.toBe(first)
  })

  test('lives on: sales, receipts and reports follow the clock, and the discrepancies stay', async () => {
    const client = await started()
    const listed = await planted(client)
    const [first] = await lastMonths(client)
    const listEntries = (json: Json): number =>
      items(json, 'items').reduce<number>((sum, item) => sum + Number(at(item, 'entries')), 0)
    const before = listEntries(await client.control('GET', '/inventory'))
    await advance(client, '40d')
    expect(listEntries(await client.control('GET', '/inventory'))).toBeGreaterThan(before + 400)
    expect(sorted(await planted(client))).toEqual(sorted(listed))
    expect(sorted(await findings(client, await lastMonths(client, first)))).toEqual(sorted(listed))
  })

  test('a reset makes another fresh one', async () => {
    const client = await started()
    const { month } = await covered(client)
    await client.control('POST', '/inventory', { skus: 5, replace: true })
    expect((await report(client, monthAfter(month, -1))).size).toBe(5)
    await client.control('PUT', '/enrolment', { fulfillment: false })
    await client.control('DELETE', '')
    await client.control('PUT', '/limits', { enabled: false })
    await client.renewToken()
    expect((await report(client, monthAfter(month, -1))).size).toBe(21)
    expect(await planted(client)).toHaveLength(6)
  })
})

describe('discrepancies on demand', () => {
  test.each([
    ['report-without-log', 'lost', 4, 4],
    ['extra-log-entry', 'found', 2, -2],
    ['ending-off', 'ending', -3, -3],
    ['carry-over-break', 'beginning', 5, 5],
  ])('%s differs by its units until it is repaired', async (kind, what, units, difference) => {
    const client = await started()
    const { month } = await covered(client)
    await client.control('POST', '/inventory', { skus: 1, entriesPerSku: 60, replace: true, from: daysAgo(80) })
    const of = monthAfter(month, -1)
    const cell = what === 'lost' || what === 'found' ? { cell: what } : {}
    const one = await client.control('POST', '/inventory/discrepancies', { sku: 'SKU-000001', month: of, kind, units, ...cell })
    const months = await lastMonths(client)
    expect(await findings(client, months)).toEqual([{ sku: 'SKU-000001', month: of, what, difference }])
    expect(await planted(client)).toEqual([{ sku: 'SKU-000001', month: of, what, difference }])
    await client.control('DELETE', `/inventory/discrepancies/${at(one, 'id')}`)
    expect(await findings(client, months)).toEqual([])
    expect(await planted(client)).toEqual([])
  })

  test('an entry of the log is hidden, and another is there twice', async () => {
    const client = await started()
    const { month } = await covered(client)
    const of = monthAfter(month, -1)
    const transactionTime = new Date(`${of}-10T20:00:00Z`).toISOString()
    await client.control('POST', '/inventory', { skus: 1, entriesPerSku: 0, replace: true, from: daysAgo(80) })
    const sale = { sku: 'SKU-000001', transactionTime, transactionType: 'Ship', transactionReasonCode: 'SIP' }
    await client.control('POST', '/inventory/movements', {
      movements: [
        { ...sale, changedUnits: -2, id: 'sale-1' },
        { ...sale, changedUnits: -5, id: 'sale-2' },
      ],
    })
    const inject = (kind: string, entryId: string): Promise<Json> =>
      client.control('POST', '/inventory/discrepancies', { sku: 'SKU-000001', month: of, kind, entryId })
    const hidden = await inject('log-entry-missing', 'sale-2')
    expect(hidden).toMatchObject({ cell: 'sold', units: 5, entryId: 'sale-2', reported: 7, expected: 2 })
    expect((await log(client, 'SKU-000001')).map((entry) => at(entry, 'id'))).toEqual(['sale-1'])
    const doubled = await inject('duplicate-log-entry', 'sale-1')
    expect(doubled).toMatchObject({ cell: 'sold', units: 2, reported: 7, expected: 4 })
    expect((await log(client, 'SKU-000001')).map((entry) => at(entry, 'changedUnits'))).toEqual([-2, -2])
    for (const one of [hidden, doubled]) await client.control('DELETE', `/inventory/discrepancies/${at(one, 'id')}`)
    expect(await findings(client, await lastMonths(client))).toEqual([])
  })

  test('what there is nothing to make of is refused', async () => {
    const client = await started()
    const inject = (body: object): Promise<Json> => client.control('POST', '/inventory/discrepancies', body)
    await expect(inject({ sku: 'NONE', month: '2026-01', kind: 'ending-off' })).rejects.toThrow('404')
    await expect(inject({ sku: 'CANDLE-CEDAR', month: '2022-02', kind: 'ending-off' })).rejects.toThrow('409')
    await expect(client.control('DELETE', '/inventory/discrepancies/999')).rejects.toThrow('404')
  })
})

describe('movements', () => {
  test('a late entry appears in log and report when it is said to', async () => {
    const client = await started()
    const { month, until } = await covered(client)
    await client.control('POST', '/inventory', { skus: 1, entriesPerSku: 0, replace: true, from: daysAgo(80) })
    const movement = {
      sku: 'SKU-000001',
      changedUnits: -4,
      transactionTime: new Date(Date.parse(until) - 3_600_000).toISOString(),
    }
    await client.control('POST', '/inventory/movements', {
      movements: [{ ...movement, transactionReasonCode: 'LOS', appearsIn: '3d' }],
    })
    expect(at(await client.control('GET', '/truth'), 'lateEntries')).toMatchObject([
      { sku: 'SKU-000001', units: -4, transactionTime: movement.transactionTime },
    ])
    expect(await log(client, 'SKU-000001')).toEqual([])
    expect((await report(client, month)).get('SKU-000001')?.lost).toBe(0)
    await advance(client, '4d')
    expect((await log(client, 'SKU-000001')).map((entry) => at(entry, 'transactionTime'))).toEqual([movement.transactionTime])
    expect((await report(client, month)).get('SKU-000001')?.lost).toBe(4)
  })

  test('damaged goods leave the stock and lie at Salvage, which no report counts', async () => {
    const client = await started()
    const { month, until } = await covered(client)
    const transactionTime = new Date(Date.parse(until) - 3_600_000).toISOString()
    const damage = { sku: 'NEW-1', transactionTime, transactionReasonCode: 'DMG', transactionReasonDesc: 'Damaged in Warehouse' }
    await client.control('POST', '/inventory/movements', {
      movements: [
        { ...damage, changedUnits: -1, openingUnits: 10, gtin: '00812345678905', productName: 'Vase, "Delft"' },
        { ...damage, changedUnits: 1, transactionLocation: 'Salvage' },
      ],
    })
    expect((await report(client, month)).get('NEW-1')).toMatchObject({ beginning: 10, ending: 9, damaged: 1, other: 0 })
    const places = (await log(client, 'NEW-1')).map((entry) => at(entry, 'transactionLocation'))
    expect(places.sort()).toEqual(['Inventory', 'Salvage'])
  })

  test('orders that the marketplace ships leave the stock, and returns of them come back', async () => {
    const client = await started()
    const [first] = await lastMonths(client)
    const shipped = { shipNodeType: 'WFSFulfilled', alive: true }
    await client.place([{ sku: 'WFS-A', quantity: 3, productName: 'Clock' }], shipped)
    const po = await client.place([{ sku: 'PAN-IRON-10', quantity: 2 }], shipped)
    await client.place([{ sku: 'OWN-A', quantity: 2 }], { alive: true })
    const before = await log(client, 'PAN-IRON-10', '&transactionType=Ship')
    await advance(client, '1d')
    expect((await log(client, 'WFS-A')).map((entry) => at(entry, 'transactionType')).sort()).toEqual(['Receipt', 'Ship'])
    expect(at((await log(client, 'WFS-A', '&transactionType=Receipt'))[0] ?? null, 'shipmentId')).toMatch(/WFA$/)
    const known = new Set(before.map((entry) => at(entry, 'id')))
    const sold = (await log(client, 'PAN-IRON-10', '&transactionType=Ship')).filter((entry) => !known.has(at(entry, 'id')))
    expect(sold.map((entry) => at(entry, 'changedUnits'))).toContain(-2)
    expect((await client.call('GET', '/v3/fulfillment/inventory-log?sellerSku=OWN-A')).status).toBe(404)

    await client.control('POST', '/returns', {
      purchaseOrderId: po,
      lines: [{ lineNumber: '1', quantity: 2, reason: 'DAMAGED' }],
    })
    await advance(client, '12d')
    const returns = await log(client, 'PAN-IRON-10', '&transactionType=Return&transactionLocation=Salvage')
    expect(returns.reduce<number>((sum, entry) => sum + Number(at(entry, 'changedUnits')), 0)).toBeGreaterThanOrEqual(2)
    // Booked like everything else: log and report still differ only where something was planted.
    expect(sorted(await findings(client, await lastMonths(client, first)))).toEqual(sorted(await planted(client)))
  })

  test('what was due before somebody looked is booked after the look', async () => {
    const client = await started()
    const placed = await client.control('POST', '/clock', { advance: '1m' })
    const looked = Date.parse(String(at(placed, 'now')))
    await client.renewToken()
    await log(client, 'CANDLE-CEDAR')
    await client.place([{ sku: 'WFS-B', quantity: 1 }], { shipNodeType: 'WFSFulfilled', alive: true, createdFrom: daysAgo(3) })
    const times = (await log(client, 'WFS-B')).map((entry) => Date.parse(String(at(entry, 'transactionTime'))))
    expect(times).toHaveLength(2)
    for (const time of times) expect(time).toBeGreaterThanOrEqual(looked)
  })

  test('an inventory that something of long ago begins has its history up to today like any other', async () => {
    const [client, other] = [await started(), await started()]
    await client.place([{ sku: 'WFS-C', quantity: 1 }], { shipNodeType: 'WFSFulfilled', alive: true, createdFrom: daysAgo(100) })
    const months = async (one: TestClient): Promise<readonly Json[]> =>
      items(await one.control('GET', '/inventory/discrepancies'), 'items').map((planted) => at(planted, 'month'))
    expect(await months(client)).toEqual(await months(other))
  })

  test('orders of the past never take more out of the stock than there is', async () => {
    const client = await started()
    await client.control('GET', '/state')
    await client.control('POST', '/orders', {
      ...{ count: 150, shipNodeType: 'WFSFulfilled', alive: true, history: false },
      ...{ createdFrom: daysAgo(80), createdTo: daysAgo(10) },
    })
    const rows = (await Promise.all((await lastMonths(client)).map((month) => report(client, month)))).flatMap((one) => [
      ...one.values(),
    ])
    expect(rows.length).toBeGreaterThan(60)
    expect(rows.filter(({ beginning, ending }) => beginning < 0 || ending < 0)).toEqual([])
  })

  test('are refused when they lie in the future or are numbered twice', async () => {
    const client = await started()
    const add = (...movements: object[]): Promise<Json> => client.control('POST', '/inventory/movements', { movements })
    await expect(add({ sku: 'A', changedUnits: 1, transactionTime: '2100-01-01T00:00:00Z' })).rejects.toThrow('transactionTime')
    await expect(add({ sku: 'A', changedUnits: 1, id: 'X' }, { sku: 'A', changedUnits: 1, id: 'X' })).rejects.toThrow('409')
    // All or nothing: the first of the two is not there either.
    expect((await client.call('GET', '/v3/fulfillment/inventory-log?sellerSku=A')).status).toBe(404)
  })
})

describe('many SKUs', () => {
  test('100,000 entries or 50,000 SKUs are made at once, and the report of them is whole', {
    timeout: 240_000,
  }, async () => {
    const client = await started()
    const { month } = await covered(client)
    const few = await client.control('POST', '/inventory', { skus: 2_000, entriesPerSku: 50, prefix: 'FEW', replace: true })
    expect(few).toMatchObject({ entries: 100_000, firstSku: 'FEW-000001', lastSku: 'FEW-002000' })
    expect((await log(client, 'FEW-001234')).length).toBe(50)
    const more = await client.control('POST', '/inventory', { skus: 1, prefix: 'FEW', entriesPerSku: 3 })
    expect(more).toMatchObject({ firstSku: 'FEW-002001', lastSku: 'FEW-002001' })
    await client.control('POST', '/inventory', { skus: 50_000, entriesPerSku: 1, replace: true })
    const rows = [...(await report(client, month)).values()]
    expect(rows.length).toBe(50_000)
    expect(rows.filter((row) => row.ending !== made(row))).toEqual([])
    expect(rows.filter((row) => row.ending !== row.beginning).length).toBeGreaterThan(10_000)
  })
})

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()
