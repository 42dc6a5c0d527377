import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { shippingSettingsEndpoint } from '../../src/clients/marketplace/shipping-settings.ts'
import { parseShippingSettings } from '../../src/clients/marketplace/shipping-settings-record.ts'
import { accountSettings, settingsDifferences, shippingSettingsSchema } from '../../src/domain/campaigns/shipping-settings.ts'
import { settings } from '../domain/support/shipping-settings.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { query } from '../support/query.ts'
import { buildRandom } from '../support/random.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { type LineEffects, startTestSandbox, type TestSandbox } from '../support/sandbox.ts'

/** Random numbers that the same seed makes again. */
export interface Dice {
  /** A whole number from 0 to below `sides`. */
  roll(sides: number): number
  chance(share: number): boolean
  shuffle<Item>(items: readonly Item[]): Item[]
}

/** Dice of a seed. */
export const buildDice = (seed: number): Dice => {
  const next = buildRandom(seed)
  const roll = (sides: number): number => Math.floor(next() * sides)
  return {
    roll,
    chance: (share) => next() < share,
    shuffle: (items) => {
      const left = [...items]
      return items.flatMap(() => left.splice(roll(left.length), 1))
    },
  }
}

/** The seed of this run: given by `TALLYMAN_SEED`, or a new one. Printed, so that the run can be made again. */
export const chooseSeed = (name: string): number => {
  const given = process.env['TALLYMAN_SEED']
  const seed = given === undefined ? randomBytes(4).readUInt32BE() : Number(given)
  console.info(`${name}: TALLYMAN_SEED=${seed}`)
  return seed
}

/** An event as it is posted, again and again until it is accepted. */
interface EventToPost {
  /** Null: it is about shipping settings. */
  readonly order: string | null
  readonly id: string
  readonly type: string
  readonly data: object
}

const plentyOfCalls = Object.fromEntries(
  [ordersEndpoint, shippingSettingsEndpoint]
    .flatMap(({ operations }) => Object.values(operations))
    .map(({ name }) => [name, { tokens: 60_000, per: '1m' }]),
)

const units = ['acknowledged', 'shipped', 'cancelled', 'refunded'] as const
type Units = Readonly<Record<(typeof units)[number], number>>

interface CommandRow {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly reason: string | null
  readonly seller_id: string
  readonly purchase_order_id: string | null
  readonly line_number: string | null
  readonly quantity: number | null
}

/** What the ERP decides in one go. */
export interface Work {
  readonly orders: number
  /** So many sellers that have no shipping settings get them. */
  readonly settings: number
  /** The events about settings come before all others. */
  readonly settingsFirst?: boolean
}

/** Two daemons, a sandbox with faults, some sellers, one ERP, and the means to disturb them. */
export interface Rehearsal {
  readonly dice: Dice
  readonly daemons: (TestDaemon | null)[]
  start(place: number, env?: Readonly<Record<string, string>>): Promise<void>
  /** SIGKILL, and a fresh start. */
  kill(place: number): Promise<void>
  flushRedis(): Promise<void>
  killPostgres(): void
  /** Places orders and posts what the ERP decides about them, twice and out of order, until all is accepted. */
  work(work: Work, disturb?: () => Promise<void>): Promise<void>
  /** Places orders for each seller that no event will name. */
  placeUnasked(orders: number): Promise<void>
  /** Takes the faults away, waits until every command is settled or held, and compares what happened with what was asked. */
  settleAndCompare(): Promise<{ readonly commands: number; readonly held: number; readonly attempts: number }>
  end(): Promise<void>
}

const effectOfKind: Readonly<Record<string, (typeof units)[number]>> = {
  ship: 'shipped',
  cancel: 'cancelled',
  refund: 'refunded',
}

