import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestCollector, type TestCollector } from '../support/collector.ts'
import { everyPoll, startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { withDatabase } from '../support/database.ts'
import { accepted, cloudEvent, type ErpEvent } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { alertRules, dashboardPanels, listNames } from '../support/promql.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { type OrderAddress, placeOrder, post, sandboxSeller } from './support.ts'

const stage = withDatabase()
let sandbox: TestSandbox
let collector: TestCollector
let daemon: TestDaemon
let order: OrderAddress
let traced: OrderAddress
let unsampled: OrderAddress
let later: OrderAddress

beforeAll(async () => {
  sandbox = await startTestSandbox()
  collector = await startTestCollector()
  order = await placeOrder(sandbox, 3)
  traced = await placeOrder(sandbox, 1)
  unsampled = await placeOrder(sandbox, 1)
  later = await placeOrder(sandbox, 1)
  daemon = await startTestDaemon({
    ...sandboxSeller,
    ...everyPoll,
    DATABASE_URL: stage.url,
    MARKETPLACE_URL: sandbox.url,
    // More than the budget lets through at once.
    CAMPAIGN_IDS: 'SEM-1001,SEM-1002,SEM-1003',
    // A quarter of it is for orders that are looked up.
    RATE_LIMITS: JSON.stringify({ 'orders.get': { tokens: 20, per: '1m' } }),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OTEL_BSP_SCHEDULE_DELAY: '200',
    OTEL_BLRP_SCHEDULE_DELAY: '200',
  })
})
afterAll(async () => {
  await daemon?.program.kill()
  await collector?.stop()
  await sandbox?.stop()
})

/** The metrics, each sample by its name and labels. */
const scrape = async (): Promise<ReadonlyMap<string, number>> => {
  const answer = await fetch(`${daemon.url}/metrics`)
  expect(answer.status).toBe(200)
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

/** By how much samples move while `work` runs, and until they have moved so far. */
const expectMoves = async (moves: Readonly<Record<string, number>>, work: () => Promise<unknown>): Promise<void> => {
  const before = await scrape()
  await work()
  await eventually(async () => {
    const after = await scrape()
    const moved = Object.keys(moves).map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)])
    expect(Object.fromEntries(moved)).toEqual(moves)
  })
}

test('requests count by method, route template and class of status, and last', async () => {
  const route = (name: string, method: string, template: string, status: string) =>
    `tallyman_http_${name}{method="${method}",route="${template}",status="${status}"}`
  await expectMoves(
    {
      [route('requests_total', 'GET', '/v1/orders/:purchaseOrderId', '4xx')]: 2,
      [route('requests_total', 'GET', 'none', '4xx')]: 2,
      [route('requests_total', 'GET', '/v1/sellers', '2xx')]: 1,
      [route('request_duration_seconds_count', 'GET', '/v1/sellers', '2xx')]: 1,
      [route('request_duration_seconds_count', 'GET', 'none', '4xx')]: 2,
    },
    async () => {
      for (const path of ['/v1/orders/1', '/v1/orders/2', '/nothing/1', '/nothing/2', '/v1/sellers']) {
        await (await fetch(`${daemon.url}${path}`)).text()
      }
    },
  )
  const samples = await scrape()
  const sum = samples.get(route('request_duration_seconds_sum', 'GET', '/v1/sellers', '2xx'))
  expect(sum).toBeGreaterThan(0)
  expect(sum).toBeLessThan(30)
  expect([...samples.keys()].filter((name) => name.includes('nothing'))).toEqual([])
})

const events = (way: string, outcome: string): string => `tallyman_events_received_total{way="${way}",outcome="${outcome}"}`

test('events over HTTP count by what became of them', async () => {
  const event = accepted(order)
  const wrong: ErpEvent = { id: 'wrong', type: 'erp.nothing', data: {} }
  await expectMoves(
    {
      [events('http', 'accepted')]: 1,
      [events('http', 'duplicate')]: 1,
      [events('http', 'conflict')]: 1,
      // Its type is unknown; and a body that is no event at all.
      [events('http', 'refused')]: 2,
    },
    async () => {
      expect(await post(daemon, event)).toBe(202)
      expect(await post(daemon, event)).toBe(202)
      expect(await post(daemon, { ...event, data: { ...order, more: 1 } })).toBe(409)
      expect(await post(daemon, wrong)).toBe(422)
      const headers = { 'content-type': 'application/cloudevents+json' }
      expect((await fetch(`${daemon.url}/v1/events`, { method: 'POST', headers, body: '{' })).status).toBe(400)
    },
  )
})

test('has the metrics of docs/metrics.md, with their types, labels and meanings, and no others', async () => {
  const text = await (await fetch(`${daemon.url}/metrics`)).text()
  const served = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name = '', help, type]) => [
    name,
    type,
    help,
  ])
  const rows = [...readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) ?\| (.+) \|$/gm)]
  expect(served.toSorted()).toEqual(rows.map(([, name, type, , help]) => [name, type, help]).toSorted())
  const listLabels = new Map(
    rows.map(([, name = '', type, labels = '']) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).concat(type === 'histogram' ? 'le' : []),
    ]),
  )
  const samples = [...text.matchAll(/^(\w+)\{(.+)\} \S+$/gm)]
  expect(samples.length).toBeGreaterThan(100)
  for (const [sample, name = '', labels = ''] of samples) {
    const documented = listLabels.get(name) ?? listLabels.get(name.replace(/_(bucket|sum|count)$/, ''))
    for (const [, label] of labels.matchAll(/(\w+)="/g)) expect(documented, sample).toContain(label)
  }
})

