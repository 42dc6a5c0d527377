import { randomUUID } from 'node:crypto'
import { Decimal } from 'decimal.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMarketplaceClient } from '../../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../../../src/clients/marketplace/profiles/index.ts'
import { vocabulary } from '../../../src/clients/marketplace/vocabulary.ts'
import { createInProcessBudget } from '../../../src/clients/rate-limit/shared-budget.ts'
import { readConfig } from '../../../src/config/config.ts'
import { refundPayloadSchema } from '../../../src/domain/commands/command.ts'
import type { CommandParts } from '../../../src/jobs/commands/engine/engine.ts'
import { type AcceptParts, acceptEvents } from '../../../src/jobs/events/accept.ts'
import { dryRunEvents } from '../../../src/jobs/events/dry-run.ts'
import { createSellerRegistry, type SellerRegistry } from '../../../src/jobs/sellers/registry.ts'
import type { EventForecast, IncomingEvent } from '../../../src/store/events/events.ts'
import { storeOrder } from '../../../src/store/orders/orders.ts'
import { recordSellers } from '../../../src/store/sellers/sellers.ts'
import { settings } from '../../domain/support/shipping-settings.ts'
import { numbered } from '../../support/changes.ts'
import { withDatabase } from '../../support/database.ts'
import { buildRandom } from '../../support/random.ts'
import { runCommand } from '../../support/run-command.ts'
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts'

/** So many random events; `DRY_RUN_EVENTS=2000 DRY_RUN_SEED=…` for more, and others. */
const eventCount = Number(process.env['DRY_RUN_EVENTS'] ?? 200)
const seed = Number(process.env['DRY_RUN_SEED'] ?? 20_260_310)

const sellerId = 'sandbox-seller'
const stage = withDatabase()
const { signal } = new AbortController()
const log = { info: () => undefined, warn: () => undefined, debug: () => undefined }
let sandbox: TestSandbox
let sellers: SellerRegistry
let events: AcceptParts
let commands: CommandParts

