import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { NextFault } from '../../../sandbox/faults/schema.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../../../src/clients/marketplace/profiles/index.ts'
import { shippingSettingsEndpoint, shippingSettingsWrites } from '../../../src/clients/marketplace/shipping-settings.ts'
import { parseShippingSettings } from '../../../src/clients/marketplace/shipping-settings-record.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../../src/config/config.ts'
import { shippingSettingsSchema } from '../../../src/domain/campaigns/shipping-settings.ts'
import type { CommandParts } from '../../../src/jobs/commands/engine/engine.ts'
import { acceptEvents } from '../../../src/jobs/events/accept.ts'
import { createOrderFetcher } from '../../../src/jobs/events/fetch-order.ts'
import { createSellerRegistry, type SellerRegistry } from '../../../src/jobs/sellers/registry.ts'
import { storeShippingSettings } from '../../../src/store/campaigns/shipping-settings.ts'
import { decideCommand } from '../../../src/store/commands/command-decisions.ts'
import { insertCommands } from '../../../src/store/commands/command-steps.ts'
import { findDueCommands, findHeadCommand } from '../../../src/store/commands/commands.ts'
import { recordSellers } from '../../../src/store/sellers/sellers.ts'
import { sendJson, startMarketplace } from '../../clients/servers.ts'
import { settings } from '../../domain/support/shipping-settings.ts'
import { numbered } from '../../support/changes.ts'
import { withDatabase } from '../../support/database.ts'
import { runCommand } from '../../support/run-command.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'

const stage = withDatabase({ each: 'test' })
let sandbox: TestSandbox
let sellers: SellerRegistry
let parts: CommandParts
let sellerId: string
let settled: string[]

const log = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const path = '/v3/settings/shipping/simplifiedshippingsettings'

const registryAt = (url: string): SellerRegistry =>
  createSellerRegistry({
    sellers: readConfig({}, false).sellers.map((seller) => ({
      ...seller,
      sellerId,
      clientId: `${sellerId}-client`,
      clientSecret: `${sellerId}-secret`,
    })),
    sandboxUrl: url,
    display: null,
    requestTimeoutMs: 400,
    profiles,
    // The ordinary limit is five creations a minute.
    budget: createInProcessBudget({ limits: { 'shipping-settings.create': { tokens: 10_000, perMs: 1_000 } } }),
    log,
    hooks: {},
    createClient: createMarketplaceClient,
  })

beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(async () => {
  await sandbox.stop()
})
beforeEach(async () => {
  sellerId = `seller-${randomUUID()}`
  await sandbox.control('POST', '/sellers', { sellerId })
  sellers = registryAt(sandbox.url)
  await recordSellers(stage.database, [sellers.configured(sellerId)])
  settled = []
  parts = {
    database: stage.database,
    sellers,
    owner: 'test',
    requestTimeoutMs: 400,
    settleTimeMs: 1_000,
    onSettled: async (seller, subject) => {
      settled.push(subject)
      expect(seller).toBe(sellerId)
    },
  }
})
afterEach(async () => {
  await sellers.close()
})

const submit = async (overrides: object = {}): Promise<string> => {
  const payload = { simplifiedShippingSettings: shippingSettingsSchema.parse(settings(overrides)) }
  const [id] = await stage.database.transaction((tx) =>
    insertCommands(tx, {
      sellerId,
      purchaseOrderId: null,
      event: null,
      commands: [{ kind: 'create-shipping-settings', payload }],
    }),
  )
  if (id === undefined) throw new Error('no command was stored')
  return id
}

interface State {
  readonly state: string
  readonly reason: string | null
  readonly evidence: { readonly verdict: string; readonly explanation?: string } | null
  readonly outcomes: readonly string[]
}
const findState = async (id: string): Promise<State> => {
  const [row] = await stage.database.query<State>(
    `SELECT state, reason, evidence,
       ARRAY(SELECT outcome FROM tallyman.command_attempts WHERE command_id = c.id ORDER BY attempt) AS outcomes
     FROM tallyman.commands c WHERE id = $1`,
    id,
  )
  if (row === undefined) throw new Error('no such command')
  return row
}

