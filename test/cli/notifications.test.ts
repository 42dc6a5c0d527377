import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { buildNotificationUrl, buildProof } from '../../src/cli/notifications/destination.ts'
import { describeState, listUncorrected, planRepair, planSubscribe } from '../../src/cli/notifications/plan.ts'
import { parseReceived } from '../../src/cli/notifications/received.ts'
import type { Subscription } from '../../src/clients/marketplace/notifications/subscriptions.ts'
import { readConfig, type SellerSettings } from '../../src/config/config.ts'
import { withDatabase } from '../support/database.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { cli } from './run.ts'

const secret = 'marketplace:a-password-of-the-tests'
const base = 'https://tallyman.example'
const url = `${base}/v1/notifications/A1`
const type = (eventType: string, resourceName: string) => ({ eventType, resourceName, eventVersion: 'V1' })
const [orders, returns] = [type('ORDER_UPDATES', 'ORDER'), type('RETURN_CREATED', 'RETURNS')]
const offered = [orders, type('PO_CREATED', 'ORDER'), returns, type('BUY_BOX_CHANGED', 'PRICE')]
const has = (id: string, eventType: string, more: Partial<Subscription> = {}): Subscription => ({
  ...{ id, eventType, resourceName: null, url, isActive: true, mode: 'hmac' },
  ...more,
})
const need = (...existing: readonly Subscription[]) => ({ offered, existing, url, mode: 'hmac' }) as const
const repair = (...existing: readonly Subscription[]) =>
  planRepair(need(...existing), { renewSecret: false }).map((change) =>
    change.kind === 'create' ? ['create', change.eventType.eventType] : [change.kind, change.subscription.id],
  )

describe('the changes', () => {
  test('subscribe creates each event that is read and missing at the address, and nothing else', () => {
    expect(planSubscribe(need())).toEqual([
      { kind: 'create', eventType: orders, why: 'missing' },
      { kind: 'create', eventType: returns, why: 'missing' },
    ])
    const elsewhere = has('s-2', 'RETURN_CREATED', { url: 'https://other.example/hook' })
    expect(planSubscribe(need(has('s-1', 'ORDER_UPDATES', { isActive: false }), elsewhere))).toEqual([
      { kind: 'create', eventType: returns, why: 'missing' },
    ])
  })

  test('what subscribe leaves in another mode or inactive is named, and what repair corrects is not', () => {
    const wrong = need(has('s-1', 'ORDER_UPDATES', { mode: 'basic' }), has('s-2', 'RETURN_CREATED', { isActive: false }))
    expect(listUncorrected(wrong, planSubscribe(wrong))).toEqual([
      { eventType: 'ORDER_UPDATES', why: 'another mode: basic' },
      { eventType: 'RETURN_CREATED', why: 'inactive' },
    ])
    expect(listUncorrected(wrong, planRepair(wrong, { renewSecret: false }))).toEqual([])
    const elsewhere = need(has('s-1', 'ORDER_UPDATES', { url: 'https://other.example/hook', mode: 'basic' }))
    expect(listUncorrected(elsewhere, planSubscribe(elsewhere))).toEqual([])
  })

  test('repair changes nothing that is right, nor subscriptions of other programs', () => {
    const other = { url: 'https://other.example/hook' }
    const right = [has('s-1', 'ORDER_UPDATES'), has('s-2', 'RETURN_CREATED')]
    expect(
      repair(...right, has('s-3', 'PO_CREATED', other), has('s-4', 'ORDER_UPDATES', other), has('s-5', 'BUY_BOX_CHANGED')),
    ).toEqual([])
  })

  test.each([
    ['an inactive one', { isActive: false }],
    ['another address of a daemon', { url: 'https://old.example/v1/notifications/A1' }],
    ['another seller', { url: `${base}/v1/notifications/B2` }],
    ['another mode', { mode: 'basic' }],
    ['one without a proof', { mode: null }],
  ] as const)('repair corrects %s', (_what, wrong) => {
    expect(repair(has('s-1', 'ORDER_UPDATES', wrong), has('s-2', 'RETURN_CREATED'))).toEqual([['update', 's-1']])
  })

  test('repair keeps the right one of several, and removes single events last', () => {
    const double = has('s-1', 'ORDER_UPDATES', { isActive: false })
    expect(repair(has('s-0', 'PO_CREATED'), double, has('s-2', 'ORDER_UPDATES'))).toEqual([
      ['create', 'RETURN_CREATED'],
      ['remove', 's-1'],
      ['remove', 's-0'],
    ])
  })

  test('a new secret is sent to each', () => {
    const changes = planRepair(need(has('s-1', 'ORDER_UPDATES'), has('s-2', 'RETURN_CREATED')), { renewSecret: true })
    expect(changes.map(({ kind, why }) => [kind, why])).toEqual([
      ['update', 'current secret'],
      ['update', 'current secret'],
    ])
  })
})

