import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deliver, fanOutChanges } from '../../src/jobs/webhooks/deliver.ts'
import { listAlarms } from '../../src/store/commands/operator-queries.ts'
import { removeOldData } from '../../src/store/privacy/retention.ts'
import { claimDelivery, createDeliveries, findDueDeliveries, settleFailed } from '../../src/store/webhooks/webhook-deliveries.ts'
import { changeWebhook, readWebhook, rotateWebhookSecret } from '../../src/store/webhooks/webhook-endpoints.ts'
import {
  listDeliveries,
  readWebhookGauges,
  redeliverByIds,
  redeliverRange,
  reviewBehindAlarms,
} from '../../src/store/webhooks/webhook-log.ts'
import { selfSignedCertificate } from '../clients/certificate.ts'
import { withDatabase } from '../support/database.ts'
import { type Answer, buildEvent, type Receiver, startReceiver } from './receiver.ts'
import { addEndpoint, createSender, letPass, secret, tell } from './rig.ts'

const stage = withDatabase({ each: 'test' })
let receiver: Receiver
let sender: ReturnType<typeof createSender>
beforeEach(async () => {
  receiver = await startReceiver()
  sender = createSender(stage.database)
})
afterEach(async () => {
  sender.close()
  await receiver.close()
})

const close: Answer = { raw: ({ socket }) => void socket?.destroy() }

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const log = async (endpointId = 'wh_1') =>
  (await listDeliveries(stage.database, { endpointId, status: null, changeSequence: null }, null, 1_000)).items.toReversed()
const alarms = async () =>
  (
    await listAlarms(
      stage.database,
      { all: false, sellerId: null, kind: null, severity: null, silenced: null, subject: null, raised: { from: null, to: null } },
      null,
      100,
    )
  ).items.map(({ kind, subject }) => `${kind} ${subject}`)
const findState = async (id = 'wh_1') => (await readWebhook(stage.database, id))?.state
const seqs = (messages: Receiver['received'] = receiver.received): readonly string[] =>
  messages.map(({ body }) => JSON.parse(body).id)

const firstLines = ([message]: Receiver['received']) => {
  if (message === undefined) throw new Error('nothing came')
  return message
}

describe('a message', () => {
  test('is a CloudEvent of the change as the feed shows it, signed, with an id that stays', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [['order.seen', 'PO 1'], ['seller.paused']])
    receiver.answer(500)
    await sender.run()
    receiver.answer(204)
    await letPass(stage.database, 6 * second)
    await sender.run()
    const mine = receiver.received.filter(({ body }) => body.includes('order.seen'))
    const [event, again] = mine.map((message) => buildEvent(secret, message))
    expect(event).toMatchObject({
      id: '1',
      source: '/tallyman/s-1',
      type: 'order.seen',
      subject: 'PO 1',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      datacontenttype: 'application/json',
      sequence: '1',
      sellerid: 's-1',
      purchaseorderid: 'PO 1',
      data: {},
    })
    expect(again?.id).toBe('1')
    expect(mine.map(({ headers }) => headers['webhook-id'])).toEqual(['wh_1_1', 'wh_1_1'])
    expect(mine[0]?.headers).toMatchObject({
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'Tallyman/test',
    })
    expect(() =>
      buildEvent(`whsec_${Buffer.from('another secret, of other bytes').toString('base64')}`, firstLines(mine)),
    ).toThrow(/signature/i)
  })

  test('comes once to each endpoint that wants its type and its seller', async () => {
    const other = await startReceiver()
    const third = await startReceiver()
    await addEndpoint(stage.database, receiver.url, { types: ['order.*', 'command.confirmed'] })
    await addEndpoint(stage.database, other.url, { id: 'wh_2', sellerId: 's-2' })
    await addEndpoint(stage.database, third.url, { id: 'wh_3', types: ['order'] })
    await tell(stage.database, [
      ['order.seen', 'a'],
      ['order_line.changed', 'a'],
      ['command.confirmed', 'a'],
      ['command.held', 'a'],
    ])
    await tell(stage.database, [['order.seen', 'a'], ['return.seen']], 's-2')
    await sender.run()
    await sender.run()
    expect([...seqs()].sort()).toEqual(['1', '3', '5'])
    expect([...seqs(other.received)].sort()).toEqual(['5', '6'])
    expect(third.received).toEqual([])
    for (const id of ['wh_1', 'wh_2', 'wh_3']) expect(await readWebhook(stage.database, id)).toMatchObject({ position: 6n })
    await other.close()
    await third.close()
  })

  test('is signed with the old and the new secret until the overlap is over', async () => {
    const fresh = `whsec_${Buffer.from('b secret of thirty-two bytes ...').toString('base64')}`
    await addEndpoint(stage.database, receiver.url)
    await stage.database.transaction((tx) => rotateWebhookSecret(tx, { id: 'wh_1', secret: fresh, overlapSeconds: 3_600 }))
    await tell(stage.database, [['order.seen', 'a']])
    await sender.run()
    const [first] = receiver.received
    if (first === undefined) throw new Error('nothing came')
    expect(buildEvent(secret, first).id).toBe('1')
    expect(buildEvent(fresh, first).id).toBe('1')
    await letPass(stage.database, 2 * hour)
    await tell(stage.database, [['order.seen', 'b']])
    await sender.run()
    const second = receiver.received[1]
    if (second === undefined) throw new Error('nothing came')
    expect(buildEvent(fresh, second).id).toBe('2')
    expect(() => buildEvent(secret, second)).toThrow(/signature/i)
  })
})

