import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Call, Operation, Result } from '../calls/operation.ts'
import { type Query, readQuery } from '../calls/query.ts'
import { gatewayRefusal, Refusal, renderFaults, unauthorized } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { FaultControl, FaultPlan } from '../faults/faults.ts'
import type { RateLimits, Taken } from '../faults/limits.ts'
import { type Body, type FaultDetails, type Outcome, uncoded } from '../faults/schema.ts'
import type { Life } from '../life/live.ts'
import type { World } from '../world.ts'
import { admit, findCorrelationId, readJson } from './admission.ts'
import { readParams } from './params.ts'
import type { LoggedRequest, RequestLog } from './request-log.ts'

/** The parts that every request passes through. */
export interface Gateway {
  readonly world: World
  readonly life: Life
  readonly limits: RateLimits
  readonly faults: FaultControl
  readonly requests: RequestLog
  readonly log: Log
}

/** What goes over the wire. */
interface Answer {
  readonly status: number
  readonly contentType: string
  /** In pieces where it may be large. */
  readonly text: string | Iterable<string>
  readonly headers: Readonly<Record<string, string>>
}

/** The same for one request, which one of the marketplace's machines answers. */
interface Served extends Gateway {
  /** How far that machine's clock is ahead of the virtual one. */
  readonly nodeOffsetMs: number
}

type RefusalAnswer = Answer & { readonly text: string }

const serverErrors = [500, 502, 503, 504] as const
const defaultSlowMs = 1_000
const defaultLateMs = 30_000
const defaultRetryMs = 2_000

/** The `Date` header of an answer: the virtual clock, as the machine that answers has it. */
export const dateHeader = ({ world }: Gateway, nodeOffsetMs: number): string =>
  new Date(world.clock.now() + nodeOffsetMs).toUTCString()

/** Serves one request of an operation: headers, token, budget, faults, effect, answer. */
export const serve = async (all: Gateway, operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const started = performance.now()
  await all.life.catchUp()
  const nodeOffsetMs = all.faults.nodeOffsetMs(`${operation.name}|${readParams(request)['po'] ?? ''}`)
  const gateway: Served = { ...all, nodeOffsetMs }
  const logged = beginLog(gateway, operation, request)
  const answer = await answerOrSilence(gateway, operation, request, logged)
  logged.durationMs = Math.round(performance.now() - started)
  if (answer === 'hang' || answer === 'drop') {
    gateway.requests.ended(logged)
    reply.hijack()
    if (answer === 'drop') request.raw.socket.resetAndDestroy()
    return
  }
  logged.status = answer.status
  gateway.requests.ended(logged)
  const { text } = answer
  reply.code(answer.status).headers(answer.headers).header('content-type', answer.contentType)
  reply.header('date', dateHeader(gateway, nodeOffsetMs))
  reply.send(typeof text === 'string' ? text : Readable.from(splitForSending(text, gateway.life)))
}

/** Piece by piece, others being heard in between. */
const splitForSending = async function* (pieces: Iterable<string>, life: Life): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece
    await life.breathe()
  }
}

const beginLog = ({ world, requests }: Gateway, operation: Operation, request: FastifyRequest): LoggedRequest => {
  const logged: LoggedRequest = {
    id: randomUUID(),
    at: new Date(world.clock.now()).toISOString(),
    method: request.method,
    url: request.url,
    operation: operation.name,
    sellerId: null,
    correlationId: findCorrelationId(world, operation, request.headers),
    purchaseOrderId: readParams(request)['po'] ?? null,
    status: null,
    fault: null,
    durationMs: null,
  }
  requests.add(logged)
  return logged
}

type Ending = Answer | 'hang' | 'drop'

const answerOrSilence = async (
  gateway: Served,
  operation: Operation,
  request: FastifyRequest,
  logged: LoggedRequest,
): Promise<Ending> => {
  try {
    return await business(gateway, operation, request, logged)
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(gateway, operation, error, request.url)
    throw error
  }
}