beforeAll(async () => {
  sandbox = await startTestSandbox()
  sellers = createSellerRegistry({
    sellers: readConfig({}, false).sellers,
    sandboxUrl: sandbox.url,
    display: null,
    requestTimeoutMs: 5_000,
    profiles,
    budget: createInProcessBudget({ findLimit: () => ({ tokens: 1_000_000, perMs: 60_000 }) }),
    log,
    hooks: {},
    createClient: createMarketplaceClient,
  })
  const { database } = stage
  // A vacuum removes the marks of locks, which are compared here.
  for (const { name } of await database.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
  ))
    await database.execute(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`)
  await recordSellers(database, [sellers.configured(sellerId)])
  events = {
    database,
    sellers,
    fetcher: { ensure: async () => ({ presence: 'later', reason: 'nobody is asked', againInMs: null }) },
    onStored: () => undefined,
    // Faults quote the time.
    rules: () => ({
      now: new Date('2026-03-10T00:00:00Z'),
      shipUnacknowledged: 'acknowledge-first',
      fullPriceRefundsAll: false,
      correctsShipments: false,
    }),
  }
  const onSettled = async () => undefined
  commands = { database, sellers, owner: 'test', requestTimeoutMs: 5_000, settleTimeMs: 10_000, onSettled }
})
afterAll(async () => {
  await sellers.close()
  await sandbox.stop()
})

const dryRun = (posted: readonly IncomingEvent[]) => dryRunEvents({ ...events, findClient: sellers.client }, posted)

// ── chance ───────────────────────────────────────────────────────────────────────────────────────────────

const chance = buildRandom(seed)
const pickOne = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(chance() * items.length)]
  if (item === undefined) throw new Error('nothing to choose from')
  return item
}
const upTo = (most: number): number => 1 + Math.floor(chance() * most)
const rarely = (share = 0.04): boolean => chance() < share

// ── orders and events ────────────────────────────────────────────────────────────────────────────────────

const skus = ['KETTLE', 'TOASTER', 'LAMP']

interface Placed {
  readonly purchaseOrderId: string
  readonly lines: readonly { readonly lineNumber: string; readonly sku: string }[]
}

const place = async (): Promise<Placed> => {
  const lines = Array.from({ length: upTo(3) }, (_, index) => ({
    lineNumber: String(index + 1),
    sku: pickOne(skus),
    quantity: upTo(4),
    unitPrice: `${upTo(40)}.${10 + upTo(80)}`,
    tax: `0.${10 + upTo(80)}`,
  }))
  const purchaseOrderId = await sandbox.place({ lines })
  const observed = await sellers.client(sellerId).of(ordersEndpoint).get(purchaseOrderId, { signal })
  if (observed === null) throw new Error('the sandbox does not know its order')
  const { record, observedAt } = observed
  if (!record.ok) throw new Error('the order of the sandbox cannot be read')
  await stage.database.transaction((tx) => storeOrder(tx, sellerId, observedAt, record))
  return { purchaseOrderId, lines }
}

const lineRef = ({ lines }: Placed) => {
  const quantity = rarely() ? 99 : upTo(2)
  if (rarely()) return { quantity }
  if (rarely()) return { sku: pickOne(skus), quantity }
  const { lineNumber, sku } = pickOne(lines)
  return chance() < 0.5 ? { lineNumber, quantity } : { sku, quantity }
}

const buildData = (type: string, order: Placed): object => {
  const { purchaseOrderId } = order
  const lineRefs = () => Array.from({ length: upTo(2) }, () => lineRef(order))
  const about = { purchaseOrderId, ...(rarely() ? { sellerId: 'nobody' } : {}), ...(rarely() ? { erpNumber: '7' } : {}) }
  switch (type) {
    case 'erp.shipment.dispatched': {
      const parcels = Array.from({ length: upTo(2) }, () => ({
        carrier: rarely() ? '' : pickOne(['UPS', 'FedEx']),
        [rarely() ? 'trackingNo' : 'trackingNumber']: `1Z${Math.floor(chance() * 1e12)}`,
        shippedAt: rarely() ? '2999-01-01T00:00:00Z' : '2026-03-01T09:30:00Z',
        lines: lineRefs(),
      }))
      return { ...about, parcels }
    }
    case 'erp.lines.unfulfillable':
      return {
        ...about,
        lines: lineRefs().map((line) => ({ ...line, reason: rarely() ? 'Because' : pickOne(vocabulary.cancelReasons) })),
      }
    case 'erp.credit.issued':
      return {
        ...about,
        lines: lineRefs().map((line) => ({
          ...line,
          reason: rarely() ? 'Because' : pickOne(vocabulary.refundReasons),
          ...(chance() < 0.4 ? { amount: rarely() ? '1.234' : `${upTo(20)}.50` } : {}),
          ...(chance() < 0.2 ? { currency: rarely() ? 'EUR' : 'usd' } : {}),
        })),
      }
    case 'erp.shipping-settings.defined':
      return { simplifiedShippingSettings: settings() }
    default:
      return about
  }
}

const types = [
  'erp.order.accepted',
  'erp.shipment.dispatched',
  'erp.shipment.dispatched',
  'erp.lines.unfulfillable',
  'erp.credit.issued',
  'erp.credit.issued',
]

/** Posted before, so that some are posted again. */
const posted: IncomingEvent[] = []

const randomEvent = (orders: readonly Placed[]): IncomingEvent => {
  const again = rarely() && posted.length > 0 ? pickOne(posted) : null
  if (again !== null) return rarely(0.3) ? { ...again, data: { purchaseOrderId: 'another' } } : again
  const type = rarely(0.01) ? 'erp.shipping-settings.defined' : rarely(0.01) ? 'erp.unheard' : pickOne(types)
  const order = pickOne(orders)
  const named = rarely(0.02) ? { ...order, purchaseOrderId: 'not-stored' } : order
  return { source: '/erp', id: randomUUID(), type, data: rarely(0.01) ? 'text' : buildData(type, named) }
}

// ── what really happens ──────────────────────────────────────────────────────────────────────────────────

/** Of every table: its rows, who wrote them, and who locked them. */
const allRows = async (): Promise<unknown> => {
  const tables = await (await numbered(stage.database)).query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
  )
  const parts = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*)::text AS rows, sum(xmin::text::numeric)::text AS written, sum(xmax::text::numeric)::text AS locked FROM ${name}`,
  )
  return stage.database.query(`${parts.join(' UNION ALL ')} ORDER BY name`)
}

interface RealCommand {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly reason: string | null
  readonly payload: unknown
  readonly lines: EventForecast['commands'][number]['lines']
  readonly request: object | null
}

const listCommands = (ids: readonly string[]): Promise<readonly RealCommand[]> =>
  stage.database.query<RealCommand>(
    `SELECT c.id, c.kind, c.state, c.reason, c.payload,
       COALESCE((SELECT json_agg(json_build_object('lineNumber', l.line_number, 'quantity', l.quantity) ORDER BY l.line_number)
         FROM tallyman.command_lines l WHERE l.command_id = c.id), '[]') AS lines,
       (SELECT a.request FROM tallyman.command_attempts a WHERE a.command_id = c.id AND a.attempt = 1) AS request
     FROM tallyman.commands c WHERE c.id = ANY($1::text[]) ORDER BY c.sequence`,
    ids,
  )

/** Added up here from what is stored, tax and fees included. */
const findMoney = ({ kind, payload }: RealCommand): EventForecast['commands'][number]['money'] => {
  if (kind !== 'refund') return null
  const charges = refundPayloadSchema.parse(payload).lines.flatMap((line) => line.charges)
  const parts = charges.flatMap(({ amount, tax, taxAndOtherFees }) => [amount, tax?.amount ?? 0, taxAndOtherFees?.amount ?? 0])
  return { amount: parts.reduce<Decimal>((sum, part) => sum.minus(part), new Decimal(0)).toFixed(), currency: 'USD' }
}