test.each([
  ['active here', {}, 'active', true],
  ['inactive', { isActive: false }, 'inactive', false],
  ['another program', { url: 'https://other.example/hook' }, 'another program', false],
  ['another daemon', { url: 'https://old.example/v1/notifications/A1' }, 'another daemon', false],
  ['a single event', { eventType: 'PO_CREATED' }, 'ends on 2026-12-15', false],
  ['an event that is not read', { eventType: 'BUY_BOX_CHANGED' }, 'active, ignored by the daemon', true],
])('the state of %s is described', (_what, more, state, isGood) => {
  expect(describeState(has('s-1', 'ORDER_UPDATES', more), url)).toEqual({ state, isGood })
})

describe('an address', () => {
  test.each([
    [base, url],
    [`${base}/`, url],
    [`${base}/erp`, `${base}/erp/v1/notifications/A1`],
    [url, url],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1/notifications/A1'],
  ])('%s leads to the route of the seller', (given, expected) => expect(buildNotificationUrl(given, 'A1')).toBe(expected))

  test('the id of the seller is encoded', () => {
    expect(buildNotificationUrl(base, 'A/1')).toBe(`${base}/v1/notifications/A%2F1`)
  })

  test.each([
    'tallyman.example',
    'http://tallyman.example',
    'https://u:p@tallyman.example',
    `${base}?a=b`,
    `${base}/v1/notifications/B2`,
  ])('%s is refused', (given) => expect(() => buildNotificationUrl(given, 'A1')).toThrow(/--url/))
})

describe('a proof', () => {
  const environment = { MARKETPLACE_URL: 'http://127.0.0.1:1', SELLER_ID: 'A1', CLIENT_ID: 'c', CLIENT_SECRET: 's' }
  const seller = (notificationsSecret?: string): SellerSettings => {
    const [one] = readConfig({ ...environment, NOTIFICATIONS_SECRET: notificationsSecret }, false).sellers
    if (one === undefined) throw new Error('no seller')
    return one
  }

  test('is made of the secret of the seller', () => {
    expect(buildProof(seller(secret), 'hmac', url)).toEqual({ mode: 'hmac', secret })
    const [user, password] = ['marketplace', 'a-password-of-the-tests']
    expect(buildProof(seller(secret), 'basic', url)).toEqual({ mode: 'basic', user, password })
    const oauth = { mode: 'oauth', tokenUrl: `${url}/token`, clientId: user, clientSecret: password }
    expect(buildProof(seller(secret), 'oauth', url)).toEqual(oauth)
  })

  test('is refused without a secret, or without a user where one is needed, and the secret is not shown', () => {
    expect(() => buildProof(seller(), 'hmac', url)).toThrow('NOTIFICATIONS_SECRET')
    expect(() => buildProof(seller('a-secret-without-user'), 'basic', url)).toThrow(/^(?!.*a-secret-without-user).*user:password/)
  })
})

test('the counts of the daemon are read from its metrics', () => {
  const metrics =
    'tallyman_notifications_total{outcome="accepted"} 3\ntallyman_notifications_total{outcome="refused"} 2\nother 9\n'
  expect(parseReceived(metrics)).toEqual({ total: 5, refused: 2 })
})