const business = async (
  gateway: Served,
  operation: Operation,
  request: FastifyRequest,
  logged: LoggedRequest,
): Promise<Ending> => {
  const { world } = gateway
  const admitted = admit(world, operation, request.headers, world.clock.now())
  logged.sellerId = admitted.sellerId
  const sellerId = admitted.sellerId ?? ''
  const query = readQuery(request.url)
  const budget = spend(gateway, sellerId, operation, query)
  const call: Call = {
    operation: operation.name,
    sellerId,
    purchaseOrderId: logged.purchaseOrderId ?? '',
    params: readParams(request),
    query,
    headers: request.headers,
    body: readBody(operation, request),
    correlationId: admitted.correlationId,
    requestId: logged.id,
  }
  const plan = gateway.faults.plan({
    operation: operation.name,
    method: operation.method,
    sellerId: admitted.sellerId,
    purchaseOrderId: logged.purchaseOrderId,
    cursor: operation.onFurtherPage?.(call) === true ? query.raw : null,
    faults: operation.faults,
    withToken: operation.admission !== 'display',
    errorShape: operation.errorShape,
  })
  if (plan.outcome?.name === 'tokenDiesEarly' && admitted.token !== null) {
    logged.fault = 'tokenDiesEarly'
    world.sellers.dropToken(admitted.token)
    throw unauthorized('Unauthorized token or incorrect authorization header. Please verify correct format')
  }
  const act = (): Promise<Answer> =>
    attempt(gateway, operation, request.url, budget, () => operation.perform(world, call, plan, world.clock.now()))
  const seen = { sellerId, purchaseOrderId: logged.purchaseOrderId, operation: operation.name }
  gateway.life.happen(world.triggers.take(seen, 'before'))
  const ending = await strike(gateway, operation, plan, request.url, logged, act, call)
  gateway.life.happen(world.triggers.take(seen, 'after'))
  if (typeof ending === 'string' || !plan.blemishes.has('deprecated')) return ending
  return { ...ending, headers: { ...ending.headers, ...deprecation } }
}

/** The announced end of an operation (public facts, sections 7.5 and 15); the name of the state's header is not published. */
const deprecation = { Deprecation: 'true', Sunset: 'Sat, 27 Mar 2027 00:00:00 GMT', 'X-Deprecation-State': 'ANNOUNCED' } as const

const readBody = (operation: Operation, request: FastifyRequest): unknown => {
  const text = typeof request.body === 'string' ? request.body : ''
  if (operation.body === 'text') return text
  if (operation.body === 'none' || (operation.body === 'optional-json' && text.trim() === '')) return null
  return readJson(request.headers, text)
}

/** Takes a token of the budget, or throws 429. Returns the headers with the remaining budget. */
const spend = (gateway: Served, sellerId: string, operation: Operation, query: Query): Record<string, string> => {
  const taken = gateway.limits.take(sellerId, operation.name, operation.budgetScope?.(gateway.world, query))
  const headers = budgetHeaders(gateway, taken)
  if (!taken.granted) throw new Throttled(headers)
  return headers
}

/** 429 with the state of the budget; the request did not reach the operation. */
class Throttled extends Refusal {
  readonly headers: Readonly<Record<string, string>>

  constructor(headers: Readonly<Record<string, string>>) {
    super(429, gatewayRefusal(429, 'REQUEST_THRESHOLD_VIOLATED', 'data', 'Rate limit of this operation is exceeded').faults)
    this.headers = headers
  }
}

/** The time of the next token is on the marketplace's clock, the one of its `Date` header. */
const budgetHeaders = ({ limits, world, nodeOffsetMs }: Served, { left, nextInMs }: Taken): Record<string, string> => {
  if (left === null) return {}
  const name = limits.current().replenishHeader
  const count = { 'X-Current-Token-Count': String(left) }
  return name === 'none' ? count : { ...count, [name]: String(Math.round(world.clock.now() + nodeOffsetMs + nextInMs)) }
}

/** Runs the operation; a refusal is an answer like any other. */
const attempt = async (
  gateway: Gateway,
  operation: Operation,
  url: string,
  headers: Readonly<Record<string, string>>,
  work: () => Result | Promise<Result>,
): Promise<Answer> => {
  try {
    const result = await work()
    const wire =
      'json' in result
        ? { contentType: 'application/json', text: JSON.stringify(result.json) }
        : { contentType: result.contentType, text: result.text }
    return { status: result.status ?? 200, ...wire, headers: { ...headers, ...result.headers } }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const answer = refusalAnswer(gateway, operation, error, url)
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }
}

/** Display advertising knows one shape for all its failures; other refusals state how they are wrapped. */
export const refusalAnswer = ({ world }: Gateway, operation: Operation | null, refusal: Refusal, url: string): RefusalAnswer => {
  const shape = operation?.admission === 'display' ? operation.errorShape : refusal.shape
  const rendered = renderFaults(refusal.status, refusal.faults, shape, url.split('?')[0] ?? '', world.clock.now())
  return { status: refusal.status, ...rendered, headers: refusal instanceof Throttled ? refusal.headers : {} }
}

