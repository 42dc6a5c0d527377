import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../../../src/clients/marketplace/profiles/index.ts'
import type { RateBudget } from '../../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { OrderCommandContent } from '../../../src/domain/commands/command.ts'
import type { CommandParts } from '../../../src/jobs/commands/engine/engine.ts'
import { createSellerRegistry, type SellerRegistry } from '../../../src/jobs/sellers/registry.ts'
import { readCommand } from '../../../src/store/commands/commands.ts'
import { type Database, openDatabase } from '../../../src/store/db/database.ts'
import { storeOrder } from '../../../src/store/orders/orders.ts'
import { pauseSeller, recordSellers } from '../../../src/store/sellers/sellers.ts'
import { numbered } from '../../support/changes.ts'
import { acknowledgement, buildParcel, cancellation, shipment, storeCommand } from '../../support/commands.ts'
import { withDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { runCommand } from '../../support/run-command.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'
import { findVocabulary } from '../../support/vocabulary.ts'

const sellerId = 'sandbox-seller'
const count = 12
const stage = withDatabase({ each: 'test', connections: 6 })
const log = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const { acknowledge, ship } = ordersEndpoint.operations
const unlimited = { [acknowledge.name]: { tokens: 1e6, perMs: 1_000 }, [ship.name]: { tokens: 1e6, perMs: 1_000 } }
const cleanUps: (() => Promise<unknown>)[] = []
let sandbox: TestSandbox

beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.stop())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const sellersAt = (
  url: string,
  requestTimeoutMs: number,
  budget: RateBudget = createInProcessBudget({ limits: unlimited }),
): SellerRegistry => {
  const sellers = createSellerRegistry({
    sellers: readConfig({}, false).sellers,
    sandboxUrl: url,
    display: null,
    requestTimeoutMs,
    profiles,
    budget,
    log,
    hooks: {},
    createClient: createMarketplaceClient,
  })
  cleanUps.push(() => sellers.close())
  return sellers
}

/** A process that works on commands. */
const startProcess = (owner: string, url = sandbox.url, requestTimeoutMs = 5_000, budget?: RateBudget): CommandParts => {
  const database = openDatabase({ findVocabulary, url: stage.url, connections: 6 })
  cleanUps.push(() => database.close())
  return {
    database,
    sellers: sellersAt(url, requestTimeoutMs, budget),
    owner,
    requestTimeoutMs,
    settleTimeMs: 1_000,
    onSettled: async () => undefined,
  }
}

let orders: string[]
let commands: string[]

beforeEach(async () => {
  const sellers = sellersAt(sandbox.url, 5_000)
  await recordSellers(stage.database, [sellers.configured(sellerId)])
  await sandbox.control('PUT', '/faults', {})
  orders = []
  commands = []
  const endpoint = sellers.client(sellerId).of(ordersEndpoint)
  for (let number = 0; number < count; number += 1) {
    const purchaseOrderId = await sandbox.place({
      lines: [{ lineNumber: '1', sku: 'KETTLE', quantity: 1, unitPrice: '10.00', tax: '0.85' }],
    })
    const signal = AbortSignal.timeout(5_000)
    const read = await endpoint.get(purchaseOrderId, { signal })
    if (read === null || !read.record.ok) throw new Error('the order of the sandbox cannot be read')
    const { record, observedAt } = read
    await stage.database.transaction((tx) => storeOrder(tx, sellerId, observedAt, record))
    orders.push(purchaseOrderId)
  }
  const acknowledging = startProcess('before')
  const store = (content: OrderCommandContent, purchaseOrderId: string) =>
    storeCommand(stage.database, { sellerId, purchaseOrderId }, content)
  for (const order of orders) await settle(acknowledging, await store(acknowledgement, order))
  for (const [number, order] of orders.entries()) {
    commands.push(await store(shipment(buildParcel(`T${number}`, { '1': 1 })), order))
  }
})

