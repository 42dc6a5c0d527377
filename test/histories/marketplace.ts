import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Answer, Deed, Effect, Nature, Node, Operation, PlannedOrder, Rule } from './history.ts'
import type { Stage } from './stage.ts'
import {
  type Asked,
  type AskedEntry,
  alreadyDoneWords,
  happen,
  orderOnTheWire,
  possible,
  type TrueOrder,
  tooWideNumber,
} from './truth.ts'

/** Something that truly happened to a line. */
export interface TrueEffect {
  readonly atMs: number
  /** When its request was processed, its effect may come later; the same as `atMs` for what others did. */
  readonly askedAtMs: number
  readonly by: 'us' | 'others'
  readonly kind: 'acknowledge' | 'ship' | 'cancel' | 'refund' | 'deliver'
  /** Whose request brought it about; null for what others did. */
  readonly commandId: string | null
  readonly correlationId: string | null
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly units: number
  readonly cents: number
  /** A rule made more of it than the request asked. */
  readonly inflated: boolean
}

/** A request as it arrived. */
export interface TrueRequest {
  readonly atMs: number
  readonly operation: Operation
  readonly correlationId: string | null
  readonly commandId: string | null
  readonly purchaseOrderId: string | null
  /** The kind of a rule's answer; null: as the marketplace answers by itself. */
  readonly answered: Answer['is'] | null
  /** What a rule made of a write; null: as the marketplace does by itself. */
  readonly did: Effect['of'] | null
}

/** The marketplace of one history: the truth, what is shown of it, and a log of all that happened. */
export interface World {
  readonly effects: readonly TrueEffect[]
  readonly requests: readonly TrueRequest[]
  /** When a rule was applied or something was done last, virtual epoch ms; rules without an end do not count. */
  lastDisturbedMs(): number
  orderExpression(purchaseOrderId: string): TrueOrder
  /** Effects that will still come of a command's requests. */
  countPending(commandId: string): number
  perform(deed: Deed): void
  answer(request: Incoming): Promise<Reply>
}

/** A request on the wire, its path without the prefix of its world. */
export interface Incoming {
  readonly method: string
  readonly path: string
  readonly correlationId: string | null
  readonly body: string
}

/** An answer on the wire, or a connection that is dropped. */
export type Reply =
  | { readonly is: 'drop' }
  | {
      readonly is: 'answer'
      readonly cut: boolean
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }

/** What a world is made of. */
export interface WorldParts {
  readonly stage: Stage
  readonly nature: Nature
  readonly rules: readonly Rule[]
  readonly orders: readonly PlannedOrder[]
  /** Of the order at this place. */
  readonly purchaseOrderId: (place: number) => string
  /** A line for whoever reads a failure. */
  readonly tell: (line: string) => void
}

/** The time that a request takes on its way, each way. */
const travelMs = 20
/** A rule of so many calls has no end. */
const endlessCalls = 1_000

const amount = z.union([z.string(), z.number()]).transform(Number)
const wireEntries = z.array(
  z.object({
    lineNumber: z.string(),
    orderLineStatuses: z
      .object({
        orderLineStatus: z.array(
          z.object({
            statusQuantity: z.object({ amount }).optional(),
            quantity: z.object({ amount }).optional(),
            cancellationReason: z.string().optional(),
            trackingInfo: z.object({ trackingNumber: z.string() }).optional(),
          }),
        ),
      })
      .optional(),
    refunds: z
      .object({
        refund: z.array(
          z.object({
            refundCharges: z.object({
              refundCharge: z.array(
                z.object({
                  refundReason: z.string(),
                  charge: z.object({
                    chargeAmount: z.object({ amount }),
                    tax: z.object({ taxAmount: z.object({ amount }) }).nullish(),
                  }),
                }),
              ),
            }),
          }),
        ),
      })
      .optional(),
  }),
)
const wireBody = z.record(z.string(), z.object({ orderLines: z.object({ orderLine: wireEntries }) }))