describe('a receiver that fails', () => {
  const hugeBody = (response: ServerResponse): void => {
    response.writeHead(500)
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', pour)
    response.on('error', () => undefined)
    pour()
  }
  const drip = (response: ServerResponse): void => {
    const socket = response.socket
    socket?.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket?.write('x-drip: 1\r\n'), 50)
    socket?.on('close', () => clearInterval(timer))
    socket?.on('error', () => undefined)
  }
  const ways: readonly (readonly [how: string, answer: Answer, outcome: string])[] = [
    ['302 to another place, which is not followed', { status: 302, headers: { location: '/elsewhere' } }, 'HTTP 302'],
    ['307', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'HTTP 307'],
    ['400', 400, 'HTTP 400'],
    ['401', 401, 'HTTP 401'],
    ['404', 404, 'HTTP 404'],
    ['429', 429, 'HTTP 429'],
    ['500', 500, 'HTTP 500'],
    ['503', 503, 'HTTP 503'],
    ['a reset connection', { raw: ({ socket }) => void socket?.resetAndDestroy() }, 'ECONNRESET'],
    ['a closed connection', close, 'ECONNRESET'],
    ['silence', { raw: () => undefined }, 'timeout'],
    ['a head that never ends', { raw: drip }, 'timeout'],
    ['a body without end', { raw: hugeBody }, 'HTTP 500'],
    ['what is no HTTP', { raw: ({ socket }) => void socket?.end('hello\r\n\r\n') }, 'HPE_INVALID_CONSTANT'],
  ]
  test.each(ways)('with %s gets the message again, five seconds and five minutes later', async (_how, how, expected) => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [['order.seen', 'a']])
    receiver.answer(how)
    await sender.run()
    const [failed] = await log()
    expect(failed).toMatchObject({ status: 'pending', attempt: 1 })
    expect(failed?.error ?? `HTTP ${failed?.httpStatus}`).toBe(expected)
    const waitMs = (failed?.nextAt?.getTime() ?? 0) - (failed?.at?.getTime() ?? 0)
    expect(waitMs).toBeGreaterThanOrEqual(5 * second)
    expect(waitMs).toBeLessThan(6 * second)
    await sender.run()
    expect(receiver.received).toHaveLength(1)
    await letPass(stage.database, 6 * second)
    await sender.run()
    expect(receiver.received).toHaveLength(2)
    receiver.answer(200)
    await letPass(stage.database, 4 * minute)
    await sender.run()
    expect(receiver.received).toHaveLength(2)
    await letPass(stage.database, 2 * minute)
    await sender.run()
    expect(receiver.received).toHaveLength(3)
    expect(await log()).toMatchObject([{ status: 'delivered', attempt: 3, httpStatus: 200, error: null, nextAt: null }])
    expect((await log())[0]?.attempts).toMatchObject([{ durationMs: expect.any(Number) }, {}, { httpStatus: 200, error: null }])
  })

  test('because nobody listens is told by its code', async () => {
    await addEndpoint(stage.database, receiver.url)
    await receiver.close()
    await tell(stage.database, [['order.seen', 'a']])
    await sender.run()
    expect(await log()).toMatchObject([{ status: 'pending', httpStatus: null, error: 'ECONNREFUSED' }])
  })

  test('because its certificate is not trusted gets nothing; once it is trusted it does', async () => {
    const certificate = selfSignedCertificate()
    const secure = await startReceiver(certificate)
    await addEndpoint(stage.database, secure.url)
    await tell(stage.database, [['order.seen', 'a']])
    await sender.run()
    expect(secure.received).toEqual([])
    expect(await log()).toMatchObject([{ status: 'pending', error: 'DEPTH_ZERO_SELF_SIGNED_CERT' }])
    const trusting = createSender(stage.database, { ca: certificate.cert })
    await letPass(stage.database, 6 * second)
    await trusting.run()
    expect(seqs(secure.received)).toEqual(['1'])
    trusting.close()
    await secure.close()
  })

  test('takes a message whose answer has a status and a body that never ends', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [
      ['order.seen', 'a'],
      ['order.changed', 'a'],
    ])
    receiver.answer({ raw: (response) => void response.writeHead(200).write('…') })
    await sender.run()
    expect((await log()).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  test('and asks to wait (429, 503) is not called before, with no message at all; but no longer than a day', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [['order.seen', 'a']])
    receiver.answer({ status: 429, headers: { 'retry-after': '600' } })
    await sender.run()
    await tell(stage.database, [['order.seen', 'b']])
    receiver.answer({ status: 503, headers: { 'retry-after': '999999999' } })
    await letPass(stage.database, 9 * minute)
    await sender.run()
    expect(receiver.received).toHaveLength(1)
    await letPass(stage.database, 2 * minute)
    await sender.run()
    expect(receiver.received.length).toBeGreaterThan(1)
    const before = receiver.received.length
    receiver.answer(200)
    await letPass(stage.database, day + minute)
    await sender.run()
    expect(new Set(seqs(receiver.received.slice(before)))).toEqual(new Set(['1', '2']))
    expect(sender.outcomes.filter((outcome) => outcome === 'delivered')).toHaveLength(2)
  })

  test('with 410 is disabled and called no more; resumed, it gets what it has not got', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [
      ['order.seen', 'a'],
      ['order.changed', 'a'],
    ])
    receiver.answer(410)
    await sender.run()
    await tell(stage.database, [['order.seen', 'b']])
    await letPass(stage.database, day)
    await sender.run()
    expect(receiver.received).toHaveLength(1)
    expect(await findState()).toBe('disabled')
    expect(await alarms()).toEqual(['webhook-stopped wh_1'])
    receiver.answer(200)
    await stage.database.transaction((tx) => changeWebhook(tx, 'wh_1', { state: 'active' }))
    await sender.run()
    expect([...seqs(receiver.received.slice(1))].sort()).toEqual(['1', '2', '3'])
    expect(await alarms()).toEqual([])
  })

  test('with one order only is given up on that order after ten attempts, with an alarm; the others are not kept waiting', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [
      ['order.seen', 'bad'],
      ['order.changed', 'bad'],
      ['order.seen', 'good'],
    ])
    receiver.answer(({ body }) => (body.includes('"subject":"bad"') && body.includes('order.seen') ? 400 : 204))
    for (const pastMs of [0, 6 * second, 6 * minute, hour, 3 * hour, 6 * hour, 12 * hour, 16 * hour, 23 * hour, 27 * hour]) {
      await letPass(stage.database, pastMs)
      await tell(stage.database, [['order.changed', 'good']])
      await sender.run()
    }
    expect((await log()).slice(0, 3)).toMatchObject([
      { status: 'failed', attempt: 10, httpStatus: 400 },
      { status: 'delivered' },
      { status: 'delivered', attempt: 1 },
    ])
    expect(seqs().filter((seq) => seq === '1')).toHaveLength(10)
    // What comes after it of the same order came after it was given up.
    expect(seqs().lastIndexOf('1')).toBeLessThan(seqs().indexOf('2'))
    expect(await findState()).toBe('active')
    expect(await alarms()).toEqual(['webhook-given-up wh_1'])
    receiver.answer(204)
    const [failed] = await log()
    await stage.database.transaction((tx) => redeliverByIds(tx, 'wh_1', [failed?.id ?? 0n]))
    await sender.run()
    expect((await log()).every(({ status }) => status === 'delivered')).toBe(true)
    expect(await alarms()).toEqual([])
  })
})

