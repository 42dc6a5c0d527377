import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { reviewAlarms } from '../src/jobs/maintenance/review-alarms.ts'
import { type Database, openDatabase } from '../src/store/db/database.ts'
import { type CliRun, cli } from './cli/run.ts'
import { type Planter, startPlanter } from './daemon/planting.ts'
import {
  openPassage,
  type Passage,
  placeOrder,
  post,
  readiness,
  sandboxSeller,
  untilEffects,
  untilMissing,
  untilReady,
} from './daemon/support.ts'
import { startTestDaemon, type TestDaemon } from './support/daemon.ts'
import { accepted, buildDispatch, cloudEvent, reportedParcel } from './support/events.ts'
import { eventually } from './support/eventually.ts'
import { textAt } from './support/json.ts'
import { dropDatabase, makeDatabase } from './support/postgres.ts'
import { alertRules } from './support/promql.ts'
import { query } from './support/query.ts'
import { hasRedisServer, startTestRedis, type TestRedis } from './support/redis.ts'
import { startTestSandbox, type TestSandbox } from './support/sandbox.ts'
import { findVocabulary } from './support/vocabulary.ts'
import { type Receiver, startReceiver } from './webhooks/receiver.ts'

// Each trouble of docs/runbooks.md is made, shows as its page says, is dealt with by its commands, and is over when it says so. One daemon for
// all: it was killed once in between. The seller whose credentials are refused is so from the start, since that takes a minute to be believed.

const page = readFileSync('docs/runbooks.md', 'utf8')

interface Block {
  readonly language: string
  readonly text: string
}

/** A section of the page. */
interface Runbook {
  readonly title: string
  readonly text: string
  /** What its list says under a name, in backticks. */
  says(name: string): readonly string[]
  /** Its blocks that are run, in their order. */
  readonly blocks: readonly Block[]
}

const runbooks = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text): [string, Runbook] => {
      const [title = ''] = text.split('\n')
      const says = (name: string): readonly string[] => {
        const [, line = ''] = new RegExp(`^- \\*\\*${name}:\\*\\* (.*)$`, 'm').exec(text) ?? []
        return [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
      }
      const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
        language,
        text: block,
      }))
      return [title, { title, text, says, blocks }]
    }),
)
const runbook = (title: string): Runbook => {
  const found = runbooks.get(title)
  if (found === undefined) throw new Error(`docs/runbooks.md has no section "${title}"`)
  return found
}

let folder: string
let databaseUrl: string
let database: Database
let passage: Passage
let sandbox: TestSandbox
let planter: Planter
let marketplace: Passage
let redis: TestRedis | null = null
let receiver: Receiver
let environment: Record<string, string>
let daemon: TestDaemon
/** Placed days ago, and not acknowledged. */
let lateOrders: readonly string[]
/** What the daemon before has printed. */
let output = ''

const dayMs = 86_400_000
const sellerId = sandboxSeller.SELLER_ID
const stranger = 'seller-b'
const seller = { sellerId, clientId: sandboxSeller.CLIENT_ID, clientSecret: sandboxSeller.CLIENT_SECRET }
const writeSellers = async (secret: string): Promise<void> =>
  writeFile(
    path.join(folder, 'sellers.json'),
    JSON.stringify([seller, { sellerId: stranger, clientId: 'client-b', clientSecret: secret }]),
  )