/** Runs the command as the queue would, until it is settled or held; `until` stops earlier. */
const settle = async (id: string, until = ''): Promise<State> => {
  const deadline = performance.now() + 20_000
  for (;;) {
    const outcome = await runCommand(parts, id, { signal: AbortSignal.timeout(30_000), log })
    const state = await findState(id)
    if (['confirmed', 'rejected', 'held', until].includes(state.state)) return state
    if (performance.now() > deadline) throw new Error(`command is still ${state.state}`)
    if ('runAgainAt' in outcome) await delay(Math.max(0, outcome.runAgainAt.getTime() - Date.now()))
  }
}

const next = (operation: 'create' | 'get', fault: Partial<NextFault> & Pick<NextFault, 'fault'>) =>
  sandbox.next({ operation: `shipping-settings.${operation}`, sellerId, ...fault })
const stored = async () =>
  (
    await stage.database.query('SELECT shipping_priority, source FROM warehouse.shipping_settings WHERE seller_id = $1', sellerId)
  )[0]
/** What the marketplace has said, in its own words: kept with the attempts, and told nowhere else. */
const said = async (): Promise<string> =>
  (
    await stage.database.query<{ words: string }>(`SELECT string_agg(failure::text, ' ') AS words FROM tallyman.command_attempts`)
  )[0]?.words ?? ''
const changes = async () =>
  (await (await numbered(stage.database)).query<{ type: string }>('SELECT type FROM warehouse.changes ORDER BY seq')).map(
    ({ type }) => type,
  )
const creations = async () =>
  (await sandbox.effects()).filter((effect) => effect.sellerId === sellerId).map((effect) => effect.kind)
const requests = async (method: string) => {
  const { items } = (await sandbox.control('GET', '/requests?limit=5000')) as {
    items: { sellerId: string | null; method: string; url: string }[]
  }
  return items.filter((item) => item.sellerId === sellerId && item.method === method && item.url.startsWith(path)).length
}
/** Somebody else creates settings, beside the daemon. */
const createElsewhere = async (overrides: object = {}): Promise<void> => {
  const request = sellers
    .client(sellerId)
    .of(shippingSettingsEndpoint)
    .prepare(shippingSettingsSchema.parse(settings(overrides)))
  const client = sellers.liveClient(sellerId)
  if (client === null) throw new Error('the seller is not live')
  await client.writer(shippingSettingsWrites).send(request, { signal: AbortSignal.timeout(10_000), correlationId: randomUUID() })
}