describe('against the sandbox', () => {
  const stage = withDatabase()
  let sandbox: TestSandbox
  let environment: Record<string, string>
  beforeAll(async () => {
    sandbox = await startTestSandbox({ MARKETPLACE_PROFILE: 'walmart-us' })
    environment = {
      MARKETPLACE_URL: sandbox.url,
      MARKETPLACE_PROFILE: 'walmart-us',
      SELLER_ID: 'A1',
      CLIENT_ID: 'A1-client',
      CLIENT_SECRET: 'A1-secret',
      NOTIFICATIONS_SECRET: secret,
      TALLYMAN_URL: 'http://127.0.0.1:1',
      RATE_LIMITS: JSON.stringify({ 'notifications.change': { tokens: 1_000, per: '1m' } }),
    }
  })
  afterAll(() => sandbox.stop())
  beforeEach(async () => {
    const listed = itemsSchema.parse(await sandbox.control('GET', '/sellers'))
    if (!listed.items.some(({ sellerId }) => sellerId === 'A1')) await sandbox.control('POST', '/sellers', { sellerId: 'A1' })
    for (const { id } of await list()) await request('DELETE', `/${id}`)
  })

  const connectionSchema = z.object({
    ...{ sellerId: z.string(), clientId: z.string(), clientSecret: z.string(), refreshToken: z.string() },
  })
  const itemsSchema = z.object({ items: z.array(z.object({ sellerId: z.string() })) })
  const listSchema = z.object({
    items: z.array(
      z.object({ id: z.string(), eventType: z.string(), state: z.string(), url: z.string(), mode: z.string().nullable() }),
    ),
  })
  const run = (...args: readonly string[]) => cli(['notifications', ...args], environment)
  const list = async () => listSchema.parse(JSON.parse((await run('list', '--json')).out)).items

  /** A request of the seller's own, as another program makes it. */
  const request = async (method: string, path: string, body?: object): Promise<void> => {
    const token = await fetch(`${sandbox.url}/v3/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from('A1-client:A1-secret').toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: 'grant_type=client_credentials',
    })
    const { access_token } = z.object({ access_token: z.string() }).parse(await token.json())
    const answer = await fetch(`${sandbox.url}/v3/webhooks/subscriptions${path}`, {
      method,
      headers: {
        ...{ 'WM_SEC.ACCESS_TOKEN': access_token, 'WM_QOS.CORRELATION_ID': 'c-1', 'WM_SVC.NAME': 'test' },
        ...{ accept: 'application/json', 'content-type': 'application/json' },
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }

  /** A receiver that answers with `status`. */
  const startReceiver = async (status: number): Promise<{ url: string; received: { authorization: string | undefined }[] }> => {
    const received: { authorization: string | undefined }[] = []
    const server = createServer((incoming, response) => {
      received.push({ authorization: incoming.headers.authorization })
      incoming.resume().on('end', () => response.writeHead(status).end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}`, received }
  }

  test('subscribe shows its changes, makes them once confirmed, and has nothing to do the second time', async () => {
    const shown = await run('subscribe', '--url', base)
    expect(shown).toMatchObject({ code: 1, messages: expect.stringContaining('Type yes') })
    expect(shown.out).toMatch(/create +ORDER_UPDATES +hmac +https:\/\/tallyman\.example\/v1\/notifications\/A1 +missing/)
    expect(await list()).toEqual([])
    expect((await run('list')).messages).toContain('`tallyman notifications subscribe --url https://…` creates them')
    const made = await cli(['notifications', 'subscribe', '--url', base], environment, { input: 'yes\n' })
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('seller A1: ORDER_UPDATES created') })
    const types = ['ORDER_UPDATES', 'RETURN_CREATED', 'RETURN_DELIVERED', 'REPORT_STATUS']
    expect((await list()).map(({ eventType, state, mode, url: to }) => [eventType, state, mode, to])).toEqual(
      types.map((eventType) => [eventType, 'active', 'hmac', url]),
    )
    expect((await run('subscribe', '--url', base, '--yes')).messages).toContain('nothing has to be changed')
    expect(made.out + made.messages).not.toContain('a-password-of-the-tests')
  })

  test('with --json a confirmation is not possible', async () => {
    expect(await run('subscribe', '--url', base, '--json')).toMatchObject({
      code: 2,
      messages: expect.stringContaining('--dry-run'),
    })
    const { out } = await run('subscribe', '--url', base, '--json', '--dry-run')
    expect(JSON.parse(out)).toMatchObject({
      made: false,
      changes: [{ change: 'create', eventType: 'ORDER_UPDATES' }, {}, {}, {}],
    })
  })

  test('repair corrects what others have changed, and keeps the address and the mode', async () => {
    expect((await run('subscribe', '--url', base, '--mode', 'basic', '--yes')).code).toBe(0)
    expect((await run('subscribe', '--url', base, '--mode', 'hmac', '--dry-run')).messages).toContain(
      'ORDER_UPDATES stays as it is (another mode: basic); `tallyman notifications repair --mode hmac` corrects it',
    )
    const [first, second, third] = await list()
    await request('PATCH', `/${first?.id}`, { status: 'INACTIVE' })
    await request('PATCH', `/${second?.id}`, { eventUrl: 'https://old.example/v1/notifications/A1', status: 'INACTIVE' })
    await request('DELETE', `/${third?.id}`)
    const foreign = {
      eventType: 'ORDER_UPDATES',
      eventVersion: 'V1',
      resourceName: 'ORDER',
      eventUrl: 'https://other.example/hook',
    }
    await request('POST', '', { events: [foreign, { ...foreign, eventUrl: url }] })
    const repaired = await run('repair', '--yes')
    expect(repaired).toMatchObject({ code: 0 })
    expect(repaired.out).toMatch(/another address: https:\/\/old\.example/)
    const after = await list()
    expect(after.map(({ eventType, state, mode, url: to }) => [eventType, state, mode, to]).sort()).toEqual([
      ['ORDER_UPDATES', 'active', 'basic', url],
      ['ORDER_UPDATES', 'another program', null, 'https://other.example/hook'],
      ['REPORT_STATUS', 'active', 'basic', url],
      ['RETURN_CREATED', 'active', 'basic', url],
      ['RETURN_DELIVERED', 'active', 'basic', url],
    ])
    expect((await run('repair')).messages).toContain('nothing has to be changed')
  })

  test('repair without any subscription of a daemon needs the address', async () => {
    expect(await run('repair')).toMatchObject({ code: 2, messages: expect.stringContaining('--url') })
    expect((await run('repair', '--url', base, '--yes')).code).toBe(0)
    expect(await list()).toHaveLength(4)
  })

  test('test reports what the marketplace answered', async () => {
    expect(await run('test')).toMatchObject({ code: 1, messages: expect.stringContaining('has no active subscription') })
    const good = await startReceiver(202)
    expect((await run('subscribe', '--url', good.url, '--mode', 'basic', '--yes')).code).toBe(0)
    const tested = await run('test')
    expect(tested).toMatchObject({ code: 0, out: expect.stringContaining('the sample of REPORT_STATUS was accepted') })
    expect(tested.out).toContain('whether the daemon has received it is not known')
    expect(good.received).toEqual([{ authorization: `Basic ${Buffer.from(secret).toString('base64')}` }])
    const bad = await startReceiver(401)
    expect((await run('repair', '--url', bad.url, '--yes')).code).toBe(0)
    const refused = await run('test', '--json')
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.out)).toMatchObject({
      items: [{ accepted: false, answer: expect.stringContaining('answered 401'), seen: null }],
    })
  })

  test.each([
    ['the specification', { MARKETPLACE_PROFILE: 'specification' }, 1, 'the profile specification has no notifications'],
    ['a refresh token without its key', { REFRESH_TOKEN: 'a-refresh-token' }, 1, 'set TOKEN_ENCRYPTION_KEY as the daemon has it'],
    ['no secret', { NOTIFICATIONS_SECRET: '' }, 2, 'has no secret'],
  ])('%s is explained', async (_what, more, code, sentence) => {
    const found = await cli(['notifications', 'subscribe', '--url', base, '--yes'], { ...environment, ...more })
    expect(found).toMatchObject({ code, messages: expect.stringContaining(sentence) })
    expect(await list()).toEqual([])
  })

  test('a refresh token is used as it is stored, and the one that replaces it is stored', async () => {
    const connection = connectionSchema.parse(
      await sandbox.control('POST', '/connections', { sellerId: 'connected', rotates: true }),
    )
    const { sellerId, clientId, clientSecret, refreshToken } = connection
    const connected = {
      ...environment,
      ...{ SELLER_ID: sellerId, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, REFRESH_TOKEN: refreshToken },
      ...{ DATABASE_URL: stage.url, TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
    }
    const subscribed = await cli(['notifications', 'subscribe', '--url', base, '--yes'], connected)
    expect(subscribed).toMatchObject({ code: 0, out: expect.stringContaining('seller connected: ORDER_UPDATES created') })
    // The second use of one token would revoke the access.
    const listed = await cli(['notifications', 'list'], connected)
    expect(listed).toMatchObject({ code: 0, messages: '', out: expect.stringContaining('ORDER_UPDATES') })
    expect(await stage.database.query('SELECT seller_id, version, lease_until FROM tallyman.refresh_tokens')).toEqual([
      { seller_id: sellerId, version: 2, lease_until: null },
    ])
    expect(subscribed.out + subscribed.messages).not.toContain(refreshToken)
  })

  test('an unknown seller is misuse', async () => {
    expect(await run('list', '--seller', 'B2')).toMatchObject({ code: 2, messages: expect.stringContaining('no seller B2') })
  })

  test('a failed change is reported, and the command can be repeated', async () => {
    await sandbox.next({ fault: 'serverErrorBefore', operation: 'notifications.subscribe' })
    const failed = await run('subscribe', '--url', base, '--yes')
    expect(failed).toMatchObject({ code: 1, messages: expect.stringContaining('seller A1, create ORDER_UPDATES') })
    expect((await run('subscribe', '--url', base, '--yes')).code).toBe(0)
    expect(await list()).toHaveLength(4)
  })
})