describe('a message that several processes find due at once', () => {
  const twoSenders = () => [sender, createSender(stage.database)] as const

  test('is sent by one of them, and its schedule goes on by one attempt', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [['order.seen', 'PO 1']])
    while ((await fanOutChanges(stage.database)).more);
    const [due] = await findDueDeliveries(stage.database)
    receiver.answer(() => ({ raw: (response) => void setTimeout(() => response.writeHead(500).end(), 200) }))
    const senders = twoSenders()
    const { signal } = new AbortController()
    await Promise.all([...senders, ...senders].map(({ parts }) => deliver(parts, due?.id ?? 0n, signal)))
    expect(receiver.received).toHaveLength(1)
    expect(await log()).toMatchObject([{ attempt: 1, status: 'pending' }])
    senders[1].close()
  })

  test('is due at once when what sent it had to stop, and after the claim when that has died', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [['order.seen', 'PO 1']])
    while ((await fanOutChanges(stage.database)).more);
    const stopping = new AbortController()
    receiver.answer(() => ({ raw: () => stopping.abort(new Error('the process ends')) }))
    const [due] = await findDueDeliveries(stage.database)
    await expect(deliver(sender.parts, due?.id ?? 0n, stopping.signal)).rejects.toThrow('the process ends')
    expect(await findDueDeliveries(stage.database)).toEqual([due])

    expect(await claimDelivery(stage.database, due?.id ?? 0n, 30 * second)).toMatchObject({ attempt: 0 })
    expect(await findDueDeliveries(stage.database)).toEqual([])
    expect(await claimDelivery(stage.database, due?.id ?? 0n, 30 * second)).toBeNull()
    await letPass(stage.database, 30 * second)
    receiver.answer(204)
    await sender.run()
    expect(await log()).toMatchObject([{ attempt: 1, status: 'delivered' }])
  })

  test('counts as one failed attempt, however late the other one ends', async () => {
    await addEndpoint(stage.database, receiver.url)
    await tell(stage.database, [['order.seen', 'PO 1']])
    while ((await fanOutChanges(stage.database)).more);
    const [due] = await findDueDeliveries(stage.database)
    const first = await claimDelivery(stage.database, due?.id ?? 0n, 0)
    const second = await claimDelivery(stage.database, due?.id ?? 0n, 0)
    if (first === null || second === null) throw new Error('it was not due')
    const outcome = { httpStatus: 500, error: null, durationMs: 1 }
    const plan = { nextInMs: 60_000, holdMs: null, gone: false }
    expect(await settleFailed(stage.database, first, outcome, plan)).toBe('retried')
    expect(await settleFailed(stage.database, second, outcome, plan)).toBeNull()
    expect(await log()).toMatchObject([{ attempt: 1 }])
  })
})