/** Lets the planned fault strike; `act` is the operation itself, called at most once. */
const strike = async (
  gateway: Served,
  operation: Operation,
  plan: FaultPlan,
  url: string,
  logged: LoggedRequest,
  act: () => Promise<Answer>,
  call: Call,
): Promise<Ending> => {
  const names = [...plan.blemishes.keys(), ...(plan.outcome === null ? [] : [plan.outcome.name])]
  logged.fault = names.length === 0 ? null : names.join('+')
  const slow = plan.blemishes.get('slow')
  if (slow !== undefined) {
    await delay(slow.delayMs ?? defaultSlowMs, undefined, { ref: false })
    await gateway.life.catchUp()
  }
  if (plan.outcome === null) return await act()
  const { name, details } = plan.outcome
  const effect = details.effect ?? happens[name]
  if (name === 'lateEffect') return late(gateway, operation, plan, details, url, call)
  const real = effect ? await act() : null
  return faultAnswer(gateway, operation, plan, name, details, url, real)
}

/** Whether the operation is executed under each fault, unless the fault overrides it. */
const happens: Readonly<Record<Outcome, boolean>> = {
  tooManyRequests: false,
  tooManyRequestsWithoutHeader: false,
  serverErrorBefore: false,
  serverErrorAfter: true,
  timeoutBefore: false,
  timeoutAfter: true,
  lateEffect: false,
  dropBefore: false,
  dropAfter: true,
  html: false,
  emptyBody: true,
  truncatedJson: true,
  okWithErrors: false,
  tokenDiesEarly: true,
  cursorExpired: false,
  gatewayBefore: false,
  gatewayAfter: true,
  lockedBefore: false,
  lockedAfter: true,
  tokenRefused: false,
}

const faultAnswer = (
  gateway: Served,
  operation: Operation,
  plan: FaultPlan,
  name: Outcome,
  details: FaultDetails,
  url: string,
  real: Answer | null,
): Ending => {
  const now = gateway.world.clock.now()
  const path = url.split('?')[0] ?? ''
  switch (name) {
    case 'tooManyRequests':
    case 'tooManyRequestsWithoutHeader': {
      const taken = { granted: false, left: 0, nextInMs: details.delayMs ?? defaultRetryMs }
      return refusalAnswer(
        gateway,
        operation,
        new Throttled(name === 'tooManyRequests' ? budgetHeaders(gateway, taken) : {}),
        url,
      )
    }
    case 'serverErrorBefore':
    case 'serverErrorAfter':
      return serverError(gateway, plan, details, url)
    case 'timeoutBefore':
    case 'timeoutAfter':
    case 'lateEffect':
      return 'hang'
    case 'dropBefore':
    case 'dropAfter':
      return 'drop'
    case 'html': {
      const status = details.status ?? 503
      return { status, ...renderFaults(status, [], 'html', path, now), headers: {} }
    }
    case 'gatewayBefore':
    case 'gatewayAfter': {
      const status = details.status ?? plan.random.pick(gatewayStatuses)
      return foreignAnswer(gateway, plan, status, details.body ?? plan.random.pick(gatewayBodies), url)
    }
    case 'lockedBefore':
    case 'lockedAfter': {
      const status = details.status ?? 423
      return foreignAnswer(gateway, plan, status, details.body ?? 'coded', url, [
        locked.get(status) ?? 'RESOURCE_IS_LOCKED',
        'The resource is locked',
      ])
    }
    case 'tokenRefused': {
      const status = details.status ?? (operation.admission === 'credentials' ? 400 : 401)
      return foreignAnswer(gateway, plan, status, details.body ?? 'coded', url, [
        status === 403 ? 'FORBIDDEN' : 'UNAUTHORIZED',
        'Unauthorized token or incorrect authorization header. Please verify correct format',
      ])
    }
    case 'emptyBody':
      return { status: details.status ?? 200, contentType: 'application/json', text: '', headers: real?.headers ?? {} }
    case 'truncatedJson': {
      const given = real?.text ?? '{"order":{"purchaseOrderId":"48'
      const text = typeof given === 'string' ? given : [...given].join('')
      const cut = Math.max(1, Math.floor(text.length * 0.6))
      return {
        status: details.status ?? real?.status ?? 200,
        contentType: real?.contentType ?? 'application/json',
        text: text.slice(0, cut),
        headers: real?.headers ?? {},
      }
    }
    case 'okWithErrors': {
      const { faults } = gatewayRefusal(400, 'INVALID_REQUEST', 'data', 'Invalid Request')
      const shape = plan.errorShape === 'html' || plan.errorShape === 'empty' ? 'flat' : plan.errorShape
      return { status: details.status ?? 200, ...renderFaults(400, faults, shape, path, now), headers: {} }
    }
    case 'cursorExpired':
      return cursorAnswer(gateway, details, url)
    case 'tokenDiesEarly':
      return real ?? serverError(gateway, plan, details, url)
  }
}