/** How the shipments stand. */
const parseStates = async (): Promise<ReadonlySet<string>> =>
  new Set(
    (await stage.database.prisma.command.findMany({ where: { kind: 'ship' }, select: { state: true } })).map(
      ({ state }) => state,
    ),
  )

const settle = async (parts: CommandParts, id: string): Promise<void> => {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    const outcome = await runCommand(parts, id, { signal: AbortSignal.timeout(30_000), log })
    if ('done' in outcome) return
    await delay(Math.max(0, outcome.runAgainAt.getTime() - Date.now()))
  }
  throw new Error(`command ${id} is not settled`)
}

/** Every order was shipped once. */
const expectOneEffectEach = async (): Promise<void> => {
  for (const order of orders) {
    const shipped = (await sandbox.effects(order)).filter(({ kind }) => kind === 'shipped')
    expect(shipped.map(({ quantity }) => quantity)).toEqual([1])
  }
}

const readTransactions = async (database: Database): Promise<number> => {
  const [row] = await database.query<{ groups: number }>(
    `SELECT count(DISTINCT xmin::text)::int AS groups FROM tallyman.commands WHERE kind = 'ship'`,
  )
  return row?.groups ?? 0
}

test('commands that are ready together are committed together, each with its own result', async () => {
  const one = startProcess('one')
  await Promise.all(commands.map((id) => settle(one, id)))
  expect(await parseStates()).toEqual(new Set(['confirmed']))
  await expectOneEffectEach()
  expect(await readTransactions(stage.database)).toBeLessThan(count)
  const changes = await (await numbered(stage.database)).prisma.change.findMany({
    where: { type: 'command.confirmed', commandId: { in: commands } },
  })
  expect(changes.map(({ commandId }) => commandId).toSorted()).toEqual(commands.toSorted())
})

test('two processes with the same commands send each of them once', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await Promise.all([...commands.map((id) => settle(one, id)), ...commands.toReversed().map((id) => settle(two, id))])
  await eventually(async () => expect(await parseStates()).toEqual(new Set(['confirmed'])))
  await expectOneEffectEach()
  const attempts = await stage.database.prisma.commandAttempt.findMany({
    where: { commandId: { in: commands } },
    select: { attempt: true },
  })
  expect(attempts).toHaveLength(count)
})

test('a group whose process is gone between intent and answer is read back, and each effect made once', async () => {
  // Nothing is answered, so every command stands between intent and result.
  let passed = 0
  const gone = createServer((request, response) => {
    if (request.method !== 'POST' || !request.url?.includes('/shipping')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ access_token: 't', token_type: 'Bearer', expires_in: 900 }))
      return
    }
    passed += 1
  })
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  cleanUps.push(async () => {
    gone.closeAllConnections()
    gone.close()
  })
  const address = gone.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const killed = new AbortController()
  const dying = startProcess('dying', `http://127.0.0.1:${address.port}`, 60_000)
  const abandoned = commands.map((id) => runCommand(dying, id, { signal: killed.signal, log }).catch(() => undefined))
  await eventually(async () => {
    expect(passed).toBe(count)
    expect(await parseStates()).toEqual(new Set(['sending']))
  })
  // All intents stand, by fewer commits than there are commands.
  expect(await readTransactions(stage.database)).toBeLessThan(count)
  // The process is gone, and its leases end.
  await dying.database.close()
  killed.abort()
  await Promise.all(abandoned)
  await stage.database.execute(`UPDATE tallyman.commands SET leased_until = now() - interval '1 second'`)
  const heir = startProcess('heir')
  await Promise.all(commands.map((id) => settle(heir, id)))
  expect(await parseStates()).toEqual(new Set(['confirmed']))
  await expectOneEffectEach()
})

const run = (parts: CommandParts, id: string) => runCommand(parts, id, { signal: AbortSignal.timeout(30_000), log })

