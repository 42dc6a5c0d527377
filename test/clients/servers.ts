import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { afterEach } from 'vitest'
import type { RefreshTokens } from '../../src/clients/http/auth.ts'
import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import type { ClientHooks, RequestReport, UnknownValueReport } from '../../src/clients/http/client-parts.ts'
import type { RateLimits } from '../../src/clients/http/operation.ts'
import type { SellerConnection } from '../../src/clients/marketplace/connection.ts'
import { createMarketplaceClient } from '../../src/clients/marketplace/marketplace.ts'
import { specification } from '../../src/clients/marketplace/profiles/index.ts'
import type { RateBudget } from '../../src/clients/rate-limit/budget.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import { limitsOfAll } from './operations.ts'

/** A request as a test server saw it. */
export interface SeenRequest {
  readonly method: string
  /** Request target as it stood in the request line. */
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Answers one request. */
export type Answer = (request: SeenRequest, response: ServerResponse, index: number) => void

const cleanups: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Runs after the test, last registered first. */
export const afterTest = (cleanup: () => Promise<void>): void => {
  cleanups.push(cleanup)
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** An HTTP server for one test; closed after it. */
export const startServer = async (answer: Answer): Promise<{ readonly url: string; readonly seen: readonly SeenRequest[] }> => {
  const seen: SeenRequest[] = []
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const request = {
        method: message.method ?? '',
        target: message.url ?? '',
        headers: message.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      }
      seen.push(request)
      answer(request, response, seen.length - 1)
    })
  })
  const port = await listen(server)
  afterTest(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return { url: `http://127.0.0.1:${port}`, seen }
}

/** A bare TCP server for one test, for everything a well-behaved HTTP server does not do. */
export const startTcp = async (
  onConnection: (socket: Socket, index: number) => void,
): Promise<{ readonly url: string; readonly port: number }> => {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => sockets.delete(socket))
    socket.on('close', () => sockets.delete(socket))
    onConnection(socket, count)
    count += 1
  })
  const port = await listen(server)
  afterTest(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  )
  return { url: `http://127.0.0.1:${port}`, port }
}

/** JSON answer. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** A server that hands out tokens itself and leaves the other requests to the test. */
export const startMarketplace = async (answer: Answer) => {
  let tokens = 0
  return await startServer((request, response, index) => {
    if (request.target !== '/v3/token') return answer(request, response, index)
    tokens += 1
    sendJson(response, 200, { access_token: `token-${tokens}`, token_type: 'Bearer', expires_in: 900 })
  })
}

/** Limits that no test runs into. */
export const generousLimits: RateLimits = limitsOfAll({ tokens: 100_000, perMs: 60_000 })

/** A client for one test, with everything it told. */
export interface ClientUnderTest {
  readonly client: MarketplaceClient
  readonly reports: readonly RequestReport[]
  readonly unknownValues: readonly UnknownValueReport[]
  readonly logged: readonly { readonly level: string; readonly fields: object; readonly message: string }[]
}

/** What a test may change. */
export interface ClientSettings {
  readonly connection?: Partial<SellerConnection>
  readonly budget?: RateBudget
  readonly maxBodyBytes?: number
  readonly now?: () => number
  readonly refreshTokens?: RefreshTokens
}

/** A client against a test server; closed after the test. */
export const startClient = (url: string, settings: ClientSettings = {}): ClientUnderTest => {
  const reports: RequestReport[] = []
  const unknownValues: UnknownValueReport[] = []
  const logged: { level: string; fields: object; message: string }[] = []
  const hooks: ClientHooks = {
    onRequest: (report) => reports.push(report),
    onUnknownValue: (report) => unknownValues.push(report),
  }
  const client = createMarketplaceClient(
    {
      sellerId: 'S-1',
      clientId: 'client-1',
      clientSecret: 'hunter2-very-secret',
      profile: specification,
      marketplaceUrl: url,
      display: null,
      headerPrefix: 'XX',
      quantityField: 'quantity',
      serviceName: 'Tallyman',
      tokenPath: '/v3/token',
      requestTimeoutMs: 5_000,
      ...settings.connection,
    },
    {
      budget: settings.budget ?? createInProcessBudget({ limits: generousLimits }),
      log: {
        debug: (fields, message) => logged.push({ level: 'debug', fields, message }),
        warn: (fields, message) => logged.push({ level: 'warn', fields, message }),
      },
      hooks,
      ...(settings.maxBodyBytes === undefined ? {} : { maxBodyBytes: settings.maxBodyBytes }),
      ...(settings.refreshTokens === undefined ? {} : { refreshTokens: settings.refreshTokens }),
      ...(settings.now === undefined ? {} : { now: settings.now }),
    },
  )
  afterTest(() => client.close())
  return { client, reports, unknownValues, logged }
}

/** A signal that is never aborted. */
export const forever = (): AbortSignal => new AbortController().signal