test('has every metric that the alert rules and the dashboard of deploy/ name', async () => {
  const text = await (await fetch(`${daemon.url}/metrics`)).text()
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  const served = new Set([
    'up',
    ...types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  ])
  const asked = [...alertRules(), ...dashboardPanels().flatMap(({ targets }) => targets)].flatMap(
    ({ expr }) => listNames(expr).metrics,
  )
  expect(asked.filter((name) => !served.has(name))).toEqual([])
})

test('open alarms, sellers and orders out of time are counted', async () => {
  await query(
    stage.url,
    `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ('s', 'log-reason-unknown', 'x', 'look')`,
  )
  await eventually(async () => {
    const samples = await scrape()
    expect(samples.get('tallyman_alarms_open{kind="log-reason-unknown",severity="notice"}')).toBe(1)
    expect(samples.get('tallyman_alarms_open{kind="command-held",severity="critical"}')).toBe(0)
    expect(samples.get('tallyman_sellers{state="active"}')).toBe(1)
    expect([...samples.keys()].filter((name) => name.startsWith('tallyman_orders_ship_late{'))).toHaveLength(1)
    expect([...samples.keys()].some((name) => name.startsWith('tallyman_rate_limit_requests_per_minute{'))).toBe(true)
  })
})

test('rows of the SQL inbox count once they are decided, each once', async () => {
  await expectMoves(
    { [events('sql', 'accepted')]: 2, [events('sql', 'refused')]: 2, [events('http', 'accepted')]: 0 },
    async () => {
      const data = JSON.stringify(order)
      await query(
        stage.url,
        `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES
         ('/inbox', '1', 'erp.order.accepted', '${data}'), ('/inbox', '2', 'erp.order.accepted', '${data}'),
         ('/inbox', '3', 'erp.shipment.dispatched', '${data}'), ('/inbox', '4', 'erp.nothing', '{}')`,
      )
    },
  )
})

const waitsFor = async (operation: string): Promise<{ readonly count: number; readonly seconds: number }> => {
  const samples = await scrape()
  const of = (suffix: string) => samples.get(`tallyman_rate_limit_wait_seconds_${suffix}{operation="${operation}"}`) ?? 0
  return { count: of('count'), seconds: of('sum') }
}

test.each([
  { budget: 'the rate budget', operation: 'campaigns.get', work: async () => undefined },
  {
    budget: 'the share of it for orders that only events name',
    operation: 'orders.get',
    work: async () => {
      for (let place = 0; place < 7; place += 1) await post(daemon, accepted({ ...order, purchaseOrderId: `10000000${place}` }))
    },
  },
])('a wait for $budget is measured', async ({ operation, work }) => {
  await work()
  await eventually(async () => {
    const { count, seconds } = await waitsFor(operation)
    expect(count).toBeGreaterThan(0)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(count * 60)
  })
})

const postTraced = async (address: OrderAddress, traceparent: string): Promise<void> => {
  // Known: an event about it is decided at once.
  await eventually(async () => expect((await daemon.call('GET', `/v1/orders/${address.purchaseOrderId}`)).status).toBe(200))
  const answer = await fetch(`${daemon.url}/v1/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', traceparent, baggage: 'secret=x' },
    body: JSON.stringify(cloudEvent(accepted(address), '/erp')),
  })
  expect(answer.status).toBe(202)
}

test("traces, metrics and logs are exported; the ERP's trace goes through event, command and request", async () => {
  const traceId = 'a1'.repeat(16)
  await postTraced(traced, `00-${traceId}-00f067aa0ba902b7-01`)
  await eventually(() => {
    const spans = collector.spans.filter((span) => span.traceId === traceId)
    expect(spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['POST /v1/events', 'send commands', 'process commands', 'orders.acknowledge']),
    )
    const find = (name: string) => spans.find((span) => span.name === name)
    expect(find('POST /v1/events')).toMatchObject({
      parentSpanId: '00f067aa0ba902b7',
      attributes: { 'http.response.status_code': 202 },
    })
    expect(find('orders.acknowledge')).toMatchObject({
      parentSpanId: find('process commands')?.spanId,
      attributes: { 'tallyman.seller.id': traced.sellerId, 'tallyman.outcome': 'ok' },
    })
    expect(collector.logRecords.filter((record) => record.traceId === traceId).length).toBeGreaterThan(0)
    expect([...collector.metricNames]).toEqual(
      expect.arrayContaining([
        'tallyman_events_received_total',
        'tallyman_api_request_duration_seconds',
        'process_cpu_seconds_total',
      ]),
    )
  })
  expect(collector.spans.some(({ name }) => /livez|readyz|metrics/.test(name))).toBe(false)
})

test('a trace that the ERP does not sample is left out with its commands and requests, and the log has its id', async () => {
  const traceId = 'b2'.repeat(16)
  const sampledId = 'c3'.repeat(16)
  await postTraced(unsampled, `00-${traceId}-00f067aa0ba902b7-00`)
  const confirmed = new RegExp(`.*"purchase_order_id":"${unsampled.purchaseOrderId}".*"msg":"command confirmed".*`)
  const [line] = await daemon.program.says(confirmed)
  const { trace_id: loggedId, job_id: jobId } = JSON.parse(line)
  expect(loggedId).toBe(traceId)
  // Exported after everything before it.
  await postTraced(later, `00-${sampledId}-00f067aa0ba902b7-01`)
  await eventually(() =>
    expect(collector.spans.some((span) => span.traceId === sampledId && span.name === 'process commands')).toBe(true),
  )
  expect(collector.spans.filter(({ attributes }) => attributes['messaging.message.id'] === jobId)).toEqual([])
})

test('a stop exports what is left, and does not ask the closed database for figures', async () => {
  expect(await daemon.program.stop()).toBe(0)
  expect(collector.logRecords.at(-1)?.body.stringValue).toBe('drained')
  expect(daemon.program.output()).not.toContain('cannot be read')
})