test('messages of one order come one after another, in the order of the feed, whatever fails; others overtake them', async () => {
  await addEndpoint(stage.database, receiver.url)
  const orders = ['a', 'b', 'c']
  for (let round = 0; round < 8; round += 1)
    await tell(
      stage.database,
      orders.map((order) => ['order.changed', order] as const),
    )
  let calls = 0
  receiver.answer(() => {
    calls += 1
    if (calls % 3 === 0) return 204
    return calls % 3 === 1 ? 500 : close
  })
  let delivered = 0
  for (let round = 0; round < 400 && delivered < 24; round += 1) {
    await sender.run()
    await letPass(stage.database, 6 * minute)
    delivered = (await log()).filter(({ status }) => status === 'delivered').length
    if (round > 20) receiver.answer(204)
  }
  expect(delivered).toBe(24)
  for (const order of orders) {
    const mine = receiver.received
      .filter(({ body }) => JSON.parse(body).subject === order)
      .map(({ body }) => Number(JSON.parse(body).id))
    // Never an earlier one after a later one.
    expect(mine).toEqual([...mine].sort((a, b) => a - b))
    expect(new Set(mine).size).toBe(8)
  }
})

test('several processes that read the feed while changes are written make one message of each, and miss none', async () => {
  await addEndpoint(stage.database, receiver.url)
  let writing = true
  const reader = async (): Promise<void> => {
    for (let last = false; !last; ) {
      last = !writing
      for (let more = true; more; ) more = await createDeliveries(stage.database, 'wh_1')
    }
  }
  const writers = Array.from({ length: 4 }, (_, writer) =>
    tell(
      stage.database,
      Array.from({ length: 40 }, (_value, n) => ['order.changed', `w${writer}-${n % 5}`] as const),
    ),
  )
  const readers = [reader(), reader(), reader()]
  await Promise.all(writers)
  writing = false
  await Promise.all(readers)
  for (let more = true; more; ) more = await createDeliveries(stage.database, 'wh_1')
  expect((await log()).map(({ changeSequence }) => Number(changeSequence)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 160 }, (_, n) => n + 1),
  )
  await sender.run()
  expect(new Set(seqs()).size).toBe(160)
  expect(receiver.received).toHaveLength(160)
})

