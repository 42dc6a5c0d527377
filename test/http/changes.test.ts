import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Listener, openListener } from '../../src/store/listener.ts'
import { removePast } from '../../src/store/retention.ts'
import { withDatabase } from '../support/database.ts'
import { type Answer, defaultLimits, startServer, type TestServer } from './support.ts'

const quiet = { info: () => undefined, warn: () => undefined }
const stage = withDatabase({ each: 'test', connections: 12 })
let listener: Listener
let server: TestServer

beforeEach(async () => {
  const url = stage.url
  listener = openListener({ url, channels: ['tallyman_changes'], log: quiet })
  await expect.poll(() => listener.connected()).toBe(true)
  server = await startServer(stage.database, { listener })
})
afterEach(async () => {
  await server.close()
  await listener.close()
})

test('streams and long polls are bounded; one that ends makes room, and pages are always there', async () => {
  const narrow = await startServer(stage.database, { listener, limits: { ...defaultLimits, streams: 3 } })
  const ended = new AbortController()
  const stream = (signal: AbortSignal) => narrow.fetch('/v1/changes', { headers: { accept: 'text/event-stream' }, signal })
  const rest = new AbortController()
  const first = await stream(ended.signal)
  expect(first.status).toBe(200)
  expect((await stream(rest.signal)).status).toBe(200)
  const poll = narrow.fetch('/v1/changes?wait=60', { signal: rest.signal })
  const refused = await expect
    .poll(async () => {
      const answer = await stream(rest.signal)
      return { status: answer.status, again: answer.headers.get('retry-after') }
    })
    .toEqual({ status: 503, again: '5' })
    .then(() => narrow.json('/v1/changes?wait=1'))
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect((await narrow.json('/v1/changes')).status).toBe(200)
  ended.abort()
  await expect.poll(async () => (await narrow.json('/v1/changes?wait=0.01')).status).toBe(200)
  rest.abort()
  await expect(poll).rejects.toThrow()
  await narrow.close()
})

const tell = (...types: readonly string[]) =>
  stage.database.transaction(async (tx) => {
    for (const type of types) tx.record({ sellerId: 's-1', type, data: { type } })
  })

/** Reads server-sent events: pull one after another, then end. */
const openStream = async (path: string, headers: Record<string, string> = {}) => {
  const abort = new AbortController()
  const response = await server.fetch(path, { headers: { accept: 'text/event-stream', ...headers }, signal: abort.signal })
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const nextBlock = async (): Promise<string | null> => {
    while (!text.includes('\n\n')) {
      const { done, value } = await reader.read()
      if (done) return null
      text += value
    }
    const end = text.indexOf('\n\n')
    const block = text.slice(0, end)
    text = text.slice(end + 2)
    return block
  }
  return {
    response,
    /** The next event; null at the end of the stream. */
    next: async (): Promise<{ id: string; event: string; data: Answer } | null> => {
      for (;;) {
        const block = await nextBlock()
        if (block === null) return null
        const fields = new Map(block.split('\n').map((row) => [row.slice(0, row.indexOf(':')), row.slice(row.indexOf(':') + 2)]))
        const data = fields.get('data')
        if (data !== undefined) return { id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: JSON.parse(data) }
      }
    },
    abort: () => abort.abort(),
  }
}

describe('pages', () => {
  test('go on where the last one ended', async () => {
    await tell('a', 'b', 'c')
    const first = await server.json('/v1/changes?limit=2')
    expect(first.body).toMatchObject({
      items: [{ seq: '1', type: 'a', sellerId: 's-1', data: { type: 'a' } }, { seq: '2' }],
      nextCursor: '2',
    })
    expect(first.body.items[0].occurredAt).toMatch(/^\d{4}-.*Z$/)
    expect((await server.json(`/v1/changes?cursor=${first.body.nextCursor}`)).body).toMatchObject({
      items: [{ seq: '3' }],
      nextCursor: '3',
    })
    expect((await server.json('/v1/changes?after=3')).body).toEqual({ items: [], nextCursor: '3' })
  })

  test.each(['after=x', 'after=-1', 'wait=61', 'wait=x', 'after=1&cursor=2', 'limit=0'])('refuse %s', async (query) => {
    expect(await server.json(`/v1/changes?${query}`)).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
  })
})