describe('the creation of shipping settings', () => {
  test('is confirmed by its answer, and stored', async () => {
    const id = await submit()
    expect(await settle(id)).toMatchObject({ state: 'confirmed', outcomes: ['applied'], evidence: { verdict: 'applied' } })
    expect(await stored()).toEqual({ shipping_priority: 'FASTEST', source: 'command' })
    expect(await creations()).toEqual(['shipping-settings-created'])
    expect(await changes()).toEqual(['command.pending', 'shipping_settings.created', 'command.confirmed'])
    expect(settled).toEqual(['shipping-settings'])
    // The effect carries no units: nothing was read before.
    expect([await requests('GET'), await requests('POST')]).toEqual([0, 1])
    const [attempt] = await stage.database.query<{ request: object; baseline: object }>(
      'SELECT request, baseline FROM tallyman.command_attempts WHERE command_id = $1',
      id,
    )
    expect(attempt).toMatchObject({
      baseline: { settings: null },
      request: { operation: 'shipping-settings.create', path: `${path}/account`, body: { simplifiedShippingSettings: {} } },
    })
  })

  test.each([
    ['thirdPartyLogistics', 'third-party-logistics'],
    ['bundles', 'bundle items'],
    ['internationalCenters', 'international fulfillment centers'],
    ['majorAppliances', 'major appliances'],
  ])('is rejected in the words of the marketplace for a seller with %s', async (trait, words) => {
    await sandbox.control('PUT', `/sellers/${sellerId}/traits`, { [trait]: true })
    const { state, reason, outcomes } = await settle(await submit())
    expect({ state, outcomes }).toEqual({ state: 'rejected', outcomes: ['refused'] })
    expect(reason).toBe('the marketplace refused it (HTTP 200: INVALID_REQUEST_CONTENT.INVALID_REQUEST (sellerEligibility))')
    expect(await said()).toContain(words)
    expect(await creations()).toEqual([])
    expect(await stored()).toBeUndefined()
  })

  test('tells every word when several things are refused', async () => {
    await sandbox.control('PUT', `/sellers/${sellerId}/traits`, { bundles: true, majorAppliances: true })
    await settle(await submit())
    expect(await said()).toContain('bundle items')
    expect(await said()).toContain('major appliances')
  })

  test('is rejected where settings exist, which are read back and stored', async () => {
    await createElsewhere({ shippingPriority: 'COST_SAVINGS' })
    const { state, reason } = await settle(await submit())
    expect(state).toBe('rejected')
    expect(await said()).toContain('already exist at account level')
    expect(reason).toContain('shippingPriority is COST_SAVINGS, not FASTEST')
    expect(await stored()).toEqual({ shipping_priority: 'COST_SAVINGS', source: 'found' })
    expect(await creations()).toEqual(['shipping-settings-created'])
  })

  test('is rejected as well where the very same settings exist and no request of ours can have made them', async () => {
    await createElsewhere()
    const { state, reason } = await settle(await submit())
    expect(state).toBe('rejected')
    expect(reason).toContain('the same settings exist already')
    expect(await stored()).toMatchObject({ source: 'found' })
  })

  test('is rejected for settings that exist even where they cannot be read', async () => {
    await createElsewhere()
    await next('get', { fault: 'okWithErrors', status: 404 })
    const { state, reason, outcomes } = await settle(await submit())
    expect({ state, outcomes }).toEqual({ state: 'rejected', outcomes: ['refused'] })
    expect(reason).toBe('the marketplace refused it (INVALID_REQUEST_CONTENT.INVALID_REQUEST (simplifiedShippingSettings))')
    expect(await said()).toContain('already exist at account level')
  })

  test('sends nothing when settings are known to exist by then', async () => {
    const [first, second] = [await submit(), await submit({ shippingPriority: 'COST_SAVINGS' })]
    expect(await findHeadCommand(stage.database, sellerId, 'shipping-settings')).toBe(first)
    expect(await findDueCommands(stage.database, 10)).toEqual([first])
    // The second waits for the first.
    expect(await runCommand(parts, second, { signal: AbortSignal.timeout(30_000), log })).toEqual({ done: true })
    expect((await findState(second)).state).toBe('pending')
    expect((await settle(first)).state).toBe('confirmed')
    expect(await settle(second)).toMatchObject({
      state: 'rejected',
      reason: 'account-level settings exist already; nothing was sent',
      outcomes: [],
    })
    expect(await stored()).toEqual({ shipping_priority: 'FASTEST', source: 'command' })
    expect(await requests('POST')).toBe(1)
  })

  test.each(['timeoutAfter', 'serverErrorAfter', 'dropAfter', 'truncatedJson', 'html', 'emptyBody'] as const)(
    'behind %s is found by reading back, and never made twice',
    async (fault) => {
      await next('create', { fault, effect: true })
      expect(await settle(await submit())).toMatchObject({
        state: 'confirmed',
        reason: 'confirmed by reading the account-level setting back',
        outcomes: ['applied'],
      })
      expect(await creations()).toEqual(['shipping-settings-created'])
      expect(await requests('POST')).toBe(1)
      expect(await stored()).toMatchObject({ source: 'command' })
    },
  )

  test.each(['timeoutBefore', 'serverErrorBefore', 'dropBefore'] as const)(
    'after %s is sent again once the settle time has shown that nothing was applied',
    async (fault) => {
      await next('create', { fault })
      const { state, outcomes } = await settle(await submit())
      expect({ state, outcomes }).toEqual({ state: 'confirmed', outcomes: ['not-applied', 'applied'] })
      expect(await creations()).toEqual(['shipping-settings-created'])
    },
  )

  test('whose effect comes late, within the settle time, is still found', async () => {
    await next('create', { fault: 'lateEffect', delayMs: 700 })
    expect(await settle(await submit())).toMatchObject({ state: 'confirmed', outcomes: ['applied'] })
    expect(await creations()).toEqual(['shipping-settings-created'])
  })

  test('that went unanswered while somebody else was quicker is rejected with what exists', async () => {
    await next('create', { fault: 'timeoutBefore' })
    const id = await submit()
    expect((await settle(id, 'verifying')).state).toBe('verifying')
    await createElsewhere({ shippingPriority: 'COST_SAVINGS' })
    expect(await settle(id)).toMatchObject({
      state: 'rejected',
      reason: 'other settings exist already: shippingPriority is COST_SAVINGS, not FASTEST',
      outcomes: ['unknown'],
    })
    expect(await stored()).toEqual({ shipping_priority: 'COST_SAVINGS', source: 'found' })
    expect(await requests('POST')).toBe(2)
  })

  test('that went unanswered is confirmed when the next one is refused and the settings are there as asked for', async () => {
    const error = { code: 'INVALID_REQUEST_CONTENT.INVALID_REQUEST', field: 'simplifiedShippingSettings', severity: 'ERROR' }
    const posted: string[] = []
    const server = await startMarketplace(({ method, body }, response) => {
      if (method === 'POST') {
        posted.push(body)
        if (posted.length === 1) return sendJson(response, 504, {})
        return sendJson(response, 200, { errors: [{ ...error, description: 'There are settings for this account.' }] })
      }
      // The effect of the first request comes only now, long after the settle time.
      if (posted.length > 1) return sendJson(response, 200, posted[0] ?? '')
      sendJson(response, 200, {
        errors: [{ ...error, description: 'Simplified Shipping Settings not found for given partnerPk' }],
      })
    })
    await sellers.close()
    sellers = registryAt(server.url)
    parts = { ...parts, sellers, settleTimeMs: 300 }
    expect(await settle(await submit())).toMatchObject({
      state: 'confirmed',
      outcomes: ['not-applied', 'applied'],
      evidence: { verdict: 'applied', explanation: 'the settings are there as asked for' },
    })
    expect(posted).toHaveLength(2)
  })

  test('that went unanswered is held where settings cannot be read, never guessed, and a person decides', async () => {
    await next('create', { fault: 'timeoutAfter' })
    await next('get', { fault: 'okWithErrors', status: 404, times: 10 })
    const id = await submit()
    expect(await settle(id)).toMatchObject({
      state: 'held',
      reason: 'the marketplace does not let the account-level setting be read back',
      outcomes: ['unknown'],
    })
    const alarms = await stage.database.query<{ message: string }>('SELECT message FROM tallyman.alarms WHERE subject = $1', id)
    expect(alarms).toEqual([
      {
        message: `create-shipping-settings: the marketplace does not let the account-level setting be read back; check the shipping settings of the account, then confirm, reject or retry command ${id}`,
      },
    ])
    const decision = { commandId: id, actor: 'kim', reason: 'seen in the seller centre' }
    expect(await decideCommand(stage.database, { ...decision, decision: 'confirm' })).toEqual({ ok: true, state: 'confirmed' })
  })

  test('that went unanswered is confirmed although one read of the settings is refused', async () => {
    await next('create', { fault: 'timeoutAfter' })
    await next('get', { fault: 'okWithErrors', status: 404 })
    expect(await settle(await submit())).toMatchObject({ state: 'confirmed', outcomes: ['applied'] })
  })

  test('that provably changed nothing waits, when the read before the next request is refused once', async () => {
    await next('create', { fault: 'timeoutBefore' })
    const id = await submit()
    expect((await settle(id, 'verifying')).state).toBe('verifying')
    await expect.poll(() => settle(id, 'pending').then(({ state }) => state)).toBe('pending')
    await next('get', { fault: 'okWithErrors', status: 404 })
    expect(await settle(id)).toMatchObject({ state: 'confirmed', outcomes: ['not-applied', 'applied'] })
  })

  test('that went unanswered is held where the read makes no sense time and again', async () => {
    const server = await startMarketplace(({ method }, response) =>
      sendJson(response, method === 'POST' ? 504 : 200, { errors: [] }),
    )
    await sellers.close()
    sellers = registryAt(server.url)
    parts = { ...parts, sellers, settleTimeMs: 300 }
    expect(await settle(await submit())).toMatchObject({
      state: 'held',
      reason: expect.stringContaining('the account-level setting cannot be read'),
      outcomes: ['unknown'],
    })
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(2)
  })

  test('that a person has sent again goes out although settings cannot be read', async () => {
    await next('create', { fault: 'timeoutBefore' })
    await next('get', { fault: 'okWithErrors', status: 404, times: 100 })
    const id = await submit()
    expect((await settle(id)).state).toBe('held')
    await decideCommand(stage.database, { commandId: id, decision: 'retry', actor: 'kim', reason: 'not there' })
    expect(await settle(id)).toMatchObject({ state: 'confirmed', outcomes: ['dismissed', 'applied'] })
    expect(await creations()).toEqual(['shipping-settings-created'])
  })

  test('that a person has sent again is confirmed, not refused, when the settings turn out to be there as asked for', async () => {
    await next('create', { fault: 'timeoutAfter' })
    const id = await submit()
    expect((await settle(id, 'verifying')).state).toBe('verifying')
    await decideCommand(stage.database, { commandId: id, decision: 'retry', actor: 'kim', reason: 'not to be seen' })
    expect(await settle(id)).toMatchObject({
      state: 'confirmed',
      reason: 'an earlier attempt was applied after all',
      outcomes: ['applied'],
    })
    expect(await requests('POST')).toBe(1)
    expect(await stored()).toMatchObject({ source: 'command' })
  })

  test('is held, never confirmed, when the marketplace accepts it but stores something else', async () => {
    const posted: string[] = []
    const server = await startMarketplace(({ method, body }, response) => {
      if (method === 'POST') posted.push(body.replace('FASTEST', 'COST_SAVINGS'))
      sendJson(response, 200, posted[0] ?? '')
    })
    await sellers.close()
    sellers = registryAt(server.url)
    parts = { ...parts, sellers, settleTimeMs: 300 }
    expect(await settle(await submit())).toMatchObject({
      state: 'held',
      reason: expect.stringContaining(
        'the settings are there, but not as asked for: shippingPriority is COST_SAVINGS, not FASTEST',
      ),
    })
  })

  test('is settled by what is read even where Postgres cannot hold it', async () => {
    const posted: string[] = []
    const server = await startMarketplace(({ method, body }, response) => {
      if (method === 'POST') posted.push(body)
      sendJson(response, 200, (posted[0] ?? '').replace('"48 State"', '"48 State","area":1e200000'))
    })
    await sellers.close()
    sellers = registryAt(server.url)
    parts = { ...parts, sellers, settleTimeMs: 300 }
    expect(await settle(await submit())).toMatchObject({ state: 'confirmed', outcomes: ['applied'] })
    expect(posted).toHaveLength(1)
    expect(await stored()).toBeUndefined()
  })

  test('waits before it is sent again when what stands there cannot be stored', async () => {
    const server = await startMarketplace(({ method }, response) => {
      if (method === 'POST') return sendJson(response, 401, { errors: [{ code: 'UNAUTHORIZED.GMP_GATEWAY_API' }] })
      const text = JSON.stringify({ simplifiedShippingSettings: settings() })
      sendJson(response, 200, text.replace('"48 State"', '"48 State","area":1e200000'))
    })
    await sellers.close()
    sellers = registryAt(server.url)
    parts = { ...parts, sellers }
    const id = await submit()
    const job = { signal: AbortSignal.timeout(30_000), log }
    await runCommand(parts, id, job)
    await stage.database.execute(`UPDATE tallyman.commands SET next_action_at = now() - interval '1 second' WHERE id = $1`, id)
    expect(await runCommand(parts, id, job)).toMatchObject({
      reason: expect.stringContaining('of the account-level setting cannot be stored, so nothing is sent'),
    })
    expect(await findState(id)).toMatchObject({ state: 'pending', outcomes: ['not-sent'] })
  })

  test('whose read-back says "none" does not undo what was stored while that answer was in progress', async () => {
    const asked = Promise.withResolvers<void>()
    const mayAnswer = Promise.withResolvers<void>()
    const server = await startMarketplace(async ({ method }, response) => {
      if (method === 'POST') return sendJson(response, 504, {})
      asked.resolve()
      await mayAnswer.promise
      const description = 'Simplified Shipping Settings not found for given partnerPk'
      sendJson(response, 200, { errors: [{ code: 'INVALID_REQUEST_CONTENT.INVALID_REQUEST', description }] })
    })
    await sellers.close()
    sellers = registryAt(server.url)
    parts = { ...parts, sellers, requestTimeoutMs: 5_000 }
    const id = await submit()
    expect((await settle(id, 'verifying')).state).toBe('verifying')
    await delay(100)
    const step = runCommand(parts, id, { signal: AbortSignal.timeout(30_000), log })
    await asked.promise
    const record = parseShippingSettings(JSON.stringify(settings()))
    if (!record.ok) throw new Error(record.fault)
    await delay(5)
    const now = sellers.client(sellerId).clock().now()
    await stage.database.transaction((tx) => storeShippingSettings(tx, sellerId, now, record))
    mayAnswer.resolve()
    await step
    expect(await changes()).not.toContain('shipping_settings.missing')
  })

  test('whose sender died is read back, not sent again', async () => {
    const id = await submit()
    expect((await settle(id)).state).toBe('confirmed')
    // As a SIGKILL between the answer and its storing would leave it.
    await stage.database.execute(
      `UPDATE tallyman.commands SET state = 'sending', settled_at = NULL, leased_until = now() - interval '1 second' WHERE id = $1`,
      id,
    )
    await stage.database.execute(
      `UPDATE tallyman.command_attempts SET outcome = NULL, finished_at = NULL WHERE command_id = $1`,
      id,
    )
    await stage.database.execute('DELETE FROM warehouse.shipping_settings')
    expect((await settle(id)).state).toBe('confirmed')
    expect(await requests('POST')).toBe(1)
    expect(await stored()).toMatchObject({ source: 'command' })
  })

  test('is sent once by many workers at once', async () => {
    const id = await submit()
    const job = { signal: AbortSignal.timeout(30_000), log }
    await Promise.all(Array.from({ length: 8 }, () => runCommand(parts, id, job)))
    expect((await settle(id)).state).toBe('confirmed')
    expect(await requests('POST')).toBe(1)
  })

  test('waits when the marketplace asks for it, and costs nothing', async () => {
    await next('create', { fault: 'tooManyRequests', delayMs: 300 })
    expect(await settle(await submit())).toMatchObject({ state: 'confirmed', outcomes: ['throttled', 'applied'] })
  })

  test('by two events that race is one creation and one rejection, and a duplicate is no command', async () => {
    const woken: string[] = []
    const accept = {
      database: stage.database,
      sellers,
      fetcher: createOrderFetcher({
        database: stage.database,
        getOrdersClient: (sellerId) => sellers.client(sellerId).of(ordersEndpoint),
        quiet: log,
      }),
      onStored: (commandIds: readonly string[]) => void woken.push(...commandIds),
    }
    const event = (id: string) => ({
      source: 'urn:erp',
      id,
      type: 'erp.shipping-settings.defined',
      data: { simplifiedShippingSettings: settings() },
    })
    const { signal } = new AbortController()
    const verdicts = await Promise.all(['e-1', 'e-2', 'e-1'].map((id) => acceptEvents(accept, [event(id)], signal)))
    expect(verdicts.every(({ ok }) => ok)).toBe(true)
    const ids = [...new Set(woken)]
    expect(ids).toHaveLength(2)
    const job = { signal: AbortSignal.timeout(30_000), log }
    await Promise.all(ids.map((id) => runCommand(parts, id, job)))
    const states = await Promise.all(ids.map(async (id) => (await settle(id)).state))
    expect(states.sort()).toEqual(['confirmed', 'rejected'])
    expect(await creations()).toEqual(['shipping-settings-created'])
    // From now on it is known beforehand.
    expect(await acceptEvents(accept, [event('e-3')], signal)).toMatchObject({
      ok: false,
      faults: [{ path: 'data.simplifiedShippingSettings', message: expect.stringContaining('exist already') }],
    })
  })
})
