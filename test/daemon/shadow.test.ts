import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, buildDispatch, type ErpEvent, type NamedOrder, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { makeSellers, post, untilSettled } from './support.ts'

// Shadow mode through the whole daemon: one seller in shadow mode and one that is live have the same orders and get the same events.

const shadowed = 'shadowed'
const live = 'live'

/** `SHADOW_EVENTS=5000` runs a longer history. */
const events = Number(process.env['SHADOW_EVENTS'] ?? 50)
const eventsOfOrder = 5
const orders = events / eventsOfOrder

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
let daemon: TestDaemon
let credentials: string

/** Without the published limits, of 60 calls a minute, a long history is not bound to them. */
const rateLimits = Object.fromEntries(
  ['acknowledge', 'ship', 'cancel', 'refund', 'get'].map((what) => [`orders.${what}`, { tokens: 100_000, per: '1m' }]),
)

const start = (): Promise<TestDaemon> =>
  startTestDaemon({
    RATE_LIMITS: JSON.stringify(rateLimits),
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SELLERS_FILE: path.join(folder, 'sellers.json'),
    MARKETPLACE_URL: sandbox.url,
    POLL_ORDERS: '1s',
    // A request that the kill cuts off is repeated after this time.
    ...{ REQUEST_TIMEOUT: '2s', SETTLE_TIME: '4s' },
  })

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-shadow-'))
  databaseUrl = await postgres.database()
  const [first, second] = await makeSellers(sandbox, shadowed, live)
  credentials = Buffer.from(`${first?.clientId}:${first?.clientSecret}`).toString('base64')
  await writeFile(path.join(folder, 'sellers.json'), JSON.stringify([{ ...first, mode: 'shadow' }, second]))
  daemon = await start()
})
afterAll(async () => {
  await daemon.program.stop()
  await Promise.all([postgres.stop(), sandbox.stop()])
  await rm(folder, { recursive: true, force: true })
})

const place = (sellerId: string): Promise<string> =>
  sandbox.place({ sellerId, lines: [{ lineNumber: '1', sku: 'TEA', quantity: 4, unitPrice: '4.00' }] })

const ofLine = (quantity: number, reason: string) => ({ lines: [{ lineNumber: '1', quantity, reason }] })

/** The events of an order; the last one asks for a unit that is not left. */
const listEvents = (order: NamedOrder, place: number): readonly ErpEvent[] => {
  const named = (what: string): string => `${order.sellerId}-${place}-${what}`
  const parcel = (number: number, quantity: number) =>
    buildDispatch(order, named(`ship-${number}`), reportedParcel(`1Z${place}X${number}`, { lineNumber: '1', quantity }))
  return [
    accepted(order, named('accept')),
    parcel(1, 1),
    { id: named('cancel'), type: 'erp.lines.unfulfillable', data: { ...order, ...ofLine(1, 'SELLER_CANCEL_OUT_OF_STOCK') } },
    { id: named('credit'), type: 'erp.credit.issued', data: { ...order, ...ofLine(1, 'DamagedItem') } },
    parcel(2, 3),
  ]
}

const writesSchema = z.object({ writes: z.record(z.string(), z.record(z.string(), z.number())) })

/** How often a seller called each operation that may change something, since the sandbox started; tokens left out. */
const listWrites = async (sellerId: string): Promise<Readonly<Record<string, number>>> => {
  const { token: _, ...writes } = writesSchema.parse(await sandbox.control('GET', '/requests?limit=1')).writes[sellerId] ?? {}
  return writes
}

const listEffects = async (sellerId: string) => (await sandbox.effects()).filter((effect) => effect.sellerId === sellerId)

/** The requests of each order, in their order, with the order's own id replaced. */
const listRequests = (sellerId: string, state: string) =>
  query<{ request: string }>(
    databaseUrl,
    `SELECT replace(a.request::text, c.purchase_order_id, 'ORDER') AS request, c.kind, e.id AS event
     FROM tallyman.commands c JOIN LATERAL (SELECT t.request FROM tallyman.command_attempts t WHERE t.command_id = c.id ORDER BY t.attempt DESC LIMIT 1) a ON true
       JOIN LATERAL (SELECT replace(c.event_id, $1 || '-', '') AS id) e ON true
     WHERE c.seller_id = $1 AND c.state = $2 ORDER BY split_part(e.id, '-', 1)::int, c.sequence`,
    [sellerId, state],
  )

