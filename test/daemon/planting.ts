import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** A buyer whose name, addresses and numbers occur nowhere else. */
export const buyer = {
  name: 'Zebulon Quackenbush',
  email: 'zebulon.quackenbush@relay.example',
  phone: '9375550199',
  address1: '77 Xylophone Crossing',
  city: 'Ypsilantiville',
  postalCode: '48197-7731',
  gift: 'Happy birthday Quackenbuschkin',
} as const

/** What a trace of the buyer would hold, in lower case. */
export const tracesOfBuyer: readonly string[] = [
  'quackenbus',
  'zebulon',
  '9375550199',
  'xylophone',
  'ypsilantiville',
  '48197-7731',
]

/** A marketplace in front of another one whose orders and returns are all of this buyer. */
export interface Planter {
  readonly url: string
  /** The next write is answered like this, and does not get through. */
  refuseNext(status: number, body: object): void
  /** Orders that come out broken: with their number, or without any. */
  breakOrder(purchaseOrderId: string, how: 'keyed' | 'keyless' | 'whole'): void
  /** All of them come out whole again. */
  mendOrders(): void
  close(): Promise<void>
}

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const plantOrder = (order: Json, how: 'keyed' | 'keyless' | 'whole'): Json => {
  const planted: Json = {
    ...order,
    customerEmailId: buyer.email,
    giftMessage: { text: buyer.gift },
    shippingInfo: {
      ...(isObject(order['shippingInfo']) ? order['shippingInfo'] : {}),
      phone: buyer.phone,
      postalAddress: {
        name: buyer.name,
        address1: buyer.address1,
        city: buyer.city,
        postalCode: buyer.postalCode,
        country: 'USA',
      },
    },
  }
  if (how === 'whole') return planted
  const { purchaseOrderId, ...keyless }: Json = {
    ...planted,
    orderLines: `broken for ${buyer.name}: ${JSON.stringify(order['orderLines'])}`,
  }
  return how === 'keyed' ? { ...keyless, purchaseOrderId } : keyless
}

/** Plants in every object of an answer, by what it is known by. */
const plant = (value: unknown, broken: ReadonlyMap<string, 'keyed' | 'keyless' | 'whole'>): unknown => {
  if (Array.isArray(value)) return value.map((item) => plant(item, broken))
  if (!isObject(value)) return value
  const inner: Json = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plant(item, broken)]))
  if ('trackingURL' in inner) return { ...inner, trackingURL: `https://carrier.example/?zip=${buyer.postalCode}` }
  if ('orderLineStatuses' in inner) return { ...inner, personalization: `for ${buyer.name}` }
  if ('statusQuantity' in inner && 'status' in inner) return { ...inner, signedBy: buyer.name }
  if ('returnOrderId' in inner) return { ...inner, customerEmailId: buyer.email, customerName: { lastName: buyer.name } }
  if ('returnOrderLineNumber' in inner) return { ...inner, customerComments: `it broke, ${buyer.name}` }
  if ('refundChannelName' in inner) return { ...inner, cardHolder: buyer.name }
  if ('currentRefundStatus' in inner) return { ...inner, carrierNote: `collected at ${buyer.address1}` }
  if ('purchaseOrderId' in inner && 'orderLines' in inner) {
    return plantOrder(inner, broken.get(String(inner['purchaseOrderId'])) ?? 'whole')
  }
  return inner
}

const buildBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const body = await buffer(request)
  return body.length === 0 ? undefined : body
}

/** Starts one on a free port. */
export const startPlanter = async (marketplaceUrl: string): Promise<Planter> => {
  const refusals: { readonly status: number; readonly body: object }[] = []
  const broken = new Map<string, 'keyed' | 'keyless' | 'whole'>()
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buildBody(request)
    const path = request.url ?? '/'
    const refusal = request.method === 'POST' && path.startsWith('/v3/orders/') ? refusals.shift() : undefined
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { 'content-type': 'application/json' }).end(JSON.stringify(refusal.body))
      return
    }
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && !['host', 'connection', 'content-length', 'accept-encoding'].includes(name)
        ? [[name, value]]
        : [],
    )
    const answer = await fetch(`${marketplaceUrl}${path}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    const kept = [...answer.headers].filter(
      ([name]) => !['content-length', 'content-encoding', 'transfer-encoding', 'connection'].includes(name),
    )
    response.writeHead(answer.status, Object.fromEntries(kept))
    response.end(isJson && text !== '' ? JSON.stringify(plant(JSON.parse(text), broken)) : text)
  }
  // A marketplace that breaks a connection breaks this one too.
  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the planter has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    refuseNext: (status, body) => void refusals.push({ status, body }),
    breakOrder: (purchaseOrderId, how) => void broken.set(purchaseOrderId, how),
    mendOrders: () => broken.clear(),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