const writeKind = { acknowledge: 'acknowledge', shipping: 'ship', cancel: 'cancel', refund: 'refund' } as const
type Write = (typeof writeKind)[keyof typeof writeKind]

const cents = (value: number): number => Math.round(-value * 100)

/** What a request asks. */
const askedBy = (write: Write, body: string, order: TrueOrder): Asked => {
  if (write === 'acknowledge') {
    const entries = order.lines.map(({ lineNumber }) => ({ lineNumber, units: null, mark: '', cents: 0, taxCents: 0 }))
    return { kind: write, entries }
  }
  const lines = Object.values(wireBody.parse(JSON.parse(body))).flatMap(({ orderLines }) => orderLines.orderLine)
  const entries = lines.flatMap(({ lineNumber, orderLineStatuses, refunds }): AskedEntry[] => {
    const statuses = (orderLineStatuses?.orderLineStatus ?? []).map((status) => ({
      units: status.statusQuantity?.amount ?? status.quantity?.amount ?? 0,
      mark: status.trackingInfo?.trackingNumber ?? status.cancellationReason ?? '',
    }))
    if (write !== 'refund') return statuses.map((status) => ({ ...status, lineNumber, cents: 0, taxCents: 0 }))
    const charges = (refunds?.refund ?? []).flatMap(({ refundCharges }) => refundCharges.refundCharge)
    return [
      {
        lineNumber,
        units: statuses.reduce((sum, { units }) => sum + units, 0),
        mark: charges[0]?.refundReason ?? '',
        cents: charges.reduce((sum, { charge }) => sum + cents(charge.chargeAmount.amount), 0),
        taxCents: charges.reduce((sum, { charge }) => sum + cents(charge.tax?.taxAmount.amount ?? 0), 0),
      },
    ]
  })
  return { kind: write, entries }
}

const share = (whole: number, entry: AskedEntry): number =>
  entry.units === null || entry.units === 0 ? 0 : Math.floor((whole * (entry.units - 1)) / entry.units)

/** What an effect makes of what was asked. */
const distorted = (asked: Asked, { of }: Effect): Asked => {
  const [first] = asked.entries
  switch (of) {
    case 'all':
    case 'nothing':
      return asked
    case 'some lines':
      return { ...asked, entries: asked.entries.filter(({ lineNumber }) => lineNumber === first?.lineNumber) }
    case 'some units':
      return {
        ...asked,
        entries: asked.entries
          .map((entry) => ({
            ...entry,
            units: entry.units === null ? null : entry.units - 1,
            cents: share(entry.cents, entry),
            taxCents: share(entry.taxCents, entry),
          }))
          .filter(({ units }) => units === null || units > 0),
      }
    case 'more':
      return {
        ...asked,
        entries: asked.entries.map((entry) => ({ ...entry, cents: entry.cents * 3, taxCents: entry.taxCents * 3 })),
      }
  }
}

const codes: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API',
  401: 'UNAUTHORIZED.GMP_GATEWAY_API',
  403: 'FORBIDDEN.GMP_GATEWAY_API',
  404: 'CONTENT_NOT_FOUND.GMP_ORDER_API',
  423: 'RESOURCE_IS_LOCKED.GMP_ORDER_API',
  429: 'REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API',
  500: 'SYSTEM_ERROR.GMP_ORDER_API',
  504: 'DOWNSTREAM_SYSTEM_TIME_OUT.GMP_ORDER_API',
}

const faultBody = (status: number, description: string): string =>
  JSON.stringify({
    errors: {
      error: [
        {
          code: codes[status] ?? `UNEXPECTED_${status}.GMP_ORDER_API`,
          field: 'data',
          description,
          severity: status === 404 ? 'INFO' : 'ERROR',
          category: 'DATA',
        },
      ],
    },
  })

const gatewayBodies = {
  html: [
    'text/html',
    '<html><head><title>Access Denied</title></head><body><h1>Access Denied</h1>Reference #18.2f</body></html>',
  ],
  xml: ['application/xml', '<?xml version="1.0"?><errors><error><code>GATEWAY</code></error></errors>'],
  empty: ['text/plain', ''],
  json: ['application/json', '{"message":"Forbidden"}'],
} as const