const countCommands = async (sellerId: string) =>
  Object.fromEntries(
    (
      await query<{ state: string; count: number }>(
        databaseUrl,
        'SELECT state, count(*)::int AS count FROM tallyman.commands WHERE seller_id = $1 GROUP BY state ORDER BY state',
        [sellerId],
      )
    ).map(({ state, count }) => [state, count]),
  )

test('a seller in shadow mode predicts what a live one sends, and nothing is written, also after kill -9', {
  timeout: 240_000 + events * 400,
}, async () => {
  const histories: (readonly ErpEvent[])[] = []
  for (let index = 0; index < orders; index += 1)
    for (const sellerId of [shadowed, live])
      histories.push(listEvents({ sellerId, purchaseOrderId: await place(sellerId) }, index))
  const deliver = async (event: ErpEvent): Promise<void> => {
    await eventually(async () => expect(await post(daemon, event).catch(() => 0)).not.toBe(0))
  }
  // The events of an order one after the other, several orders at a time; the daemon is killed while they are delivered.
  const waiting = histories.values()
  const middle = Math.floor(histories.length / 2)
  let begun = 0
  const deliverWaiting = async (): Promise<void> => {
    for (const history of waiting) {
      begun += 1
      if (begun === middle) {
        await daemon.program.kill()
        daemon = await start()
      }
      for (const event of history) await deliver(event)
    }
  }
  await Promise.all(Array.from({ length: 4 }, deliverWaiting))
  await untilSettled(databaseUrl, Math.max(60_000, events * 200))

  expect(await listWrites(shadowed)).toEqual({})
  expect(await listEffects(shadowed)).toEqual([])
  expect(await countCommands(live)).toEqual({ confirmed: orders * 4 })
  expect(await countCommands(shadowed)).toEqual({ predicted: orders * 4 })
  expect(await listRequests(shadowed, 'predicted')).toEqual(await listRequests(live, 'confirmed'))
  const shown = await daemon.call('GET', `/v1/sellers?sellerId=${shadowed}`)
  expect(shown.body).toMatchObject({ items: [{ mode: 'shadow', modeBy: null, openCommands: 0 }] })
})

test('going live ends open predictions, sends only new events, and can be taken back', async () => {
  const purchaseOrderId = await place(shadowed)
  const order = { sellerId: shadowed, purchaseOrderId }
  const units = { lineNumber: '1', quantity: 3 }
  const ship = (id: string) => buildDispatch(order, id, reportedParcel(`1Z${id}`, units))
  expect(await post(daemon, ship('before'))).toBe(202)
  await untilSettled(databaseUrl)
  // One unit is left, and it stays the only one as long as the prediction is open.
  expect(await post(daemon, ship('too-many'))).toBe(422)
  expect(await countCommands(shadowed)).toMatchObject({ predicted: orders * 4 + 2 })

  const body = { actor: 'Ada', reason: 'the other system is off' }
  // Every prediction is pending: nothing has been compared.
  expect(await daemon.call('POST', `/v1/sellers/${shadowed}/go-live`, body)).toMatchObject({
    ...{ status: 409, body: { code: 'shadow-differs', detail: expect.stringContaining('has been compared with an order yet') } },
  })
  const wentLive = await daemon.call('POST', `/v1/sellers/${shadowed}/go-live`, { ...body, force: true })
  expect(wentLive).toMatchObject({ status: 200, body: { seller: { mode: 'live', modeBy: 'Ada' } } })
  expect(await countCommands(shadowed)).toEqual({ withdrawn: orders * 4 + 2 })
  expect(await listWrites(shadowed)).toEqual({})

  // The units are free again, and only new events are sent.
  expect(await post(daemon, ship('after'))).toBe(202)
  await eventually(async () =>
    expect((await listEffects(shadowed)).map(({ kind, quantity, purchaseOrderId: id }) => [kind, quantity, id])).toEqual(
      expect.arrayContaining([['shipped', 3, purchaseOrderId]]),
    ),
  )
  await eventually(async () => expect(await countCommands(shadowed)).toMatchObject({ confirmed: 2, withdrawn: orders * 4 + 2 }))
  expect((await listEffects(shadowed)).every(({ purchaseOrderId: id }) => id === purchaseOrderId)).toBe(true)

  // The setting does not win over the decision, also after a restart; going back is possible at any time.
  await daemon.program.stop()
  daemon = await start()
  expect((await daemon.call('GET', `/v1/sellers?sellerId=${shadowed}`)).body).toMatchObject({ items: [{ mode: 'live' }] })
  const wentBack = await daemon.call('POST', `/v1/sellers/${shadowed}/go-shadow`, { actor: 'Ada', reason: 'a new ERP' })
  expect(wentBack).toMatchObject({ status: 200, body: { seller: { mode: 'shadow' }, withdrawn: [] } })
  const writes = await listWrites(shadowed)
  const later = await place(shadowed)
  expect(await post(daemon, accepted({ sellerId: shadowed, purchaseOrderId: later }))).toBe(202)
  await eventually(async () => expect(await countCommands(shadowed)).toMatchObject({ predicted: 1 }))
  expect(await listWrites(shadowed)).toEqual(writes)
  await eventually(async () => {
    const { body: changes } = await daemon.call('GET', `/v1/changes?types=seller.mode_changed&sellerId=${shadowed}`)
    expect(changes).toMatchObject({ items: [{ data: { mode: 'live' } }, { data: { mode: 'shadow', actor: 'Ada' } }] })
  })
})

