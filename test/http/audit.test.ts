import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordReasons } from '../../src/store/inventory/log-reasons.ts'
import { auditActions } from '../../src/store/keys/audit.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, ofItems, textAt, textOrNullAt } from '../support/json.ts'
import { type Planted, plant, readOperations } from './keys-support.ts'
import { idleQueue, startServer, type TestServer } from './support.ts'

const apiKey = 'a-key-of-sixteen-or-more'
const stage = withDatabase()
let server: TestServer
let planted: Planted
let ada: string
let adaId: string
let spare: string

const call = (key: string | null, method: string, path: string, body?: unknown) =>
  server.json(path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const newest = async (): Promise<unknown> => at((await call(apiKey, 'GET', '/v1/audit?limit=1')).body, 'items', 0)

beforeAll(async () => {
  server = await startServer(stage.database, {
    apiKey,
    boardQueues: () => [{ queue: idleQueue('orders'), readOnly: true }],
  })
  planted = await plant(stage.database, server, 's-1', '1001', `Bearer ${apiKey}`)
  await recordSellers(stage.database, [{ sellerId: 's-gone', credentialsFingerprint: 'f' }])
  await stage.database.execute(
    `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
     VALUES ('s-1', 'orders', '\\x01', '[]', 'no key', now())`,
  )
  const made = await call(apiKey, 'POST', '/v1/keys', { name: 'ada', scopes: ['operate', 'read', 'propose'] })
  ada = textAt(made.body, 'key')
  adaId = textAt(made.body, 'id')
  webhookId = textAt((await call(apiKey, 'POST', '/v1/webhooks', { url: 'https://shop.example/first' })).body, 'id')
  const slack = { name: 'shop', kind: 'slack', url: 'https://hooks.example/T/secret' }
  channelId = textAt((await call(apiKey, 'POST', '/v1/alarm-channels', slack)).body, 'id')
  spare = textAt((await call(apiKey, 'POST', '/v1/keys', { name: 'spare', scopes: ['read'] })).body, 'id')
})
afterAll(async () => {
  await server.close()
})

const why = { reason: 'by the test', actor: 'kim' }
let webhookId: string
let channelId: string
const channel = (): string => `/v1/alarm-channels/${channelId}`
const hook = (): string => `/v1/webhooks/${webhookId}`
type Act = readonly [name: string, path: () => string, body: object | undefined, entry: object]
/** Every route that changes something, and what the audit says of it. */
const acts: readonly Act[] = [
  [
    'POST /v1/alarms/{id}/silence',
    () => `/v1/alarms/${planted.alarm}/silence`,
    { ...why, until: new Date(Date.now() + 3_600_000) },
    { action: 'alarm.silenced', sellerId: 's-1', reason: 'by the test', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/alarms/{id}/resolve',
    () => `/v1/alarms/${planted.alarm}/resolve`,
    { actor: 'kim' },
    { action: 'alarm.closed', sellerId: 's-1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/claims/{id}',
    () => `/v1/claims/${planted.claim}`,
    { ...why, state: 'filed', force: true },
    {
      action: 'claim.decided',
      sellerId: 's-1',
      reason: 'by the test',
      onBehalfOf: 'kim',
      details: { from: 'open', to: 'filed', units: 2 },
    },
  ],
  [
    'POST /v1/campaigns',
    () => '/v1/campaigns',
    { campaignIds: ['c-9'] },
    { action: 'campaigns.watched', subject: 'c-9', sellerId: 's-1' },
  ],
  ['DELETE /v1/campaigns/{campaignId}', () => '/v1/campaigns/c-9', undefined, { action: 'campaign.unwatched', subject: 'c-9' }],
  [
    'POST /v1/commands/{id}/retry',
    () => `/v1/commands/${planted.command}/retry`,
    why,
    {
      action: 'command.decided',
      reason: 'by the test',
      onBehalfOf: 'kim',
      details: { decision: 'retry', purchaseOrderId: '1001' },
    },
  ],
  [
    'POST /v1/commands/{id}/decide',
    () => `/v1/commands/${planted.command}/decide`,
    { reason: 'again', lines: [{ lineNumber: '1', verdict: 'send-again' }] },
    { action: 'command.decided', reason: 'again', onBehalfOf: null, details: { decision: 'by-line' } },
  ],
  ['POST /v1/commands/{id}/confirm', () => `/v1/commands/${planted.command}/confirm`, why, { details: { decision: 'confirm' } }],
  [
    'POST /v1/commands/{id}/reject',
    () => '/v1/commands/second/reject',
    why,
    { subject: 'second', details: { decision: 'reject' } },
  ],
  [
    'POST /v1/events/{source}/{id}/reject',
    () => `/v1/events/urn%3Aerp/${planted.waitingEvent}/reject`,
    why,
    { action: 'event.rejected', subject: 'urn:erp s-1-waiting', sellerId: 's-1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/keys',
    () => '/v1/keys',
    { name: 'fresh', scopes: ['read'], reason: 'new ERP' },
    { action: 'key.added', reason: 'new ERP', details: { name: 'fresh', scopes: ['read'], sellerIds: null } },
  ],
  [
    'POST /v1/keys/{id}/rotate',
    () => `/v1/keys/${spare}/rotate`,
    { overlapSeconds: 60 },
    { action: 'key.rotated', details: { name: 'spare', overlapMs: 60_000 } },
  ],
  ['DELETE /v1/keys/{id}', () => `/v1/keys/${spare}?reason=lost`, undefined, { action: 'key.revoked', reason: 'lost' }],
  [
    'POST /v1/orders/{purchaseOrderId}/reveal',
    () => `/v1/orders/${planted.order}/reveal`,
    { actor: 'kim' },
    { action: 'buyer.shown', subject: '1001', sellerId: 's-1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/quarantine/{id}/replay',
    () => '/v1/quarantine/1/replay',
    undefined,
    { action: 'record.replay_requested', subject: '1' },
  ],
  [
    'POST /v1/quarantine/{id}/reveal',
    () => '/v1/quarantine/1/reveal',
    { actor: 'kim' },
    { action: 'record.shown', subject: '1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/quarantine/{id}/dismiss',
    () => '/v1/quarantine/2/dismiss',
    why,
    { action: 'record.dismissed', onBehalfOf: 'kim', details: { resource: 'orders' } },
  ],
  ['POST /v1/retention/run', () => '/v1/retention/run', undefined, { action: 'retention.run_requested', sellerId: null }],
  ['POST /v1/sellers/reload', () => '/v1/sellers/reload', undefined, { action: 'sellers.reload_requested', sellerId: null }],
  [
    'POST /v1/sellers/{id}/go-live',
    () => '/v1/sellers/s-1/go-live',
    why,
    { action: 'seller.went_live', subject: 's-1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/sellers/{id}/go-shadow',
    () => '/v1/sellers/s-1/go-shadow',
    why,
    { action: 'seller.went_shadow', subject: 's-1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/sellers/{id}/pause',
    () => '/v1/sellers/s-1/pause',
    why,
    { action: 'seller.paused', subject: 's-1', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/sellers/{id}/resume',
    () => '/v1/sellers/s-1/resume',
    { actor: 'ada' },
    { action: 'seller.resumed', onBehalfOf: null },
  ],
  [
    'DELETE /v1/sellers/{id}',
    () => '/v1/sellers/s-gone?reason=mistyped',
    undefined,
    {
      action: 'seller.removed',
      subject: 's-gone',
      sellerId: 's-gone',
      reason: 'mistyped',
      details: { deleted: true, alarms: 0 },
    },
  ],
  [
    'POST /v1/syncs/{resource}/run',
    () => '/v1/syncs/orders/run',
    { sellerId: 's-1', from: '2026-02-01' },
    { action: 'sync.run_requested', subject: 'orders', details: { from: '2026-02-01T00:00:00.000Z', to: null } },
  ],
  ['POST /v1/webhooks', () => '/v1/webhooks', { url: 'https://shop.example/hooks' }, { action: 'webhook.added' }],
  ['PATCH /v1/webhooks/{id}', hook, { state: 'paused' }, { action: 'webhook.changed', details: { state: 'paused' } }],
  ['POST /v1/webhooks/{id}/rotate', () => `${hook()}/rotate`, undefined, { action: 'webhook.rotated' }],
  ['POST /v1/webhooks/{id}/redeliver', () => `${hook()}/redeliver`, { ids: ['1'] }, { action: 'webhook.redelivered' }],
  ['POST /v1/webhooks/{id}/test', () => `${hook()}/test`, undefined, { action: 'webhook.test_requested' }],
  ['DELETE /v1/webhooks/{id}', hook, undefined, { action: 'webhook.removed' }],
  [
    'POST /v1/proposals',
    () => '/v1/proposals',
    { type: 'erp.order.accepted', data: { sellerId: 's-1', purchaseOrderId: '1001' }, reason: 'it is in stock' },
    { action: 'proposal.added', sellerId: 's-1', details: { type: 'erp.order.accepted' } },
  ],
  [
    'POST /v1/proposals/{id}/approve',
    () => `/v1/proposals/${planted.proposal}/approve`,
    why,
    { action: 'proposal.approval_requested', sellerId: 's-1', reason: 'by the test', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/proposals/{id}/reject',
    () => `/v1/proposals/${Number(planted.proposal) + 1}/reject`,
    why,
    { action: 'proposal.rejected', sellerId: 's-1', reason: 'by the test', onBehalfOf: 'kim' },
  ],
  [
    'POST /v1/alarm-channels',
    () => '/v1/alarm-channels',
    { name: 'staff', kind: 'email', recipients: ['staff@shop.example'] },
    { action: 'alarm_channel.added', details: { name: 'staff', kind: 'email' } },
  ],
  [
    'PATCH /v1/alarm-channels/{id}',
    channel,
    { url: 'https://hooks.example/T/other' },
    { action: 'alarm_channel.changed', details: { changed: ['url'], state: 'active' } },
  ],
  ['POST /v1/alarm-channels/{id}/test', () => `${channel()}/test`, undefined, { action: 'alarm_channel.test_requested' }],
  ['DELETE /v1/alarm-channels/{id}', channel, undefined, { action: 'alarm_channel.removed' }],
  // The last one, because it erases the reasons of the order's commands.
  [
    'POST /v1/erasures',
    () => '/v1/erasures',
    { sellerId: 's-1', customerOrderId: 'C-1001', reason: 'asked for', actor: 'kim' },
    { action: 'buyer.erased', subject: 'C-1001', reason: 'asked for', onBehalfOf: 'kim' },
  ],
]

describe('every act of a person', () => {
  beforeAll(async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
       VALUES ('second', 's-1', '1001', 'acknowledge', 'held', '{}')`,
    )
    // What may name the buyer that is erased at the end: by what it was done to, or by itself.
    await stage.database.execute(
      `INSERT INTO tallyman.erp_event (source, id, type, data)
       VALUES ('urn:erp', 'of the order', 'erp.order.accepted', '{"sellerId": "s-1", "purchaseOrderId": "1001"}')`,
    )
    const [record] = await stage.database.query<{ id: bigint }>(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
       VALUES ('s-1', 'orders', '\\x09', '{"purchaseOrderId": "1001"}', 'no lines', now()) RETURNING id`,
    )
    for (const path of ['/v1/events/urn%3Aerp/of%20the%20order/reject', `/v1/quarantine/${record?.id}/dismiss`]) {
      expect((await call(ada, 'POST', path, { reason: 'somebody called' })).status).toBe(200)
    }
    expect((await call(ada, 'POST', '/v1/sellers/s-1/pause', { reason: 'a buyer of theirs called' })).status).toBe(200)
    expect((await call(ada, 'POST', '/v1/sellers/s-1/resume')).status).toBe(200)
  })

  test.each(acts)('%s is in the audit, by the name of the key', async (name, path, body, entry) => {
    const answer = await call(ada, name.split(' ')[0] ?? '', path(), body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    expect(await newest()).toMatchObject({ actor: 'ada', keyId: adaId, at: expect.any(String), ...entry })
  })

  test('signing in and out is in the audit too', async () => {
    const headers = { 'content-type': 'application/json', origin: server.url }
    const opened = await server.fetch('/v1/session', { method: 'POST', headers, body: JSON.stringify({ key: ada }) })
    expect(await newest()).toMatchObject({ action: 'session.opened', actor: 'ada', subject: adaId, keyId: adaId })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    await server.fetch('/v1/session', { method: 'DELETE', headers: { origin: server.url, cookie } })
    expect(await newest()).toMatchObject({ action: 'session.closed', actor: 'ada', subject: adaId, keyId: adaId })
  })

  test('no route that changes something is left out', async () => {
    const { body } = await call(apiKey, 'GET', '/openapi.json')
    // What the ERP and the marketplace send is no act of a person.
    const received = ['POST /v1/events', 'POST /v1/notifications/{sellerId}', 'POST /v1/notifications/{sellerId}/token']
    // Nothing in a demonstration is real.
    const unrecorded = [...received, 'POST /v1/demonstration/trouble']
    const changing = readOperations(body).filter(({ name, method }) => method !== 'GET' && !unrecorded.includes(name))
    expect(acts.map(([name]) => name).sort()).toEqual(changing.map(({ name }) => name).sort())
  })

  test('decisions name the key too, where they are shown', async () => {
    const { body } = await call(apiKey, 'GET', `/v1/commands/${planted.command}`)
    expect(listAt(body, 'decisions').map((decision) => at(decision, 'actor'))).toEqual(['ada', 'ada', 'ada'])
    const { body: event } = await call(apiKey, 'GET', `/v1/events/urn%3Aerp/${planted.waitingEvent}`)
    expect(at(event, 'state')).toBe('rejected')
  })

  test('the erasure of a buyer takes the reasons that may name him', async () => {
    const { body } = await call(apiKey, 'GET', '/v1/audit?action=command.decided')
    expect(listAt(body, 'items').length).toBe(4)
    expect(ofItems(body, 'reason')).toEqual(['erased', 'erased', 'erased', 'erased'])
    const readReasons = async (query: string) => ofItems((await call(apiKey, 'GET', `/v1/audit?${query}`)).body, 'reason')
    expect(await readReasons('action=event.rejected')).toEqual(['by the test', 'erased'])
    expect(await readReasons('action=record.dismissed')).toEqual(['by the test', 'erased'])
    expect(await readReasons('action=seller.paused')).toEqual(['by the test', 'erased'])
    expect(at((await call(apiKey, 'GET', '/v1/audit?action=buyer.erased')).body, 'items')).toMatchObject([
      { reason: 'asked for' },
    ])
  })

  test('of bull-board is recorded before it is done', async () => {
    await server.fetch('/queues/api/queues/orders/pause', { method: 'PUT', headers: { authorization: `Bearer ${ada}` } })
    expect(await newest()).toMatchObject({
      actor: 'ada',
      action: 'queues.change_requested',
      subject: '/queues/api/queues/orders/pause',
      details: { method: 'PUT' },
    })
  })

  test('with API_KEY has the name that the client gives, and says which key it was', async () => {
    await call(apiKey, 'POST', '/v1/sellers/s-1/resume', { actor: 'kim' })
    expect(await newest()).toMatchObject({ actor: 'kim', keyId: 'API_KEY', onBehalfOf: null })
    await call(apiKey, 'POST', '/v1/sellers/s-1/resume')
    expect(await newest()).toMatchObject({ actor: 'operator', keyId: 'API_KEY' })
    const open = await startServer(stage.database)
    await open.fetch('/v1/sellers/s-1/resume', { method: 'POST' })
    await open.close()
    expect(await newest()).toMatchObject({ actor: 'operator', keyId: null })
  })

  test('a change of LOG_REASONS is one', async () => {
    await recordReasons(stage.database, 's-1', new Map([['gone fishing', 'lost']]))
    expect(await newest()).toMatchObject({
      actor: 'settings',
      action: 'log_reasons.changed',
      sellerId: 's-1',
      details: { named: { 'gone fishing': 'lost' }, dropped: [] },
    })
    const id = at(await newest(), 'id')
    await recordReasons(stage.database, 's-1', new Map([['gone fishing', 'lost']]))
    expect(at(await newest(), 'id')).toBe(id)
  })

  test('what is refused is not in it', async () => {
    const id = at(await newest(), 'id')
    expect((await call(ada, 'POST', `/v1/commands/${planted.command}/retry`, why)).status).toBe(409)
    expect((await call(ada, 'POST', '/v1/sellers/nobody/pause', why)).status).toBe(404)
    expect((await call(ada, 'POST', '/v1/syncs/nothing/run')).status).toBe(404)
    expect(at(await newest(), 'id')).toBe(id)
  })
})

describe('without its entry', () => {
  let thirdRecord: bigint | undefined
  let secondAlarm: bigint | undefined
  beforeAll(async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload)
       VALUES ('third', 's-1', '1001', 'acknowledge', 'held', '{}')`,
    )
    const records = await stage.database.query<{ id: bigint }>(
      `INSERT INTO tallyman.quarantined_records (seller_id, resource, raw_hash, raw_text, fault, observed_at)
       VALUES ('s-1', 'orders', '\\x03', '[]', 'no key', now()) RETURNING id`,
    )
    thirdRecord = records[0]?.id
    const alarms = await stage.database.query<{ id: bigint }>(
      `INSERT INTO tallyman.alarms (seller_id, kind, subject, message) VALUES ('s-1', 'event-rejected', 'another', 'look') RETURNING id`,
    )
    secondAlarm = alarms[0]?.id
    await stage.database.execute(`ALTER TABLE tallyman.audit_entries ADD CONSTRAINT none CHECK (false) NOT VALID`)
  })
  afterAll(async () => {
    await stage.database.execute(`ALTER TABLE tallyman.audit_entries DROP CONSTRAINT none`)
  })

  const state = () =>
    stage.database.query(
      `SELECT (SELECT json_agg(c ORDER BY id) FROM tallyman.commands c) AS commands,
         (SELECT json_agg(d ORDER BY id) FROM tallyman.command_decisions d) AS decisions,
         (SELECT json_agg(q ORDER BY id) FROM tallyman.quarantined_records q) AS records,
         (SELECT json_agg(a ORDER BY id) FROM tallyman.alarms a) AS alarms,
         (SELECT json_agg(s ORDER BY seller_id) FROM tallyman.sellers s) AS sellers,
         (SELECT json_agg(w ORDER BY campaign_id) FROM tallyman.watched_campaigns w) AS campaigns,
         (SELECT json_agg(k.* ORDER BY id) FROM (SELECT id, name, secret_hash, revoked_at FROM tallyman.api_keys) k) AS keys`,
    )

  const undone: readonly (readonly [method: string, path: () => string, body: object | undefined])[] = [
    ['POST', () => '/v1/commands/third/reject', why],
    ['POST', () => `/v1/quarantine/${thirdRecord}/dismiss`, why],
    ['POST', () => `/v1/quarantine/${thirdRecord}/replay`, undefined],
    ['POST', () => `/v1/alarms/${secondAlarm}/resolve`, undefined],
    ['POST', () => '/v1/sellers/s-1/go-live', why],
    ['POST', () => '/v1/sellers/s-1/pause', why],
    ['POST', () => '/v1/campaigns', { campaignIds: ['c-10'] }],
    ['DELETE', () => `/v1/campaigns/${planted.campaign}`, undefined],
    ['POST', () => '/v1/keys', { name: 'unaudited', scopes: ['read'] }],
    ['POST', () => `/v1/keys/${adaId}/rotate`, undefined],
    ['DELETE', () => `/v1/keys/${adaId}`, undefined],
    ['POST', () => '/v1/syncs/orders/run', undefined],
    ['POST', () => '/v1/retention/run', undefined],
    ['POST', () => '/v1/sellers/reload', undefined],
  ]
  test.each(undone)('nothing is done by %s %s', async (method, path, body) => {
    const before = await state()
    expect((await call(ada, method, path(), body)).status).toBe(500)
    expect(await state()).toEqual(before)
  })
})

describe('the list', () => {
  test('is paged and filtered', async () => {
    const { body: whole } = await call(apiKey, 'GET', '/v1/audit?limit=1000')
    const ids: unknown[] = []
    let cursor: string | null = null
    do {
      const path: string = `/v1/audit?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`
      const { body } = await call(apiKey, 'GET', path)
      ids.push(...ofItems(body, 'id'))
      cursor = textOrNullAt(body, 'nextCursor')
    } while (cursor !== null)
    expect(ids).toEqual(ofItems(whole, 'id'))
    const middle = textAt(whole, 'items', 10, 'at')
    for (const [query, fits] of [
      ['actor=kim', (one: unknown) => at(one, 'actor') === 'kim'],
      ['onBehalfOf=kim', (one: unknown) => at(one, 'onBehalfOf') === 'kim'],
      ['action=seller.paused', (one: unknown) => at(one, 'action') === 'seller.paused'],
      ['subject=second', (one: unknown) => at(one, 'subject') === 'second'],
      [`keyId=${adaId}`, (one: unknown) => at(one, 'keyId') === adaId],
      ['sellerId=s-1', (one: unknown) => at(one, 'sellerId') === 's-1'],
      [`from=${middle}`, (one: unknown) => textAt(one, 'at') >= middle],
      [`to=${middle}`, (one: unknown) => textAt(one, 'at') < middle],
    ] as const) {
      const expected = listAt(whole, 'items').filter(fits)
      expect(expected.length, query).toBeGreaterThan(0)
      expect(at((await call(apiKey, 'GET', `/v1/audit?limit=1000&${query}`)).body, 'items'), query).toEqual(expected)
    }
  })

  test('comes as a table too, and a cursor is of its filters', async () => {
    const answer = await server.fetch('/v1/audit?actor=kim', {
      headers: { authorization: `Bearer ${apiKey}`, accept: 'text/csv' },
    })
    const rows = parse<Record<string, string>>(await answer.text(), { columns: true })
    const { body } = await call(apiKey, 'GET', '/v1/audit?actor=kim&limit=1000')
    expect(rows.map(({ id, action }) => [id, action])).toEqual(
      listAt(body, 'items').map((one) => [at(one, 'id'), at(one, 'action')]),
    )
    const nextCursor = textAt((await call(apiKey, 'GET', '/v1/audit?limit=1')).body, 'nextCursor')
    expect((await call(apiKey, 'GET', `/v1/audit?actor=kim&cursor=${nextCursor}`)).status).toBe(400)
  })

  test.each(['action=nothing', 'from=yesterday', 'cursor=x', 'who=kim'])('refuses %s', async (query) => {
    expect((await call(apiKey, 'GET', `/v1/audit?${query}`)).status).toBe(400)
  })

  test('names every action that there is', async () => {
    const { body } = await call(apiKey, 'GET', '/v1/audit?limit=1000')
    expect([...new Set(ofItems(body, 'action'))].sort()).toEqual([...auditActions].sort())
  })
})