const startDaemon = async (): Promise<void> => {
  daemon = await startTestDaemon(environment, ['--import', path.resolve('test/daemon/shifted-clock.ts')])
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-runbooks-'))
  ;[databaseUrl, sandbox, receiver] = await Promise.all([makeDatabase(), startTestSandbox(), startReceiver()])
  if (hasRedisServer()) redis = await startTestRedis()
  await sandbox.control('POST', '/sellers', { sellerId: stranger, clientId: 'client-b', clientSecret: 'right' })
  await writeSellers('mistyped')
  database = openDatabase({ url: databaseUrl, findVocabulary, connections: 2 })
  const through = new URL(databaseUrl)
  passage = await openPassage(Number(through.port))
  through.port = `${passage.port}`
  planter = await startPlanter(sandbox.url)
  marketplace = await openPassage(Number(new URL(planter.url).port))
  environment = {
    DATABASE_URL: through.href,
    DATA_DIR: folder,
    MARKETPLACE_URL: `http://127.0.0.1:${marketplace.port}`,
    SELLERS_FILE: path.join(folder, 'sellers.json'),
    POLL_ORDERS: '1s',
    POLL_RETURNS: 'off',
    REQUEST_TIMEOUT: '2s',
    SETTLE_TIME: '3s',
    WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
  }
  // Their figures are refreshed every ten seconds.
  lateOrders = await sandbox.placeRandom(2, {
    sellerId,
    alive: false,
    history: false,
    createdFrom: new Date(Date.now() - 3 * dayMs).toISOString(),
    createdTo: new Date(Date.now() - 2 * dayMs).toISOString(),
  })
  await startDaemon()
}, 120_000)
afterAll(async () => {
  await daemon?.program.kill()
  await marketplace?.close()
  await planter?.close()
  await passage?.close()
  await database?.close()
  await Promise.all([sandbox?.stop(), receiver?.close(), redis?.stop()])
  await dropDatabase(databaseUrl)
  await rm(folder, { recursive: true, force: true })
})

/** What the daemon looks for every minute, now. */
const look = (snapshotHeldMs = 600_000): Promise<unknown> =>
  reviewAlarms({ database, streams: [], sellerIds: [], findNow: () => null, upForMs: 0, snapshotHeldMs })

const alarmsSchema = z.object({
  items: z.array(z.object({ id: z.coerce.string(), kind: z.string(), sellerId: z.string(), subject: z.string() })),
})
const openAlarms = async () => {
  await look()
  return alarmsSchema.parse((await daemon.call('GET', '/v1/alarms?limit=200')).body).items
}

/** Samples that fit a name with labels and a comparison, such as `x{a="b"} > 0`. */
const readSamples = async (condition: string): Promise<readonly string[]> => {
  const [, name = '', labels = '', operator = '', bound = ''] = /^(\w+)(?:\{(.+)\})? (>|==) (\d+)$/.exec(condition) ?? []
  if (name === '') throw new Error(`not a comparison: ${condition}`)
  const text = await (await fetch(`${daemon.url}/metrics`)).text()
  return text.split('\n').filter((line) => {
    const [, found, own = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const fits = found === name && labels.split(',').every((label) => own.includes(label))
    return fits && (operator === '>' ? Number(value) > Number(bound) : Number(value) === Number(bound))
  })
}

/** Waits until the trouble shows as the page says: alarm, metric, health and log. */
const untilShown = ({ says }: Runbook): Promise<void> =>
  eventually(async () => {
    const kinds = says('Alarm').length === 0 ? [] : (await openAlarms()).map(({ kind }) => kind)
    for (const kind of says('Alarm')) expect(kinds).toContain(kind)
    for (const condition of says('Metric')) expect(await readSamples(condition), condition).not.toEqual([])
    for (const line of says('Log')) expect(output + daemon.program.output()).toContain(line)
  }, 60_000)

/** Waits until nothing of it shows any more. */
const untilOver = ({ says }: Runbook): Promise<void> =>
  eventually(async () => {
    const kinds = says('Alarm').length === 0 ? [] : (await openAlarms()).map(({ kind }) => kind)
    for (const kind of says('Alarm')) expect(kinds).not.toContain(kind)
    for (const condition of says('Metric')) expect(await readSamples(condition), condition).toEqual([])
    expect(await readiness(daemon)).toEqual({ status: 200, failing: [] })
  }, 60_000)

/**
 * Waits until the daemon has seen that its clock is after this moment. It looks every second, and does not notice a clock that is set on and
 * back in between: whatever it answers two seconds of its own after the first answer comes after a look.
 */
const untilClockSeen = async (afterMs: number): Promise<void> => {
  const later = (momentMs: number): Promise<number> =>
    eventually(async () => {
      const nowMs = Date.parse(textAt((await daemon.call('GET', '/v1/session')).body, 'now'))
      expect(nowMs).toBeGreaterThan(momentMs)
      return nowMs
    })
  await later((await later(afterMs)) + 2_000)
}

const describeError = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')

/** What the words in capitals stand for, and the files of the page. */
type Names = Readonly<Record<string, string>>

/** Runs the lines of a block one by one as they stand, but for ids, files and the daemon's port. */
const play = async ({ language, text }: Block, names: Names = {}): Promise<readonly CliRun[]> => {
  expect(language).toBe('sh')
  const runs: CliRun[] = []
  for (const line of text.trim().split('\n')) {
    const meant = Object.entries(names).reduce(
      (all, [name, value]) => all.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), value),
      line,
    )
    if (meant.startsWith('npx tallyman ')) {
      // Without the daemon's short times: with other work on the machine an answer takes longer, while the marketplace is well.
      const { DATA_DIR: _, REQUEST_TIMEOUT: __, SETTLE_TIME: ___, ...settings } = environment
      runs.push(await cli(describeError(meant).slice(2), { ...settings, TALLYMAN_URL: daemon.url, USER: 'ada' }))
    } else {
      const shell = promisify(execFile)('sh', ['-c', meant.replaceAll('http://127.0.0.1:8080', daemon.url)])
      const { stdout, stderr } = await shell
      runs.push({ code: 0, out: stdout, messages: stderr })
    }
  }
  return runs
}

