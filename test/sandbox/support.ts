import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Method } from '../../sandbox/core/methods.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/server.ts'
import { buildDialect } from '../../sandbox/settings.ts'

/** Any JSON, read without ceremony: `at(json, 'list', 'meta', 'totalCount')`. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** What lies under the path; `null` when something on the way is missing. */
export const at = (json: Json, ...path: readonly (string | number)[]): Json => {
  let here: Json = json
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return null
    here = Reflect.get(here, step) ?? null
  }
  return here
}

/** The items under the path; none when it is no list. */
export const items = (json: Json, ...path: readonly (string | number)[]): readonly Json[] => {
  const found = at(json, ...path)
  return Array.isArray(found) ? found : []
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Json
}

export interface TestClient {
  readonly url: string
  /** A business call with good headers, unless `headers` replaces some (`null` leaves one out). */
  call(method: Method, path: string, body?: unknown, headers?: Readonly<Record<string, string | null>>): Promise<Reply>
  /** A control call; throws when it is refused. */
  control(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Json>
  /** Places one order with the given lines and gives its id. */
  place(lines: readonly object[], more?: object): Promise<string>
  acknowledge(po: string): Promise<Reply>
  ship(po: string, lines: readonly { line: string; quantity: number; tracking?: string; more?: object }[]): Promise<Reply>
  cancel(po: string, line: string, quantity: number, reason?: string): Promise<Reply>
  refund(po: string, line: string, quantity: number, amount: number, tax?: number): Promise<Reply>
  order(po: string): Promise<Json>
  renewToken(): Promise<void>
}

/** Reads an answer; text that is no JSON gives `null`. */
const readReply = async (response: Response): Promise<Reply> => {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parse(text) }
}

const parse = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A directory that is gone when the test is over. */
export const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'sandbox-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A sandbox in this process on a free port, ended with the test. */
export const startTestSandbox = async (
  options: Partial<SandboxOptions> = {},
): Promise<Sandbox & { readonly dataDir: string }> => {
  const dataDir = options.dataDir ?? (await temporaryDirectory())
  const sandbox = await startSandbox({ log: () => undefined, ...options, dataDir })
  onTestFinished(() => sandbox.close())
  return { ...sandbox, dataDir }
}

/** A client of a new sandbox that limits nothing. */
export const startClient = async (options: Partial<SandboxOptions> = {}, as: ClientOptions = {}): Promise<TestClient> => {
  const { url } = await startTestSandbox(options)
  const client = await connect(url, as)
  await client.control('PUT', '/limits', { enabled: false })
  return client
}

/** The same under the profile of the live service. */
export const startLiveClient = async (): Promise<TestClient> =>
  startClient({ dialect: buildDialect('walmart-us') }, { prefix: 'WM', quantityField: 'statusQuantity' })