test('a receiver that is away for three days loses nothing, and gets each order in its order', async () => {
  await addEndpoint(stage.database, receiver.url)
  receiver.answer(503)
  const told = 60
  for (let passed = 0; passed < 3 * day; passed += 6 * hour) {
    for (let count = 0; count < told / 12; count += 1) await tell(stage.database, [['order.changed', `po-${count}`]])
    await sender.run()
    await letPass(stage.database, 6 * hour)
  }
  expect(await log().then((all) => all.filter(({ status }) => status === 'delivered'))).toEqual([])
  expect(await alarms()).toEqual(['webhook-failing wh_1'])
  expect(await findState()).toBe('active')
  expect(await readWebhookGauges(stage.database)).toMatchObject({ active: 1, pending: told, oldest: expect.any(Date) })
  const before = receiver.received.length
  receiver.answer(200)
  for (let passed = 0; passed < 2 * day; passed += 4 * hour) {
    await letPass(stage.database, 4 * hour)
    await sender.run()
  }
  const since = receiver.received.slice(before)
  expect(since.map(({ body }) => Number(JSON.parse(body).id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: told }, (_, i) => i + 1),
  )
  for (let count = 0; count < told / 12; count += 1) {
    const mine = since
      .filter(({ body }) => JSON.parse(body).subject === `po-${count}`)
      .map(({ body }) => Number(JSON.parse(body).id))
    expect(mine).toEqual([...mine].sort((a, b) => a - b))
  }
  expect(await alarms()).toEqual([])
  expect(await readWebhookGauges(stage.database)).toMatchObject({ pending: 0, lag: 0, oldest: null })
})

test('a receiver that is away for longer is paused with an alarm; nothing is sent, nothing forgotten, and changes stay for it', async () => {
  await addEndpoint(stage.database, receiver.url)
  await tell(stage.database, [
    ['order.seen', 'a'],
    ['order.changed', 'a'],
  ])
  receiver.answer(500)
  for (let passed = 0; passed < 8 * day; passed += 12 * hour) {
    await sender.run()
    await letPass(stage.database, 12 * hour)
  }
  expect(await findState()).toBe('paused')
  expect(await alarms()).toEqual(['webhook-stopped wh_1'])
  const attempts = receiver.received.length
  expect(attempts).toBe(10)
  await tell(stage.database, [['order.seen', 'b']])
  await letPass(stage.database, 100 * day)
  await sender.run()
  expect(receiver.received).toHaveLength(attempts)
  const keepMs = 90 * day
  expect(await removeOldData(stage.database, 'changes', new Date(Date.now() - keepMs), 0)).toMatchObject({ removed: 0 })
  await reviewBehindAlarms(stage.database, keepMs)
  expect(await alarms()).toEqual(expect.arrayContaining(['webhook-stopped wh_1', 'webhook-behind wh_1']))
  receiver.answer(200)
  await stage.database.transaction((tx) => changeWebhook(tx, 'wh_1', { state: 'active' }))
  await sender.run()
  expect([...seqs(receiver.received.slice(attempts))].sort()).toEqual(['1', '2', '3'])
  await reviewBehindAlarms(stage.database, keepMs)
  expect(await alarms()).toEqual([])
  expect(await removeOldData(stage.database, 'changes', new Date(Date.now() - keepMs), 0)).toMatchObject({ removed: 3 })
})