const buildBlock = ({ title, blocks }: Runbook, index: number): Block => {
  const block = blocks.at(index)
  if (block === undefined) throw new Error(`"${title}" has no such block`)
  return block
}

/** Runs a block and holds that each command does what it is for. */
const playWell = async (block: Block, names: Names = {}): Promise<readonly CliRun[]> => {
  const runs = await play(block, names)
  for (const { code, messages } of runs) expect({ code, messages }).toMatchObject({ code: 0 })
  return runs
}

/** What doctor finds broken, but for the seller whose credentials are refused all the time. */
const readFailures = (doctor: CliRun | undefined): readonly string[] =>
  (doctor?.out ?? 'fail').split('\n').filter((line) => line.startsWith('fail') && !line.includes(stranger))

const event = async (file: string, ...events: readonly object[]): Promise<string> => {
  const target = path.join(folder, file)
  await writeFile(target, JSON.stringify(events))
  return target
}

test('every alert that the page names exists, every section says how it shows, and the runbook of each alert is there', () => {
  const alerts = alertRules().map(({ alert }) => alert)
  for (const { title, says } of runbooks.values()) {
    for (const alert of says('Alert')) expect(alerts, title).toContain(alert)
    expect(says('Alert').length + says('Metric').length + says('Doctor').length, title).toBeGreaterThan(0)
  }
  expect(runbooks.size).toBe(13)
  const anchors = [...runbooks.keys()].map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  for (const { alert, annotations } of alertRules()) {
    const [, anchor] = annotations.runbook.split('#')
    if (anchor !== undefined) expect(anchors, alert).toContain(anchor)
  }
})

