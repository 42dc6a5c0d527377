import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cli } from '../cli/run.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { accepted, dispatched } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Program, startProgram } from '../support/process.ts'
import { query } from '../support/query.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import {
  makeSellers,
  openPassage,
  placeOrder,
  post,
  processorShare,
  readiness,
  sandboxSeller,
  stopSellerNow,
  untilEffects,
  untilMissing,
  untilReady,
  untilSettled,
} from './support.ts'

let postgres: TestPostgres
let sandbox: TestSandbox
let folder: string
let databaseUrl: string
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-outages-'))
})
afterAll(async () => {
  await Promise.all([postgres.stop(), sandbox.stop(), rm(folder, { recursive: true, force: true })])
})
beforeEach(async () => {
  databaseUrl = await postgres.database()
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const environment = (env: Readonly<Record<string, string>>) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: folder,
  MARKETPLACE_URL: sandbox.url,
  POLL_ORDERS: '1s',
  POLL_RETURNS: 'off',
  REQUEST_TIMEOUT: '2s',
  SETTLE_TIME: '4s',
  ...env,
})

const start = async (env: Readonly<Record<string, string>> = sandboxSeller): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(environment(env))
  cleanUps.push(() => daemon.program.kill())
  return daemon
}

const run = (env: Readonly<Record<string, string>>): Program => {
  const program = startProgram('src/main.ts', { LOG_FORMAT: 'json', ...environment(env) })
  cleanUps.push(() => program.kill())
  return program
}

/** The outage is watched for so long; what it costs is measured. */
const watchMs = 4_000
const maxLines = 20

const countPid = ({ program }: TestDaemon): number => {
  if (program.child.pid === undefined) throw new Error('the daemon was not started')
  return program.child.pid
}

/** Watches a daemon during an outage, as a supervisor does: it stays up, is not busy, and does not flood its log. */
const watchOutage = async (daemon: TestDaemon, linesBefore: number): Promise<void> => {
  const share = await processorShare(countPid(daemon), async () => {
    const endsAt = performance.now() + watchMs
    while (performance.now() < endsAt) {
      expect((await daemon.call('GET', '/livez')).status).toBe(200)
      expect((await readiness(daemon)).status).toBe(503)
      await delay(500)
    }
  })
  expect(share).toBeLessThan(0.5)
  const lines = daemon.program.output().split('\n').slice(linesBefore)
  expect(lines.length, lines.join('\n')).toBeLessThan(maxLines)
}

