import { getEventListeners } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { BodyError } from '../../src/clients/http/body.ts'
import { createTransport, type HttpOutcome, type HttpRequest, requestPath } from '../../src/clients/http/http.ts'
import { eventually } from '../support/eventually.ts'
import { selfSignedCertificate } from './certificate.ts'
import { afterTest, forever, startServer, startTcp } from './servers.ts'

const maxBodyBytes = 64 * 1024

const transportTo = (url: string, requestTimeoutMs = 2_000) => {
  const transport = createTransport({ baseUrl: url, requestTimeoutMs, maxBodyBytes: maxBodyBytes, now: Date.now })
  afterTest(async () => transport.close())
  return transport
}

const get = (overrides: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  target: '/x',
  headers: {},
  body: null,
  signal: forever(),
  freshConnection: false,
  ...overrides,
})

const post = (overrides: Partial<HttpRequest> = {}): HttpRequest =>
  get({ method: 'POST', body: '{"a":1}', freshConnection: true, ...overrides })

/** Waits for the whole request, then does what the test says. */
const tcp = async (onRequest: (socket: Socket) => void): Promise<string> => {
  const server = await startTcp((socket) => socket.once('data', () => onRequest(socket)))
  return server.url
}

const formatOutcome = async (
  onRequest: (socket: Socket) => void,
  request = post(),
  requestTimeoutMs?: number,
): Promise<HttpOutcome> => await transportTo(await tcp(onRequest), requestTimeoutMs).exchange(request)