test('a disabled endpoint keeps no changes; resumed, it is told by alarms what went, and goes on with what is there', async () => {
  await addEndpoint(stage.database, receiver.url)
  await tell(stage.database, [['order.seen', 'a']])
  receiver.answer(410)
  await sender.run()
  await tell(stage.database, [
    ['order.seen', 'b'],
    ['order.seen', 'c'],
  ])
  await letPass(stage.database, 100 * day)
  expect(await removeOldData(stage.database, 'changes', new Date(Date.now() - 90 * day), 0)).toMatchObject({ removed: 3 })
  await tell(stage.database, [['order.seen', 'd']])
  receiver.answer(200)
  await stage.database.transaction((tx) => changeWebhook(tx, 'wh_1', { state: 'active' }))
  await sender.run()
  expect(seqs(receiver.received.slice(1))).toEqual(['4'])
  expect(await log()).toMatchObject([{ status: 'failed', error: 'change-removed' }, { status: 'delivered' }])
  expect(await alarms()).toEqual(['webhook-changes-gone wh_1'])
})

describe('a redelivery', () => {
  test('by range sends what matches again, also what came before the endpoint, in its order; by id what was named', async () => {
    await tell(stage.database, [['order.seen', 'a'], ['return.seen'], ['order.changed', 'a'], ['order.seen', 'b']])
    await addEndpoint(stage.database, receiver.url, { after: 2n, types: ['order.*'] })
    await sender.run()
    expect([...seqs()].sort()).toEqual(['3', '4'])
    const range = await stage.database.transaction((tx) => redeliverRange(tx, 'wh_1', { after: 0n, before: 4n }))
    expect(range).toEqual({ redelivered: 2, nextAfter: null })
    await sender.run()
    expect(seqs().slice(2)).toEqual(['1', '3'])
    const all = await log()
    const ids = all.map(({ id }) => id)
    expect(await stage.database.transaction((tx) => redeliverByIds(tx, 'wh_1', [...ids, 999n]))).toEqual({
      redelivered: 3,
      missing: [999n],
    })
    await sender.run()
    expect([...seqs().slice(4)].sort()).toEqual(['1', '3', '4'])
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  })

  test('says that changes have gone', async () => {
    await tell(stage.database, [['order.seen', 'a']])
    await letPass(stage.database, 100 * day)
    await removeOldData(stage.database, 'changes', new Date(), 0)
    await addEndpoint(stage.database, receiver.url, { after: 1n })
    expect(await stage.database.transaction((tx) => redeliverRange(tx, 'wh_1', { after: 0n, before: 9n }))).toEqual({ gone: 1n })
  })
})

test('old deliveries go, waiting ones stay; nothing of what was sent is stored', async () => {
  await addEndpoint(stage.database, receiver.url)
  await stage.database.transaction(async (tx) =>
    tx.record({
      sellerId: 's-1',
      type: 'order.seen',
      purchaseOrderId: 'a',
      data: { customerOrderId: 'Ada Lovelace', orderDate: null, shipNodeType: null, lines: [] },
    }),
  )
  await sender.run()
  receiver.answer({ raw: (response) => void response.writeHead(500).end('Ada Lovelace') })
  await tell(stage.database, [['order.seen', 'Ada']])
  await sender.run()
  const rows = await stage.database.query<{ row: unknown }>('SELECT to_jsonb(d) AS row FROM tallyman.webhook_deliveries d')
  expect(JSON.stringify(rows)).not.toContain('Lovelace')
  // What was erased since is not in the message when it is sent again.
  await stage.database.execute(`UPDATE warehouse.changes SET data = '{"erased": true}'`)
  await stage.database.transaction((tx) => redeliverRange(tx, 'wh_1', { after: 0n, before: 2n }))
  receiver.answer(204)
  await sender.run()
  expect(receiver.received.filter(({ body }) => body.includes('Lovelace'))).toHaveLength(1)
  expect(JSON.parse(receiver.received.at(-1)?.body ?? '')).toMatchObject({ id: '1', data: { erased: true } })
  await letPass(stage.database, 40 * day)
  expect(await removeOldData(stage.database, 'deliveries', new Date(Date.now() - 30 * day), 0)).toMatchObject({ removed: 1 })
  expect(await log()).toMatchObject([{ status: 'pending', changeSequence: 2n }])
})