/** Keeps whoever asks for the migrations waiting. */
const holdMigrations = async () => {
  const holder = new pg.Client({ connectionString: databaseUrl })
  holder.on('error', () => undefined)
  await holder.connect()
  cleanUps.push(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE _prisma_migrations')
  return {
    untilAskedFor: () =>
      eventually(async () => {
        const { rows } = await holder.query(
          `SELECT 1 FROM pg_locks WHERE relation = '_prisma_migrations'::regclass AND NOT granted`,
        )
        expect(rows).not.toEqual([])
      }),
    release: () => holder.end(),
  }
}

/** Asks as supervisors do, one time after the other, while the answer is that all is well. */
const untilNotReady = async (daemon: TestDaemon): Promise<number> => {
  for (;;) {
    const { status } = await readiness(daemon)
    if (status !== 200) return status
  }
}

const readLines = ({ program }: TestDaemon): number => program.output().split('\n').length

const acknowledgeNewOrder = async (daemon: TestDaemon): Promise<void> => {
  const order = await placeOrder(sandbox, 1)
  expect(await post(daemon, accepted(order))).toBe(202)
  await untilEffects(sandbox, order, ['acknowledged'])
  await untilSettled(databaseUrl)
}

describe.skipIf(process.platform !== 'linux')('a store that is away', () => {
  test.skipIf(!hasRedisServer())('Redis: the daemon stays up, says so, and goes on with an empty one', async () => {
    const redis = await startTestRedis()
    cleanUps.push(() => redis.stop())
    const daemon = await start({ ...sandboxSeller, REDIS_URL: redis.url })
    await acknowledgeNewOrder(daemon)

    const lines = readLines(daemon)
    await redis.kill()
    await untilMissing(daemon, 'redis')
    const order = await placeOrder(sandbox, 1)
    expect(await post(daemon, accepted(order)), 'an event is durable in Postgres').toBe(202)
    await watchOutage(daemon, lines)

    await redis.start()
    await untilReady(daemon)
    await untilEffects(sandbox, order, ['acknowledged'])
    await acknowledgeNewOrder(daemon)
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 3 })
    expect(await daemon.program.stop()).toBe(0)
  })

  test('Postgres: however many requests come meanwhile, the log says once that it is away, without a stack, and once that it is back', async () => {
    const through = new URL(databaseUrl)
    const passage = await openPassage(Number(through.port))
    cleanUps.push(() => passage.close())
    through.port = `${passage.port}`
    const daemon = await start({ ...sandboxSeller, DATABASE_URL: through.href })
    await acknowledgeNewOrder(daemon)

    const from = readLines(daemon)
    const lines = () => daemon.program.output().split('\n').slice(from)
    await passage.cut()
    await untilMissing(daemon, 'postgres', 'queues')
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const route = ['/v1/orders', '/v1/alarms', '/v1/overview', '/v1/commands'][index % 4]
        return (await fetch(`${daemon.url}${route}`)).status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([503]))
    for (let scrape = 0; scrape < 3; scrape += 1) expect((await fetch(`${daemon.url}/metrics`)).status).toBe(200)
    const away = lines().join('\n')
    expect(away.match(/requests that need it are answered with 503/g), away).toHaveLength(1)
    expect(away, away).not.toContain('"stack"')
    // One of each part that has noticed: the pool, the queues, the notifications, the requests, the sellers.
    expect(lines().length, away).toBeLessThan(12)

    await passage.open()
    await untilReady(daemon)
    expect((await fetch(`${daemon.url}/v1/orders`)).status).toBe(200)
    await eventually(async () =>
      expect(
        lines()
          .join('\n')
          .match(/the database is available again/g),
      ).toHaveLength(1),
    )
    expect(await daemon.program.stop()).toBe(0)
  })

  test.each(['cut', 'freeze'] as const)('Postgres (%s): the daemon stays up, says so, and goes on', async (manner) => {
    const through = new URL(databaseUrl)
    const passage = await openPassage(Number(through.port))
    cleanUps.push(() => passage.close())
    through.port = `${passage.port}`
    const daemon = await start({ ...sandboxSeller, DATABASE_URL: through.href })
    await acknowledgeNewOrder(daemon)

    const lines = readLines(daemon)
    // Supervisors ask all the time: a question that is in progress when its connection breaks must not end the daemon.
    const migrations = await holdMigrations()
    const asking = untilNotReady(daemon)
    await migrations.untilAskedFor()
    await passage[manner]()
    await migrations.release()
    expect(await asking).toBe(503)
    await untilMissing(daemon, 'postgres', 'queues')
    const order = await placeOrder(sandbox, 1)
    const refused = await post(daemon, accepted(order), 2_000).catch(() => 'no answer')
    expect(refused, 'nothing is accepted that is not durable').not.toBe(202)
    await watchOutage(daemon, lines)

    await passage.open()
    await untilReady(daemon)
    await eventually(async () => expect(await post(daemon, accepted(order))).toBe(202))
    await untilEffects(sandbox, order, ['acknowledged'])
    await acknowledgeNewOrder(daemon)
    expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 3 })
    expect(await daemon.program.stop()).toBe(0)
  })
})

test('a marketplace that is away: commands wait, then go on, once', async () => {
  let own = await startTestSandbox()
  const first = own
  cleanUps.push(() => first.stop())
  const daemon = await start({ ...sandboxSeller, MARKETPLACE_URL: own.url })
  const order = await placeOrder(own, 3)
  expect(await post(daemon, accepted(order))).toBe(202)
  await untilEffects(own, order, ['acknowledged'])

  await own.program.kill()
  for (const event of [dispatched(order, 0, 2), dispatched(order, 1, 1)]) expect(await post(daemon, event)).toBe(202)
  await eventually(async () => {
    const [row] = await query<{ attempts: number }>(
      databaseUrl,
      `SELECT count(*)::int AS attempts FROM tallyman.command_attempts a JOIN tallyman.commands c ON c.id = a.command_id
       WHERE c.kind = 'ship' AND a.outcome = 'not-sent'`,
    )
    expect(row?.attempts).toBeGreaterThan(0)
  })
  expect(await readiness(daemon)).toEqual({ status: 200, failing: [] })

  own = await startTestSandbox({ SANDBOX_PORT: new URL(own.url).port, DATA_DIR: own.folder })
  const again = own
  cleanUps.push(() => again.stop())
  const effects = await untilEffects(own, order, ['acknowledged', 'shipped', 'shipped'])
  expect(effects.slice(1).map(({ quantity }) => quantity)).toEqual([2, 1])
  expect(await untilSettled(databaseUrl)).toEqual({ confirmed: 3 })
})