/** A budget which does this before it gives leave to ship. */
const between = (budget: RateBudget, meanwhile: () => Promise<unknown>): RateBudget => ({
  ...budget,
  take: async (...asked) => {
    const leave = await budget.take(...asked)
    if (asked[1].name === ship.name) await meanwhile()
    return leave
  },
})

test('the last call of an hour is made, though another process looks at the command meanwhile and has no call for it', async () => {
  const [id = ''] = commands
  const shared = createInProcessBudget({ limits: { ...unlimited, [ship.name]: { tokens: 1, perMs: 3_600_000 } } })
  const two = startProcess('two', sandbox.url, 5_000, shared)
  const looks: unknown[] = []
  const one = startProcess(
    'one',
    sandbox.url,
    5_000,
    between(shared, async () => looks.push(await run(two, id))),
  )
  expect(await run(one, id)).toEqual({ done: true })
  expect(looks).toEqual([expect.objectContaining({ reason: 'the rate budget is used up' })])
  expect((await sandbox.effects(orders[0] ?? '')).filter(({ kind }) => kind === 'shipped')).toHaveLength(1)
})

describe('the last call of an hour, which its command gives up for one that is wanted earlier', () => {
  let later = ''
  let earlier = ''
  let budget: RateBudget

  beforeEach(async () => {
    const [first = '', second = ''] = commands
    later = first
    earlier = second
    budget = createInProcessBudget({ limits: { ...unlimited, [ship.name]: { tokens: 1, perMs: 3_600_000 } } })
    // Both have been put off before.
    await stage.database.execute(
      `UPDATE tallyman.commands SET created_at = now() - interval '2 hours', next_action_at = now() - interval '1 second',
         act_by = now() + CASE id WHEN $1 THEN interval '5 hours' ELSE interval '1 hour' END
       WHERE id = ANY($2::text[])`,
      later,
      [later, earlier],
    )
    // The others wait longer.
    await stage.database.execute(`UPDATE tallyman.commands SET act_by = NULL WHERE kind = 'ship' AND NOT id = ANY($1::text[])`, [
      later,
      earlier,
    ])
  })

  /** Runs the later one; this happens when it has given way, and before the earlier one is read. */
  const runMeanwhile = async (meanwhile: () => Promise<unknown>): Promise<unknown> => {
    const one = startProcess('one', sandbox.url, 5_000, budget)
    const { database } = one
    let exchanges = 0
    const query = async <Row>(sql: string, ...given: readonly unknown[]): Promise<Row[]> => {
      const rows = await database.query<Row>(sql, ...given)
      if (!sql.includes('ahead AS')) return rows
      exchanges += 1
      expect(rows).toEqual([expect.objectContaining({ id: earlier })])
      await meanwhile()
      return rows
    }
    const outcome = await run({ ...one, database: { ...database, query } }, later).catch((error: unknown) => error)
    expect(exchanges).toBe(1)
    return outcome
  }
  const shipped = async (): Promise<number> => {
    const effects = await Promise.all(orders.map((order) => sandbox.effects(order)))
    return effects.flat().filter(({ kind }) => kind === 'shipped').length
  }

  test('is made for that one with the next look, though another process puts it off meanwhile', async () => {
    const two = startProcess('two', sandbox.url, 5_000, budget)
    const looks: unknown[] = []
    expect(await runMeanwhile(async () => looks.push(await run(two, earlier)))).toMatchObject({
      reason: 'a command with an earlier deadline goes first',
    })
    expect(looks).toEqual([expect.objectContaining({ reason: 'the rate budget is used up' })])
    expect(await shipped()).toBe(0)
    // The later one is due when the other was, which is now.
    expect(await run(two, later)).toMatchObject({ reason: 'a command with an earlier deadline goes first' })
    expect(await run(two, earlier)).toEqual({ done: true })
    expect(await shipped()).toBe(1)
    expect((await readCommand(stage.database, earlier))?.state).toBe('confirmed')
    expect(await budget.take(sellerId, ship)).toMatchObject({ granted: false })
  })

  test.each([
    ['another process looks at that one', `leased_until = now() + interval '1 minute', lease_owner = 'two'`],
    ['that one is in trouble', `troubled_since = now(), troubled_looks = 1, next_action_at = now() + interval '1 hour'`],
    ['that one has been sent', `state = 'verifying', next_action_at = now()`],
    ['that one is held', `state = 'held'`],
  ])('is there again where %s meanwhile', async (_name, becomes) => {
    const change = () => stage.database.execute(`UPDATE tallyman.commands SET ${becomes} WHERE id = $1`, earlier)
    expect(await runMeanwhile(change)).toMatchObject({ reason: 'a command with an earlier deadline goes first' })
    expect(await shipped()).toBe(0)
    expect(await budget.take(sellerId, ship)).toMatchObject({ granted: true })
  })

  test('is there again where the seller is paused meanwhile', async () => {
    await runMeanwhile(() => pauseSeller(stage.database, { sellerId, actor: 'kim', reason: 'a mistake' }))
    expect(await shipped()).toBe(0)
    expect(await budget.take(sellerId, ship)).toMatchObject({ granted: true })
  })

  test('is there again where Postgres fails meanwhile', async () => {
    const failure = new Error('connection terminated')
    expect(await runMeanwhile(() => Promise.reject(failure))).toBe(failure)
    expect(await budget.take(sellerId, ship)).toMatchObject({ granted: true })
  })
})

