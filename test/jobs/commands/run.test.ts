import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RateLimits } from '../../../src/clients/http/operation.ts'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint, orderWrites } from '../../../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { CommandState, OrderCommandContent } from '../../../src/domain/commands/command.ts'
import type { CommandParts } from '../../../src/jobs/commands/engine/engine.ts'
import { createSellerRegistry, type SellerRegistry } from '../../../src/jobs/sellers/registry.ts'
import { decideCommand } from '../../../src/store/commands/command-decisions.ts'
import { lockOrder, storeOrder } from '../../../src/store/orders/orders.ts'
import { recordSellers } from '../../../src/store/sellers/sellers.ts'
import { sendJson, startServer } from '../../clients/servers.ts'
import { numbered } from '../../support/changes.ts'
import { acknowledgement, buildParcel, shipment, storeCommandIn } from '../../support/commands.ts'
import { withDatabase } from '../../support/database.ts'
import { runCommand } from '../../support/run-command.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'

const sellerId = 'sandbox-seller'
const stage = withDatabase({ each: 'test' })
let sandbox: TestSandbox
let sellers: SellerRegistry
let parts: CommandParts
let settledOrders: string[]

const log = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const job = () => ({ signal: AbortSignal.timeout(30_000), log })

interface RegistryOptions {
  readonly url?: string
  readonly clientSecret?: string
  readonly limits?: RateLimits
  /** The clock of the budget and of the client; that of the machine when left out. */
  readonly now?: () => number
}

const registry = ({ url = sandbox.url, clientSecret, limits, now }: RegistryOptions = {}): SellerRegistry => {
  const clock = now === undefined ? {} : { now }
  return createSellerRegistry({
    sellers: readConfig({}, false).sellers.map((seller) => (clientSecret === undefined ? seller : { ...seller, clientSecret })),
    sandboxUrl: url,
    display: null,
    requestTimeoutMs: 400,
    profiles,
    budget: createInProcessBudget({ ...clock, ...(limits === undefined ? {} : { limits }) }),
    log,
    hooks: {},
    createClient: (connection, clientParts) => createMarketplaceClient(connection, { ...clientParts, ...clock }),
  })
}

beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(async () => {
  await sandbox.stop()
})
beforeEach(async () => {
  sellers = registry()
  await recordSellers(stage.database, [sellers.configured(sellerId)])
  await sandbox.control('PUT', '/faults', {})
  settledOrders = []
  parts = {
    database: stage.database,
    sellers,
    owner: 'test',
    requestTimeoutMs: 400,
    settleTimeMs: 1_000,
    onSettled: async (_seller, purchaseOrderId) => void settledOrders.push(purchaseOrderId),
  }
})
afterEach(async () => {
  await sellers.close()
})

