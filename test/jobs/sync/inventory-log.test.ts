import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { inventoryLogEndpoint } from '../../../src/clients/marketplace/inventory-log.ts'
import { walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { runSync } from '../../../src/jobs/sync/engine/syncs.ts'
import type { JobOutcome } from '../../../src/queues/jobs.ts'
import { recordConfiguredSkus } from '../../../src/store/inventory/inventory-skus.ts'
import { dismissQuarantined } from '../../../src/store/sync/quarantine.ts'
import { type ClientSettings, generousLimits, sendJson, startClient, startMarketplace } from '../../clients/servers.ts'
import { numbered } from '../../support/changes.ts'
import { monthBounds, pacificMonth } from '../../support/vocabulary.ts'
import { type StreamState, type TestSeller, unhurried, withSyncBench } from './support.ts'

const dayMs = 86_400_000
const resource = 'inventory-log'
const stream = 'due'

const bench = withSyncBench()

const listEntries = (sellerId: string) =>
  bench.database.query<{ sku: string; entries: number; units: number }>(
    `SELECT sku, count(*)::int AS entries, sum(changed_units)::int AS units FROM warehouse.inventory_log_entries
     WHERE seller_id = $1 GROUP BY sku ORDER BY sku`,
    sellerId,
  )
const skuRows = (sellerId: string) =>
  bench.database.query<{
    sku: string
    gtin: string | null
    log_read_up_to: Date | null
    log_read_at: Date | null
    log_due_at: Date | null
    log_pass: unknown
    log_fault: string | null
  }>('SELECT * FROM tallyman.inventory_skus WHERE seller_id = $1 ORDER BY sku', sellerId)
const readChanges = async (sellerId: string) =>
  (await numbered(bench.database)).query<{ type: string; data: Record<string, unknown> }>(
    'SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq',
    sellerId,
  )

// ── at the sandbox ───────────────────────────────────────────────────────────────────────────────────────

interface SandboxItem {
  readonly sku: string
  readonly gtin: string
  readonly entries: number
}

const truth = async ({ sellerId }: TestSeller) => {
  const { items } = (await bench.sandbox.control('GET', `/inventory?sellerId=${sellerId}&limit=1000`)) as {
    items: SandboxItem[]
  }
  return items.map(({ sku, entries }) => ({ sku, entries }))
}

const stocked = async (skus: number, entriesPerSku: number) => {
  const seller = await bench.seller()
  const { sellerId } = seller
  await bench.sandbox.control('POST', '/inventory', { sellerId, skus, entriesPerSku, replace: true })
  const items = await truth(seller)
  await recordConfiguredSkus(bench.database, [{ sellerId, skus: items.map(({ sku }) => sku) }])
  return seller
}

const counts = async ({ sellerId }: TestSeller) => (await listEntries(sellerId)).map(({ sku, entries }) => ({ sku, entries }))

/** Time goes by, and the client has heard of it. */
const advance = async ({ client }: TestSeller, duration: string): Promise<void> => {
  await bench.advance(duration)
  const now = client.clock().now()
  const query = { sku: 'any', gtin: null, from: new Date(now.getTime() - dayMs), to: now, limit: 1, offset: 0 }
  await client.of(inventoryLogEndpoint).page(query, { signal: new AbortController().signal })
}

const move = (seller: TestSeller, sku: string, more: object = {}) =>
  bench.sandbox.control('POST', '/inventory/movements', {
    sellerId: seller.sellerId,
    movements: [{ sku, changedUnits: 3, ...more }],
  })

test('all entries of all SKUs come, once each; a second pass changes nothing but the age of the logs', async () => {
  const seller = await stocked(60, 70)
  await seller.sync(resource, stream)
  expect(await counts(seller)).toEqual(await truth(seller))
  const changes = await readChanges(seller.sellerId)
  expect(changes.filter(({ type }) => type === 'inventory_log.entries_added').length).toBeGreaterThanOrEqual(60)
  const rows = () =>
    bench.database.query(
      'SELECT sku, entry_id, xmin::text FROM warehouse.inventory_log_entries WHERE seller_id = $1 ORDER BY sku, entry_id',
      seller.sellerId,
    )
  const before = await rows()
  const readBefore = await skuRows(seller.sellerId)
  expect(readBefore.every(({ gtin, log_pass, log_fault }) => gtin !== null && log_pass === null && log_fault === null)).toBe(true)
  await advance(seller, '1h')
  await seller.sync(resource, stream)
  expect(await rows()).toEqual(before)
  expect(await readChanges(seller.sellerId)).toEqual(changes)
  const readAfter = await skuRows(seller.sellerId)
  for (const [index, { log_read_up_to: readUpTo }] of readAfter.entries()) {
    expect(readUpTo?.getTime()).toBeGreaterThan(readBefore[index]?.log_read_up_to?.getTime() ?? Number.POSITIVE_INFINITY)
  }
})

test('SKUs of every kind are asked for as they are, and stored in their normal form', async () => {
  const seller = await bench.seller()
  const { sellerId } = seller
  const skus = [
    ' A B ',
    'A/B',
    'A|B',
    'A%2FB',
    'A&B=C?#',
    `it's "A"`,
    '\\A\n',
    'Größe-ß-日本-🫖',
    '-1',
    '00012',
    '../A',
    'x'.repeat(1_000),
  ]
  for (const sku of skus) await move(seller, sku)
  await recordConfiguredSkus(bench.database, [{ sellerId, skus }])
  await advance(seller, '5m')
  await seller.sync(resource, stream)
  expect(new Set((await listEntries(sellerId)).map(({ sku }) => sku))).toEqual(new Set(skus.map((sku) => sku.trim())))
  expect((await skuRows(sellerId)).filter(({ log_fault: fault }) => fault !== null)).toEqual([])
  expect((await skuRows(sellerId)).every(({ gtin }) => gtin?.length === 14)).toBe(true)
})

test('what is reported late is found by the look-back, and told with its SKU', async () => {
  const seller = await stocked(3, 5)
  await seller.sync(resource, stream)
  const [{ sku } = { sku: '' }] = await truth(seller)
  await move(seller, sku, { appearsIn: '36h' })
  await advance(seller, '12h')
  await seller.sync(resource, stream)
  expect((await counts(seller)).find((found) => found.sku === sku)?.entries).toBe(5)
  await advance(seller, '25h')
  await seller.sync(resource, stream)
  expect(await counts(seller)).toEqual(await truth(seller))
  expect((await readChanges(seller.sellerId)).at(-1)).toMatchObject({
    type: 'inventory_log.entries_added',
    data: { sku, count: 1, netUnits: 3 },
  })
})

test('through faults of every kind all entries come, once each', async () => {
  const seller = await stocked(40, 90)
  await bench.sandbox.control('PUT', '/faults', {
    seed: 7,
    rules: [
      {
        operation: 'inventory-log.list',
        serverErrorBefore: 0.06,
        html: 0.02,
        truncatedJson: 0.02,
        dropBefore: 0.02,
        dropAfter: 0.02,
        duplicateRows: 0.3,
        malformedRecord: 0.1,
        unknownValue: 0.2,
      },
    ],
  })
  const runs = async () => {
    for (let failures = 0; ; failures += 1) {
      try {
        return await seller.sync(resource, stream)
      } catch (error) {
        if (failures > 20) throw error
      }
    }
  }
  await runs()
  await bench.sandbox.control('PUT', '/faults', {})
  await advance(seller, '25h')
  await runs()
  expect(await counts(seller)).toEqual(await truth(seller))
})

test('a seller that is not enrolled is not asked again', async () => {
  const seller = await stocked(2, 2)
  await bench.sandbox.control('PUT', '/enrolment', { sellerId: seller.sellerId, fulfillment: false })
  // The framework's own 404 is believed the third time.
  for (let run = 0; run < 2; run += 1) await expect(seller.once(resource, stream)).rejects.toThrow('404')
  expect(await seller.once(resource, stream)).toEqual({ done: true })
  const asked = async () => (await seller.requests()).filter((request) => request.includes('inventory-log')).length
  const before = await asked()
  expect(before).toBeGreaterThan(0)
  expect(await seller.once(resource, stream)).toEqual({ done: true })
  expect(await asked()).toBe(before)
  expect(
    await bench.database.query(
      'SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1 AND resource = $2',
      seller.sellerId,
      resource,
    ),
  ).toEqual([{ enrolled: false }])
})

test('without a SKU nothing is asked and nobody counts as enrolled', async () => {
  const seller = await bench.seller()
  expect(await seller.once(resource, stream)).toEqual({ done: true })
  expect(await seller.requests()).toEqual([])
  expect(await bench.database.query('SELECT 1 FROM tallyman.enrolments WHERE seller_id = $1', seller.sellerId)).toEqual([])
})

test('an entry that is reported 60 days late settles its difference', async () => {
  const seller = await stocked(2, 5)
  const { sellerId } = seller
  const [{ sku } = { sku: '' }] = await truth(seller)
  await advance(seller, '1m')
  const thisMonth = monthBounds(pacificMonth(seller.client.clock().now()))
  const month = pacificMonth(new Date(thisMonth.from.getTime() - 1))
  const missing = (await bench.sandbox.control('POST', '/inventory/discrepancies', {
    ...{ sellerId, sku, month, kind: 'log-entry-missing' },
  })) as { id: number; units: number }
  const discrepancies = () =>
    bench.database.query<{ sku: string; state: string; difference: number }>(
      `SELECT sku, state, difference::int AS difference FROM warehouse.inventory_discrepancies WHERE seller_id = $1`,
      sellerId,
    )
  await seller.sync(resource, stream)
  await seller.sync('reconciliation', 'reports')
  await seller.sync(resource, stream)
  const found = await discrepancies()
  expect(found).toMatchObject([{ sku, state: 'open' }])
  expect(Math.abs(found[0]?.difference ?? 0)).toBe(missing.units)
  for (const wait of ['20d', '40d']) {
    await advance(seller, wait)
    await seller.sync(resource, stream)
    expect(await discrepancies()).toEqual(found)
  }
  await bench.sandbox.control('DELETE', `/inventory/discrepancies/${missing.id}`)
  await advance(seller, '25h')
  await seller.sync(resource, stream)
  expect(await discrepancies()).toMatchObject([{ sku, state: 'resolved' }])
})

// ── at a marketplace of the test's own ───────────────────────────────────────────────────────────────────

interface Movement {
  readonly id: string
  readonly at: Date
  readonly units: number
}

/** One question that the marketplace was asked. */
interface Question {
  readonly key: string
  readonly from: Date
  readonly to: Date
  readonly offset: number
}

/** Takes over an answer; true when it has. */
type Before = (question: Question, response: ServerResponse, index: number) => boolean

let sellers = 0
let sellerId = ''
let logs: Map<string, Movement[]>
let questions: Question[]

beforeEach(() => {
  sellers += 1
  sellerId = `own-${sellers}`
  logs = new Map()
  questions = []
})

const ago = (days: number): Date => new Date(Date.now() - days * dayMs)

/** So many movements of a SKU over some days up to an hour ago. */
const history = (count: number, days: number): Movement[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `e${index}`,
    at: new Date(Math.floor((Date.now() - 3_600_000 - ((count - 1 - index) * days * dayMs) / count) / 1_000) * 1_000),
    units: index % 7 === 0 ? 20 : -3,
  }))

