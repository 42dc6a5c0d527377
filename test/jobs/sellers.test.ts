import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { MarketplaceFailure } from '../../src/clients/http/errors.ts'
import { createMarketplaceClient } from '../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../src/config/config.ts'
import { probeSeller } from '../../src/jobs/sellers/probe-worker.ts'
import { createSellerRegistry, type SellerRegistry } from '../../src/jobs/sellers/registry.ts'
import { credentialsRefused, stopRefused } from '../../src/jobs/sellers/stop-refused.ts'
import { recordAccepted } from '../../src/store/sellers/seller-credentials.ts'
import { announceSellers } from '../../src/store/sellers/seller-processes.ts'
import { readSellers, recordSellers, resumeSeller, stopSeller } from '../../src/store/sellers/sellers.ts'
import { withDatabase } from '../support/database.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

const sellerId = 'sandbox-seller'
const stage = withDatabase({ each: 'test' })
let sandbox: TestSandbox
let aheadMs: number
let registries: SellerRegistry[]
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(async () => {
  await sandbox.stop()
})
beforeEach(async () => {
  aheadMs = 0
  registries = []
})
afterEach(async () => {
  await Promise.all(registries.map((registry) => registry.close()))
})

const log = { debug: () => undefined, warn: () => undefined }
const now = () => Date.now() + aheadMs

/** The sellers of one process; they share nothing with those of another but the database. */
const startProcess = async (): Promise<SellerRegistry> => {
  const registry = createSellerRegistry({
    sellers: readConfig({}, false).sellers,
    sandboxUrl: sandbox.url,
    display: null,
    requestTimeoutMs: 5_000,
    profiles,
    budget: createInProcessBudget({ now }),
    log,
    hooks: {},
    createClient: (connection, parts) => createMarketplaceClient(connection, { ...parts, now }),
  })
  registries.push(registry)
  await recordSellers(stage.database, [registry.configured(sellerId)])
  registry.learn(await readSellers(stage.database))
  return registry
}

const revoke = (revoked: boolean) =>
  sandbox.control('POST', '/sellers', { sellerId, clientId: 'sandbox-client', clientSecret: 'sandbox-secret', revoked })
const signal = () => AbortSignal.timeout(10_000)
const read = (registry: SellerRegistry) => registry.client(sellerId).of(ordersEndpoint).get('1', { signal: signal() })

/** Calls until the credentials count as dead; answers the failure that says so. */
const untilDead = async (registry: SellerRegistry): Promise<MarketplaceFailure> => {
  for (let call = 0; call < 5; call += 1) {
    const failure = await read(registry).then(
      () => null,
      (error: unknown) => error,
    )
    if (!(failure instanceof MarketplaceFailure)) throw new Error('expected a failure')
    if (failure.credentialsDead) return failure
    aheadMs += Math.max(0, (failure.retryAt?.getTime() ?? 0) - now())
  }
  throw new Error('the credentials do not die')
}
const standing = async () => (await readSellers(stage.database))[0]
const tokensAsked = async () =>
  ((await sandbox.control('GET', '/requests?limit=5000')) as { items: { operation: string }[] }).items.filter(
    ({ operation }) => operation === 'token',
  ).length

test('a process that remembers refusals neither stops a seller that was resumed since, nor goes on refusing by itself', async () => {
  const [one, other] = [await startProcess(), await startProcess()]
  await revoke(true)
  const before = other.configured(sellerId)
  const failure = await untilDead(one)
  await untilDead(other)
  expect(
    await stopSeller(stage.database, one.configured(sellerId), credentialsRefused(sellerId, failure.httpStatus, 'p-1')),
  ).toBe('stopped')
  expect((await standing())?.reason).toContain('tallyman sellers resume sandbox-seller')

  await revoke(false)
  await resumeSeller(stage.database, { sellerId, actor: 'Ada', reason: null })
  // The other process has not heard of it: it still refuses, but what it remembers stops nothing.
  await expect(read(other)).rejects.toMatchObject({ credentialsDead: true })
  expect(await stopSeller(stage.database, before, 'refused')).toBe('outdated')
  expect(await stopSeller(stage.database, other.configured(sellerId), 'refused')).toBe('outdated')
  for (const registry of [one, other]) {
    registry.learn(await readSellers(stage.database))
    expect(await read(registry)).toBeNull()
  }
  expect(await standing()).toMatchObject({ state: 'active', resumes: 1 })
})

test('settings that are read again let a refused seller try at once, also when they are the same', async () => {
  const registry = await startProcess()
  await revoke(true)
  await untilDead(registry)
  await revoke(false)
  await registry.replace(registry.settings())
  expect(await read(registry)).toBeNull()
})