/** Places an order of one line, stores it as a sync would, and acknowledges it unless told otherwise. */
const place = async (quantity = 3, acknowledged = true): Promise<string> => {
  const purchaseOrderId = await sandbox.place({
    lines: [{ lineNumber: '1', sku: 'KETTLE', quantity, unitPrice: '10.00', tax: '0.85' }],
  })
  await observe(purchaseOrderId)
  if (acknowledged) {
    const id = await submit(purchaseOrderId, acknowledgement)
    expect(
      await settle(id),
      JSON.stringify(await findState(id), (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).toBe('confirmed')
  }
  return purchaseOrderId
}

const observe = async (purchaseOrderId: string): Promise<void> => {
  const observed = await sellers
    .client(sellerId)
    .of(ordersEndpoint)
    .get(purchaseOrderId, { signal: AbortSignal.timeout(5_000) })
  if (observed === null) throw new Error('the sandbox does not know its order')
  const { record, observedAt } = observed
  if (!record.ok) throw new Error('the order of the sandbox cannot be read')
  await stage.database.transaction((transaction) => storeOrder(transaction, sellerId, observedAt, record))
}

const submit = (purchaseOrderId: string, content: OrderCommandContent): Promise<string> =>
  stage.database.transaction(async (transaction) => {
    await lockOrder(transaction, sellerId, purchaseOrderId)
    return storeCommandIn(transaction, { sellerId, purchaseOrderId }, content)
  })

const buildShipment = (quantity: number, trackingNumber = randomUUID().slice(0, 12)) =>
  shipment(buildParcel(trackingNumber, { '1': quantity }, { method: 'Standard' }))

const parseRefund = (quantity: number): OrderCommandContent => ({
  kind: 'refund',
  payload: {
    lines: [
      {
        lineNumber: '1',
        quantity,
        reason: 'DamagedItem',
        charges: [{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: `-${quantity * 10}.00`, currency: 'USD', tax: null }],
      },
    ],
  },
})

const findState = async (id: string) =>
  stage.database.prisma.command.findUniqueOrThrow({ where: { id }, include: { attemptRows: { orderBy: { attempt: 'asc' } } } })

/** Runs the command as the queue would, until it is settled or held; `until` stops earlier. */
const settle = async (id: string, until: readonly CommandState[] = []): Promise<string> => {
  const deadline = performance.now() + 20_000
  for (;;) {
    const outcome = await runCommand(parts, id, job())
    const { state } = await findState(id)
    if (['confirmed', 'rejected', 'held', ...until].includes(state)) return state
    if (performance.now() > deadline) throw new Error(`command is still ${state}`)
    if ('runAgainAt' in outcome) await delay(Math.max(0, outcome.runAgainAt.getTime() - Date.now()))
  }
}

const readEffects = async (purchaseOrderId: string, kind: string): Promise<number> =>
  (await sandbox.effects(purchaseOrderId))
    .filter((effect) => effect.kind === kind)
    .reduce((sum, effect) => sum + effect.quantity, 0)

describe('the command engine', () => {
  test('acknowledges, ships, cancels and refunds, and stores the order from each answer', async () => {
    const order = await place(3)
    expect(await settle(await submit(order, buildShipment(2)))).toBe('confirmed')
    const cancel: OrderCommandContent = {
      kind: 'cancel',
      payload: { lines: [{ lineNumber: '1', quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
    }
    expect(await settle(await submit(order, cancel))).toBe('confirmed')
    expect(await settle(await submit(order, parseRefund(1)))).toBe('confirmed')
    const line = await stage.database.prisma.orderLine.findFirstOrThrow({ where: { purchaseOrderId: order } })
    expect(line).toMatchObject({ ordered: 3, acknowledged: 2, shipped: 2, cancelled: 1, refunded: 1 })
    expect(await readEffects(order, 'shipped')).toBe(2)
    expect(await readEffects(order, 'refunded')).toBe(1)
    const types = (
      await (
        await numbered(stage.database)
      ).prisma.change.findMany({ where: { purchaseOrderId: order, type: 'command.confirmed' } })
    ).length
    expect(types).toBe(4)
    expect(settledOrders).toHaveLength(4)
  })

  test('an acknowledged order needs no second acknowledgement', async () => {
    const order = await place(1)
    const id = await submit(order, acknowledgement)
    expect(await settle(id)).toBe('confirmed')
    expect((await findState(id)).attemptRows).toHaveLength(0)
  })

  test.each(['timeoutAfter', 'serverErrorAfter', 'dropAfter', 'truncatedJson', 'html', 'emptyBody'] as const)(
    'an effect behind %s is found by reading back, and never made twice',
    async (fault) => {
      const order = await place(2)
      for (const [kind, content] of [
        ['shipped', buildShipment(2)],
        ['refunded', parseRefund(1)],
      ] as const) {
        await sandbox.next({
          operation: kind === 'shipped' ? 'orders.ship' : 'orders.refund',
          purchaseOrderId: order,
          fault,
          effect: true,
        })
        const id = await submit(order, content)
        expect(await settle(id)).toBe('confirmed')
        expect(await readEffects(order, kind)).toBe(kind === 'shipped' ? 2 : 1)
        expect((await findState(id)).attemptRows).toHaveLength(1)
      }
    },
  )

  test.each(['timeoutBefore', 'serverErrorBefore', 'dropBefore'] as const)(
    'after %s nothing is sent again before the settle time has shown that nothing was applied',
    async (fault) => {
      const order = await place(1)
      await sandbox.next({ operation: 'orders.ship', purchaseOrderId: order, fault })
      const id = await submit(order, buildShipment(1))
      expect(await settle(id)).toBe('confirmed')
      const { attemptRows } = await findState(id)
      expect(attemptRows.map((attempt) => attempt.outcome)).toEqual(['not-applied', 'applied'])
      const [first, second] = attemptRows
      expect((second?.startedAt.getTime() ?? 0) - (first?.startedAt.getTime() ?? 0)).toBeGreaterThanOrEqual(parts.settleTimeMs)
      expect(first?.correlationId).not.toBe(second?.correlationId)
      expect(await readEffects(order, 'shipped')).toBe(1)
    },
  )

  test('an effect that comes late, within the settle time, is still found', async () => {
    const order = await place(1)
    await sandbox.next({ operation: 'orders.ship', purchaseOrderId: order, fault: 'lateEffect', delayMs: 700 })
    const id = await submit(order, buildShipment(1))
    expect(await settle(id)).toBe('confirmed')
    expect((await findState(id)).attemptRows).toHaveLength(1)
    expect(await readEffects(order, 'shipped')).toBe(1)
  })

  test('a refund that the evidence cannot tell from one of the marketplace is held, and a person decides', async () => {
    const order = await place(3)
    expect(await settle(await submit(order, buildShipment(3)))).toBe('confirmed')
    const id = await submit(order, parseRefund(1))
    await sandbox.next({ operation: 'orders.refund', purchaseOrderId: order, fault: 'timeoutBefore' })
    expect(await settle(id, ['verifying'])).toBe('verifying')
    // Somebody else refunds two units of the line meanwhile, for the same reason.
    const client = sellers.liveClient(sellerId)
    if (client === null) throw new Error('the seller is not live')
    const payload = parseRefund(2)
    if (payload.kind !== 'refund') throw new Error('not a refund')
    const request = client.of(ordersEndpoint).prepare.refund({ purchaseOrderId: order, lines: payload.payload.lines })
    await client.writer(orderWrites).send(request, { signal: AbortSignal.timeout(5_000), correlationId: randomUUID() })
    expect(await settle(id)).toBe('held')
    const alarms = await stage.database.prisma.alarm.findMany({ where: { subject: id, resolvedAt: null } })
    expect(alarms).toHaveLength(1)
    const next = await submit(order, buildShipment(1))
    expect(await runCommand(parts, next, job())).toEqual({ done: true })
    expect((await findState(next)).state).toBe('pending')
    const decision = await decideCommand(stage.database, {
      commandId: id,
      decision: 'reject',
      actor: 'kim',
      reason: 'the marketplace refunded it',
    })
    expect(decision).toEqual({ ok: true, state: 'rejected' })
    expect(await stage.database.prisma.commandDecision.findMany({ where: { commandId: id } })).toMatchObject([
      { actor: 'kim', decision: 'reject' },
    ])
    expect(await stage.database.prisma.alarm.count({ where: { subject: id, resolvedAt: null } })).toBe(0)
    expect(await readEffects(order, 'refunded')).toBe(2)
    // The next command of the order may go now; our own rules refuse it, since every unit is shipped.
    expect(await settle(next)).toBe('rejected')
  })

  test('a person may have a held command sent again', async () => {
    const order = await place(2)
    await sandbox.next({ operation: 'orders.ship', purchaseOrderId: order, fault: 'timeoutBefore' })
    const id = await submit(order, buildShipment(1))
    expect(await settle(id, ['verifying'])).toBe('verifying')
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'held' WHERE id = $1`, id)
    expect(await decideCommand(stage.database, { commandId: id, decision: 'retry', actor: 'kim', reason: 'not there' })).toEqual({
      ok: true,
      state: 'pending',
    })
    expect(await settle(id)).toBe('confirmed')
    expect(await readEffects(order, 'shipped')).toBe(1)
  })

  test('what a person has sent again is not sent when the order shows by then that it was applied', async () => {
    const order = await place(3)
    expect(await settle(await submit(order, buildShipment(3)))).toBe('confirmed')
    await sandbox.next({ operation: 'orders.refund', purchaseOrderId: order, fault: 'lateEffect', delayMs: 600 })
    const id = await submit(order, parseRefund(1))
    expect(await settle(id, ['verifying'])).toBe('verifying')
    await stage.database.execute(`UPDATE tallyman.commands SET state = 'held' WHERE id = $1`, id)
    await decideCommand(stage.database, { commandId: id, decision: 'retry', actor: 'kim', reason: 'no refund to be seen' })
    await expect.poll(() => readEffects(order, 'refunded')).toBe(1)
    expect(await settle(id)).toBe('confirmed')
    const { reason, attemptRows } = await findState(id)
    expect(reason).toBe('an earlier attempt was applied after all')
    expect(attemptRows.map((attempt) => attempt.outcome)).toEqual(['applied'])
    expect(await readEffects(order, 'refunded')).toBe(1)
  })

  test('a decision on a command that is not held changes nothing', async () => {
    const order = await place(1)
    const id = await submit(order, buildShipment(1))
    expect(await settle(id)).toBe('confirmed')
    expect(await decideCommand(stage.database, { commandId: id, decision: 'reject', actor: 'kim', reason: 'x' })).toEqual({
      ok: false,
      fault: 'not-open',
      state: 'confirmed',
    })
    expect(await decideCommand(stage.database, { commandId: 'nope', decision: 'retry', actor: 'kim', reason: 'x' })).toEqual({
      ok: false,
      fault: 'not-found',
    })
  })

  test('a refusal frees the units and keeps the words', async () => {
    const order = await place(1)
    // The buyer cancels after our last look.
    await sandbox.control('POST', '/buyer-cancel', { purchaseOrderId: order, lineNumber: '1' })
    const id = await submit(order, buildShipment(1))
    expect(await settle(id)).toBe('rejected')
    expect((await findState(id)).reason).toContain('refused')
    expect(await readEffects(order, 'shipped')).toBe(0)
  })

  test('what the marketplace says of a buyer stands in the attempt, and nowhere else', async () => {
    const order = await place(1)
    const words = 'The order of Jane Q. Public, 12 Elm Street, jane@example.com cannot be cancelled.'
    const { url } = await startServer((request, response) => {
      if (request.target.endsWith('/cancel')) {
        return sendJson(response, 400, {
          errors: { error: [{ code: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API', field: 'Jane Q. Public', description: words }] },
        })
      }
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
      const relayed = fetch(`${sandbox.url}${request.target}`, {
        method: request.method,
        headers: headers as Record<string, string>,
        ...(request.body === '' ? {} : { body: request.body }),
      })
      relayed
        .then(async (answer) => sendJson(response, answer.status, await answer.json()))
        .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
    })
    await sellers.close()
    sellers = registry({ url })
    await recordSellers(stage.database, [sellers.configured(sellerId)])
    parts = { ...parts, sellers }
    const id = await submit(order, {
      kind: 'cancel',
      payload: { lines: [{ lineNumber: '1', quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
    })
    expect(await settle(id)).toBe('rejected')
    expect((await findState(id)).reason).toBe('the marketplace refused it (HTTP 400: INVALID_REQUEST_CONTENT.GMP_ORDER_API)')
    const [told] = await (await numbered(stage.database)).query<{ attempt: string; rest: string }>(
      `SELECT (SELECT string_agg(a::text, ' ') FROM tallyman.command_attempts a) AS attempt,
         (SELECT string_agg(c::text, ' ') FROM tallyman.commands c)
           || (SELECT string_agg(c::text, ' ') FROM warehouse.changes c WHERE c.command_id = $1)
           || (SELECT string_agg(c::text, ' ') FROM tallyman.alarms c) AS rest`,
      id,
    )
    expect(told?.attempt).toContain('Jane Q. Public, 12 Elm Street')
    expect(told?.rest).toContain('INVALID_REQUEST_CONTENT')
    expect(told?.rest).not.toMatch(/Jane|Elm|example\.com/)
  })

  test('a wait that the marketplace asks for is kept, and costs nothing', async () => {
    const order = await place(1)
    await sandbox.next({ operation: 'orders.ship', purchaseOrderId: order, fault: 'tooManyRequests', delayMs: 300 })
    const id = await submit(order, buildShipment(1))
    expect(await settle(id)).toBe('confirmed')
    expect((await findState(id)).attemptRows.map((attempt) => attempt.outcome)).toEqual(['throttled', 'applied'])
    expect(await readEffects(order, 'shipped')).toBe(1)
  })

  test('a command whose sender died is read back, not sent again', async () => {
    const order = await place(1)
    const id = await submit(order, buildShipment(1))
    expect(await settle(id)).toBe('confirmed')
    // As a SIGKILL between the answer and its storing would leave it.
    await stage.database.execute(
      `UPDATE tallyman.commands SET state = 'sending', settled_at = NULL, leased_until = now() - interval '1 second' WHERE id = $1`,
      id,
    )
    await stage.database.execute(
      `UPDATE tallyman.command_attempts SET outcome = NULL, finished_at = NULL WHERE command_id = $1`,
      id,
    )
    expect(await settle(id)).toBe('confirmed')
    expect(await readEffects(order, 'shipped')).toBe(1)
    expect((await findState(id)).attemptRows).toHaveLength(1)
  })

  test('units of a line whose buyer has asked to cancel are shipped when the command says so', async () => {
    const order = await sandbox.place({
      lines: [{ lineNumber: '1', sku: 'KETTLE', quantity: 1, unitPrice: '10.00', tax: '0.85', intentToCancel: true }],
    })
    await observe(order)
    expect(await settle(await submit(order, acknowledgement))).toBe('confirmed')
    // The marketplace would refuse it without a word about the buyer.
    const refused = await submit(order, buildShipment(1))
    expect(await settle(refused)).toBe('rejected')
    expect(await findState(refused)).toMatchObject({
      reason: expect.stringContaining('the buyer has asked to cancel line 1: report it again with intentToCancelOverride: true'),
      attemptRows: [],
    })
    const overriding = buildShipment(1)
    if (overriding.kind !== 'ship') throw new Error('no shipment')
    for (const parcel of overriding.payload.parcels) for (const line of parcel.lines) line.intentToCancelOverride = true
    expect(await settle(await submit(order, overriding))).toBe('confirmed')
    expect(await readEffects(order, 'shipped')).toBe(1)
  })

  test('many workers at once send a command once', async () => {
    const order = await place(1)
    const id = await submit(order, buildShipment(1))
    await Promise.all(Array.from({ length: 8 }, () => runCommand(parts, id, job())))
    expect(await settle(id)).toBe('confirmed')
    expect((await findState(id)).attemptRows).toHaveLength(1)
    expect(await readEffects(order, 'shipped')).toBe(1)
  })

  describe('whose budget has one call left', () => {
    let aheadMs = 0
    const now = () => Date.now() + aheadMs
    const hourMs = 3_600_000

    /** Commands that wait for budget, by when the marketplace wants them; null: it has not said. */
    const waiting = async (...actBy: readonly (string | null)[]): Promise<string[]> => {
      const orders = await Promise.all([...actBy, null].map(() => place(1)))
      await sellers.close()
      aheadMs = 0
      sellers = registry({ now, limits: { 'orders.ship': { tokens: 1, perMs: hourMs } } })
      parts = { ...parts, sellers, clock: { wallMs: now, monotonicMs: now } }
      const [first = '', ...others] = orders
      expect(await settle(await submit(first, buildShipment(1)))).toBe('confirmed')
      const ids: string[] = []
      for (const [index, order] of others.entries()) {
        const id = await submit(order, buildShipment(1))
        await stage.database.execute(
          'UPDATE tallyman.commands SET act_by = $2::timestamptz WHERE id = $1',
          id,
          actBy[index] ?? null,
        )
        await runCommand(parts, id, job())
        expect((await findState(id)).nextActionAt.getTime()).toBeGreaterThan(now() + hourMs / 2)
        ids.push(id)
      }
      return ids
    }
    /** Its moment has come, and there is a call. */
    const comes = async (...ids: readonly string[]): Promise<void> => {
      aheadMs += 2 * hourMs
      await stage.database.execute('UPDATE tallyman.commands SET next_action_at = now() WHERE id = ANY ($1::text[])', [...ids])
    }
    const parseStates = async (ids: readonly string[]) => (await Promise.all(ids.map(findState))).map(({ state }) => state)

    test('lets the one go first that is wanted earliest, whichever comes first', async () => {
      const ids = await waiting(null, '2026-05-02T00:00:00Z', '2026-05-01T00:00:00Z')
      const [late = '', middle = '', early = ''] = ids
      const earlierDue: string[] = []
      parts = { ...parts, onEarlierDue: (id) => void earlierDue.push(id) }
      await comes(late)
      const { nextActionAt } = await findState(early)
      const outcome = await runCommand(parts, late, job())
      expect(outcome).toMatchObject({ reason: 'a command with an earlier deadline goes first' })
      expect((await findState(late)).nextActionAt).toEqual(nextActionAt)
      expect(earlierDue).toEqual([early])
      // The call that was not used is there for it.
      await runCommand(parts, early, job())
      expect(await parseStates(ids)).toEqual(['pending', 'pending', 'confirmed'])
      await comes(late, middle)
      await runCommand(parts, late, job())
      expect(earlierDue).toEqual([early, middle])
      await runCommand(parts, middle, job())
      await comes(late)
      await runCommand(parts, late, job())
      expect(await parseStates(ids)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    })

    test('but to none that is being run or in trouble', async () => {
      const ids = await waiting(null, '2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z')
      const [late = '', running = '', troubled = ''] = ids
      await stage.database.execute('UPDATE tallyman.commands SET troubled_since = now() WHERE id = $1', troubled)
      await comes(late)
      await runCommand(parts, late, { ...job(), inProgress: new Set([late, running]) })
      expect(await parseStates(ids)).toEqual(['confirmed', 'pending', 'pending'])
    })

    test('keeps it while the order cannot be read before', async () => {
      const [order, other] = [await place(2), await place(1)]
      await sellers.close()
      aheadMs = 0
      const hourly = { tokens: 1, perMs: hourMs }
      sellers = registry({ now, limits: { 'orders.cancel': hourly, 'orders.get': { tokens: 1, perMs: 30_000 } } })
      parts = { ...parts, sellers, clock: { wallMs: now, monotonicMs: now } }
      await sellers
        .client(sellerId)
        .of(ordersEndpoint)
        .get(other, { signal: AbortSignal.timeout(5_000) })
      const id = await submit(order, {
        kind: 'cancel',
        payload: { lines: [{ lineNumber: '1', quantity: 1, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
      })
      expect(await runCommand(parts, id, job())).toMatchObject({ reason: expect.stringContaining('rate budget for reading') })
      aheadMs += 31_000
      await stage.database.execute('UPDATE tallyman.commands SET next_action_at = now() WHERE id = $1', id)
      await runCommand(parts, id, job())
      expect(await findState(id)).toMatchObject({ attempts: 1 })
    })
  })

  /** A command of a seller whose credentials are refused; `runAfter`: carries it out so much later, as due. */
  const withWrongSecret = async () => {
    const order = await place(1)
    await sellers.close()
    let aheadMs = 0
    sellers = registry({ now: () => Date.now() + aheadMs, clientSecret: 'wrong' })
    await recordSellers(stage.database, [sellers.configured(sellerId)])
    parts = { ...parts, sellers }
    const id = await submit(order, buildShipment(1))
    const runAfter = async (afterMs: number) => {
      aheadMs += afterMs
      await stage.database.execute(`UPDATE tallyman.commands SET next_action_at = now() - interval '1 second' WHERE id = $1`, id)
      return runCommand(parts, id, job())
    }
    return { id, runAfter }
  }

  test('dead credentials stop the seller with an alarm, and send nothing', async () => {
    const { id, runAfter } = await withWrongSecret()
    // Refusals are believed when they have lasted for a minute.
    for (const afterMs of [0, 30_000, 60_000]) {
      expect(await stage.database.prisma.seller.findUniqueOrThrow({ where: { sellerId } })).toMatchObject({ state: 'active' })
      await runAfter(afterMs)
    }
    expect(await stage.database.prisma.seller.findUniqueOrThrow({ where: { sellerId } })).toMatchObject({ state: 'stopped' })
    expect(await stage.database.prisma.alarm.count({ where: { sellerId, kind: 'credentials-refused', resolvedAt: null } })).toBe(
      1,
    )
    expect((await findState(id)).state).toBe('pending')
    // New settings: the seller is taken up again.
    await recordSellers(stage.database, [{ sellerId, credentialsFingerprint: 'other' }])
    expect(await stage.database.prisma.seller.findUniqueOrThrow({ where: { sellerId } })).toMatchObject({ state: 'active' })
    expect(await stage.database.prisma.alarm.count({ where: { sellerId, kind: 'credentials-refused', resolvedAt: null } })).toBe(
      0,
    )
  })

  test('where that stops no seller, the command is put off, longer each time', async () => {
    const { id, runAfter } = await withWrongSecret()
    const looks: number[] = []
    for (const afterMs of [0, 30_000, 60_000, 0, 0]) {
      // Resumed by a person of whom this process has not heard.
      await stage.database.prisma.seller.updateMany({ where: { sellerId }, data: { resumes: 7 } })
      expect(await runAfter(afterMs)).toHaveProperty('runAgainAt')
      looks.push((await stage.database.prisma.command.findUniqueOrThrow({ where: { id } })).troubledLooks)
    }
    expect(looks).toEqual([1, 2, 3, 4, 5])
    expect(await stage.database.prisma.seller.findUniqueOrThrow({ where: { sellerId } })).toMatchObject({ state: 'active' })
  })
})

describe('after a restore', () => {
  /** Everything of these commands stood in the part of the database that was lost. */
  const lose = async (...ids: readonly string[]): Promise<void> => {
    await stage.database.prisma.command.deleteMany({ where: { id: { in: [...ids] } } })
  }
  const restored = (readsFromMs = 0): void => {
    parts = { ...parts, afterRestore: { readsFromMs } }
  }
  const buildCancel = (quantity: number): OrderCommandContent => ({
    kind: 'cancel',
    payload: { lines: [{ lineNumber: '1', quantity, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
  })

  test.each([
    ['ship', 'shipped', buildShipment(2, '1Z999')],
    ['cancel', 'cancelled', buildCancel(2)],
  ] as const)(
    'a command to %s whose request is forgotten is found at the marketplace, and not sent again',
    async (_, effect, content) => {
      const order = await place(5)
      const stored = await stage.database.prisma.orderLine.findFirstOrThrow({ where: { purchaseOrderId: order } })
      const sent = await submit(order, content)
      expect(await settle(sent)).toBe('confirmed')
      await lose(sent)
      restored()
      const again = await submit(order, content)
      expect(await settle(again)).toBe('confirmed')
      expect(await findState(again)).toMatchObject({
        reason: expect.stringContaining('before the database was restored'),
        attempts: 0,
      })
      expect(await readEffects(order, effect)).toBe(2)
      expect(stored).toMatchObject({ ordered: 5, [effect]: 0 })
    },
  )

  test('a forgotten refund is found too, behind the shipment that is known', async () => {
    const order = await place(3)
    expect(await settle(await submit(order, buildShipment(3)))).toBe('confirmed')
    const sent = await submit(order, parseRefund(1))
    expect(await settle(sent)).toBe('confirmed')
    await lose(sent)
    restored()
    expect(await settle(await submit(order, parseRefund(1)))).toBe('confirmed')
    expect(await readEffects(order, 'refunded')).toBe(1)
  })

  test('what nothing shows is sent, on top of what our confirmed commands account for', async () => {
    const order = await place(5)
    expect(await settle(await submit(order, buildShipment(2, '1Z001')))).toBe('confirmed')
    restored()
    expect(await settle(await submit(order, buildShipment(1, '1Z002')))).toBe('confirmed')
    expect(await settle(await submit(order, buildCancel(1)))).toBe('confirmed')
    expect(await readEffects(order, 'shipped')).toBe(3)
    expect(await readEffects(order, 'cancelled')).toBe(1)
  })

  test('units that nobody accounts for are left to a person', async () => {
    const order = await place(5)
    const sent = await submit(order, buildShipment(2, '1Z001'))
    expect(await settle(sent)).toBe('confirmed')
    await lose(sent)
    restored()
    const id = await submit(order, buildShipment(2, '1Z002'))
    expect(await settle(id)).toBe('held')
    expect(await findState(id)).toMatchObject({
      reason: expect.stringContaining('before the database was restored'),
      attempts: 0,
    })
    expect(await readEffects(order, 'shipped')).toBe(2)
  })

  test('nothing is sent while a request of before may still take effect', async () => {
    const order = await place(2)
    restored(performance.now() + 60_000)
    const id = await submit(order, buildShipment(1))
    expect(await runCommand(parts, id, job())).toMatchObject({ reason: expect.stringContaining('before the restore') })
    expect(await findState(id)).toMatchObject({ state: 'pending', attempts: 0 })
    restored()
    await stage.database.prisma.command.update({ where: { id }, data: { nextActionAt: new Date(0) } })
    expect(await settle(id)).toBe('confirmed')
    expect(await readEffects(order, 'shipped')).toBe(1)
  })
})