const wire = ({ id, at, units }: Movement) => ({
  id,
  fcName: 'KY1',
  changedUnits: units,
  transactionTime: at.toISOString(),
  transactionLocation: 'Inventory',
  transactionReasonCode: 'SIP',
  transactionReasonDesc: 'Shipped to Customer',
  transactionType: units < 0 ? 'Ship' : 'Receipt',
})

const refuse = (response: ServerResponse, status: number, code: string): true => {
  sendJson(response, status, { errors: { error: [{ code, severity: 'ERROR', category: 'REQUEST' }] } })
  return true
}

/** A client of a marketplace that answers out of `logs`, newest entries first, and the runs of one seller there. */
const startOwn = async (before: Before = () => false, settings: ClientSettings = {}) => {
  const { url } = await startMarketplace((request, response) => {
    const query = new URL(request.target, 'http://any').searchParams
    const question = {
      key: query.get('sellerSku') ?? query.get('gtin') ?? '',
      from: new Date(query.get('startDate') ?? Number.NaN),
      to: new Date(query.get('endDate') ?? Number.NaN),
      offset: Number(query.get('offset')),
    }
    questions.push(question)
    if (before(question, response, questions.length - 1)) return
    const found = (logs.get(question.key) ?? [])
      .filter(({ at }) => at >= question.from && at <= question.to)
      .sort((a, b) => b.at.getTime() - a.at.getTime())
    const limit = Number(query.get('limit'))
    sendJson(response, 200, {
      headers: { limit, offset: question.offset, totalCount: found.length },
      payload: {
        vendorSku: question.key,
        productName: 'Mug',
        inventoryLog: found.slice(question.offset, question.offset + limit).map(wire),
      },
    })
  })
  const connection = { sellerId, ...settings.connection }
  const { client } = startClient(url, { ...settings, connection })
  const log = pino({ level: 'silent' })
  const once = (signal = new AbortController().signal): Promise<JobOutcome> =>
    runSync(
      { database: bench.database, client: () => client, owner: 'test', settings: { ...unhurried, lagMs: 1_000 } },
      { sellerId, resource, stream },
      { signal, log },
    )
  return { once, client }
}