/** Executes what is pending; commands of an order run one after the other, so each pass brings the next. */
const settle = async (): Promise<void> => {
  for (let pass = 0; pass < 20; pass += 1) {
    const due = await stage.database.query<{ id: string }>(
      `SELECT id FROM tallyman.commands WHERE state IN ('pending', 'sending', 'verifying') AND next_action_at <= now() ORDER BY sequence`,
    )
    if (due.length === 0) return
    for (const { id } of due) await runCommand(commands, id, { signal, log })
  }
}

const inOrder = (lines: EventForecast['commands'][number]['lines']) =>
  [...lines].sort((a, b) => (a.lineNumber < b.lineNumber ? -1 : 1))

interface Told {
  readonly forecast: EventForecast['commands'][number]
  readonly id: string
}

/** Compares what was reported with what the same events come to. Answers what is to be compared once the commands have run. */
const compare = async (batch: readonly IncomingEvent[], told: readonly EventForecast[]): Promise<readonly Told[]> => {
  expect(told.map(({ source, id }) => ({ source, id }))).toEqual(batch.map(({ source, id }) => ({ source, id })))
  const verdict = await acceptEvents(events, batch, signal)
  if (!verdict.ok) {
    expect(told.some(({ would }) => would === 'rejected')).toBe(true)
    if (verdict.reason === 'conflict') {
      for (const index of verdict.indexes) expect(told[index]?.problem?.code).toBe('event-conflict')
      return []
    }
    const faults = Map.groupBy(verdict.faults, ({ index }) => index)
    for (const [index, { would, problem, commands: planned }] of told.entries()) {
      expect(would === 'rejected', JSON.stringify([batch[index], problem])).toBe(faults.has(index))
      const real = faults.get(index)?.map(({ path, message }) => ({ path, message: message.slice(0, 480) }))
      if (real === undefined) continue
      expect(planned).toEqual([])
      expect(problem?.errors.map(({ path, message }) => ({ path, message: message.slice(0, 480) }))).toEqual(real)
    }
    return []
  }
  const found: Told[] = []
  for (const [index, receipt] of verdict.receipts.entries()) {
    const { would, commands: planned, problem } = told[index] ?? { would: null, commands: [], problem: null }
    expect(would).toBe(receipt.status)
    if (receipt.status === 'duplicate') {
      expect(planned).toEqual([])
      continue
    }
    if (receipt.state === 'received') expect(problem?.code).toBe('order-not-stored')
    else expect(problem).toBeNull()
    const real = await listCommands(receipt.commands)
    expect(planned.map(({ kind, lines, money }) => ({ kind, lines: inOrder(lines), money }))).toEqual(
      real.map((command) => ({ kind: command.kind, lines: command.lines, money: findMoney(command) })),
    )
    found.push(...planned.flatMap((forecast, at) => ({ forecast, id: real[at]?.id ?? '' })))
  }
  return found
}

describe('a dry run', () => {
  test(
    `of ${eventCount} random events (seed ${seed}) tells what the real run does, and writes nothing`,
    async () => {
      const told: Told[] = []
      const seen = { accepted: 0, duplicate: 0, rejected: 0, commands: 0, requests: 0, unsent: 0 }
      let orders: Placed[] = []
      for (let count = 0; count < eventCount; ) {
        if (orders.length === 0 || rarely(0.3)) orders = [...orders.slice(-3), await place()]
        const batch = Array.from({ length: chance() < 0.7 ? 1 : upTo(4) }, () => randomEvent(orders))
        count += batch.length
        const before = await allRows()
        const forecasts = await dryRun(batch)
        expect(await allRows()).toEqual(before)
        told.push(...(await compare(batch, forecasts)))
        posted.push(...batch)
        for (const { would, commands: planned } of forecasts) {
          seen[would] += 1
          seen.commands += planned.length
        }
        if (chance() < 0.6) await settle()
      }
      await settle()
      const real = new Map((await listCommands(told.map(({ id }) => id))).map((command) => [command.id, command]))
      for (const { forecast, id } of told) {
        const command = real.get(id)
        expect(forecast.request, JSON.stringify([forecast, command?.state, command?.reason])).toEqual(command?.request)
        if (forecast.request === null) {
          expect(command?.kind).toBe('acknowledge')
          // Nothing was left to ask for: it was acknowledged before, or cancelled wholly by the commands in front.
          if (command?.state === 'rejected') expect(command.reason).toMatch(/nothing is left to acknowledge/)
          else expect(command?.state).toBe('confirmed')
        }
        seen[forecast.request === null ? 'unsent' : 'requests'] += 1
      }
      console.info(`dry run, seed ${seed}: ${JSON.stringify(seen)}`)
      for (const kind of ['accepted', 'rejected'] as const) expect(seen[kind]).toBeGreaterThan(eventCount / 10)
      expect(seen.requests).toBeGreaterThan(eventCount / 10)
    },
    Math.max(600_000, eventCount * 1_000),
  )
})