/** Answers of components between a client and the marketplace, refusals among them, whether or not the marketplace was reached. */
const gatewayStatuses = [400, 403, 404, 405, 408, 409, 413, 502, 503, 504, 520, 521] as const
const gatewayBodies = ['html', 'xml', 'json', 'framework', 'empty'] as const
/** Of 425 no text publishes a code; 423 is in public facts, section 6.2. */
const locked: ReadonlyMap<number, string> = new Map([
  [423, 'RESOURCE_IS_LOCKED'],
  [425, 'TOO_EARLY'],
])

/** An answer that the operation did not give: with a code, in the operation's own shape, or without any. */
const foreignAnswer = (
  gateway: Gateway,
  plan: FaultPlan,
  status: number,
  body: Body,
  url: string,
  [code, description]: readonly [string, string] = ['SYSTEM_ERROR', 'Internal Server Error - Read'],
): Answer => {
  const shape = body === 'coded' ? plan.errorShape : uncoded[body]
  const { faults } = gatewayRefusal(status, code, 'data', description)
  const rendered = renderFaults(status, faults, shape, url.split('?')[0] ?? '', gateway.world.clock.now())
  return { status, ...rendered, headers: {} }
}

/** What the codes of a dead cursor are, by status; 401 was seen on the live service (public facts, section 2.2). */
const cursorCodes: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_REQUEST'],
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'URI_NOT_FOUND'],
  [410, 'GONE'],
  [422, 'INVALID_REQUEST_PARAM'],
])

const cursorAnswer = (gateway: Gateway, details: FaultDetails, url: string): Answer => {
  const status = details.status ?? 400
  const shape = details.body === undefined || details.body === 'coded' ? 'nested' : uncoded[details.body]
  const fault = {
    code: `${cursorCodes.get(status) ?? 'SYSTEM_ERROR'}.${status === 400 ? 'GMP_ORDER_API' : 'GMP_GATEWAY_API'}`,
    field: 'nextCursor',
    description: 'The cursor has expired',
    severity: 'ERROR',
    category: 'DATA',
  } as const
  const rendered = renderFaults(status, [fault], shape, url.split('?')[0] ?? '', gateway.world.clock.now())
  return { status, ...rendered, headers: {} }
}

const serverError = (gateway: Gateway, plan: FaultPlan, details: FaultDetails, url: string): Answer => {
  const status = details.status ?? plan.random.pick(serverErrors)
  const code = status === 504 ? 'DOWNSTREAM_SYSTEM_TIME_OUT' : 'SYSTEM_ERROR'
  const { faults } = gatewayRefusal(status, code, 'data', 'Internal Server Error - Read')
  const rendered = renderFaults(status, faults, plan.errorShape, url.split('?')[0] ?? '', gateway.world.clock.now())
  return { status, ...rendered, headers: {} }
}

/** There is no answer, and the effect comes later, on virtual time; it survives a restart of the sandbox. */
const late = (
  gateway: Gateway,
  operation: Operation,
  plan: FaultPlan,
  details: FaultDetails,
  url: string,
  call: Call,
): Ending => {
  const { world } = gateway
  if (operation.writes) {
    const { sellerId, purchaseOrderId, body, params, correlationId, requestId } = call
    const dueAt = world.clock.now() + (details.delayMs ?? defaultLateMs)
    const { name } = operation
    world.dueEvents.schedule(dueAt, {
      kind: 'late-write',
      sellerId,
      purchaseOrderId,
      operation: name,
      body,
      params,
      correlationId,
      requestId,
    })
  }
  if (details.answer === 'serverError') return serverError(gateway, plan, details, url)
  return details.answer === 'drop' ? 'drop' : 'hang'
}