test('a command whose order is being read before it is sent is left alone by other processes', async () => {
  const [order = '', another = ''] = orders
  await stage.database.execute(`DELETE FROM tallyman.command_lines WHERE purchase_order_id = ANY($1::text[])`, [order, another])
  await stage.database.execute(`DELETE FROM tallyman.commands WHERE kind = 'ship' AND purchase_order_id = ANY($1::text[])`, [
    order,
    another,
  ])
  const cancel = (purchaseOrderId: string) =>
    storeCommand(stage.database, { sellerId, purchaseOrderId }, cancellation({ '1': 1 }))
  const id = await cancel(order)
  const [one, two] = [startProcess('one'), startProcess('two')]
  await sandbox.control('PUT', '/faults', {
    rules: [{ method: 'GET', operation: 'orders.get', slow: { share: 1, delayMs: 1_500 } }],
  })
  const reading = run(one, id)
  const leased = 'SELECT 1 AS one FROM tallyman.commands WHERE id = $1 AND lease_owner = $2 AND leased_until > now()'
  await eventually(async () => expect(await stage.database.query(leased, id, 'one')).toHaveLength(1))
  expect(await run(two, id)).toMatchObject({ reason: 'its next step is not due yet' })
  expect(await reading).toEqual({ done: true })
  // One whose reader is gone is free once its lease is over.
  const left = await cancel(another)
  await stage.database.execute(
    `UPDATE tallyman.commands SET lease_owner = 'gone', leased_until = now() - interval '1 millisecond' WHERE id = $1`,
    left,
  )
  expect(await run(two, left)).toEqual({ done: true })
  for (const purchaseOrderId of [order, another])
    expect((await sandbox.effects(purchaseOrderId)).map(({ kind }) => kind)).toContain('cancelled')
})

test('nothing leaves for a seller that was paused after its command was looked at', async () => {
  const [id = ''] = commands
  const budget = createInProcessBudget({ limits: unlimited })
  const one = startProcess(
    'one',
    sandbox.url,
    5_000,
    between(budget, () => pauseSeller(stage.database, { sellerId, actor: 'kim', reason: 'a mistake' })),
  )
  expect(await run(one, id)).toEqual({ done: true })
  const rows = await stage.database.query('SELECT state, attempts FROM tallyman.commands WHERE id = $1', id)
  expect(rows).toEqual([{ state: 'pending', attempts: 0 }])
  expect((await sandbox.effects(orders[0] ?? '')).filter(({ kind }) => kind === 'shipped')).toEqual([])
})
