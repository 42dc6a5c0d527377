import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Database, openDatabase } from '../../src/store/db/database.ts'
import { cli } from '../cli/run.ts'
import { sandboxSeller } from '../daemon/support.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { hasRedisServer, startTestRedis } from '../support/redis.ts'
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts'
import { findVocabulary } from '../support/vocabulary.ts'
import { buildEvent, type Receiver, startReceiver } from './receiver.ts'
import { tell } from './rig.ts'

const kinds = hasRedisServer() ? (['postgres', 'redis'] as const) : (['postgres'] as const)
const maxWaitMs = 60_000
const madeSchema = z.object({ id: z.string(), secret: z.string() })

describe.each(kinds)('a daemon with queues in %s', (kind) => {
  let postgres: TestPostgres
  let sandbox: TestSandbox
  let daemon: TestDaemon
  let database: Database
  let environment: Record<string, string>
  const stops: (() => Promise<unknown>)[] = []
  const receivers: Receiver[] = []

  const startDaemon = async (): Promise<void> => {
    daemon = await startTestDaemon(environment)
  }
  beforeAll(async () => {
    ;[postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
    const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-webhooks-'))
    const redis = kind === 'redis' ? await startTestRedis() : null
    const databaseUrl = await postgres.database()
    database = openDatabase({ url: databaseUrl, findVocabulary, connections: 4 })
    environment = {
      ...sandboxSeller,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      MARKETPLACE_URL: sandbox.url,
      WEBHOOK_PRIVATE_ADDRESSES: 'allow',
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    }
    await startDaemon()
    stops.push(
      () => daemon.program.kill(),
      () => database.close(),
      () => sandbox.stop(),
      async () => redis?.stop(),
      () => postgres.stop(),
      () => rm(folder, { recursive: true, force: true }),
    )
  }, 90_000)
  afterEach(async () => {
    const { body } = await daemon.call('GET', '/v1/webhooks')
    const { items } = z.object({ items: z.array(z.object({ id: z.string() })) }).parse(body)
    for (const { id } of items) await fetch(`${daemon.url}/v1/webhooks/${id}`, { method: 'DELETE' })
    for (const receiver of receivers.splice(0)) await receiver.close()
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  const receive = async (): Promise<Receiver> => {
    const receiver = await startReceiver()
    receivers.push(receiver)
    return receiver
  }
  const add = async (receiver: Receiver, body: object = {}) => {
    const made = await daemon.call('POST', '/v1/webhooks', { url: receiver.url, types: ['order.missing'], ...body })
    expect(made.status).toBe(201)
    return madeSchema.parse(made.body)
  }
  const orderExpression = (message: { readonly body: string }): string => JSON.parse(message.body).subject
  const listNumbers = (receiver: Receiver, order: string): readonly number[] =>
    receiver.received.filter((message) => orderExpression(message) === order).map(({ body }) => Number(JSON.parse(body).id))
  /** So many changes of each of these orders, in turns. */
  const readTell = async (orders: readonly string[], each: number): Promise<void> => {
    for (let count = 0; count < each; count += 1)
      await database.transaction(async (tx) => {
        for (const purchaseOrderId of orders) tx.record({ sellerId: 's-1', type: 'order.missing', purchaseOrderId, data: {} })
      })
  }
  const ordersNamed = (name: string, count: number): readonly string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`)

  test('changes arrive signed, once, in the order of each purchase order; jobs, metrics, readiness and command line know of it', async () => {
    const receiver = await receive()
    const { id, secret } = await add(receiver)
    const orders = ordersNamed('a', 10)
    await readTell(orders, 6)
    await eventually(async () => expect(receiver.received).toHaveLength(60), maxWaitMs)
    for (const message of receiver.received) expect(buildEvent(secret, message).type).toBe('order.missing')
    for (const order of orders) {
      const numbers = listNumbers(receiver, order)
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    }
    // Other changes happen too.
    const metrics = await eventually(async () => {
      const text = await (await fetch(`${daemon.url}/metrics`)).text()
      expect(text).toMatch(/tallyman_webhook_lag_changes 0/)
      return text
    }, maxWaitMs)
    expect(metrics).toMatch(/tallyman_webhook_deliveries_total\{outcome="delivered"\} 60/)
    expect(metrics).toMatch(/tallyman_webhook_endpoints\{state="active"\} 1/)
    expect(metrics).toMatch(/tallyman_webhook_pending_deliveries 0/)
    expect(
      Number(/tallyman_job_runs_total\{job="webhook.deliver",outcome="done"\} (\d+)/.exec(metrics)?.[1]),
    ).toBeGreaterThanOrEqual(60)
    const ready = await daemon.call('GET', '/readyz')
    expect(ready).toMatchObject({
      status: 200,
      body: { checks: expect.arrayContaining([expect.objectContaining({ name: 'webhooks', ok: true })]) },
    })

    const tallyman = (...args: readonly string[]) => cli(args, { ...environment, TALLYMAN_URL: daemon.url })
    expect((await tallyman('webhooks')).out).toMatch(new RegExp(`^${id} +active +${receiver.url} +order\\.missing +all *$`, 'm'))
    expect(await tallyman('webhooks', 'test', id)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^the test message was delivered: HTTP 204 in \d+ ms\n$/),
    })
    receiver.answer(500)
    expect(await tallyman('webhooks', 'test', id)).toMatchObject({
      code: 1,
      messages: expect.stringContaining('was not delivered: HTTP 500'),
    })
    receiver.answer(204)
    expect((await tallyman('webhooks', 'pause', id)).out).toBe(`webhook ${id} is paused; changes are kept until it is resumed\n`)
    await readTell(['later'], 2)
    expect((await tallyman('webhooks', 'resume', id)).out).toContain(`webhook ${id} is active`)
    await eventually(async () => expect(listNumbers(receiver, 'later')).toHaveLength(2), maxWaitMs)
    const rotated = z
      .object({ secret: z.string() })
      .parse(JSON.parse((await tallyman('webhooks', 'rotate', id, '--overlap', '60', '--json')).out))
    expect((await tallyman('webhooks', 'redeliver', id, '--after', '0', '--before', '4')).out).toBe('3 messages are sent again\n')
    await eventually(async () => expect(receiver.received).toHaveLength(60 + 2 + 2 + 3), maxWaitMs)
    const again = receiver.received.slice(-3)
    for (const message of again)
      for (const key of [secret, rotated.secret]) expect(buildEvent(key, message).type).toBe('order.missing')
    expect((await tallyman('webhooks', 'deliveries', id, '--limit', '2')).out).toMatch(/^\d+ +\d+ +delivered +1 +HTTP 204 /m)
    expect(await tallyman('webhooks', 'redeliver', id)).toMatchObject({ code: 2 })
    receiver.answer(410)
    await readTell(['last'], 1)
    await eventually(async () => expect((await tallyman('webhooks')).out).toMatch(/^wh_\w+ +disabled /m), maxWaitMs)
    expect((await tallyman('doctor')).out).toMatch(
      /^warn {2}webhooks: the webhook wh_\w+ is disabled: the receiver answered 410/m,
    )
    expect(await tallyman('webhooks', 'remove', id)).toMatchObject({ code: 0, out: `webhook ${id} is removed\n` })
    expect(await tallyman('webhooks', 'add', 'https://user:secret@example.com/')).toMatchObject({ code: 1 })
    // Neither secrets nor addresses with what may be one are logged.
    expect(daemon.program.output()).not.toMatch(/whsec_|\/hook/)
  }, 150_000)

  test('one that fails is tried again after five seconds, by itself', async () => {
    const receiver = await receive()
    await add(receiver)
    receiver.answer(() => (receiver.received.length === 1 ? 503 : 204))
    const startedMs = performance.now()
    await tell(database, [
      ['order.missing', 'b'],
      ['order.missing', 'b'],
    ])
    await eventually(async () => expect(receiver.received).toHaveLength(3), maxWaitMs)
    expect(performance.now() - startedMs).toBeGreaterThan(5_000)
    expect(listNumbers(receiver, 'b').map((seq, _i, all) => seq - (all[0] ?? 0))).toEqual([0, 0, 1])
  }, 90_000)

  test('killed in the middle and started again it delivers the rest, and each order in its order', async () => {
    const receiver = await receive()
    let delayMs = 15
    receiver.answer(() => ({ raw: (response) => void setTimeout(() => response.writeHead(204).end(), delayMs) }))
    await add(receiver)
    const orders = ordersNamed('k', 25)
    await readTell(orders, 12)
    await eventually(async () => expect(receiver.received.length).toBeGreaterThan(40), maxWaitMs)
    await daemon.program.kill()
    const before = receiver.received.length
    expect(before).toBeLessThan(300)
    delayMs = 0
    await startDaemon()
    await eventually(
      async () => expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(300),
      maxWaitMs,
    )
    for (const order of orders) {
      const numbers = listNumbers(receiver, order)
      expect(new Set(numbers).size).toBe(12)
      // What was in progress when it was killed comes again, before what follows it.
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    }
    expect(receiver.received.length - 300).toBeLessThanOrEqual(32)
  }, 150_000)

  // The slots of endpoints are those of the process, whatever the queues are in: it is tried once.
  test.runIf(kind === 'postgres')(
    'a receiver that never answers slows another one by no more than a tenth',
    async () => {
      const [steady, silent] = [await receive(), await receive()]
      let arrivedAtMs = 0
      steady.answer(() => {
        arrivedAtMs = performance.now()
        // It takes its time, as receivers do: what is measured is not how fast this machine is.
        return { raw: (response) => void setTimeout(() => response.writeHead(204).end(), 150) }
      })
      silent.answer({ raw: () => undefined })
      await add(steady, { types: ['order.missing'] })
      const messages = 240
      let round = 0
      const timeOne = async (): Promise<number> => {
        round += 1
        const before = steady.received.length
        const startedMs = performance.now()
        await readTell(ordersNamed(`s${round}`, messages), 1)
        await eventually(async () => expect(steady.received.length - before).toBe(messages), maxWaitMs)
        return arrivedAtMs - startedMs
      }
      await timeOne()
      const { id } = await add(silent, { types: ['order.missing'] })
      const setState = async (state: 'active' | 'paused'): Promise<void> => {
        const changed = await fetch(`${daemon.url}/v1/webhooks/${id}`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ state }),
        })
        expect(changed.status).toBe(200)
      }
      // Whatever else this machine does makes a round longer, never shorter: the shortest of each kind are compared, until they tell.
      let [alone, beside] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      for (let rounds = 0; rounds < 2 || (rounds < 8 && beside >= alone * 1.1); rounds += 1) {
        await setState('paused')
        alone = Math.min(alone, await timeOne())
        // Every schedule begins anew: it is called as often as it ever is.
        await setState('active')
        beside = Math.min(beside, await timeOne())
        // All of its slots are held.
        expect(silent.received.length).toBeGreaterThanOrEqual(16)
      }
      console.log(
        `webhooks, queues in ${kind}: ${messages} messages in ${Math.round(alone)} ms alone, ${Math.round(beside)} ms beside a silent receiver`,
      )
      expect(beside).toBeLessThan(alone * 1.1)
    },
    300_000,
  )
})