/** A token by client credentials. */
export const fetchToken = async (url: string, clientId = 'sandbox-client', clientSecret = 'sandbox-secret'): Promise<Reply> =>
  readReply(
    await fetch(`${url}/v3/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: 'grant_type=client_credentials',
    }),
  )

export interface ClientOptions {
  readonly prefix?: string
  readonly quantityField?: 'quantity' | 'statusQuantity'
  readonly clientId?: string
  readonly clientSecret?: string
}

/** Speaks to a sandbox as a seller would. */
export const connect = async (url: string, options: ClientOptions = {}): Promise<TestClient> => {
  const { prefix = 'XX', quantityField = 'quantity', clientId, clientSecret } = options
  let token = ''
  const renewToken = async (): Promise<void> => {
    const reply = await fetchToken(url, clientId, clientSecret)
    token = String(at(reply.json, 'access_token'))
  }
  await renewToken()
  const call: TestClient['call'] = async (method, path, body, replaced = {}) => {
    const headers: Record<string, string> = {}
    const good = {
      [`${prefix}_SEC.ACCESS_TOKEN`]: token,
      [`${prefix}_QOS.CORRELATION_ID`]: randomUUID(),
      [`${prefix}_SVC.NAME`]: 'test',
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...replaced,
    }
    for (const [name, value] of Object.entries(good)) if (value !== null) headers[name] = value
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
    return readReply(await fetch(`${url}${path}`, { method, headers, body: text, signal: AbortSignal.timeout(5_000) }))
  }
  const control: TestClient['control'] = async (method, path, body) => {
    const reply = await readReply(
      await fetch(`${url}/_sandbox${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    )
    if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
    return reply.json
  }
  const post = (po: string, action: string, body?: unknown): Promise<Reply> => call('POST', `/v3/orders/${po}/${action}`, body)
  const quantity = (units: number): object => ({ [quantityField]: { unitOfMeasurement: 'EACH', amount: String(units) } })
  return {
    url,
    call,
    control,
    renewToken,
    place: async (lines, more = {}) => String(at(await control('POST', '/orders', { lines, ...more }), 'purchaseOrderIds', 0)),
    acknowledge: (po) => post(po, 'acknowledge'),
    ship: (po, lines) => post(po, 'shipping', shipment(lines.map((line) => ({ ...line, units: quantity(line.quantity) })))),
    cancel: (po, line, units, cancellationReason = 'SELLER_CANCEL_OUT_OF_STOCK') => {
      const orderLineStatus = [{ status: 'Cancelled', cancellationReason, ...quantity(units) }]
      return post(po, 'cancel', {
        orderCancellation: { orderLines: { orderLine: [{ lineNumber: line, orderLineStatuses: { orderLineStatus } }] } },
      })
    },
    refund: (po, line, units, amount, tax) => post(po, 'refund', refundBody(po, line, quantity(units), amount, tax)),
    order: async (po) => at((await call('GET', `/v3/orders/${po}`)).json, 'order'),
  }
}

const shipment = (lines: readonly { line: string; units: object; tracking?: string; more?: object }[]): object => {
  const orderLine = lines.map(({ line, units, tracking, more }) => ({
    lineNumber: line,
    orderLineStatuses: {
      orderLineStatus: [
        {
          status: 'Shipped',
          ...units,
          trackingInfo: {
            shipDateTime: Date.now(),
            carrierName: { carrier: 'UPS' },
            methodCode: 'Standard',
            trackingNumber: tracking ?? `T-${line}`,
            trackingURL: 'https://tracking.example/1',
          },
        },
      ],
    },
    ...more,
  }))
  return { orderShipment: { orderLines: { orderLine } } }
}

/** A refund request of one line with one product charge. */
export const refundBody = (po: string, lineNumber: string, units: object, amount: number, tax?: number): object => {
  const charge = {
    chargeType: 'PRODUCT',
    chargeName: 'ItemPrice',
    chargeAmount: { currency: 'USD', amount },
    tax: tax === undefined ? null : { taxName: 'Tax1', taxAmount: { currency: 'USD', amount: tax } },
  }
  const line = {
    lineNumber,
    isFullRefund: false,
    orderLineStatuses: { orderLineStatus: [{ status: 'Refund', ...units }] },
    refunds: { refund: [{ refundCharges: { refundCharge: [{ refundReason: 'DamagedItem', charge }] } }] },
  }
  return { orderRefund: { purchaseOrderId: po, orderLines: { orderLine: [line] } } }
}

/** `Shipped 2, Cancelled 1`: the units of a line by state. */
export const listUnits = (order: Json, line = 0): string => {
  const states = new Map<string, number>()
  for (const entry of items(order, 'orderLines', 'orderLine', line, 'orderLineStatuses', 'orderLineStatus')) {
    const state = String(at(entry, 'status'))
    states.set(state, (states.get(state) ?? 0) + Number(at(entry, 'statusQuantity', 'amount')))
  }
  return [...states]
    .map(([state, units]) => `${state} ${units}`)
    .sort()
    .join(', ')
}

/** Effects of one order: `shipped 2 of line 1 by seller`. */
export const readEffects = async (client: TestClient, po: string): Promise<string[]> =>
  items(await client.control('GET', `/effects?purchaseOrderId=${po}`), 'items').map(
    (effect) => `${at(effect, 'kind')} ${at(effect, 'quantity')} of line ${at(effect, 'lineNumber')} by ${at(effect, 'by')}`,
  )

/** First description of an error answer in the usual shape. */
export const description = (reply: Reply): string => String(at(reply.json, 'errors', 'error', 0, 'description'))