describe('network faults', () => {
  test('a refused connection was never sent', async () => {
    const { url, port } = await startTcp(() => undefined)
    const free = transportTo(url.replace(String(port), '1'))
    expect(await free.exchange(post())).toMatchObject({ sent: 'never', status: null, networkCode: 'ECONNREFUSED' })
  })

  test('nor was a request to a name that does not resolve', async () => {
    const outcome = await transportTo('http://no-such-host.invalid').exchange(post())
    expect(outcome).toMatchObject({ sent: 'never', status: null })
    expect(['ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT']).toContain(outcome.networkCode)
  })

  test('nor one whose TLS handshake fails or never ends', async () => {
    const plain = await tcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await transportTo(plain.replace('http:', 'https:')).exchange(post())).toMatchObject({ sent: 'never', status: null })
    const silent = await startTcp(() => undefined)
    expect(await transportTo(silent.url.replace('http:', 'https:'), 300).exchange(post())).toMatchObject({
      sent: 'never',
      networkCode: 'ETIMEDOUT',
    })
  })

  test('nor one that was aborted before it began', async () => {
    const { url, seen } = await startServer((_request, response) => response.end('{}'))
    expect(await transportTo(url).exchange(post({ signal: AbortSignal.abort() }))).toMatchObject({
      sent: 'never',
      networkCode: 'ABORTED',
    })
    expect(seen).toEqual([])
  })

  test('a reset after the request maybe was', async () => {
    expect(await formatOutcome((socket) => socket.resetAndDestroy())).toMatchObject({
      sent: 'maybe',
      status: null,
      networkCode: 'ECONNRESET',
    })
  })

  test('a server that closes without an answer, or answers no HTTP, too', async () => {
    expect(await formatOutcome((socket) => socket.end())).toMatchObject({ sent: 'maybe', status: null })
    expect(await formatOutcome((socket) => socket.end('SSH-2.0-OpenSSH\r\n'))).toMatchObject({ sent: 'maybe', status: null })
    expect(await formatOutcome((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`))).toMatchObject({
      sent: 'maybe',
      status: null,
    })
  })

  test('a server that never answers is given up after the request timeout', async () => {
    const startedMs = performance.now()
    expect(await formatOutcome(() => undefined, post(), 200)).toMatchObject({
      sent: 'maybe',
      status: null,
      networkCode: 'ETIMEDOUT',
    })
    expect(performance.now() - startedMs).toBeLessThan(2_000)
  })

  test('one that drips its answer for ever, too: the timeout is for all of it', async () => {
    const outcome = await formatOutcome(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        const drip = setInterval(() => socket.write('1\r\n \r\n'), 20)
        socket.on('close', () => clearInterval(drip))
      },
      post(),
      300,
    )
    expect(outcome).toMatchObject({ sent: 'answered', status: 200, bodyText: null, networkCode: 'ETIMEDOUT' })
  })

  test.each([
    [
      'a reset in the middle of the body',
      (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"order":', () => socket.resetAndDestroy()),
    ],
    ['a body shorter than announced', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"order":')],
    [
      'a chunked body without its end',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"order":\r\n'),
    ],
  ])('%s is an answer without a body, not a short one', async (_name, onRequest) => {
    expect(await formatOutcome(onRequest)).toMatchObject({ sent: 'answered', status: 200, bodyText: null })
  })

  test('an abort while the answer is awaited ends the request', async () => {
    const abort = new AbortController()
    const url = await tcp(() => abort.abort())
    expect(await transportTo(url).exchange(post({ signal: abort.signal }))).toMatchObject({
      sent: 'maybe',
      networkCode: 'ABORTED',
    })
  })

  test('a certificate that nobody vouches for stops a request before it is sent', async () => {
    let requests = 0
    const server = createTlsServer(selfSignedCertificate(), (_request, response) => {
      requests += 1
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    afterTest(() => new Promise((resolve) => server.close(() => resolve())))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const outcome = await transportTo(`https://127.0.0.1:${port}`).exchange(post())
    expect(outcome).toMatchObject({ sent: 'never', status: null, networkCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(requests).toBe(0)
  })
})

describe.each([true, false])(
  'an answer that comes with its fault in one piece, on a connection of its own: %s',
  (freshConnection) => {
    const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\n'
    const chunked = `${head}transfer-encoding: chunked\r\n\r\n`
    test.each([
      ['more than announced', `${head}content-length: 2\r\n\r\n{}GARBAGE`],
      ['a body where there is none', 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n{"a":1}'],
      ['a bad size of a piece', `${chunked}zz\r\n{}\r\n`],
      ['a bad size after a good piece', `${chunked}2\r\n{}\r\nzz\r\n`],
      ['more after the last piece', `${chunked}2\r\n{}\r\n0\r\n\r\nGARBAGE`],
      ['bad trailers', `${chunked}2\r\n{}\r\n0\r\n\u0001: \u0002\r\n\r\n`],
    ])('%s', async (_name, bytes) => {
      const abort = new AbortController()
      const outcome = await formatOutcome(
        (socket) => socket.write(bytes),
        post({ freshConnection, signal: abort.signal }),
        10_000,
      )
      expect(outcome.sent).toBe('answered')
      expect(outcome.networkCode).toMatch(/^HPE_/)
      expect(outcome.bodyText).toBeNull()
      expect(outcome.endedMs - outcome.sentMs).toBeLessThan(5_000)
      expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    })

    test('a change of protocol that nobody asked for', async () => {
      const bytes = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'
      const outcome = await formatOutcome((socket) => socket.write(bytes), post({ freshConnection }), 10_000)
      expect(outcome).toMatchObject({ sent: 'maybe', status: null, networkCode: 'ECONNRESET' })
    })

    test('a body without a length that is broken off by a reset', async () => {
      for (const body of ['{"orders":[1', '']) {
        const onRequest = (socket: Socket): void => {
          socket.write(`HTTP/1.1 200 OK\r\n\r\n${body}`, () => setTimeout(() => socket.resetAndDestroy(), 20))
        }
        const outcome = await formatOutcome(onRequest, get({ freshConnection }))
        expect(outcome).toMatchObject({ sent: 'answered', bodyText: null, networkCode: 'ECONNRESET' })
      }
    })

    test('a body that ends before its length', async () => {
      const outcome = await formatOutcome(
        (socket) => socket.end(`${head}content-length: 100\r\n\r\n{"a"`),
        get({ freshConnection }),
      )
      expect(outcome).toMatchObject({ sent: 'answered', bodyText: null, networkCode: 'ECONNRESET' })
    })

    test.each([{ x: 'a\r\nb: c' }, { x: '€' }, { 'a b': 'x' }])(
      'a header that cannot be sent is not sent: %j',
      async (headers) => {
        const { url, seen } = await startServer((_request, response) => response.end('{}'))
        const outcome = await transportTo(url).exchange(post({ freshConnection, headers }))
        expect(outcome).toMatchObject({ sent: 'never', status: null })
        expect(outcome.networkCode).toMatch(/^ERR_INVALID/)
        expect(seen).toEqual([])
      },
    )

    test('a header leaves in the encoding of headers, whatever the body', async () => {
      const { url, seen } = await startServer((_request, response) => response.end('{}'))
      for (const body of ['{"name":"Zoë"}', null])
        await transportTo(url).exchange(post({ freshConnection, headers: { x: 'é' }, body }))
      expect(seen.map(({ headers }) => headers['x'])).toEqual(['é', 'é'])
      expect(seen[0]?.body).toBe('{"name":"Zoë"}')
    })
  },
)

describe('a body that is read piece by piece', () => {
  /** Begins an answer that never ends; tells how many connections are open. */
  const endless = async () => {
    let open = 0
    const { url } = await startTcp((socket) => {
      open += 1
      socket.once('close', () => {
        open -= 1
      })
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 200000000\r\n\r\nabc'))
    })
    return { url, openConnections: () => open }
  }

  test.each([
    ['given up before its first piece', async (body: AsyncGenerator<Uint8Array>) => void (await body.return(undefined))],
    [
      'given up by a fault before its first piece',
      async (body: AsyncGenerator<Uint8Array>) => void (await body.throw(new Error('given up')).catch(() => undefined)),
    ],
    [
      'given up after it',
      async (body: AsyncGenerator<Uint8Array>) => {
        for await (const _piece of body) break
      },
    ],
  ])('leaves nothing behind when it is %s', async (_name, giveUp) => {
    const { url, openConnections } = await endless()
    const abort = new AbortController()
    const { body } = await transportTo(url).open(get({ signal: abort.signal }))
    if (body === null) return expect.unreachable('there is no answer')
    await giveUp(body)
    await eventually(() => expect(openConnections()).toBe(0))
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    expect(await body.next()).toEqual({ done: true, value: undefined })
  })

  test('is empty where it is announced as empty, whatever it is packed in', async () => {
    for (const head of ['200 OK\r\ncontent-length: 0', '204 No Content']) {
      const url = await tcp((socket) => socket.write(`HTTP/1.1 ${head}\r\ncontent-encoding: gzip\r\n\r\n`))
      const { body } = await transportTo(url).open(get())
      const pieces: Uint8Array[] = []
      for await (const piece of body ?? []) pieces.push(piece)
      expect(Buffer.concat(pieces).length).toBe(0)
    }
  })

  test('is unreadable where it is packed in what was not asked for', async () => {
    const { url } = await startServer((_request, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'))
    const { body } = await transportTo(url).open(get())
    await expect(body?.next()).rejects.toThrow(BodyError)
    expect(await transportTo(url).exchange(get())).toMatchObject({ bodyText: null, networkCode: 'BODY_UNREADABLE' })
  })
})

describe('bounds', () => {
  const answerWith = async (body: Buffer | string, headers: Readonly<Record<string, string>> = {}) => {
    const { url } = await startServer((_request, response) => response.writeHead(200, headers).end(body))
    return await transportTo(url).exchange(get())
  }

  test('a body beyond the bound is refused, announced or not', async () => {
    expect(await answerWith('x'.repeat(maxBodyBytes))).toMatchObject({ status: 200, networkCode: null })
    expect(await answerWith('x'.repeat(maxBodyBytes + 1))).toMatchObject({
      status: 200,
      bodyText: null,
      networkCode: 'BODY_TOO_LARGE',
    })
  })

  test('an endless body is cut off at the bound', async () => {
    const { url } = await startServer((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      }
      response.on('drain', more)
      more()
    })
    expect(await transportTo(url).exchange(get())).toMatchObject({ bodyText: null, networkCode: 'BODY_TOO_LARGE' })
  })

  test('a compressed bomb is refused, although it is small on the wire', async () => {
    const bomb = Buffer.alloc(200 * 1024 * 1024)
    const before = process.memoryUsage().rss
    expect(await answerWith(gzipSync(bomb).subarray(0, maxBodyBytes), { 'content-encoding': 'gzip' })).toMatchObject({
      bodyText: null,
    })
    const packed = gzipSync(bomb.subarray(0, 20 * 1024 * 1024))
    expect(packed.length).toBeLessThan(maxBodyBytes)
    expect(await answerWith(packed, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
      bodyText: null,
      networkCode: 'BODY_TOO_LARGE',
    })
    expect(await answerWith(brotliCompressSync(packed), { 'content-encoding': 'br' })).toMatchObject({ networkCode: null })
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
  })

  test('compressed answers are unpacked', async () => {
    expect(await answerWith(gzipSync('{"a":1}'), { 'content-encoding': 'gzip' })).toMatchObject({ bodyText: '{"a":1}' })
    expect(await answerWith(brotliCompressSync('{"a":1}'), { 'content-encoding': 'br' })).toMatchObject({ bodyText: '{"a":1}' })
    expect(await answerWith('', { 'content-encoding': 'gzip' })).toMatchObject({ bodyText: '' })
  })

  test('what cannot be unpacked is unreadable', async () => {
    expect(await answerWith('plain', { 'content-encoding': 'gzip' })).toMatchObject({
      bodyText: null,
      networkCode: 'BODY_UNREADABLE',
    })
    expect(await answerWith(gzipSync('{"a":1}').subarray(0, 12), { 'content-encoding': 'gzip' })).toMatchObject({
      networkCode: 'BODY_UNREADABLE',
    })
    expect(await answerWith('x', { 'content-encoding': 'rot13' })).toMatchObject({ networkCode: 'BODY_UNREADABLE' })
  })

  test('a byte order mark does not count as text', async () => {
    expect(await answerWith('\uFEFF{"a":1}')).toMatchObject({ bodyText: '{"a":1}' })
  })
})

describe('what goes out', () => {
  test('a redirect is not followed', async () => {
    const { url, seen } = await startServer((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect(await transportTo(url).exchange(get())).toMatchObject({ status: 302 })
    expect(seen).toHaveLength(1)
  })

  test('no status makes it send a second time', async () => {
    for (const status of [408, 429, 500, 503]) {
      const { url, seen } = await startServer((_request, response) => response.writeHead(status, { 'retry-after': '0' }).end())
      expect(await transportTo(url).exchange(post())).toMatchObject({ status })
      expect(seen).toHaveLength(1)
    }
  })

  test('a base address may have a path, and the target stands in the request line as it is', async () => {
    const { url, seen } = await startServer((_request, response) => response.end('{}'))
    const target = `/v3/orders?a=%2F%zz+b|c"'<>{}^\`~[]\\&d=-06:00#e?f=../..`
    await transportTo(`${url}/gateway/`).exchange(get({ target }))
    expect(seen[0]?.target).toBe(`/gateway${target}`)
  })

  test('only what cannot stand in a request line is encoded', () => {
    expect(requestPath('', '/a b\r\nc:ü\u{1F600}\uD800')).toBe('/a%20b%0D%0Ac:%C3%BC%F0%9F%98%80%EF%BF%BD')
  })

  test('reads share a connection, writes have their own', async () => {
    let connections = 0
    const { url } = await startTcp((socket) => {
      connections += 1
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'))
    })
    const transport = transportTo(url)
    await transport.exchange(get())
    await transport.exchange(get())
    expect(connections).toBe(1)
    await transport.exchange(post())
    await transport.exchange(post())
    expect(connections).toBe(3)
  })

  test('a kept connection that was closed meanwhile is told as such', async () => {
    const { url } = await startTcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
        socket.once('data', () => socket.resetAndDestroy())
      })
    })
    const transport = transportTo(url)
    await transport.exchange(get())
    expect(await transport.exchange(get())).toMatchObject({ sent: 'maybe', staleConnection: true })
  })
})

test('nothing leaves once it may not, although the connection stands', async () => {
  let asked = 0
  const maySend = (): boolean => {
    asked += 1
    return false
  }
  const { url, seen } = await startServer((_request, response) => response.end('{}'))
  expect(await transportTo(url).exchange(post({ maySend }))).toMatchObject({
    sent: 'never',
    status: null,
    networkCode: 'TOO_LATE',
  })
  const silent = await startTcp((socket) => socket.once('data', () => expect.unreachable('a byte has left')))
  expect(await transportTo(silent.url).exchange(post({ maySend }))).toMatchObject({
    sent: 'never',
    networkCode: 'TOO_LATE',
  })
  expect(asked).toBe(2)
  const faulty = (): boolean => {
    throw new Error('the clock cannot be read')
  }
  expect(await transportTo(url).exchange(post({ maySend: faulty }))).toMatchObject({ sent: 'never', status: null })
  expect(seen).toEqual([])
})