/** Sends the predicted requests of an order, as the seller's other system does, with this tracking number instead of the predicted one. */
const sendElsewhere = async (purchaseOrderId: string, predicted: string, trackingNumber = predicted): Promise<void> => {
  const token = await fetch(`${sandbox.url}/v3/token`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Basic ${credentials}`, accept: 'application/json' },
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  })
  const { access_token } = z.object({ access_token: z.string() }).parse(await token.json())
  const requests = await query<{ request: unknown }>(
    databaseUrl,
    `SELECT a.request FROM tallyman.commands c JOIN tallyman.command_attempts a ON a.command_id = c.id
     WHERE c.seller_id = $1 AND c.purchase_order_id = $2 ORDER BY c.sequence`,
    [shadowed, purchaseOrderId],
  )
  for (const { request } of requests) {
    const { path: route, body } = z.object({ path: z.string(), body: z.unknown() }).parse(request)
    const answer = await fetch(`${sandbox.url}${route}`, {
      method: 'POST',
      headers: {
        ...{ 'XX_SEC.ACCESS_TOKEN': access_token, 'XX_QOS.CORRELATION_ID': randomUUID(), 'XX_SVC.NAME': 'the other system' },
        ...{ accept: 'application/json', 'content-type': 'application/json' },
      },
      ...(body === undefined || body === null ? {} : { body: JSON.stringify(body).replaceAll(predicted, trackingNumber) }),
    })
    expect({ status: answer.status, text: answer.ok ? '' : await answer.text() }).toEqual({ status: 200, text: '' })
  }
}

test('the predictions are compared with what the other system did, and differences keep the seller from going live', async () => {
  const [same, other] = [await place(shadowed), await place(shadowed)]
  for (const purchaseOrderId of [same, other]) {
    const parcel = reportedParcel(`1Z${purchaseOrderId}`, { lineNumber: '1', quantity: 2 })
    const order = { sellerId: shadowed, purchaseOrderId }
    expect(await post(daemon, buildDispatch(order, `compared-${purchaseOrderId}`, parcel))).toBe(202)
  }
  await untilSettled(databaseUrl)
  await sendElsewhere(same, `1Z${same}`)
  await sendElsewhere(other, `1Z${other}`, '9X')
  // Lists of changed orders are read up to two minutes ago.
  await sandbox.control('POST', '/clock', { advance: '3m' })

  const read = async (purchaseOrderId: string) =>
    (await daemon.call('GET', `/v1/shadow?sellerId=${shadowed}&purchaseOrderId=${purchaseOrderId}`)).body
  await eventually(async () =>
    expect(await read(same)).toMatchObject({
      items: [{ verdict: 'agreement', commands: [{ kind: 'acknowledge' }, { kind: 'ship', shown: true, differences: [] }] }],
    }),
  )
  const differences = [{ kind: 'tracking', lineNumber: '1', predicted: `1Z${other}`, shown: '9X' }]
  await eventually(async () =>
    expect(await read(other)).toMatchObject({
      items: [
        { verdict: 'difference', commands: [{ verdict: 'agreement' }, { verdict: 'difference', differences }], unpredicted: [] },
      ],
    }),
  )
  const counted = await daemon.call('GET', `/v1/shadow/counts?sellerId=${shadowed}`)
  expect(counted.body).toMatchObject({ difference: 1, missing: 0, agreement: 1, complete: true })
  const filtered = await daemon.call('GET', `/v1/shadow?verdict=difference&limit=1`)
  expect(filtered.body).toMatchObject({ items: [{ purchaseOrderId: other }], nextCursor: null })

  const why = { actor: 'Ada', reason: 'the difference is known' }
  const goLive = (body: object) => daemon.call('POST', `/v1/sellers/${shadowed}/go-live`, body)
  expect(await goLive(why)).toMatchObject({
    ...{ status: 409, body: { code: 'shadow-differs', detail: expect.stringContaining('processed in another way: 1,') } },
  })
  expect((await daemon.call('GET', `/v1/sellers?sellerId=${shadowed}`)).body).toMatchObject({ items: [{ mode: 'shadow' }] })
  const [waiting] = await query<{ ids: readonly string[] }>(
    databaseUrl,
    `SELECT array_agg(id) AS ids FROM tallyman.commands WHERE state = 'predicted' AND purchase_order_id <> ALL ($1::text[])`,
    [[same, other]],
  )
  const forced = await goLive({ ...why, force: true })
  expect(forced).toMatchObject({ status: 200, body: { seller: { mode: 'live' }, differences: 1, notShown: waiting?.ids } })
  const { body: audit } = await daemon.call('GET', '/v1/audit?action=seller.went_live&limit=1')
  expect(audit).toMatchObject({ items: [{ details: { differences: 1, forced: true } }] })
})

test('what was not predicted yet when the seller goes live is never sent, and waiting events keep it from going live', async () => {
  const why = { actor: 'Ada', reason: 'tried out' }
  const decide = (mode: string, body: object = {}) =>
    daemon.call('POST', `/v1/sellers/${shadowed}/go-${mode}`, { ...why, ...body })
  expect(await decide('shadow')).toMatchObject({ status: 200 })
  const unread = { sellerId: shadowed, purchaseOrderId: await place(shadowed) }
  expect(await post(daemon, accepted(unread, 'unread-accept'))).toBe(202)
  await untilSettled(databaseUrl)

  // No order can be read by its id: a cancellation waits, and so does an event about an order that no list shows.
  const hidden = { sellerId: shadowed, purchaseOrderId: '4900000000001' }
  await sandbox.control('PUT', '/faults', {
    rules: [{ operation: 'orders.get', sellerId: shadowed, serverErrorBefore: 1 }],
    hidden: [{ ids: [hidden.purchaseOrderId] }],
  })
  await sandbox.place({ ...hidden, lines: [{ lineNumber: '1', sku: 'TEA', quantity: 1, unitPrice: '4.00' }] })
  const cancel = { ...unread, ...ofLine(1, 'SELLER_CANCEL_OUT_OF_STOCK') }
  expect(await post(daemon, { id: 'unread-cancel', type: 'erp.lines.unfulfillable', data: cancel })).toBe(202)
  expect(await post(daemon, accepted(hidden, 'hidden-accept'))).toBe(202)
  await eventually(async () => expect(await countCommands(shadowed)).toMatchObject({ pending: 1 }))

  expect(await decide('live')).toMatchObject({
    ...{
      status: 409,
      body: { code: 'shadow-differs', detail: expect.stringContaining(`Undecided events of seller ${shadowed}: 1.`) },
    },
  })
  expect((await daemon.call('POST', '/v1/events/%2Ferp/hidden-accept/reject', why)).status).toBe(200)
  const [waiting] = await query<{ id: string }>(databaseUrl, `SELECT id FROM tallyman.commands WHERE event_id = 'unread-cancel'`)
  const wentLive = await decide('live', { force: true })
  expect(wentLive).toMatchObject({
    ...{ status: 200, body: { seller: { mode: 'live' }, notShown: expect.arrayContaining([waiting?.id]) } },
  })
  await sandbox.control('PUT', '/faults', {})

  // A later event about the order is sent: it would have waited for an open cancellation.
  expect(
    await post(daemon, buildDispatch(unread, 'unread-ship', reportedParcel('1ZUNREAD', { lineNumber: '1', quantity: 4 }))),
  ).toBe(202)
  await eventually(async () =>
    expect((await sandbox.effects(unread.purchaseOrderId)).map(({ kind, quantity }) => [kind, quantity])).toEqual([
      ['acknowledged', 4],
      ['shipped', 4],
    ]),
  )
  await untilSettled(databaseUrl)
  expect(await query(databaseUrl, `SELECT state FROM tallyman.commands WHERE event_id = 'unread-cancel'`)).toEqual([
    { state: 'withdrawn' },
  ])
})