/** An hour goes by for all that is due. */
const later = () =>
  bench.database.execute(
    `UPDATE tallyman.inventory_skus SET log_due_at = log_due_at - interval '1 hour' WHERE seller_id = $1`,
    sellerId,
  )
const configure = (skus: readonly string[]) => recordConfiguredSkus(bench.database, [{ sellerId, skus }])
const asked = () => questions.map(({ key }) => key)
const stored = async (sku: string): Promise<readonly string[]> =>
  (
    await bench.database.query<{ id: string }>(
      'SELECT entry_id AS id FROM warehouse.inventory_log_entries WHERE seller_id = $1 AND sku = $2',
      sellerId,
      sku,
    )
  ).map(({ id }) => id)
const complete = async (sku: string): Promise<void> => {
  const ids = (logs.get(sku) ?? []).map(({ id }) => id)
  expect([...(await stored(sku))].sort()).toEqual(ids.sort())
}

test('entries added between two pages are neither lost nor doubled, and only then has the log been read', async () => {
  logs.set('A', history(120, 20))
  const readUpTo: (Date | null | undefined)[] = []
  const { once } = await startOwn(({ offset }) => {
    if (offset === 50 && questions.length < 6) logs.get('A')?.push({ id: `late ${questions.length}`, at: ago(1), units: 1 })
    return false
  })
  await configure(['A'])
  readUpTo.push((await skuRows(sellerId))[0]?.log_read_up_to)
  expect(await once()).toEqual({ done: true })
  await complete('A')
  expect(questions.map(({ offset }) => offset)).toEqual([0, 50, 100, 0, 50, 100, 0, 50, 100])
  expect(new Set(questions.map(({ to }) => to.getTime())).size).toBe(1)
  expect((await skuRows(sellerId))[0]).toMatchObject({ log_read_up_to: questions[0]?.to, log_pass: null, log_fault: null })
})