describe('one after the other', () => {
  test('The daemon was killed', async () => {
    const book = runbook('The daemon was killed')
    const order = await placeOrder(sandbox, 2)
    expect(await post(daemon, accepted(order))).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged'])
    await sandbox.next({ fault: 'timeoutAfter', operation: 'orders.ship' })
    const shipment = buildDispatch(
      order,
      `${order.purchaseOrderId}-ship`,
      reportedParcel('1ZKILLED', { lineNumber: '1', quantity: 2 }),
    )
    expect(await post(daemon, shipment)).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged', 'shipped'])
    await daemon.program.kill()
    output += daemon.program.output()
    await startDaemon()
    await untilShown(book)
    await playWell(buildBlock(book, 0))
    await eventually(async () => {
      const states = await query(databaseUrl, `SELECT state FROM tallyman.commands WHERE kind = 'ship'`)
      expect(states).toEqual([{ state: 'confirmed' }])
    })
    const [doctor, listed] = await play(buildBlock(book, -1))
    expect(readFailures(doctor)).toEqual([])
    expect(listed?.out).not.toContain(order.purchaseOrderId)
    await untilOver(book)
    await untilEffects(sandbox, order, ['acknowledged', 'shipped'])
  })

  test('A command is held', async () => {
    const book = runbook('A command is held')
    const order = await placeOrder(sandbox, 2)
    expect(await post(daemon, accepted(order))).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged'])
    await sandbox.next({ fault: 'partialEffect', operation: 'orders.ship', units: 1 })
    const shipment = buildDispatch(
      order,
      `${order.purchaseOrderId}-ship`,
      reportedParcel('1ZHELD', { lineNumber: '1', quantity: 2 }),
    )
    expect(await post(daemon, shipment)).toBe(202)
    await untilShown(book)
    const command = (await openAlarms()).find(({ kind }) => kind === 'command-held')?.subject ?? ''
    const [list, shown] = await playWell(buildBlock(book, 0), { COMMAND: command })
    expect(list?.out).toContain(command)
    expect(shown?.out).toContain('1ZHELD')
    await playWell(buildBlock(book, 1), { COMMAND: command })
    await untilOver(book)
    await eventually(async () => {
      const effects = await sandbox.effects(order.purchaseOrderId)
      expect(effects.filter(({ kind }) => kind === 'shipped').reduce((sum, { quantity }) => sum + quantity, 0)).toBe(2)
    })
    const [left] = await playWell(buildBlock(book, -1))
    expect(left?.out).not.toContain(command)
  })

  test('An event was rejected', async () => {
    const book = runbook('An event was rejected')
    const order = await placeOrder(sandbox, 1)
    await query(
      databaseUrl,
      `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/erp', 'wrong-1', 'erp.order.accepted', '{"sellerId": "${sellerId}", "purchaseOrder": 7}')`,
    )
    await untilShown(book)
    const alarm = (await openAlarms()).find(({ kind }) => kind === 'event-rejected')?.id ?? ''
    const names = { SOURCE: '/erp', EVENT: 'wrong-1', ALARM: alarm }
    const [list, shown] = await playWell(buildBlock(book, 0), names)
    expect(list?.out).toContain('wrong-1')
    expect(shown?.out).toContain('data.purchaseOrder')
    const file = await event('corrected.json', cloudEvent(accepted(order, 'right-1'), '/erp'))
    await playWell(buildBlock(book, 1), { ...names, 'corrected.json': file })
    const [done] = await playWell(buildBlock(book, -1))
    expect(done?.out).toContain('right-1')
    await untilEffects(sandbox, order, ['acknowledged'])
    expect((await openAlarms()).map(({ kind }) => kind)).not.toContain('event-rejected')
  })

  test('Records cannot be read', async () => {
    const book = runbook('Records cannot be read')
    const orders = await sandbox.placeRandom(10, { sellerId, alive: false })
    for (const purchaseOrderId of orders) planter.breakOrder(purchaseOrderId, 'keyed')
    await untilShown(book)
    const [list] = await playWell(buildBlock(book, 0))
    for (const purchaseOrderId of orders) expect(list?.out).toContain(purchaseOrderId)
    const [still] = await play(buildBlock(book, 1), { SELLER: sellerId })
    expect(still).toMatchObject({ code: 1 })
    planter.mendOrders()
    await eventually(async () => {
      await play(buildBlock(book, 1), { SELLER: sellerId })
      const [left] = await playWell(buildBlock(book, -1))
      for (const purchaseOrderId of orders) expect(left?.out).not.toContain(purchaseOrderId)
    })
    await untilOver(book)
  })

  test('Orders are not acknowledged in time', async () => {
    const book = runbook('Orders are not acknowledged in time')
    await untilShown(book)
    const [open] = await playWell(buildBlock(book, 0))
    for (const purchaseOrderId of lateOrders) expect(open?.out).toContain(purchaseOrderId)
    const late = await query<{ id: string }>(
      databaseUrl,
      `SELECT purchase_order_id AS id FROM warehouse.order_line_statuses WHERE seller_id = '${sellerId}' AND status = 'Created' GROUP BY 1`,
    )
    const events = late.map(({ id }) => cloudEvent(accepted({ sellerId, purchaseOrderId: id }), '/erp'))
    await playWell(buildBlock(book, 1), { 'accepted.json': await event('accepted.json', ...events) })
    await untilOver(book)
    const [, alarms] = await playWell(buildBlock(book, -1))
    expect(alarms?.out).not.toContain('acknowledge-deadline')
  })

  test('A webhook was stopped', async () => {
    const book = runbook('A webhook was stopped')
    const { body } = await daemon.call('POST', '/v1/webhooks', { url: receiver.url, types: ['order.*'], sellerId })
    const { id } = z.object({ id: z.string() }).parse(body)
    receiver.answer(410)
    const order = await placeOrder(sandbox, 1)
    await untilShown(book)
    const [, deliveries] = await playWell(buildBlock(book, 0), { WEBHOOK: id })
    expect(deliveries?.out).toContain('410')
    receiver.answer(204)
    await playWell(buildBlock(book, 1), { WEBHOOK: id })
    await untilOver(book)
    await eventually(() =>
      expect(receiver.received.filter(({ body: text }) => text.includes(order.purchaseOrderId)).length).toBeGreaterThan(1),
    )
    await playWell(buildBlock(book, -1), { WEBHOOK: id })
    await daemon.call('POST', `/v1/webhooks/${id}/test`)
  })

  test('The marketplace answers 429', async () => {
    const book = runbook('The marketplace answers 429')
    await sandbox.control('PUT', '/faults', {
      rules: [{ operation: 'orders.list', tooManyRequests: { share: 1, delayMs: 4_000 } }],
    })
    await untilShown(book)
    const [shown] = await playWell(buildBlock(book, 0), { SELLER: sellerId })
    expect(shown?.out).toContain('orders.list')
    await sandbox.control('PUT', '/faults', {})
    await untilOver(book)
    await eventually(async () => {
      const [free] = await playWell(buildBlock(book, -1), { SELLER: sellerId })
      expect(free?.out).toMatch(/^waiting for rate limits: (?!.* until )/m)
    })
  })

  test('The marketplace does not answer', async () => {
    const book = runbook('The marketplace does not answer')
    await marketplace.cut()
    await untilShown(book)
    const [doctor] = await play(buildBlock(book, 0), { SELLER: sellerId })
    expect(doctor?.code).toBe(1)
    expect(doctor?.out).toMatch(new RegExp(`^fail +credentials: seller ${sellerId}: `, 'm'))
    expect(await readiness(daemon)).toEqual({ status: 200, failing: [] })
    await marketplace.open()
    await playWell(buildBlock(book, -1), { SELLER: sellerId })
    await untilOver(book)
  })

  test.skipIf(!hasRedisServer())('Redis is unavailable', async () => {
    const book = runbook('Redis is unavailable')
    await redis?.kill()
    await untilMissing(daemon, ...book.says('Health').filter((name) => name !== '/readyz'))
    await untilShown(book)
    const order = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(order)), 'events are stored in Postgres').toBe(202)
    const [doctor] = await play(buildBlock(book, 0))
    expect(doctor?.out).toMatch(/^fail +redis:/m)
    await redis?.start()
    await untilOver(book)
    const [, after] = await play(buildBlock(book, -1))
    expect(readFailures(after)).toEqual([])
    await untilEffects(sandbox, order, ['acknowledged'])
  })

  test('Postgres is unavailable, full or read-only', async () => {
    const book = runbook('Postgres is unavailable, full or read-only')
    const named = book.says('Health').find((name) => name !== '/readyz') ?? ''
    const untilNamed = (why: string): Promise<void> =>
      eventually(async () => {
        const [health] = await play(buildBlock(book, 0))
        const { checks } = z
          .object({ checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().optional() })) })
          .parse(JSON.parse(health?.out ?? ''))
        expect(checks).toContainEqual({ name: named, ok: false, detail: why })
        expect((await fetch(`${daemon.url}/v1/orders`)).status).toBe(503)
      })
    await passage.cut()
    await untilNamed('Postgres cannot be reached')
    await untilShown(book)
    await passage.open()
    await untilOver(book)

    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const name = new URL(databaseUrl).pathname.slice(1)
    const begin =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await client.query(begin)
    try {
      await eventually(async () => {
        const [health] = await play(buildBlock(book, 0))
        expect(health?.out).toContain('Postgres takes no writes: it is read-only')
      })
      const statements = book.blocks.filter(({ language }) => language === 'sql')
      expect(statements).toHaveLength(2)
      for (const { text } of statements)
        for (const statement of text.split(/;$/m).map((one) => one.trim()))
          if (statement !== '') await client.query(statement.replace('DATABASE tallyman', `DATABASE ${name}`))
    } finally {
      await client.end()
    }
    await untilReady(daemon)
    await playWell(buildBlock(book, -1))
    const order = await placeOrder(sandbox, 1)
    await eventually(async () => expect(await post(daemon, accepted(order))).toBe(202))
    await untilEffects(sandbox, order, ['acknowledged'])
  })

  test('An old snapshot is held', async () => {
    const book = runbook('An old snapshot is held')
    const [told = ''] = book.says('Doctor')
    const holder = new pg.Client({ connectionString: databaseUrl, application_name: 'report' })
    const ended = new Promise((resolve) => holder.on('error', resolve))
    await holder.connect()
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const session = String(rows[0]?.pid)
    // As if half an hour had passed; the daemon, by whose time none has, resolves it every minute.
    const untilKnown = eventually(async () => {
      await look(1)
      const [doctor] = await play(buildBlock(book, 0))
      expect(doctor?.out).toMatch(new RegExp(`^warn +database: the session ${session} .*application report\\) ${told}`, 'm'))
      expect(doctor?.out).toContain(`SELECT pg_terminate_backend(${session})`)
      for (const condition of book.says('Metric')) expect(await readSamples(condition), condition).not.toEqual([])
    }, 60_000)
    await untilKnown
    const [statement] = book.blocks.filter(({ language }) => language === 'sql')
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(statement?.text.replace('SESSION', session) ?? '')
    await client.end()
    await ended
    await look(1)
    await eventually(async () => {
      const [alarms] = await playWell(buildBlock(book, -1))
      expect(alarms?.out).not.toContain('snapshot-held')
    })
  })

  test('A clock is wrong', async () => {
    const book = runbook('A clock is wrong')
    const [told = ''] = book.says('Doctor')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      daemon.program.child.kill('SIGUSR2')
      const [doctor] = await play(buildBlock(book, 0))
      expect(doctor?.out).toMatch(new RegExp(`^warn +clock: .*${told} .* behind ours`, 'm'))
      await untilClockSeen(Date.now() - 1_800_000)
    } finally {
      vi.useRealTimers()
      daemon.program.child.kill('SIGWINCH')
    }
    await untilShown(book)
    const [doctor] = await play(buildBlock(book, -1))
    expect(doctor?.out).toMatch(new RegExp(`^ok +clock: .*${told}`, 'm'))
    const order = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(order))).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged'])
  })

  test('Credentials are refused', async () => {
    const book = runbook('Credentials are refused')
    await untilShown(book)
    await writeSellers('right')
    const [list, , resumed] = await playWell(buildBlock(book, 0), { SELLER: stranger })
    expect(list?.out).toMatch(new RegExp(`^${stranger} +stopped`, 'm'))
    expect(resumed?.out).toContain('is active')
    await untilOver(book)
    const order = await placeOrder(sandbox, 1, stranger)
    expect(await post(daemon, accepted(order))).toBe(202)
    await untilEffects(sandbox, order, ['acknowledged'])
    const [shown] = await playWell(buildBlock(book, -1), { SELLER: stranger })
    expect(shown?.out).toContain(`seller ${stranger} is active`)
  }, 150_000)
})