const initialStatus = { created: 'Created', acknowledged: 'Acknowledged', shipped: 'Shipped' } as const

const buildTruth = (planned: PlannedOrder, purchaseOrderId: string): TrueOrder => ({
  purchaseOrderId,
  lines: planned.lines.map((line, place) => ({
    lineNumber: String(place + 1),
    ...line,
    refunds: [],
    statuses: [
      {
        status: initialStatus[planned.state],
        units: line.units,
        trackingNumber: planned.state === 'shipped' ? `OLD${purchaseOrderId}${place}` : null,
        reason: null,
      },
    ],
  })),
})

interface Version {
  readonly atMs: number
  readonly order: TrueOrder
}

/** Makes the marketplace of one history. */
export const createWorld = ({ stage, nature, rules, orders, purchaseOrderId, tell }: WorldParts): World => {
  const versions = new Map<string, Version[]>()
  for (const [place, planned] of orders.entries()) {
    const id = purchaseOrderId(place)
    versions.set(id, [{ atMs: Number.NEGATIVE_INFINITY, order: buildTruth(planned, id) }])
  }
  const effects: TrueEffect[] = []
  const requests: TrueRequest[] = []
  const pending = new Map<string, number>()
  const counts = new Map<Operation, number>()
  const beginningMs = stage.nowMs()
  const counted = rules.map((rule) => ({ rule, seen: 0 }))
  let served = 0
  let lastDisturbedMs = stage.nowMs()

  const asOf = (id: string, atMs: number): TrueOrder | null =>
    versions.get(id)?.findLast((version) => version.atMs <= atMs)?.order ?? null
  const latest = (id: string): TrueOrder | null => versions.get(id)?.at(-1)?.order ?? null
  const disturbed = (): void => {
    lastDisturbedMs = stage.nowMs()
  }

  /** Makes it true, unless the marketplace refuses; answers its words then. */
  const commit = (
    id: string,
    asked: Asked,
    cause: Pick<TrueEffect, 'by' | 'commandId' | 'correlationId' | 'inflated' | 'askedAtMs'>,
  ): string | null => {
    const before = latest(id)
    if (before === null) return 'there is no such order'
    // Others do what can be done; only what we send may happen twice.
    const outcome = happen(before, asked, cause.by === 'us' ? nature : { ...nature, countsUnits: true })
    if (!outcome.ok) return outcome.words
    versions.get(id)?.push({ atMs: stage.nowMs(), order: outcome.order })
    for (const { lineNumber, units, cents: given } of outcome.happened) {
      effects.push({ ...cause, atMs: stage.nowMs(), kind: asked.kind, purchaseOrderId: id, lineNumber, units, cents: given })
      tell(`true: ${cause.by} ${asked.kind} ${units} of line ${lineNumber}${given === 0 ? '' : `, ${given} cents`}, order ${id}`)
    }
    return null
  }

  const perform = (deed: Deed): void => {
    disturbed()
    const id = purchaseOrderId(deed.order)
    const order = latest(id)
    if (order === null) return
    const buildEntry = (line: number, units: number | null, mark: string, given = 0): AskedEntry => ({
      lineNumber: String(line + 1),
      units,
      mark,
      cents: given,
      taxCents: 0,
    })
    const asked = ((): Asked => {
      switch (deed.does) {
        case 'buyer cancels': {
          const lines = deed.line === null ? order.lines.map((_, place) => place) : [deed.line]
          return { kind: 'cancel', entries: lines.map((line) => buildEntry(line, deed.units, 'BUYER_REMORSE')) }
        }
        case 'colleague acknowledges':
          return { kind: 'acknowledge', entries: order.lines.map((_, line) => buildEntry(line, null, '')) }
        case 'colleague ships':
          return { kind: 'ship', entries: [buildEntry(deed.line, deed.units, `COLLEAGUE${id}`)] }
        case 'colleague cancels':
          return { kind: 'cancel', entries: [buildEntry(deed.line, deed.units, 'SELLER_CANCEL_FRAUD_STOP_SHIPMENT')] }
        case 'colleague refunds':
          return { kind: 'refund', entries: [buildEntry(deed.line, deed.units, 'General adjustment', deed.cents)] }
        case 'marketplace refunds':
          return { kind: 'refund', entries: [buildEntry(deed.line, deed.units, 'Finance -> Goodwill', deed.cents)] }
        case 'carrier delivers':
          return { kind: 'deliver', entries: [buildEntry(deed.line, deed.units, '')] }
      }
    })()
    const words = commit(id, possible(order, asked), {
      by: 'others',
      commandId: null,
      correlationId: null,
      inflated: false,
      askedAtMs: stage.nowMs(),
    })
    if (words !== null) tell(`${deed.does}: impossible, ${words}`)
  }

  const reply = (node: Node, status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
    is: 'answer',
    cut: false,
    status,
    body: body.replaceAll(JSON.stringify(tooWideNumber), '1e200000'),
    headers: { 'content-type': 'application/json', date: new Date(stage.nowMs() + node.skewMs).toUTCString(), ...headers },
  })

  const findOperationKind = ({ method, path }: Incoming): { operation: Operation; id: string | null; write: Write | null } => {
    const [, , , id, action] = path.split('?')[0]?.split('/') ?? []
    if (path.startsWith('/v3/token')) return { operation: 'token', id: null, write: null }
    if (id === undefined || id === 'released') return { operation: 'list', id: null, write: null }
    if (method === 'GET') return { operation: 'get', id, write: null }
    const write = Object.entries(writeKind).find(([name]) => name === action)?.[1]
    if (write === undefined) throw new Error(`the marketplace of the histories has no ${method} ${path}`)
    return { operation: write, id, write }
  }

  /** What an answer says when it shows an order at all. */
  const shown = (node: Node, order: TrueOrder | null, change: (order: TrueOrder) => object): Reply =>
    order === null
      ? reply(node, 404, faultBody(404, 'No orders found'))
      : reply(node, 200, JSON.stringify({ order: change(order) }))

  const partially = (before: TrueOrder, after: TrueOrder): TrueOrder => ({
    ...after,
    lines: after.lines.map((line, place) => (place === 0 ? line : (before.lines[place] ?? line))),
  })

  const withoutReading = (order: object): object => ({ ...order, orderLines: { orderLine: 'none' } })

  const worded = (rule: Rule, node: Node, write: Write | null, before: TrueOrder | null, after: TrueOrder | null): Reply => {
    const { answer } = rule
    const plain = (order: TrueOrder): object => orderOnTheWire(order)
    switch (answer.is) {
      case 'true':
        return shown(node, after, plain)
      case 'stale':
        return shown(node, before, plain)
      case 'partial':
        return shown(node, before === null || after === null ? after : partially(before, after), plain)
      case 'errors': {
        const errors: unknown = JSON.parse(faultBody(500, 'one of the lines could not be processed'))
        const order = answer.withOrder && after !== null ? { order: plain(after) } : {}
        return reply(node, 200, JSON.stringify({ ...(typeof errors === 'object' ? errors : {}), ...order }))
      }
      case 'refusal':
        return reply(node, 400, faultBody(400, 'This request cannot be carried out for the order as it stands'))
      case 'already done':
        return reply(node, 400, faultBody(400, before === null || write === null ? 'done' : alreadyDoneWords(write, before)))
      case 'coded':
        return reply(node, answer.status, faultBody(answer.status, 'see the code'))
      case 'gateway': {
        const [type, body] = gatewayBodies[answer.body]
        return reply(node, answer.status, body, { 'content-type': type })
      }
      case 'throttled':
        return reply(
          node,
          429,
          faultBody(429, 'too many requests'),
          answer.seconds === null ? {} : { 'retry-after': String(answer.seconds) },
        )
      case 'dropped':
        return { is: 'drop' }
      case 'cut': {
        const whole = shown(node, after, plain)
        return whole.is === 'drop' ? whole : { ...whole, cut: true }
      }
      case 'garbage':
        return reply(node, 200, '{"order":{{{')
      case 'unreadable':
        return shown(node, after, (order) => withoutReading(plain(order)))
      case 'another order':
        return shown(node, after, (order) => plain({ ...order, purchaseOrderId: `${order.purchaseOrderId}9` }))
      case 'unstorable':
        return shown(node, after, (order) => orderOnTheWire(order, true))
    }
  }

  const listed = (rule: Rule | undefined, node: Node): Reply => {
    const page = [...versions.keys()].flatMap((id) => asOf(id, stage.nowMs() - node.listLagMs) ?? [])
    if (rule !== undefined && !['true', 'stale', 'partial', 'unreadable', 'unstorable'].includes(rule.answer.is)) {
      return worded(rule, node, null, page[0] ?? null, page[0] ?? null)
    }
    const order = page.map((each) => {
      const plain = orderOnTheWire(each, rule?.answer.is === 'unstorable')
      return rule?.answer.is === 'unreadable' ? withoutReading(plain) : plain
    })
    return reply(node, 200, JSON.stringify({ list: { meta: { totalCount: order.length, limit: 200 }, elements: { order } } }))
  }

  const written = (rule: Rule | undefined, node: Node, id: string, write: Write, request: Incoming): { reply: () => Reply } => {
    const before = latest(id)
    if (before === null) return { reply: () => reply(node, 404, faultBody(404, 'No orders found')) }
    const commandId = stage.current()?.buildCommand() ?? null
    const cause = {
      by: 'us',
      commandId,
      correlationId: request.correlationId,
      inflated: false,
      askedAtMs: stage.nowMs(),
    } as const
    const asked = askedBy(write, request.body, before)
    if (rule === undefined) {
      const words = commit(id, asked, cause)
      return { reply: () => (words === null ? shown(node, latest(id), orderOnTheWire) : reply(node, 400, faultBody(400, words))) }
    }
    const shows = ['true', 'stale', 'partial'].includes(rule.answer.is)
    const effect = rule.effect ?? (shows ? ({ of: 'all', afterMs: 0 } as const) : null)
    if (effect === null || effect.of === 'nothing') return { reply: () => worded(rule, node, write, before, latest(id)) }
    const really = distorted(asked, effect)
    const because = { ...cause, inflated: effect.of === 'more' }
    if (effect.afterMs === 0) {
      const words = commit(id, really, because)
      if (words !== null && shows) return { reply: () => reply(node, 400, faultBody(400, words)) }
    } else {
      const key = commandId ?? ''
      pending.set(key, (pending.get(key) ?? 0) + 1)
      stage.at(stage.nowMs() + effect.afterMs, () => {
        disturbed()
        pending.set(key, (pending.get(key) ?? 0) - 1)
        const words = commit(id, really, because)
        if (words !== null) tell(`late ${write}: impossible, ${words}`)
      })
    }
    return { reply: () => worded(rule, node, write, before, latest(id)) }
  }

  const answer = async (request: Incoming): Promise<Reply> => {
    const { operation, id, write } = findOperationKind(request)
    stage.tick(travelMs)
    const call = (counts.get(operation) ?? 0) + 1
    counts.set(operation, call)
    for (const each of counted) {
      if (each.rule.operation === operation && stage.nowMs() - beginningMs >= each.rule.fromMs) each.seen += 1
    }
    const rule = counted.find(
      (each) => each.rule.operation === operation && each.seen >= each.rule.call && each.seen < each.rule.call + each.rule.calls,
    )?.rule
    const node = nature.nodes[(rule?.node ?? served) % nature.nodes.length]
    served += 1
    if (node === undefined) throw new Error('a marketplace needs a node')
    if (rule !== undefined && rule.calls < endlessCalls) disturbed()
    if (rule !== undefined && rule.heldMs > 0) await stage.park(stage.nowMs() + rule.heldMs)
    for (const deed of rule?.meanwhile ?? []) perform(deed)
    requests.push({
      atMs: stage.nowMs(),
      operation,
      correlationId: request.correlationId,
      commandId: stage.current()?.buildCommand() ?? null,
      purchaseOrderId: id,
      answered: rule?.answer.is ?? null,
      did: rule?.effect?.of ?? null,
    })
    const result = ((): { reply: () => Reply } => {
      if (write !== null && id !== null) return written(rule, node, id, write, request)
      if (operation === 'list') return { reply: () => listed(rule, node) }
      if (operation === 'token') {
        const token = JSON.stringify({ access_token: `token-${served}`, token_type: 'Bearer', expires_in: nature.tokenSeconds })
        const fine = rule === undefined || rule.answer.is === 'true'
        return { reply: () => (fine ? reply(node, 200, token) : worded(rule, node, null, null, null)) }
      }
      const order = id === null ? null : asOf(id, stage.nowMs() - node.orderLagMs)
      const stale = id === null ? null : (versions.get(id)?.at(-2)?.order ?? order)
      return { reply: () => (rule === undefined ? shown(node, order, orderOnTheWire) : worded(rule, node, null, stale, order)) }
    })()
    if (rule !== undefined && rule.answerHeldMs > 0) await stage.park(stage.nowMs() + rule.answerHeldMs)
    const answered = result.reply()
    const what = rule === undefined ? '' : `, by rule: ${rule.answer.is}`
    tell(
      `${operation} ${call}${id === null ? '' : ` of order ${id}`}: ${answered.is === 'drop' ? 'dropped' : answered.status}${what}`,
    )
    stage.tick(travelMs)
    return answered
  }

  return {
    effects,
    requests,
    lastDisturbedMs: () => lastDisturbedMs,
    orderExpression: (id) => {
      const order = latest(id)
      if (order === null) throw new Error(`there is no order ${id}`)
      return order
    },
    countPending: (commandId) => pending.get(commandId) ?? 0,
    perform,
    answer: (request) =>
      answer(request).catch((error: unknown): Reply => {
        stage.failed.push(error)
        return { is: 'drop' }
      }),
  }
}

