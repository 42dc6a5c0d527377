import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMarketplaceClient } from '../../src/clients/marketplace/marketplace.ts'
import { profiles } from '../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../src/config/config.ts'
import { readMarketplaceStatuses } from '../../src/jobs/maintenance/marketplace-status.ts'
import { reviewAlarms } from '../../src/jobs/maintenance/review-alarms.ts'
import { createSellerRegistry, type SellerRegistry } from '../../src/jobs/sellers/registry.ts'
import { raiseAlarm, resolveAlarm, reviewSyncAlarm } from '../../src/store/alarms/alarms.ts'
import { alarmWaiting } from '../../src/store/commands/command-steps.ts'
import { readCommand } from '../../src/store/commands/commands.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { items, startLiveClient, type TestClient } from '../sandbox/support.ts'
import { acknowledgement, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 'sandbox-seller'
let sandbox: TestClient
let sellers: SellerRegistry
let warnings: string[]

const log = { debug: () => undefined, warn: () => undefined }
const quiet = {
  warn: (_topic: string, _fields: object, message: string) => void warnings.push(message),
  recovered: () => undefined,
}

beforeEach(async () => {
  warnings = []
  sandbox = await startLiveClient()
  const configured = readConfig({ MARKETPLACE_PROFILE: 'walmart-us' }, false).sellers
  sellers = createSellerRegistry({
    sellers: [...configured, ...configured.map((seller) => ({ ...seller, sellerId: 'second-seller' }))],
    sandboxUrl: sandbox.url,
    display: null,
    requestTimeoutMs: 5_000,
    profiles,
    budget: createInProcessBudget({}),
    log,
    hooks: {},
    createClient: createMarketplaceClient,
  })
  await recordSellers(
    stage.database,
    sellers.ids().map((id) => sellers.configured(id)),
  )
})
afterEach(() => sellers.close())

const run = () => readMarketplaceStatuses({ database: stage.database, quiet, sellers }, AbortSignal.timeout(10_000))
const report = (statuses: object) => sandbox.control('PUT', '/api-status', statuses)
const countReads = async () =>
  items(await sandbox.control('GET', '/requests?limit=5000'), 'items').filter(
    (request) => Object(request).operation === 'api-status.list',
  ).length
const age = (minutes: number) =>
  stage.database.execute(
    `UPDATE tallyman.marketplace_status SET checked_at = now() - make_interval(mins => $1::int), since = since - interval '1 day'`,
    minutes,
  )
const stored = (apiGroup: string) =>
  stage.database.query<{ seller_id: string; status: string; since: Date }>(
    'SELECT seller_id, status, since FROM tallyman.marketplace_status WHERE api_group = $1 ORDER BY seller_id',
    apiGroup,
  )

describe('the stored status', () => {
  test('is read for one seller of each marketplace: once an hour, for a new alarm at once, and every five minutes while one is open', async () => {
    await run()
    await run()
    expect(await countReads()).toBe(1)
    expect(await stored('Orders')).toMatchObject([
      { seller_id: sellerId, status: 'OPERATIONAL' },
      { seller_id: 'second-seller', status: 'OPERATIONAL' },
    ])
    await age(60)
    await run()
    expect(await countReads()).toBe(2)
    const alarm = { sellerId: 'second-seller', kind: 'sync-failing', subject: 'orders/changed' } as const
    await raiseAlarm(stage.database, alarm, 'orders cannot be read')
    await run()
    await run()
    expect(await countReads()).toBe(3)
    await age(5)
    await run()
    await run()
    expect(await countReads()).toBe(4)
    await resolveAlarm(stage.database, alarm)
    await age(5)
    await run()
    expect(await countReads()).toBe(4)
  })

  test('keeps its time as long as it is reported, and a group that is no longer reported is removed', async () => {
    await report({ Orders: 'SERVICE_OUTAGE' })
    await run()
    await age(60)
    const [before] = await stored('Orders')
    await stage.database.execute(`UPDATE tallyman.marketplace_status SET api_group = 'Former' WHERE api_group = 'Items'`)
    await run()
    const [during] = await stored('Orders')
    expect([during?.since, await stored('Former')]).toEqual([before?.since, []])
    await report({})
    await age(60)
    await run()
    const [after] = await stored('Orders')
    expect(after?.status).toBe('OPERATIONAL')
    expect(after?.since.getTime()).toBeGreaterThan(during?.since.getTime() ?? Number.NaN)
  })

  test('stays as it is while the marketplace does not answer, which is no error of the job', async () => {
    await run()
    await age(60)
    await sandbox.control('PUT', '/faults', { serverErrorBefore: 1 })
    await run()
    expect(warnings).toEqual(['the status of the marketplace cannot be read; it is requested again in a minute'])
    expect(await stored('Orders')).toHaveLength(2)
  })
})

describe('an outage that the marketplace reports', () => {
  const messages = async () =>
    Object.fromEntries(
      (await stage.database.prisma.alarm.findMany({ where: { resolvedAt: null } })).map(({ kind, subject, message }) => [
        kind === 'command-waiting' ? kind : `${kind} ${subject}`,
        /\. (The marketplace reports .*)$/.exec(message)?.[1] ?? null,
      ]),
    )
  /** Writes each alarm again, as the next failed run or step does. */
  const fail = async (commandId: string, cause: 'step' | 'process' = 'step') => {
    for (const resource of ['orders', 'returns']) await reviewSyncAlarm(stage.database, { sellerId, resource, stream: 'changed' })
    const streams = ['orders', 'returns'].map((resource) => ({ sellerId, resource, stream: 'changed', everyMs: 60_000 }))
    const upForMs = 86_400_000
    await reviewAlarms({ database: stage.database, streams, sellerIds: sellers.ids(), findNow: () => new Date(), upForMs })
    await stage.database.transaction(async (tx) => {
      const command = await readCommand(tx, commandId)
      if (command === null) throw new Error('the command is not stored')
      await alarmWaiting(tx, command, 'the marketplace does not answer', cause)
    })
  }

  test('is named in the alarms that it causes', async () => {
    await stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, failures, last_error, last_success_at)
       SELECT $1, resource, 'changed', 5, 'HTTP 503', now() - interval '2 hours' FROM unnest(ARRAY['orders', 'returns']) AS t(resource)`,
      sellerId,
    )
    const commandId = await storeCommand(stage.database, { sellerId, purchaseOrderId: '1' }, acknowledgement)
    const none = {
      'sync-failing orders/changed': null,
      'sync-failing returns/changed': null,
      'sync-behind orders/changed': null,
      'sync-behind returns/changed': null,
      'command-waiting': null,
    }
    await run()
    await fail(commandId)
    expect(await messages()).toEqual(none)

    await report({ Orders: 'SERVICE_OUTAGE', Price: 'SERVICE_OUTAGE' })
    await run()
    const [orders] = await stored('Orders')
    const said = `The marketplace reports SERVICE_OUTAGE for Orders since ${orders?.since.toISOString()}.`
    // Nothing has failed again since.
    expect(await messages()).toEqual({ ...none, 'sync-failing orders/changed': said })
    await fail(commandId)
    const named = { 'sync-failing orders/changed': said, 'sync-behind orders/changed': said, 'command-waiting': said }
    expect(await messages()).toEqual({ ...none, ...named })

    // A command on which no process works does not wait for the marketplace.
    await fail(commandId, 'process')
    expect(await messages()).toEqual({ ...none, ...named, 'command-waiting': null })

    await age(121)
    await fail(commandId)
    expect(await messages()).toEqual(none)
  })
})