const alarmsSchema = z.object({ items: z.array(z.object({ sellerId: z.string(), kind: z.string() })) })

test('SIGHUP: a seller whose secret is wrong stands still while others go on, and goes on when it is right again', async () => {
  const [good, bad] = await makeSellers(sandbox, 'seller-good', 'seller-bad')
  const sellersFile = path.join(folder, 'hang-up.json')
  await writeFile(sellersFile, JSON.stringify([good, bad]))
  const before = await start({ SELLERS_FILE: sellersFile })
  const [ofGood, ofBad] = [await placeOrder(sandbox, 1, 'seller-good'), await placeOrder(sandbox, 1, 'seller-bad')]
  await eventually(async () => expect(await query(databaseUrl, 'SELECT 1 FROM warehouse.orders')).toHaveLength(2))
  await before.program.stop()

  await writeFile(sellersFile, JSON.stringify([good, { ...bad, clientSecret: 'mistyped' }]))
  const daemon = await start({ SELLERS_FILE: sellersFile })
  const hangUp = async (text: string): Promise<void> => {
    await writeFile(sellersFile, text)
    daemon.program.child.kill('SIGHUP')
  }
  const openAlarms = async () => alarmsSchema.parse((await daemon.call('GET', '/v1/alarms')).body).items
  // Refusals are believed after a minute; test/daemon/credentials.test.ts waits for it.
  await stopSellerNow(databaseUrl, 'seller-bad')
  expect(await openAlarms()).toEqual([expect.objectContaining({ sellerId: 'seller-bad', kind: 'credentials-refused' })])
  for (const order of [ofBad, ofGood]) expect(await post(daemon, accepted(order))).toBe(202)
  await untilEffects(sandbox, ofGood, ['acknowledged'])
  expect(await sandbox.effects(ofBad.purchaseOrderId)).toEqual([])

  await hangUp('no list of sellers')
  await daemon.program.says('the sellers stay as they were: SELLERS_FILE')
  expect(await openAlarms()).toHaveLength(1)

  await hangUp(JSON.stringify([good, bad]))
  await untilEffects(sandbox, ofBad, ['acknowledged'])
  expect(await openAlarms()).toEqual([])
})

test('POST /v1/sellers/reload adds and removes sellers while running; a wrong file changes nothing and says in which line', async () => {
  const [first, second] = await makeSellers(sandbox, 'seller-first', 'seller-second')
  const sellersFile = path.join(folder, 'reload.json')
  await writeFile(sellersFile, JSON.stringify([first]))
  const daemon = await start({ SELLERS_FILE: sellersFile })
  const reload = () => daemon.call('POST', '/v1/sellers/reload')
  await writeFile(sellersFile, JSON.stringify([{ ...first, clientId: undefined }, second], null, 1))
  expect(await reload()).toMatchObject({
    status: 422,
    body: {
      code: 'invalid-settings',
      errors: [{ path: 'SELLERS_FILE', message: expect.stringMatching(/line 2: sellers\[0\].clientId is missing/) }],
    },
  })
  await writeFile(sellersFile, JSON.stringify([first, second]))
  expect(await reload()).toMatchObject({
    status: 200,
    body: { sellers: ['seller-first', 'seller-second'], added: ['seller-second'], removed: [] },
  })
  const order = await placeOrder(sandbox, 1, 'seller-second')
  await eventually(async () =>
    expect(
      await query(databaseUrl, `SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '${order.purchaseOrderId}'`),
    ).toHaveLength(1),
  )
  await writeFile(sellersFile, JSON.stringify([second]))
  const run = await cli(['sellers', 'reload'], { TALLYMAN_URL: daemon.url })
  expect(run.out).toBe('1 seller; added: none; removed: seller-first\n')
})