/** The server of many worlds, each under a prefix of its own. */
export interface Marketplace {
  /** Address of a world that is open. */
  open(name: string, world: Pick<World, 'answer'>): string
  close(name: string): void
  stop(): Promise<void>
}

const findHeader = (request: IncomingMessage, ending: string): string | null => {
  const value = Object.entries(request.headers).find(([name]) => name.endsWith(ending))?.[1]
  return typeof value === 'string' ? value : null
}

const respond = (response: ServerResponse, answer: Reply): void => {
  if (answer.is === 'drop') {
    response.socket?.destroy()
    return
  }
  if (answer.cut) {
    const half = answer.body.slice(0, answer.body.length / 2)
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.body.length) })
    response.write(half, () => response.socket?.destroy())
    return
  }
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
}

/** Starts the server on a free loopback port. */
export const startMarketplace = async (): Promise<Marketplace> => {
  const worlds = new Map<string, Pick<World, 'answer'>>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const [, name = '', ...rest] = (request.url ?? '').split('/')
      const world = worlds.get(name)
      if (world === undefined) return void response.socket?.destroy()
      void world
        .answer({
          method: request.method ?? '',
          path: `/${rest.join('/')}`,
          correlationId: findHeader(request, '_qos.correlation_id'),
          body: Buffer.concat(chunks).toString(),
        })
        .then((answer) => respond(response, answer))
    })
  })
  // Idle connections belong to clients that are gone; each history closes its own.
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const base = `http://127.0.0.1:${address.port}`
  return {
    open: (name, world) => {
      worlds.set(name, world)
      return `${base}/${name}`
    },
    close: (name) => void worlds.delete(name),
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