test('a reader whose next change has gone is told so, however it reads; one that names no position begins with the oldest', async () => {
  await tell('a', 'b', 'c', 'd')
  await stage.database.execute(`UPDATE warehouse.changes SET occurred_at = now() - interval '100 days' WHERE seq <= 2`)
  await removePast(stage.database, 'changes', new Date(Date.now() - 90 * 86_400_000), 0)
  const gone = {
    status: 410,
    body: { code: 'changes-gone', detail: expect.stringMatching(/^changes 2 to 2 are kept no more .* continue with after=2\.$/) },
  }
  const streaming = { accept: 'text/event-stream' }
  expect(await server.json('/v1/changes?after=1')).toMatchObject(gone)
  expect(await server.json('/v1/changes?cursor=1&wait=60')).toMatchObject(gone)
  expect(await server.json('/v1/changes?after=1', { headers: streaming })).toMatchObject(gone)
  expect(await server.json('/v1/changes', { headers: { ...streaming, 'last-event-id': '1' } })).toMatchObject(gone)
  expect((await server.json('/v1/changes')).body).toMatchObject({ items: [{ seq: '3' }, { seq: '4' }], nextCursor: '4' })
  expect((await server.json('/v1/changes?after=2')).body).toMatchObject({ items: [{ seq: '3' }, { seq: '4' }] })
  const stream = await openStream('/v1/changes')
  expect([(await stream.next())?.id, (await stream.next())?.id]).toEqual(['3', '4'])
  stream.abort()
  // What goes while somebody waits for more was read by then, or is told.
  await stage.database.execute(`UPDATE warehouse.changes SET occurred_at = now() - interval '100 days'`)
  await removePast(stage.database, 'changes', new Date(Date.now() - 90 * 86_400_000), 0)
  expect((await server.json('/v1/changes')).body).toEqual({ items: [], nextCursor: '4' })
  expect((await server.json('/v1/changes?after=4')).body).toEqual({ items: [], nextCursor: '4' })
})

describe('a long poll', () => {
  test('answers as soon as something changes', async () => {
    const waiting = server.json('/v1/changes?wait=60')
    await tell('a')
    expect((await waiting).body).toMatchObject({ items: [{ seq: '1' }], nextCursor: '1' })
  })

  test('answers empty when its time is over', async () => {
    expect((await server.json('/v1/changes?after=7&wait=0.05')).body).toEqual({ items: [], nextCursor: '7' })
  })

  test('is let go when the server drains', async () => {
    const waiting = server.json('/v1/changes?wait=60')
    // Not before it sleeps: an answered request on the same server shows that it has been read.
    await server.fetch('/livez')
    server.server.drain()
    expect((await waiting).body).toEqual({ items: [], nextCursor: '0' })
  })
})

describe('server-sent events', () => {
  test('tell what is there and what comes, and resume after the last one seen', async () => {
    await tell('a', 'b')
    const stream = await openStream('/v1/changes')
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(await stream.next()).toMatchObject({ id: '1', event: 'a', data: { seq: '1' } })
    expect(await stream.next()).toMatchObject({ id: '2', event: 'b' })
    const coming = stream.next()
    await tell('c')
    expect(await coming).toMatchObject({ id: '3', event: 'c' })
    stream.abort()

    const resumed = await openStream('/v1/changes?after=0', { 'last-event-id': '2' })
    expect(await resumed.next()).toMatchObject({ id: '3' })
    resumed.abort()
  })

  test('end cleanly when the server closes', async () => {
    const stream = await openStream('/v1/changes')
    const end = stream.next()
    await server.server.close()
    expect(await end).toBeNull()
  })

  test('do not hold up the close when nobody reads them', async () => {
    await tell(...Array.from({ length: 400 }, () => 'x'.repeat(60_000)))
    const response = await server.fetch('/v1/changes', { headers: { accept: 'text/event-stream' } })
    await server.server.close(20)
    await expect(response.text()).rejects.toThrow()
  })

  test('refuse a Last-Event-ID that is none', async () => {
    expect(await server.json('/v1/changes', { headers: { accept: 'text/event-stream', 'last-event-id': 'x' } })).toMatchObject({
      status: 400,
    })
  })
})

describe('many writers at once', () => {
  const writers = 10
  const turns = 12
  const total = writers * turns * 2

  const writeAll = () =>
    Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let turn = 0; turn < turns; turn += 1) await tell(`w${writer}-${turn}-a`, `w${writer}-${turn}-b`)
      }),
    )

  test('leave no gap for a reader by long poll', async () => {
    const writing = writeAll()
    const seen: string[] = []
    let after = '0'
    while (seen.length < total) {
      const { body } = await server.json(`/v1/changes?after=${after}&wait=20&limit=7`)
      seen.push(...body.items.map(({ seq }: { seq: string }) => seq))
      after = body.nextCursor
    }
    await writing
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => String(index + 1)))
  })

  test('leave no gap for a reader by stream that loses its connection again and again', async () => {
    const writing = writeAll()
    const seen: string[] = []
    while (seen.length < total) {
      const stream = await openStream('/v1/changes', { 'last-event-id': seen.at(-1) ?? '0' })
      for (let count = 0; count < 37 && seen.length < total; count += 1) {
        const event = await stream.next()
        if (event === null) break
        seen.push(event.id)
      }
      stream.abort()
    }
    await writing
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => String(index + 1)))
  })
})