test('settings that no client is made from leave the client where it is, and are taken', async () => {
  const registry = await startProcess()
  const client = registry.client(sellerId)
  const [before] = registry.settings()
  if (before === undefined) throw new Error('there is no seller')
  const { credentialsFingerprint } = registry.configured(sellerId)
  const logReasons = new Map([['q7', 'damaged']] as const)
  await registry.replace([{ ...before, skus: ['NEW'], logReasons, reportColumns: before.reportColumns }])
  expect(registry.client(sellerId)).toBe(client)
  expect(registry.findSettings(sellerId)).toMatchObject({ skus: ['NEW'], logReasons })

  // Another client, of the same credentials.
  await registry.replace([{ ...before, quantityField: 'statusQuantity' }])
  expect(registry.client(sellerId)).not.toBe(client)
  expect(registry.configured(sellerId)).toMatchObject({ credentialsFingerprint })
  await registry.replace([{ ...before, clientSecret: 'another' }])
  expect(registry.configured(sellerId).credentialsFingerprint).not.toBe(credentialsFingerprint)
})

test('a seller whose credentials are refused here alone is suspended here, until it is resumed or settings are read again', async () => {
  const registry = await startProcess()
  const onSuspended = () => {
    suspensions += 1
  }
  const parts = { database: stage.database, sellers: registry, owner: 'p-1', onSuspended }
  for (const process of ['p-1', 'p-2'])
    await announceSellers(stage.database, { process, roles: [], sellerIds: [sellerId], faults: [] }, 0)
  await recordAccepted(stage.database, 'p-2', [{ sellerId, credentialsFingerprint: 'newer' }])
  let suspensions = 0
  expect(registry.accepted()).toEqual([])
  await read(registry)
  expect(registry.accepted()).toMatchObject([{ sellerId }])
  const refused = registry.configured(sellerId)
  expect(await stopRefused(parts, refused, 400)).toMatchObject({ stop: 'other-process', reason: expect.stringContaining('p-1') })
  expect([registry.has(sellerId), registry.worksFor(sellerId), suspensions]).toEqual([true, false, 1])
  expect(registry.suspended()).toMatchObject([{ seller: refused }])
  await resumeSeller(stage.database, { sellerId, actor: 'Ada', reason: null })
  expect(registry.learn(await readSellers(stage.database))).toBe(true)
  expect(registry.learn(await readSellers(stage.database))).toBe(false)
  expect(registry.worksFor(sellerId)).toBe(true)

  await stopRefused(parts, registry.configured(sellerId), 400)
  expect(registry.worksFor(sellerId)).toBe(false)
  const before = registry.configured(sellerId)
  await registry.replace(registry.settings().map((settings) => ({ ...settings, clientSecret: 'newer' })))
  expect(registry.worksFor(sellerId)).toBe(true)
  // What was refused with the old ones says nothing of these.
  expect(await stopRefused(parts, before, 400)).toMatchObject({ stop: 'outdated' })
  expect(registry.worksFor(sellerId)).toBe(true)
})

test('the probe asks for one token, by one process, and takes the seller up again when it is granted', async () => {
  const [one, other] = [await startProcess(), await startProcess()]
  const probe = (registry: SellerRegistry) => probeSeller({ database: stage.database, sellers: registry }, sellerId, signal())
  const due = () => stage.database.execute(`UPDATE tallyman.sellers SET probe_at = now() WHERE seller_id = $1`, sellerId)
  await revoke(true)
  await untilDead(one)
  await stopSeller(stage.database, one.configured(sellerId), 'refused')
  expect(await probe(one)).toBeNull()

  await due()
  aheadMs += 900_000
  const before = await tokensAsked()
  expect([await probe(one), await probe(other)]).toEqual(['refused', null])
  expect(await tokensAsked()).toBe(before + 1)
  expect(await standing()).toMatchObject({ state: 'stopped' })

  await due()
  aheadMs += 900_000
  await sandbox.next({ fault: 'html', status: 503, operation: 'token' })
  await revoke(false)
  expect(await probe(one)).toBe('unanswered')
  await due()
  aheadMs += 900_000
  expect((await Promise.all([probe(one), probe(other)])).filter((outcome) => outcome !== null)).toEqual(['resumed'])
  expect(await standing()).toMatchObject({ state: 'active', reason: null, resumes: 1 })
  one.learn(await readSellers(stage.database))
  expect(await read(one)).toBeNull()
  expect(await probe(one)).toBeNull()
})