test('a reload that cannot be stored keeps the old set, says so, and leaves the next one to do its work', async () => {
  const [first, second] = await makeSellers(sandbox, 'seller-stays', 'seller-comes')
  const sellersFile = path.join(folder, 'not-stored.json')
  await writeFile(sellersFile, JSON.stringify([first]))
  const daemon = await start({ SELLERS_FILE: sellersFile })
  const reload = () => daemon.call('POST', '/v1/sellers/reload')
  await query(
    databaseUrl,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no more sellers'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON tallyman.sellers FOR EACH ROW WHEN (NEW.seller_id = 'seller-comes') EXECUTE FUNCTION refuse()`,
  )
  await writeFile(sellersFile, JSON.stringify([{ ...second, skus: ['K-1'], campaignIds: ['7'] }]))
  for (let time = 0; time < 2; time += 1)
    expect(await reload()).toMatchObject({ status: 503, body: { detail: expect.stringContaining('no seller has changed') } })
  daemon.program.child.kill('SIGHUP')
  await daemon.program.says('the sellers stay as they were: they could not be stored')
  const stored = `SELECT seller_id FROM tallyman.sellers UNION ALL SELECT seller_id FROM tallyman.inventory_skus WHERE sku = 'K-1'
    UNION ALL SELECT seller_id FROM tallyman.watched_campaigns WHERE campaign_id = '7'`
  expect(await query(databaseUrl, stored)).toEqual([{ seller_id: 'seller-stays' }])
  const order = await placeOrder(sandbox, 1, 'seller-stays')
  await eventually(async () =>
    expect(
      await query(databaseUrl, `SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '${order.purchaseOrderId}'`),
    ).toHaveLength(1),
  )
  await query(databaseUrl, 'DROP TRIGGER refuse ON tallyman.sellers')
  expect(await reload()).toMatchObject({ status: 200, body: { added: ['seller-comes'], removed: ['seller-stays'] } })
})

test('AUTO_ACKNOWLEDGE=on-import acknowledges a new order without any event', async () => {
  await start({ ...sandboxSeller, AUTO_ACKNOWLEDGE: 'on-import' })
  const order = await placeOrder(sandbox, 2)
  await untilEffects(sandbox, order, ['acknowledged'])
  await eventually(async () => {
    const rows = await query<{ acknowledged: number }>(
      databaseUrl,
      `SELECT acknowledged FROM warehouse.order_lines WHERE purchase_order_id = '${order.purchaseOrderId}'`,
    )
    expect(rows).toEqual([{ acknowledged: 2 }])
  })
})

test('REREAD_DEPTH and REREAD_EVERY decide how far back and how often orders are read again by creation', async () => {
  await start({ ...sandboxSeller, REREAD_DEPTH: '3d', REREAD_EVERY: '2s' })
  const rereads = () =>
    query<{ hours: number; runs: number }>(
      databaseUrl,
      `SELECT round(extract(epoch FROM started_at - window_from) / 3600)::int AS hours, runs
       FROM tallyman.sync_runs WHERE resource = 'orders' AND stream = 'reread' AND error IS NULL ORDER BY id`,
    )
  // Runs that change nothing are one row.
  await eventually(async () => expect((await rereads()).reduce((sum, { runs }) => sum + runs, 0)).toBeGreaterThan(2))
  for (const { hours } of await rereads()) expect(hours).toBe(72)
})

test('roles in processes of their own do the job together', async () => {
  const others = [run({ ...sandboxSeller, ROLES: 'scheduler' }), run({ ...sandboxSeller, ROLES: 'worker' })]
  const http = await start({ ...sandboxSeller, ROLES: 'http' })
  for (const program of others) await program.says('"msg":"tallyman is running"')
  const [synced, told] = [await placeOrder(sandbox, 1), await placeOrder(sandbox, 1)]
  await eventually(async () => {
    const rows = await query(databaseUrl, `SELECT 1 FROM warehouse.orders WHERE purchase_order_id = '${synced.purchaseOrderId}'`)
    expect(rows).toHaveLength(1)
  })
  expect(await post(http, accepted(told))).toBe(202)
  const { id, type, data } = accepted(synced)
  await query(
    databaseUrl,
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('/sql', '${id}', '${type}', '${JSON.stringify(data)}')`,
  )
  await untilEffects(sandbox, told, ['acknowledged'])
  await untilEffects(sandbox, synced, ['acknowledged'])
  expect(await Promise.all([...others, http.program].map((program) => program.stop()))).toEqual([0, 0, 0])
})