/** Sets the stage. */
export const stage = async (
  seed: number,
  {
    queues,
    faults,
    sellers: count,
  }: { readonly queues: 'redis' | 'postgres'; readonly faults: object; readonly sellers: number },
): Promise<Rehearsal> => {
  const dice = buildDice(seed)
  const sellerIds = Array.from({ length: count }, (_, index) => `seller-${index + 1}`)
  const [postgres, sandbox, redis]: [TestPostgres, TestSandbox, TestRedis | null] = await Promise.all([
    startTestPostgres(),
    startTestSandbox({ SANDBOX_SEED: `${seed}` }),
    queues === 'redis' ? startTestRedis() : Promise.resolve(null),
  ])
  const databaseUrl = await postgres.database()
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-rehearsal-'))
  const sellersFile = path.join(folder, 'sellers.json')
  const sellers = []
  for (const sellerId of sellerIds) sellers.push(await sandbox.control('POST', '/sellers', { sellerId }))
  const credentials = sellers.map((seller) => {
    const { sellerId, clientId, clientSecret } = seller as { sellerId: string; clientId: string; clientSecret: string }
    return { sellerId, clientId, clientSecret }
  })
  await writeFile(sellersFile, JSON.stringify(credentials))
  await sandbox.control('PUT', '/faults', { seed, ...faults })

  const env = {
    DATABASE_URL: databaseUrl,
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
    MARKETPLACE_URL: sandbox.url,
    SELLERS_FILE: sellersFile,
    REQUEST_TIMEOUT: '700ms',
    SETTLE_TIME: '2500ms',
    DRAIN_TIMEOUT: '2s',
    POLL_ORDERS: '2s',
    POLL_RETURNS: 'off',
    // This marketplace has no limits; a process that is killed would leave an empty bucket to the next one.
    RATE_LIMITS: JSON.stringify(plentyOfCalls),
    LOG_LEVEL: 'warn',
  }
  const daemons: (TestDaemon | null)[] = [null, null]
  const posted: EventToPost[] = []
  const lastAnswers = new Map<string, string>()

  const ask = <Row extends object>(sql: string): Promise<Row[]> => query<Row>(databaseUrl, sql)

  const start = async (place: number, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    daemons[place] = await startTestDaemon({ ...env, LOG_LEVEL: 'info', ...more })
  }

  const placeOrder = async (index: number): Promise<EventToPost[]> => {
    const sellerId = sellerIds[index % sellerIds.length] ?? 'seller-1'
    const quantities = Array.from({ length: 1 + dice.roll(3) }, () => 1 + dice.roll(4))
    const lines = quantities.map((quantity, line) => ({
      lineNumber: `${line + 1}`,
      sku: `SKU-${line}`,
      quantity,
      amount: `${quantity * 7 + 1}.0${dice.roll(10)}`,
      tax: `0.${dice.roll(90) + 10}`,
    }))
    const purchaseOrderId = await sandbox.place({ sellerId, lines })
    const address = { sellerId, purchaseOrderId }
    const order = purchaseOrderId
    const events: EventToPost[] = [{ order, ...accepted(address) }]
    const parcels: { lineNumber: string; quantity: number }[][] = [[], []]
    const cancelled: object[] = []
    const refunded: object[] = []
    for (const [line, ordered] of quantities.entries()) {
      const lineNumber = `${line + 1}`
      const cancel = dice.roll(3) === 0 ? dice.roll(ordered + 1) : 0
      if (cancel > 0) cancelled.push({ lineNumber, quantity: cancel, reason: 'SELLER_CANCEL_OUT_OF_STOCK' })
      const shipped = ordered - cancel
      const first = dice.roll(shipped + 1)
      if (first > 0) parcels[0]?.push({ lineNumber, quantity: first })
      if (shipped - first > 0) parcels[1]?.push({ lineNumber, quantity: shipped - first })
      const refund = dice.roll(2) === 0 ? dice.roll(shipped + 1) : 0
      if (refund > 0) refunded.push({ lineNumber, quantity: refund, reason: 'DamagedItem' })
    }
    for (const [number, content] of parcels.entries()) {
      if (content.length === 0) continue
      const parcel = reportedParcel(`1Z${purchaseOrderId}${number}`, ...content)
      events.push({ order, ...buildDispatch(address, `${purchaseOrderId}-ship-${number}`, parcel) })
    }
    if (cancelled.length > 0)
      events.push({
        order,
        id: `${purchaseOrderId}-cancel`,
        type: 'erp.lines.unfulfillable',
        data: { ...address, lines: cancelled },
      })
    if (refunded.length > 0)
      events.push({ order, id: `${purchaseOrderId}-refund`, type: 'erp.credit.issued', data: { ...address, lines: refunded } })
    return events
  }

  const unsettled = [...sellerIds]
  const defineSettings = (sellers: number): EventToPost[] =>
    unsettled.splice(0, sellers).map((sellerId) => ({
      order: null,
      id: `${sellerId}-settings`,
      type: 'erp.shipping-settings.defined',
      data: { sellerId, simplifiedShippingSettings: settings() },
    }))

  const post = async (event: EventToPost): Promise<boolean> => {
    const daemon = daemons[dice.roll(daemons.length)]
    if (daemon === null || daemon === undefined) return false
    try {
      const answer = await fetch(`${daemon.url}/v1/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents+json' },
        body: JSON.stringify(cloudEvent({ id: event.id, type: event.type, data: event.data }, '/rehearsal')),
        signal: AbortSignal.timeout(10_000),
      })
      const text = await answer.text()
      lastAnswers.set(event.id, `${answer.status} ${text}`)
      if (answer.status === 202) return true
      // Nothing that is posted is wrong: it must be a daemon or database in trouble.
      expect(answer.status, text).toBeGreaterThanOrEqual(500)
      return false
    } catch (error) {
      if (error instanceof Error && error.name === 'AssertionError') throw error
      return false
    }
  }

  const work = async (
    { orders, settings: sellers, settingsFirst = false }: Work,
    disturb: () => Promise<void> = async () => undefined,
  ): Promise<void> => {
    const events = defineSettings(sellers)
    for (let index = 0; index < orders; index += 1) events.push(...(await placeOrder(index)))
    posted.push(...events)
    let open = dice.shuffle(events)
    const waits = (event: EventToPost): boolean =>
      event.order === null
        ? false
        : (settingsFirst && open.some((other) => other.order === null)) ||
          // The marketplace refuses parcels of an order that nobody has acknowledged.
          open.some((other) => other.type === 'erp.order.accepted' && other !== event && other.order === event.order) ||
          // A credit is posted behind its parcels: one that has to wait for its order is decided before what is posted after it. All else
          // may come in any order.
          (event.type === 'erp.credit.issued' &&
            open.some((other) => other.type === 'erp.shipment.dispatched' && other.order === event.order))
    let working = true
    const disturbing = (async () => {
      while (working) await disturb()
    })()
    const deadline = performance.now() + 150_000
    while (open.length > 0) {
      if (performance.now() > deadline)
        throw new Error(
          `${open.length} events were never accepted, such as ${JSON.stringify(open[0])}: ${lastAnswers.get(open[0]?.id ?? '')}`,
        )
      const left: EventToPost[] = []
      for (const event of open) {
        if (waits(event)) {
          left.push(event)
          continue
        }
        const [accepted] = await Promise.all(dice.chance(0.3) ? [post(event), post(event)] : [post(event)])
        if (accepted !== true) left.push(event)
      }
      open = dice.shuffle(left)
      if (open.length > 0) await delay(100)
    }
    working = false
    await disturbing
  }

  const lastWords = (): string =>
    daemons
      .map((daemon) => {
        const lines = daemon?.program.output().split('\n') ?? []
        return lines
          .filter((line) => /"level":"(warn|error|fatal)"/.test(line))
          .slice(-8)
          .join('\n')
      })
      .join('\n')

  /** Where the unsettled commands stand, in Postgres and in the queue. */
  const whereabouts = async (): Promise<string> => {
    const rows = await ask<{ id: string }>(
      `SELECT id, kind, state, attempts, next_action_at, leased_until, now() AS now FROM tallyman.commands
       WHERE state NOT IN ('confirmed', 'rejected') ORDER BY sequence LIMIT 5`,
    )
    const jobs = await Promise.all(
      rows.map(async ({ id }) => {
        if (redis === null) return null
        const job = `command.run~${id}`
        const [hash, delayed, waiting, active, failed] = await Promise.all([
          redis.command('HGETALL', `tallyman:commands:${job}`),
          redis.command('ZSCORE', 'tallyman:commands:delayed', job),
          redis.command('LPOS', 'tallyman:commands:wait', job),
          redis.command('LPOS', 'tallyman:commands:active', job),
          redis.command('ZSCORE', 'tallyman:commands:failed', job),
        ])
        return { hash, delayed, waiting, active, failed }
      }),
    )
    return JSON.stringify({ rows, jobs })
  }

  const commandRows = () =>
    ask<CommandRow>(
      `SELECT c.id, c.kind, c.state, c.reason, c.seller_id, c.purchase_order_id, l.line_number, l.quantity
       FROM tallyman.commands c LEFT JOIN tallyman.command_lines l ON l.command_id = c.id`,
    )

  /** Settings were created once for each seller that got them, never twice, never others; only a held command may have created none. */
  const compareSettings = async (rows: readonly CommandRow[]): Promise<void> => {
    const commands = rows.filter((row) => row.kind === 'create-shipping-settings')
    const created = (await sandbox.effects()).filter((effect) => effect.kind === 'shipping-settings-created')
    for (const { seller_id: sellerId, state } of commands) {
      const times = created.filter((effect) => effect.sellerId === sellerId).length
      expect(state === 'held' ? [0, 1] : [1], `settings of ${sellerId} were created ${times} times`).toContain(times)
      if (times === 0) continue
      const there = (await sandbox.control('GET', `/sellers/${sellerId}/shipping-settings`)) as Record<string, unknown>
      const record = parseShippingSettings(JSON.stringify(there['simplifiedShippingSettings']))
      expect(record.ok && settingsDifferences(accountSettings(shippingSettingsSchema.parse(settings())), record.value)).toEqual(
        [],
      )
    }
    const confirmed = commands.filter(({ state }) => state === 'confirmed').map((row) => row.seller_id)
    const stored = await ask<{ seller_id: string }>(
      `SELECT seller_id FROM warehouse.shipping_settings WHERE source = 'command' AND missing_since IS NULL`,
    )
    expect(stored.map((row) => row.seller_id)).toEqual(expect.arrayContaining(confirmed))
  }

  const settleAndCompare = async () => {
    await sandbox.control('PUT', '/faults', {})
    await eventually(async () => {
      const [row] = await ask<{ waiting: number }>(
        `SELECT (SELECT count(*)::int FROM tallyman.erp_event WHERE status = 'received') + (SELECT count(*)::int FROM tallyman.commands c
           WHERE c.state NOT IN ('confirmed', 'rejected', 'held') AND NOT EXISTS (SELECT 1 FROM tallyman.commands h WHERE h.state = 'held'
             AND h.seller_id = c.seller_id AND h.subject = c.subject AND h.sequence < c.sequence)) AS waiting`,
      )
      if (row?.waiting !== 0)
        throw new Error(
          `${lastWords()} ${await whereabouts()} ${row?.waiting} commands or events are not settled: ${JSON.stringify((await commandRows()).filter((c) => !['confirmed', 'rejected'].includes(c.state)).slice(0, 5))}`,
        )
    }, 120_000)
    const rows = await commandRows()
    const rejected = rows.filter((row) => row.state === 'rejected')
    expect(rejected, 'nothing that was asked is impossible, so nothing may be rejected').toEqual([])
    const refused = await ask<{ id: string }>(
      `SELECT id, status, problem, received_at, processed_at FROM tallyman.erp_event WHERE source = '/rehearsal' AND status <> 'accepted'`,
    )
    expect(refused, 'nothing that was posted is impossible, so no event may be rejected').toEqual([])
    const stored = await ask<{ id: string }>(
      `SELECT id FROM tallyman.erp_event WHERE source = '/rehearsal' AND status = 'accepted'`,
    )
    expect(stored.map((event) => event.id).sort()).toEqual(posted.map((event) => event.id).sort())
    expect(new Set(rows.map((row) => row.id)).size, 'one command an event').toBe(posted.length)
    compareUnits(rows, await sandbox.summary())
    await compareSettings(rows)
    // Only an acknowledgement may be confirmed without a request, when the order already stands acknowledged.
    const unsent = await ask<{ kind: string; reason: string | null }>(
      `SELECT kind, reason FROM tallyman.commands c WHERE state = 'confirmed'
         AND NOT EXISTS (SELECT 1 FROM tallyman.command_attempts a WHERE a.command_id = c.id)`,
    )
    expect(unsent, 'a command was confirmed that was never sent').toEqual([])
    const [attempts] = await ask<{ n: number }>('SELECT count(*)::int AS n FROM tallyman.command_attempts')
    return {
      commands: new Set(rows.map((row) => row.id)).size,
      held: new Set(rows.filter((row) => row.state === 'held').map((row) => row.id)).size,
      attempts: attempts?.n ?? 0,
    }
  }

  return {
    dice,
    daemons,
    start,
    kill: async (place) => {
      const daemon = daemons[place]
      daemons[place] = null
      await daemon?.program.kill()
      await start(place)
    },
    flushRedis: async () => void (await redis?.command('FLUSHALL')),
    killPostgres: () => {
      const pid = postgres.pid()
      if (pid !== null) process.kill(pid, 'SIGKILL')
    },
    work,
    placeUnasked: async (orders) => {
      for (const sellerId of sellerIds) await sandbox.placeRandom(orders, { sellerId, alive: false })
    },
    settleAndCompare,
    end: async () => {
      await Promise.all(daemons.map((daemon) => daemon?.program.kill()))
      await Promise.all([postgres.stop(), sandbox.stop(), redis?.stop(), rm(folder, { recursive: true, force: true })])
    },
  }
}

/** No unit twice, none lost: each line's effects are what the confirmed commands asked; only a held command may explain more. */
const compareUnits = (rows: readonly CommandRow[], effects: readonly LineEffects[]): void => {
  const key = (row: {
    readonly seller_id: string
    readonly purchase_order_id: string | null
    readonly line_number: string | null
  }) => `${row.seller_id} ${row.purchase_order_id} ${row.line_number}`
  const asked = new Map<string, { confirmed: Record<string, number>; held: Record<string, number> }>()
  for (const row of rows) {
    const effect = effectOfKind[row.kind]
    if (effect === undefined || row.quantity === null) continue
    const line = asked.get(key(row)) ?? { confirmed: {}, held: {} }
    asked.set(key(row), line)
    // What waits behind a held command has not been sent.
    const bucket = row.state === 'confirmed' ? line.confirmed : row.state === 'held' ? line.held : null
    if (bucket !== null) bucket[effect] = (bucket[effect] ?? 0) + row.quantity
  }
  for (const line of effects) {
    const name = `${line.sellerId} ${line.purchaseOrderId} ${line.lineNumber}`
    const happened: Units = line
    for (const effect of ['shipped', 'cancelled', 'refunded'] as const) {
      const confirmed = asked.get(name)?.confirmed[effect] ?? 0
      const held = asked.get(name)?.held[effect] ?? 0
      expect([confirmed, confirmed + held], `${effect} units of line ${name}`).toContain(happened[effect])
    }
  }
}
