import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { profiles } from '../../../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { ShipmentHoldReason } from '../../../src/domain/sync/notification.ts'
import type { CommandParts } from '../../../src/jobs/commands/engine/engine.ts'
import { createNotificationIntake } from '../../../src/jobs/notifications/accept.ts'
import { NotificationReader } from '../../../src/jobs/notifications/read-worker.ts'
import { createSellerRegistry, type SellerRegistry } from '../../../src/jobs/sellers/registry.ts'
import { decideCommand } from '../../../src/store/commands/command-decisions.ts'
import { storeOrder } from '../../../src/store/orders/orders.ts'
import { recordSellers } from '../../../src/store/sellers/sellers.ts'
import { wireOrderSample } from '../../clients/samples.ts'
import { generousLimits, sendJson, startMarketplace } from '../../clients/servers.ts'
import { lineWith, orderWith, wireStatus } from '../../store/support/records.ts'
import { buildParcel, shipment, storeCommand } from '../../support/commands.ts'
import { withDatabase } from '../../support/database.ts'
import { buildRandom } from '../../support/random.ts'
import { runCommand } from '../../support/run-command.ts'

const sellerId = 'sandbox-seller'
const units = 2
const stage = withDatabase({ each: 'test', connections: 20 })
const log = { info: () => undefined, warn: () => undefined, debug: () => undefined }
const quiet = { warn: () => undefined, error: () => undefined, recovered: () => undefined }
const registries: SellerRegistry[] = []

afterEach(async () => {
  for (const registry of registries.splice(0)) await registry.close()
})

/** The state of an order at the marketplace, and when its requests were received and answered. */
interface ShopOrder {
  state: 'Acknowledged' | 'Shipped' | 'Cancelled'
  readonly shippedAt: number[]
  readonly readAt: number[]
}

const tracking = (purchaseOrderId: string): string => `1Z${purchaseOrderId}`

const buildWire = (purchaseOrderId: string, { state }: ShopOrder) => {
  const trackingInfo = {
    shipDateTime: Date.parse('2026-11-20T10:00:00Z'),
    carrierName: { otherCarrier: null, carrier: 'UPS' },
    methodCode: 'Standard',
    trackingNumber: tracking(purchaseOrderId),
    trackingURL: null,
  }
  const status = wireStatus(state, units, state === 'Shipped' ? { trackingInfo } : {})
  return { order: wireOrderSample(purchaseOrderId, { orderLines: { orderLine: [lineWith('1', units, [status])] } }) }
}