test('a log that never stands still keeps its watermark, says so, and is read again with the next run', async () => {
  logs.set('A', history(120, 20))
  let restless = true
  const { once } = await startOwn(({ offset }) => {
    if (restless && offset === 50) logs.get('A')?.push({ id: `late ${questions.length}`, at: ago(1), units: 1 })
    return false
  })
  await configure(['A'])
  expect(await once()).toEqual({ done: true })
  expect((await skuRows(sellerId))[0]).toMatchObject({
    log_read_up_to: null,
    log_fault: expect.stringContaining('kept changing'),
  })
  restless = false
  await later()
  expect(await once()).toEqual({ done: true })
  await complete('A')
  expect((await skuRows(sellerId))[0]).toMatchObject({ log_read_up_to: expect.any(Date), log_fault: null })
})

test('a long log is read in windows, oldest first, each moving the watermark', async () => {
  logs.set('A', history(5_000, 300))
  logs.set('B', history(3, 300))
  const { once } = await startOwn()
  await configure(['A', 'B'])
  expect(await once()).toEqual({ done: true })
  await complete('A')
  await complete('B')
  const windows = [
    ...new Set(questions.filter(({ key }) => key === 'A').map(({ from, to }) => `${from.toISOString()} ${to.toISOString()}`)),
  ]
  expect(windows.length).toBeGreaterThan(4)
  expect((await skuRows(sellerId))[0]).toMatchObject({ log_pass: null, log_read_up_to: expect.any(Date) })
  expect(asked().filter((key) => key === 'B')).toHaveLength(1)
})

test('when the budget ends in the middle of a log, every call so far counts', async () => {
  logs.set('A', history(900, 100))
  let nowMs = Date.now()
  const budget = createInProcessBudget({
    limits: { ...generousLimits, 'inventory-log.list': { tokens: 40, perMs: 60_000 } },
    now: () => nowMs,
  })
  const { once } = await startOwn(() => false, { budget, now: () => nowMs })
  await configure(['A'])
  let runs = 0
  let outcome = await once()
  while ('runAgainAt' in outcome) {
    runs += 1
    // Of the three calls at once one is left to commands.
    if (runs === 1)
      expect((await skuRows(sellerId))[0]).toMatchObject({ log_read_up_to: null, log_pass: { offset: 100, totalCount: 900 } })
    nowMs = Math.max(nowMs, outcome.runAgainAt.getTime())
    outcome = await once()
  }
  expect(runs).toBeGreaterThan(2)
  expect(questions.map(({ offset }) => offset)).toEqual(Array.from({ length: 18 }, (_, page) => page * 50))
  await complete('A')
})

