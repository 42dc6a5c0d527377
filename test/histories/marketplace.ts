import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  type Answer,
  type Deed,
  type Effect,
  type Nature,
  type Node,
  type Operation,
  type PlannedOrder,
  type PlannedReturn,
  type Rule,
  type Write,
  writes,
} from './history.ts'
import { askedBy, askedOfReturn, distorted, distortedReturn, isCorrection, type OrderWrite } from './requests.ts'
import {
  type AskedOfReturn,
  buildReturnEntries,
  countCredit,
  openReturn,
  refundUnits,
  returnOnTheWire,
  type TrueReturn,
} from './returns.ts'
import type { Stage } from './stage.ts'
import {
  type Asked,
  type AskedEntry,
  alreadyDoneWords,
  countTracked,
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
  readonly kind: Asked['kind']
  /** Whose request brought it about; null for what others did. */
  readonly commandId: string | null
  readonly correlationId: string | null
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly units: number
  readonly cents: number
  /** A rule made more of it than the request asked. */
  readonly inflated: boolean
  /** Tracking number or reason, and the tracking number that it replaces. */
  readonly mark: string
  readonly from: string | null
  /** Units that stand under the replaced number all the same. */
  readonly left: number
  /** Units that came from nowhere. */
  readonly appeared: number
  /** The line of a return through which it was refunded; null: it was not. */
  readonly returned: { readonly returnOrderId: string; readonly returnLineNumber: number } | null
}

/** A request as it arrived. */
export interface TrueRequest {
  readonly atMs: number
  readonly operation: Operation
  readonly correlationId: string | null
  readonly commandId: string | null
  readonly purchaseOrderId: string | null
  readonly returnOrderId: string | null
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
  /** As it was at a moment. */
  orderAsOf(purchaseOrderId: string, atMs: number): TrueOrder | null
  /** The returns that have arrived, in that order. */
  returns(): readonly TrueReturn[]
  /** Effects that will still come of a command's requests. */
  countPending(commandId: string): number
  perform(deed: Deed): void
  /** The return at this place is there from now on, if any of its units are shipped. */
  receiveReturn(place: number): void
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
  readonly planned: readonly PlannedReturn[]
  /** Of the order, or of the return, at this place. */
  readonly purchaseOrderId: (place: number) => string
  readonly returnOrderId: (place: number) => string
  /** A line for whoever reads a failure. */
  readonly tell: (line: string) => void
}

/** The time that a request takes on its way, each way. */
const travelMs = 20
/** A rule of so many calls has no end. */
const endlessCalls = 1_000

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

interface Version<Thing> {
  readonly atMs: number
  readonly is: Thing
}

type Cause = Pick<TrueEffect, 'by' | 'commandId' | 'correlationId' | 'inflated' | 'askedAtMs'>