/** A marketplace of such orders, with one address for the commands, and one for the reads of notifications. */
const openShop = async (pauseMs: () => number = () => 0) => {
  const orders = new Map<string, ShopOrder>()
  const serve = (isReader: boolean) =>
    startMarketplace((request, response) => {
      const [, purchaseOrderId = '', action] = /^\/v3\/orders\/(\d+)(?:\/(\w+))?/.exec(request.target) ?? []
      const order = orders.get(purchaseOrderId)
      if (order === undefined) return sendJson(response, 404, { errors: { error: [{ code: 'CONTENT_NOT_FOUND' }] } })
      if (action === 'shipping') {
        order.shippedAt.push(performance.now())
        if (order.state === 'Cancelled')
          return sendJson(response, 400, { errors: { error: [{ code: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API' }] } })
        order.state = 'Shipped'
      }
      const body = buildWire(purchaseOrderId, order)
      setTimeout(() => {
        if (isReader) order.readAt.push(performance.now())
        sendJson(response, 200, body)
      }, pauseMs())
    })
  const [commands, reads] = [await serve(false), await serve(true)]
  const connect = (url: string): SellerRegistry => {
    const registry = createSellerRegistry({
      sellers: readConfig({}, false).sellers,
      sandboxUrl: url,
      display: null,
      requestTimeoutMs: 2_000,
      profiles,
      budget: createInProcessBudget({ limits: generousLimits }),
      log,
      hooks: {},
      createClient: createMarketplaceClient,
    })
    registries.push(registry)
    return registry
  }
  const { database } = stage
  const sellers = connect(commands.url)
  const parts: CommandParts = {
    database,
    sellers,
    owner: 'test',
    requestTimeoutMs: 2_000,
    settleTimeMs: 4_000,
    onSettled: async () => undefined,
  }
  const reader = new NotificationReader({
    database,
    owner: 'test',
    sellers: connect(reads.url),
    runtime: { enqueueMany: async (jobs) => jobs.length },
    commandJobs: { addNow: () => undefined },
    saveHooks: {},
    sellersChanged: () => undefined,
  })
  const accept = createNotificationIntake({ database, runtime: { enqueueMany: async (jobs) => jobs.length }, quiet })
  await recordSellers(database, [sellers.configured(sellerId)])
  return {
    orders,
    parts,
    place: async (purchaseOrderId: string) => {
      const order: ShopOrder = { state: 'Acknowledged', shippedAt: [], readAt: [] }
      orders.set(purchaseOrderId, order)
      const record = orderWith(purchaseOrderId, [lineWith('1', units, [wireStatus('Acknowledged', units)])])
      await database.transaction((tx) => storeOrder(tx, sellerId, new Date(Date.now() - 60_000), record))
      return order
    },
    /** Stores a shipment of all units. */
    ship: (purchaseOrderId: string) =>
      storeCommand(
        database,
        { sellerId, purchaseOrderId },
        shipment(buildParcel(tracking(purchaseOrderId), { '1': units }, { method: 'Standard' })),
      ),
    announce: (purchaseOrderId: string, hold: ShipmentHoldReason) =>
      accept(sellerId, {
        eventId: `${hold}-${purchaseOrderId}`,
        eventType: 'ORDER_UPDATES',
        records: [{ resource: 'orders', recordId: purchaseOrderId }],
        hold,
      }),
    read: (purchaseOrderId: string) =>
      reader.run({ sellerId, resource: 'orders', recordId: purchaseOrderId }, { signal: AbortSignal.timeout(30_000) }),
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const findCommand = (id: string) => stage.database.prisma.command.findUniqueOrThrow({ where: { id } })

const step = (parts: CommandParts, id: string) => runCommand(parts, id, { signal: AbortSignal.timeout(30_000), log })

/** Runs a command as its jobs do, until it is settled or held. */
const settle = async (parts: CommandParts, id: string): Promise<string> => {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await pause(10)) {
    await step(parts, id)
    const { state } = await findCommand(id)
    if (state === 'confirmed' || state === 'rejected' || state === 'held') return state
  }
  throw new Error(`command ${id} does not settle`)
}

let shop: Awaited<ReturnType<typeof openShop>>
beforeEach(async () => {
  const random = buildRandom(7)
  shop = await openShop(() => random() * 6)
})

describe('a shipment whose order is announced', () => {
  test.each(['intent-to-cancel', 'fraud-cancel'] as const)('waits until the order was read (%s)', async (hold) => {
    const order = await shop.place('1001')
    const id = await shop.ship('1001')
    await shop.announce('1001', hold)
    expect(await step(shop.parts, id)).toMatchObject({
      reason: expect.stringContaining('nothing is sent until the order was read'),
    })
    expect(await findCommand(id)).toMatchObject({ state: 'pending', attempts: 0 })
    expect(order.shippedAt).toEqual([])
    await shop.read('1001')
    expect(await settle(shop.parts, id)).toBe(hold === 'fraud-cancel' ? 'held' : 'confirmed')
    expect(order.shippedAt).toHaveLength(hold === 'fraud-cancel' ? 0 : 1)
  })

  test('is held while fraud is suspected, also a later one, until an operator decides after the read', async () => {
    const order = await shop.place('1002')
    await shop.announce('1002', 'fraud-cancel')
    await shop.read('1002')
    const id = await shop.ship('1002')
    expect(await settle(shop.parts, id)).toBe('held')
    const [alarm] = await stage.database.query<{ message: string }>(
      `SELECT message FROM tallyman.alarms WHERE kind = 'command-held' AND subject = $1`,
      id,
    )
    expect(alarm?.message).toMatch(
      /^ship of order 1002: the marketplace suspects fraud and has asked to block the shipment; nothing was sent/,
    )
    expect(order.shippedAt).toEqual([])
    const by = { actor: 'Ada', keyId: null, reason: 'the marketplace has withdrawn it' }
    await decideCommand(stage.database, { commandId: id, decision: 'retry', ...by })
    expect(await settle(shop.parts, id)).toBe('confirmed')
    expect(order.shippedAt).toHaveLength(1)
  })

  test('is rejected as usual if the read shows the order cancelled', async () => {
    const order = await shop.place('1003')
    const id = await shop.ship('1003')
    await shop.announce('1003', 'fraud-cancel')
    order.state = 'Cancelled'
    await shop.read('1003')
    expect(await settle(shop.parts, id)).toBe('rejected')
    expect(order.shippedAt).toEqual([])
  })

  test('of another order is sent', async () => {
    await shop.place('1004')
    await shop.place('1005')
    await shop.announce('1004', 'fraud-cancel')
    expect(await settle(shop.parts, await shop.ship('1005'))).toBe('confirmed')
  })
})

/** One race of a shipment, a notification and its read; `NOTIFICATION_HISTORIES` for more of them. */
const histories = Number(process.env['NOTIFICATION_HISTORIES'] ?? 50)
const seed = Number(process.env['NOTIFICATION_SEED'] ?? 20_261_127)
const atOnce = 10

const race = async (number: number): Promise<string> => {
  const random = buildRandom(seed + number)
  const purchaseOrderId = String(500_000 + number)
  const hold: ShipmentHoldReason = random() < 0.5 ? 'fraud-cancel' : 'intent-to-cancel'
  const isCancelled = random() < 0.4
  const [shipAfterMs, announceAfterMs, readAfterMs] = [random() * 12, random() * 25, random() * 20]
  const order = await shop.place(purchaseOrderId)
  const id = await shop.ship(purchaseOrderId)
  const announced = pause(announceAfterMs).then(async () => {
    await shop.announce(purchaseOrderId, hold)
    const acceptedAt = performance.now()
    // What is committed now was committed before the acceptance: an intent's commit takes longer than this query (see the trigger).
    const [row] = await stage.database.query<{ intents: number }>(
      'SELECT count(*)::int AS intents FROM tallyman.command_attempts WHERE command_id = $1',
      id,
    )
    await pause(readAfterMs)
    if (isCancelled && order.state === 'Acknowledged') order.state = 'Cancelled'
    await shop.read(purchaseOrderId)
    return { acceptedAt, intents: row?.intents ?? 0 }
  })
  const [state, { acceptedAt, intents }] = await Promise.all([pause(shipAfterMs).then(() => settle(shop.parts, id)), announced])
  const [readAt = Number.POSITIVE_INFINITY] = order.readAt
  const late = order.shippedAt.filter((at) => at > acceptedAt && at < readAt).length
  const what = JSON.stringify({ seed: seed + number, hold, isCancelled, state, intents, late, shipped: order.shippedAt.length })
  if (late > intents) throw new Error(`a shipment left between the notification and the read: ${what}`)
  if (intents === 0 && hold === 'fraud-cancel' && order.shippedAt.length > 0) throw new Error(`fraud was shipped: ${what}`)
  const expected =
    intents > 0 ? order.state : order.state === 'Cancelled' ? 'rejected' : hold === 'fraud-cancel' ? 'held' : 'confirmed'
  if (intents === 0 && state !== expected) throw new Error(`the shipment is not ${expected}: ${what}`)
  return `${intents > 0 ? 'sent before' : hold} ${state}`
}

test('no shipment leaves after its order was announced and before it was read, in random races', async () => {
  // A commit of an intent takes a few milliseconds, so that an acceptance that did not wait for it would be found.
  await stage.database.execute(
    `CREATE FUNCTION tallyman.slow_commit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(random() * 0.008); RETURN NULL; END'`,
  )
  await stage.database.execute(
    `CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON tallyman.command_attempts DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION tallyman.slow_commit()`,
  )
  const outcomes = new Map<string, number>()
  const waiting = Array.from({ length: histories }, (_, number) => number)
  const worker = async (): Promise<void> => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const outcome = await race(number)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (process.env['NOTIFICATION_HISTORIES'] !== undefined) console.log(Object.fromEntries([...outcomes].sort()))
  // The races end in each way: without these, nothing was tried.
  for (const name of ['fraud-cancel held', 'intent-to-cancel confirmed', 'sent before confirmed'])
    expect(outcomes.get(name) ?? 0, name).toBeGreaterThan(0)
}, 600_000)