test('among 100,000 SKUs those that moved or were never read come first, within 500 calls a minute', async () => {
  let nowMs = Date.now()
  const budget = createInProcessBudget({
    limits: { ...generousLimits, 'inventory-log.list': { tokens: 500, perMs: 60_000 } },
    now: () => nowMs,
  })
  const { once } = await startOwn(() => false, { budget, now: () => nowMs })
  // 60 have moved, 60 were never read, 20,000 are due, the others rest.
  await bench.database.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, source, log_read_up_to, log_read_at, log_moved_at, log_due_at)
     SELECT $1, CASE WHEN n <= 60 THEN 'moved' WHEN n <= 120 THEN 'never' WHEN n <= 20000 THEN 'active' ELSE 'quiet' END || n, 'report',
       CASE WHEN n NOT BETWEEN 61 AND 120 THEN now() - interval '1 hour' END, CASE WHEN n NOT BETWEEN 61 AND 120 THEN now() - interval '1 hour' END,
       CASE WHEN n <= 20000 THEN now() - interval '1 day' END,
       CASE WHEN n <= 120 THEN NULL WHEN n <= 20000 THEN now() - interval '1 hour' ELSE now() + interval '1 day' END
     FROM generate_series(1, 100000) AS t(n)`,
    sellerId,
  )
  const started = nowMs
  let inFirstMinute = 0
  while (nowMs < started + 120_000) {
    const outcome = await once()
    if (!('runAgainAt' in outcome)) throw new Error('it cannot be done so soon')
    if (nowMs < started + 60_000) inFirstMinute = questions.length
    nowMs = Math.max(nowMs + 1, outcome.runAgainAt.getTime())
  }
  const kinds = asked().map((key) => key.replace(/\d+$/, ''))
  expect(kinds.slice(0, 60).every((kind) => kind === 'moved')).toBe(true)
  expect(kinds.slice(60, 120).every((kind) => kind === 'never')).toBe(true)
  expect(kinds.slice(120).every((kind) => kind === 'active')).toBe(true)
  expect(new Set(asked()).size).toBe(asked().length)
  expect(inFirstMinute).toBeLessThanOrEqual(500)
  expect(inFirstMinute).toBeGreaterThan(400)
  expect(questions.length).toBeGreaterThan(800)
}, 60_000)

test('a run reads each SKU once, however many pages of SKUs there are', async () => {
  const skus = Array.from({ length: 150 }, (_, index) => `S${String(index).padStart(3, '0')}`)
  const { once } = await startOwn()
  await configure(skus)
  expect(await once()).toEqual({ done: true })
  expect(asked().sort()).toEqual(skus)
  questions = []
  await later()
  expect(await once()).toEqual({ done: true })
  expect(asked().sort()).toEqual(skus)
})

test('one SKU that the marketplace cannot cope with does not hold up the others', async () => {
  const troubles: Record<string, Before> = {
    refused: (_question, response) => refuse(response, 400, 'INVALID_REQUEST_PARAM'),
    missing: (_question, response) => refuse(response, 404, 'NO_SUCH_ITEM'),
    garbled: (_question, response) => {
      sendJson(response, 200, { surprise: true })
      return true
    },
    broken: (_question, response) => refuse(response, 500, 'SYSTEM_ERROR'),
  }
  let troubled = true
  const { once } = await startOwn((question, response, index) =>
    troubled ? (troubles[question.key]?.(question, response, index) ?? false) : false,
  )
  const skus = ['fine', ...Object.keys(troubles)]
  for (const sku of skus) logs.set(sku, history(2, 2))
  await configure(skus)
  expect(await once()).toEqual({ done: true })
  const faults = Object.fromEntries((await skuRows(sellerId)).map(({ sku, log_fault }) => [sku, log_fault]))
  expect(faults).toEqual({
    fine: null,
    refused: expect.stringContaining('HTTP 400, INVALID_REQUEST_PARAM'),
    missing: expect.stringContaining('HTTP 404, NO_SUCH_ITEM'),
    garbled: expect.stringContaining('malformed'),
    broken: expect.stringContaining('HTTP 500'),
  })
  // Alone with a refusal, another SKU tells that the seller is still enrolled.
  await bench.database.execute(
    `UPDATE tallyman.inventory_skus SET log_due_at = CASE WHEN sku = 'missing' THEN NULL ELSE now() + interval '1 day' END WHERE seller_id = $1`,
    sellerId,
  )
  expect(await once()).toEqual({ done: true })
  expect(asked().slice(-2)).toEqual(['missing', 'fine'])
  expect(await bench.database.query('SELECT enrolled FROM tallyman.enrolments WHERE seller_id = $1', sellerId)).toEqual([
    { enrolled: true },
  ])
  troubled = false
  await bench.database.execute('UPDATE tallyman.inventory_skus SET log_due_at = NULL WHERE seller_id = $1', sellerId)
  expect(await once()).toEqual({ done: true })
  for (const sku of skus) await complete(sku)
  expect((await skuRows(sellerId)).every(({ log_fault }) => log_fault === null)).toBe(true)
})

test('an answer that came garbled once is asked for again with the next run', async () => {
  let garbled = true
  const { once } = await startOwn(({ key }, response) => {
    if (!garbled || key !== 'A') return false
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"payload":{"inventoryLog":[{"id":')
    return true
  })
  for (const sku of ['A', 'B']) logs.set(sku, history(2, 2))
  await configure(['A', 'B'])
  expect(await once()).toEqual({ done: true })
  expect((await skuRows(sellerId))[0]?.log_fault).toContain('malformed')
  garbled = false
  await later()
  expect(await once()).toEqual({ done: true })
  await complete('A')
  expect((await skuRows(sellerId))[0]?.log_fault).toBeNull()
})

test('when nothing is answered the run fails, and nothing is held against a SKU', async () => {
  const { once } = await startOwn((_question, response) => refuse(response, 503, 'SERVICE_UNAVAILABLE'))
  await configure(['A', 'B'])
  await expect(once()).rejects.toMatchObject({ kind: 'unavailable' })
  expect((await skuRows(sellerId)).map(({ log_due_at, log_fault }) => ({ log_due_at, log_fault }))).toEqual([
    { log_due_at: null, log_fault: null },
    { log_due_at: null, log_fault: null },
  ])
  const [state] = await bench.database.query<StreamState>('SELECT * FROM tallyman.sync_states WHERE seller_id = $1', sellerId)
  expect(state).toMatchObject({ failures: 1, last_error: expect.stringContaining('503') })
})

test('an entry that cannot be read waits in quarantine and is let out when it can be', async () => {
  logs.set('A', history(3, 2))
  let broken = true
  const { once } = await startOwn((question, response) => {
    if (!broken) return false
    const list = (logs.get('A') ?? []).map(wire).map((entry, index) => (index === 1 ? { ...entry, changedUnits: 'some' } : entry))
    sendJson(response, 200, { headers: { totalCount: 3, offset: question.offset }, payload: { inventoryLog: list } })
    return true
  })
  await configure(['A'])
  expect(await once()).toEqual({ done: true })
  expect(questions).toHaveLength(2)
  expect(await stored('A')).toHaveLength(2)
  const quarantined = () =>
    bench.database.query<{ record_key: string; raw_text: string; state: string }>(
      'SELECT record_key, raw_text, state, fault FROM tallyman.quarantined_records WHERE seller_id = $1',
      sellerId,
    )
  const [waiting] = await quarantined()
  expect(waiting).toMatchObject({ record_key: 'A/e1', state: 'open', fault: expect.stringContaining('changedUnits') })
  expect(inventoryLogEndpoint.read(waiting?.raw_text.replace('"some"', '-3') ?? '')).toMatchObject({
    ok: true,
    key: 'A/e1',
    value: { sku: 'A', id: 'e1', changedUnits: -3 },
  })
  broken = false
  await later()
  expect(await once()).toEqual({ done: true })
  await complete('A')
  expect(await quarantined()).toMatchObject([{ state: 'superseded' }])
})

test('asked by GTIN and day, SKUs without a GTIN wait, and the last day is not promised', async () => {
  const { once } = await startOwn(() => false, { connection: { profile: walmartUs, headerPrefix: 'WM', sellerId } })
  await configure(['A', 'B'])
  await bench.database.execute(
    `UPDATE tallyman.inventory_skus SET gtin = '00012345678905' WHERE seller_id = $1 AND sku = 'B'`,
    sellerId,
  )
  logs.set('00012345678905', history(60, 200))
  expect(await once()).toEqual({ done: true })
  expect(new Set(asked())).toEqual(new Set(['00012345678905']))
  const today = new Date(new Date().toISOString().slice(0, 10))
  expect(await skuRows(sellerId)).toMatchObject([
    { sku: 'A', log_read_at: null },
    { sku: 'B', log_read_up_to: today },
  ])
})

test('a run that is told to stop keeps what it has', async () => {
  const stop = new AbortController()
  const skus = Array.from({ length: 30 }, (_, index) => `S${index}`)
  for (const sku of skus) logs.set(sku, history(1, 1))
  const { once } = await startOwn((_question, _response, index) => {
    if (index === 10) stop.abort()
    return false
  })
  await configure(skus)
  expect(await once(stop.signal)).toMatchObject({ reason: 'stopping' })
  const before = (await listEntries(sellerId)).length
  expect(before).toBeGreaterThanOrEqual(8)
  expect(await once()).toEqual({ done: true })
  expect((await listEntries(sellerId)).length).toBe(30)
  expect(questions.length).toBeLessThanOrEqual(30 + 4)
  expect((await skuRows(sellerId)).every(({ log_fault }) => log_fault === null)).toBe(true)
})

/** The report of a month says that ten units of each of these SKUs came, and six were sold. */
const report = async (month: string, until: Date, ...skus: readonly string[]): Promise<void> => {
  const [inserted] = await bench.database.query<{ id: bigint }>(
    `INSERT INTO warehouse.reconciliation_reports (seller_id, month, state, generated_at, covered_until, retrieved_at, byte_count, correlation_id)
     VALUES ($1, $2::date, 'imported', now(), $3::timestamptz, now(), 1, 'c') RETURNING id`,
    sellerId,
    `${month}-01`,
    until.toISOString(),
  )
  await bench.database.execute(
    `INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, beginning_quantity, ending_quantity, sold, returned, lost, found,
       damaged, other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT $1, $2::date, sku, 0, 4, 6, 0, 0, 0, 0, 10, $3, '', '{}', now(), now(), now() FROM unnest($4::text[]) AS sku`,
    sellerId,
    `${month}-01`,
    inserted?.id,
    skus,
  )
}

test('discrepancies follow the log: when it reaches a row of the report, and when an entry comes late', async () => {
  const { once } = await startOwn()
  const month = pacificMonth(ago(40))
  const { from, to } = monthBounds(month)
  const day = (number: number): Date => new Date(from.getTime() + number * dayMs)
  logs.set('A', [
    { id: 'in', at: day(1), units: 10 },
    { id: 'out', at: day(2), units: -4 },
  ])
  await configure(['A'])
  await report(month, to, 'A')
  const discrepancies = () =>
    bench.database.query(
      `SELECT sku, to_char(month, 'YYYY-MM') AS month, kind, difference::int AS difference, state FROM warehouse.inventory_discrepancies
       WHERE seller_id = $1`,
      sellerId,
    )
  expect(await discrepancies()).toEqual([])
  expect(await once()).toEqual({ done: true })
  expect(await discrepancies()).toEqual([{ sku: 'A', month, kind: 'sold', difference: 2, state: 'open' }])
  logs.get('A')?.push({ id: 'late', at: day(3), units: -2 })
  // As if it had been reported two days late, to a log that was read long before.
  await bench.database.execute(
    `UPDATE tallyman.inventory_skus SET log_read_at = $2::timestamptz, log_due_at = NULL WHERE seller_id = $1`,
    sellerId,
    day(5).toISOString(),
  )
  expect(await once()).toEqual({ done: true })
  expect(await discrepancies()).toEqual([{ sku: 'A', month, kind: 'sold', difference: 2, state: 'resolved' }])
})

test('a month is not compared while an entry of it cannot be read, or an id comes twice with different contents', async () => {
  const { once } = await startOwn()
  const month = pacificMonth(ago(40))
  const { from, to } = monthBounds(month)
  const day = (number: number): Date => new Date(from.getTime() + number * dayMs)
  const came = { id: 'in', at: day(1), units: 10 }
  const twice = [
    { id: 'x', at: day(2), units: -4 },
    { id: 'x', at: day(3), units: -2 },
  ]
  logs.set('A/1', [came, { id: '', at: day(2), units: -6 }])
  logs.set('B', [came, ...twice])
  logs.set('C', [came, { id: 'out', at: day(2), units: -6 }, { id: '', at: day(-3), units: -1 }])
  logs.set('D', [came, came, { id: 'out', at: day(2), units: -6 }])
  await configure(['A/1', 'B', 'C', 'D'])
  await report(month, to, 'A/1', 'B', 'C', 'D')
  const open = () =>
    bench.database.query(
      `SELECT sku, kind, report_units::int AS report, expected_units::int AS expected FROM warehouse.inventory_discrepancies
       WHERE seller_id = $1 AND state = 'open' ORDER BY sku`,
      sellerId,
    )
  const compared = async () =>
    (
      await bench.database.query<{ sku: string }>(
        'SELECT sku FROM tallyman.claim_rows WHERE seller_id = $1 AND compared ORDER BY sku',
        sellerId,
      )
    ).map(({ sku }) => sku)
  const quarantined = () =>
    bench.database.query<{ id: bigint; key: string; fault: string; state: string }>(
      'SELECT id, record_key AS key, fault, state FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY record_key',
      sellerId,
    )
  expect(await once()).toEqual({ done: true })
  expect(await open()).toEqual([])
  expect(await compared()).toEqual(['C', 'D'])
  const [, ofB] = await quarantined()
  expect(ofB).toMatchObject({
    key: expect.stringMatching(/^B\/\?/),
    fault: 'id: x appears twice in one answer, with different contents',
    state: 'open',
  })
  // By a person's word there is no second one.
  const by = { actor: 'person', keyId: null, reason: 'no such entry' }
  await bench.database.transaction((tx) => dismissQuarantined(tx, ofB?.id ?? 0n, by))
  expect(await compared()).toEqual(['B', 'C', 'D'])
  expect(await open()).toEqual([{ sku: 'B', kind: 'sold', report: 6, expected: expect.any(Number) }])
  logs.set('A/1', [came, { id: 'out', at: day(2), units: -6 }])
  logs.set('B', [came, ...twice.map((entry, index) => ({ ...entry, id: `x${index}` }))])
  await bench.database.execute(
    `UPDATE tallyman.inventory_skus SET log_full_due_at = log_full_due_at - interval '31 days', log_due_at = NULL WHERE seller_id = $1`,
    sellerId,
  )
  expect(await once()).toEqual({ done: true })
  expect(await compared()).toEqual(['A/1', 'B', 'C', 'D'])
  expect(await open()).toEqual([])
  expect((await quarantined()).map(({ key, state }) => `${key.replace(/\?.*/, '?')} ${state}`)).toEqual([
    'A%2F1/? superseded',
    'B/? dismissed',
    'C/? open',
  ])
  // An entry that could be read before, and cannot any more, takes its difference with it.
  logs.set('D', [came, { id: 'out', at: day(2), units: -5 }])
  const again = () =>
    bench.database.execute(
      `UPDATE tallyman.inventory_skus SET log_full_due_at = log_full_due_at - interval '31 days', log_due_at = NULL WHERE seller_id = $1`,
      sellerId,
    )
  await again()
  await once()
  expect(await open()).toMatchObject([{ sku: 'D', report: 6, expected: 5 }])
  logs.set('D', [came, { id: 'out', at: day(2), units: -5 }, { id: '', at: day(4), units: -1 }])
  await again()
  await once()
  expect(await open()).toEqual([])
  expect(await compared()).toEqual(['A/1', 'B', 'C'])
})

test('an entry that the log takes back counts no more, and counts again when it is back', async () => {
  logs.set('A', history(120, 20))
  const { once } = await startOwn()
  await configure(['A'])
  await once()
  const [copy] = (logs.get('A') ?? []).splice(60, 1)
  if (copy === undefined) throw new Error('no entry')
  const gone = () =>
    bench.database.query(
      'SELECT entry_id FROM warehouse.inventory_log_entries WHERE seller_id = $1 AND missing_since IS NOT NULL',
      sellerId,
    )
  // The look-back of this read does not reach that far.
  await later()
  await once()
  expect(await gone()).toEqual([])
  const full = () =>
    bench.database.execute(
      `UPDATE tallyman.inventory_skus SET log_full_due_at = log_full_due_at - interval '31 days', log_due_at = NULL WHERE seller_id = $1`,
      sellerId,
    )
  await full()
  await once()
  expect(await gone()).toEqual([{ entry_id: copy.id }])
  expect((await readChanges(sellerId)).at(-1)).toMatchObject({
    type: 'inventory_log.entry_gone',
    data: { sku: 'A', entryId: copy.id },
  })
  logs.get('A')?.push(copy)
  await full()
  await once()
  expect(await gone()).toEqual([])
})

test('a new difference has the log of its SKU read in full, at once; one that depends on the log, every day', async () => {
  logs.set('A', history(200, 40))
  const { once } = await startOwn()
  await configure(['A'])
  await once()
  const fullReads = async (): Promise<number> => {
    questions = []
    await once()
    return questions.filter((question) => question.from < ago(200)).length
  }
  const rest = (more = '') =>
    bench.database.execute(
      `UPDATE tallyman.inventory_skus SET log_due_at = now() + interval '9 days' ${more} WHERE seller_id = $1`,
      sellerId,
    )
  const dayLater = async (): Promise<void> => {
    await rest(`, log_full_at = log_full_at - interval '25 hours'`)
    await bench.database.execute(
      `UPDATE warehouse.inventory_discrepancies SET first_seen_at = first_seen_at - interval '25 hours' WHERE seller_id = $1`,
      sellerId,
    )
  }
  await later()
  expect(await fullReads()).toBe(0)
  const differ = (kind: string, verdict: string | null) =>
    bench.database.execute(
      `INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_verdict, log_certainty,
         log_entry_ids, log_entries, earliest_day) VALUES ($1, 'A', '2026-03-01', $2, 3, 2, $3, 'unknown', '{}', 0, '2026-03-01')`,
      sellerId,
      kind,
      verdict,
    )
  await rest()
  for (const [kind, verdict, daily] of [
    ['balance', null, false],
    ['carry-over', null, true],
    ['sold', 'missing', true],
  ] as const) {
    await differ(kind, verdict)
    await rest()
    expect(await fullReads()).toBeGreaterThan(0)
    expect(await fullReads()).toBe(0)
    await dayLater()
    expect((await fullReads()) > 0).toBe(daily)
    await bench.database.execute('DELETE FROM warehouse.inventory_discrepancies WHERE seller_id = $1', sellerId)
  }
})