/** Makes the marketplace of one history. */
export const createWorld = ({
  stage,
  nature,
  rules,
  orders,
  planned: plannedReturns,
  purchaseOrderId,
  returnOrderId,
  tell,
}: WorldParts): World => {
  const versions = new Map<string, Version<TrueOrder>[]>()
  for (const [place, planned] of orders.entries()) {
    const id = purchaseOrderId(place)
    versions.set(id, [{ atMs: Number.NEGATIVE_INFINITY, is: buildTruth(planned, id) }])
  }
  const returnVersions = new Map<string, Version<TrueReturn>[]>()
  const effects: TrueEffect[] = []
  const requests: TrueRequest[] = []
  const pending = new Map<string, number>()
  const counts = new Map<Operation, number>()
  const beginningMs = stage.nowMs()
  const counted = rules.map((rule) => ({ rule, seen: 0 }))
  let served = 0
  let lastDisturbedMs = stage.nowMs()

  const asOf = (id: string, atMs: number): TrueOrder | null =>
    versions.get(id)?.findLast((version) => version.atMs <= atMs)?.is ?? null
  const latest = (id: string): TrueOrder | null => versions.get(id)?.at(-1)?.is ?? null
  const returnAsOf = (id: string, atMs: number): TrueReturn | null =>
    returnVersions.get(id)?.findLast((version) => version.atMs <= atMs)?.is ?? null
  const latestReturn = (id: string): TrueReturn | null => returnVersions.get(id)?.at(-1)?.is ?? null
  const returns = (): readonly TrueReturn[] => [...returnVersions.keys()].flatMap((id) => latestReturn(id) ?? [])
  const disturbed = (): void => {
    lastDisturbedMs = stage.nowMs()
  }

  /** Others do what can be done; only what we send may happen twice. */
  const rulesFor = ({ by }: Cause): Nature => (by === 'us' ? nature : { ...nature, countsUnits: true })

  /** Makes it true, unless the marketplace refuses; answers its words then. */
  const commit = (id: string, asked: Asked, cause: Cause): string | null => {
    const before = latest(id)
    if (before === null) return 'there is no such order'
    const outcome = happen(before, asked, rulesFor(cause))
    if (!outcome.ok) return outcome.words
    versions.get(id)?.push({ atMs: stage.nowMs(), is: outcome.order })
    for (const { lineNumber, units, cents, mark, from, appeared } of outcome.happened) {
      const line = outcome.order.lines.find((one) => one.lineNumber === lineNumber)
      const left = from === null || line === undefined ? 0 : countTracked(line, from)
      const what = { kind: asked.kind, purchaseOrderId: id, lineNumber, units, cents, mark, from, left, appeared, returned: null }
      effects.push({ ...cause, ...what, atMs: stage.nowMs() })
      const money = cents === 0 ? '' : `, ${cents} cents`
      tell(`true: ${cause.by} ${asked.kind} ${units} of line ${lineNumber}${money}, order ${id}${mark === '' ? '' : `, ${mark}`}`)
      if (asked.kind !== 'refund' || !nature.countsCredits) continue
      for (const counted of countCredit(
        returns().filter((returned) => returned.purchaseOrderId === id),
        lineNumber,
        units,
      ))
        returnVersions.get(counted.returnOrderId)?.push({ atMs: stage.nowMs(), is: counted })
    }
    return null
  }

  /** As {@link commit}, of units of a return. */
  const commitReturn = (id: string, asked: readonly AskedOfReturn[], cause: Cause): string | null => {
    const before = latestReturn(id)
    const order = before === null ? null : latest(before.purchaseOrderId)
    if (before === null || order === null) return 'there is no such return'
    const built = buildReturnEntries(before, order, asked, rulesFor(cause).countsUnits)
    if (!built.ok) return built.words
    const outcome = happen(order, { kind: 'refund', entries: built.entries }, rulesFor(cause))
    if (!outcome.ok) return outcome.words
    const { purchaseOrderId: of } = before
    versions.get(of)?.push({ atMs: stage.nowMs(), is: outcome.order })
    let after = before
    for (const [place, { returnLineNumber, units }] of asked.entries()) {
      const entry = built.entries[place]
      if (entry === undefined) continue
      after = refundUnits(after, returnLineNumber, units)
      const { lineNumber, mark } = entry
      const what = { kind: 'refund', purchaseOrderId: of, lineNumber, units, cents: entry.cents + entry.taxCents, mark } as const
      const returned = { returnOrderId: id, returnLineNumber }
      effects.push({ ...cause, ...what, atMs: stage.nowMs(), from: null, left: 0, appeared: 0, returned })
      tell(
        `true: ${cause.by} refund ${units} of line ${returnLineNumber} of return ${id} (line ${lineNumber}), ${what.cents} cents`,
      )
    }
    returnVersions.get(id)?.push({ atMs: stage.nowMs(), is: after })
    return null
  }

  const receiveReturn = (place: number): void => {
    const planned = plannedReturns[place]
    const order = planned === undefined ? null : latest(purchaseOrderId(planned.order))
    if (planned === undefined || order === null) return
    disturbed()
    const id = returnOrderId(place)
    const arrived = openReturn(planned, id, order, returns(), stage.nowMs())
    if (arrived === null) return
    returnVersions.set(id, [{ atMs: stage.nowMs(), is: arrived }])
    tell(`return ${id} of ${arrived.lines.map(({ units, lineNumber }) => `${units} of line ${lineNumber}`).join(', ')}`)
  }

  const byOthers = (): Cause => ({
    by: 'others',
    commandId: null,
    correlationId: null,
    inflated: false,
    askedAtMs: stage.nowMs(),
  })

  const performOnReturn = ({ return: place, line, units }: Extract<Deed, { does: 'marketplace refunds return' }>): void => {
    const id = returnOrderId(place)
    const there = latestReturn(id)?.lines[line]
    const left = there === undefined ? 0 : there.units - there.refunded
    if (there === undefined || left <= 0) return
    const asked = { returnLineNumber: there.returnLineNumber, units: Math.min(units, left) }
    const words = commitReturn(id, [asked], byOthers())
    if (words !== null) tell(`the marketplace refunds a return: impossible, ${words}`)
  }

  const perform = (deed: Deed): void => {
    disturbed()
    if (deed.does === 'marketplace refunds return') {
      performOnReturn(deed)
      return
    }
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
    const words = commit(id, possible(order, asked), byOthers())
    if (words !== null) tell(`${deed.does}: impossible, ${words}`)
  }

  const reply = (node: Node, status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
    is: 'answer',
    cut: false,
    status,
    body: body.replaceAll(JSON.stringify(tooWideNumber), '1e200000'),
    headers: { 'content-type': 'application/json', date: new Date(stage.nowMs() + node.skewMs).toUTCString(), ...headers },
  })

  const findOperationKind = ({
    method,
    path,
    body,
  }: Incoming): { operation: Operation; id: string | null; write: Write | null } => {
    const url = new URL(path, 'http://marketplace')
    const [, , resource, id, action] = url.pathname.split('/')
    if (resource === 'token') return { operation: 'token', id: null, write: null }
    if (resource === 'returns') {
      const named = id ?? url.searchParams.get('returnOrderId')
      if (action === 'refund') return { operation: 'refund-return', id: named, write: 'refund-return' }
      return { operation: named === null ? 'list returns' : 'get return', id: named, write: null }
    }
    if (id === undefined || id === 'released') return { operation: 'list', id: null, write: null }
    if (method === 'GET') return { operation: 'get', id, write: null }
    const named = action === 'shipping' ? (isCorrection(body) ? 'correct' : 'ship') : action
    const write = writes.find((one) => one === named)
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

  const worded = (rule: Rule, node: Node, write: OrderWrite | null, before: TrueOrder | null, after: TrueOrder | null): Reply => {
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

  /** The answers about a return: as they are about an order, with what is shown of a return in its place. */
  const wordedReturn = (rule: Rule, node: Node, body: object | null, other: object | null): Reply => {
    const { answer } = rule
    const json = (shows: object | null): Reply =>
      shows === null ? reply(node, 404, faultBody(404, 'No returns found')) : reply(node, 200, JSON.stringify(shows))
    switch (answer.is) {
      case 'true':
      case 'partial':
        return json(body)
      case 'stale':
      case 'another order':
        return json(other)
      case 'errors': {
        const errors: unknown = JSON.parse(faultBody(500, 'one of the lines could not be processed'))
        return json({ ...(typeof errors === 'object' ? errors : {}), ...(answer.withOrder ? body : {}) })
      }
      case 'cut': {
        const whole = json(body)
        return whole.is === 'drop' ? whole : { ...whole, cut: true }
      }
      case 'unreadable':
        return json(body === null ? null : { ...body, returnOrders: 'none' })
      case 'unstorable':
        return json(body)
      case 'already done':
        return reply(node, 400, faultBody(400, 'Return line 1 has 0 units left to be refunded'))
      default:
        return worded(rule, node, null, null, null)
    }
  }

  const pageOfReturns = (found: readonly TrueReturn[], unstorable = false): object => ({
    meta: { totalCount: found.length, limit: 200 },
    returnOrders: found.map((returned) => returnOnTheWire(returned, unstorable)),
  })

  const shownReturn = (rule: Rule | undefined, node: Node, id: string): Reply => {
    const returned = returnAsOf(id, stage.nowMs() - node.orderLagMs)
    const page = (one: TrueReturn | null): object | null =>
      one === null ? null : pageOfReturns([one], rule?.answer.is === 'unstorable')
    if (rule === undefined) {
      const body = page(returned)
      return body === null
        ? reply(node, 404, faultBody(404, `No return found for: ${id}`))
        : reply(node, 200, JSON.stringify(body))
    }
    const stale = returnVersions.get(id)?.at(-2)?.is ?? returned
    const other = returned === null ? null : { ...returned, returnOrderId: `${id}9` }
    return wordedReturn(rule, node, page(returned), page(rule.answer.is === 'stale' ? stale : other))
  }

  const listedReturns = (node: Node): Reply => {
    const found = [...returnVersions.keys()].flatMap((id) => returnAsOf(id, stage.nowMs() - node.listLagMs) ?? [])
    return reply(node, 200, JSON.stringify(pageOfReturns(found)))
  }

  /** Makes a write true as a rule says, now or later; answers the words of a refusal that comes at once. */
  const arrange = (effect: Effect, cause: Cause, what: string, make: (cause: Cause) => string | null): string | null => {
    const because = { ...cause, inflated: effect.of === 'more' }
    if (effect.afterMs === 0) return make(because)
    const key = cause.commandId ?? ''
    pending.set(key, (pending.get(key) ?? 0) + 1)
    stage.at(stage.nowMs() + effect.afterMs, () => {
      disturbed()
      pending.set(key, (pending.get(key) ?? 0) - 1)
      const words = make(because)
      if (words !== null) tell(`late ${what}: impossible, ${words}`)
    })
    return null
  }

  /** What a rule makes of a write; null: nothing. */
  const findEffect = (rule: Rule): Effect | null => {
    const effect = rule.effect ?? (isShowing(rule) ? ({ of: 'all', afterMs: 0 } as const) : null)
    return effect?.of === 'nothing' ? null : effect
  }
  const isShowing = ({ answer: { is } }: Rule): boolean => ['true', 'stale', 'partial'].includes(is)

  const findCause = (request: Incoming): Cause => ({
    by: 'us',
    commandId: stage.current()?.buildCommand() ?? null,
    correlationId: request.correlationId,
    inflated: false,
    askedAtMs: stage.nowMs(),
  })

  const written = (
    rule: Rule | undefined,
    node: Node,
    id: string,
    write: OrderWrite,
    request: Incoming,
  ): { reply: () => Reply } => {
    const before = latest(id)
    if (before === null) return { reply: () => reply(node, 404, faultBody(404, 'No orders found')) }
    const asked = askedBy(write, request.body, before)
    const cause = findCause(request)
    if (rule === undefined) {
      const words = commit(id, asked, cause)
      return { reply: () => (words === null ? shown(node, latest(id), orderOnTheWire) : reply(node, 400, faultBody(400, words))) }
    }
    const effect = findEffect(rule)
    const words =
      effect === null ? null : arrange(effect, cause, write, (because) => commit(id, distorted(asked, effect), because))
    if (words !== null && isShowing(rule)) return { reply: () => reply(node, 400, faultBody(400, words)) }
    return { reply: () => worded(rule, node, write, before, latest(id)) }
  }

  /** The answer echoes the request. */
  const writtenReturn = (rule: Rule | undefined, node: Node, id: string, request: Incoming): { reply: () => Reply } => {
    if (latestReturn(id) === null) return { reply: () => reply(node, 404, faultBody(404, `No return found for: ${id}`)) }
    const asked = askedOfReturn(request.body)
    const cause = findCause(request)
    const parsed: unknown = JSON.parse(request.body)
    const echo = { returnOrderId: id, ...(typeof parsed === 'object' ? parsed : {}) }
    if (rule === undefined) {
      const words = commitReturn(id, asked, cause)
      return { reply: () => (words === null ? reply(node, 200, JSON.stringify(echo)) : reply(node, 400, faultBody(400, words))) }
    }
    const effect = findEffect(rule)
    const words =
      effect === null
        ? null
        : arrange(effect, cause, 'refund of a return', (because) =>
            commitReturn(id, distortedReturn(asked, effect), { ...because, inflated: false }),
          )
    if (words !== null && isShowing(rule)) return { reply: () => reply(node, 400, faultBody(400, words)) }
    return { reply: () => wordedReturn(rule, node, echo, { ...echo, returnOrderId: `${id}9` }) }
  }

  const answer = async (request: Incoming): Promise<Reply> => {
    const { operation, id, write } = findOperationKind(request)
    const isOfReturn = operation === 'get return' || operation === 'refund-return'
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
      purchaseOrderId: isOfReturn ? null : id,
      returnOrderId: isOfReturn ? id : null,
      answered: rule?.answer.is ?? null,
      did: rule?.effect?.of ?? null,
    })
    const result = ((): { reply: () => Reply } => {
      if (write === 'refund-return' && id !== null) return writtenReturn(rule, node, id, request)
      if (write !== null && write !== 'refund-return' && id !== null) return written(rule, node, id, write, request)
      if (operation === 'get return' && id !== null) return { reply: () => shownReturn(rule, node, id) }
      if (operation === 'list returns') return { reply: () => listedReturns(node) }
      if (operation === 'list') return { reply: () => listed(rule, node) }
      if (operation === 'token') {
        const token = JSON.stringify({ access_token: `token-${served}`, token_type: 'Bearer', expires_in: nature.tokenSeconds })
        const fine = rule === undefined || rule.answer.is === 'true'
        return { reply: () => (fine ? reply(node, 200, token) : worded(rule, node, null, null, null)) }
      }
      const order = id === null ? null : asOf(id, stage.nowMs() - node.orderLagMs)
      const stale = id === null ? null : (versions.get(id)?.at(-2)?.is ?? order)
      return { reply: () => (rule === undefined ? shown(node, order, orderOnTheWire) : worded(rule, node, null, stale, order)) }
    })()
    if (rule !== undefined && rule.answerHeldMs > 0) await stage.park(stage.nowMs() + rule.answerHeldMs)
    const answered = result.reply()
    const what = rule === undefined ? '' : `, by rule: ${rule.answer.is}`
    tell(`${operation} ${call}${id === null ? '' : ` of ${id}`}: ${answered.is === 'drop' ? 'dropped' : answered.status}${what}`)
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
    orderAsOf: asOf,
    returns,
    countPending: (commandId) => pending.get(commandId) ?? 0,
    perform,
    receiveReturn,
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
