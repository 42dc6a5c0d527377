import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentNotFound, gatewayRefusal, Refusal, renderFaults, unauthorized } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { FaultControl, FaultPlan } from '../faults/faults.ts'
import type { OperationName, RateLimits, Taken } from '../faults/limits.ts'
import type { FaultDetails, Outcome } from '../faults/schema.ts'
import type { Life } from '../life/live.ts'
import { type Call, perform } from '../operations/perform.ts'
import { readQuery } from '../operations/query.ts'
import { issueToken, sellerOfCredentials } from '../operations/token.ts'
import { isWriteOperation } from '../operations/writes.ts'
import type { World } from '../world.ts'
import { admit, headerOf, readJson } from './admission.ts'
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
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

const SERVER_ERRORS = [500, 502, 503, 504] as const
const DEFAULT_SLOW_MS = 1_000
const DEFAULT_LATE_MS = 30_000
const DEFAULT_RETRY_MS = 2_000
const DEFAULT_TOKEN_LIFE_MS = 1_000

/** Serves one request of an operation: headers, token, budget, faults, effect, answer. */
export async function serve(
  gateway: Gateway,
  operation: OperationName,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const started = performance.now()
  await gateway.life.catchUp()
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
  reply.code(answer.status).headers(answer.headers).header('content-type', answer.contentType).send(answer.text)
}

function beginLog({ world, requests }: Gateway, operation: OperationName, request: FastifyRequest): LoggedRequest {
  const logged: LoggedRequest = {
    id: randomUUID(),
    at: new Date(world.clock.now()).toISOString(),
    method: request.method,
    url: request.url,
    operation,
    sellerId: null,
    correlationId: headerOf(request.headers, `${world.settings.dialect.headerPrefix}_QOS.CORRELATION_ID`),
    purchaseOrderId: purchaseOrderOf(request),
    status: null,
    fault: null,
    durationMs: null,
  }
  requests.add(logged)
  return logged
}

function purchaseOrderOf(request: FastifyRequest): string | null {
  const { params } = request
  return typeof params === 'object' && params !== null && 'po' in params && typeof params.po === 'string' ? params.po : null
}

type Ending = Answer | 'hang' | 'drop'

async function answerOrSilence(
  gateway: Gateway,
  operation: OperationName,
  request: FastifyRequest,
  logged: LoggedRequest,
): Promise<Ending> {
  try {
    return operation === 'token' ? await token(gateway, request, logged) : await business(gateway, operation, request, logged)
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(gateway, error, request.url)
    throw error
  }
}

async function token(gateway: Gateway, request: FastifyRequest, logged: LoggedRequest): Promise<Ending> {
  const { world } = gateway
  const authorization = request.headers.authorization
  const sellerId = sellerOfCredentials(world, authorization)
  logged.sellerId = sellerId
  const budget = spend(gateway, sellerId ?? '', 'token')
  const plan = gateway.faults.plan({ operation: 'token', method: 'POST', sellerId, purchaseOrderId: null, onCursor: false })
  const life = plan.outcome?.name === 'tokenDiesEarly' ? (plan.outcome.details.delayMs ?? DEFAULT_TOKEN_LIFE_MS) : null
  const form = typeof request.body === 'string' ? request.body : ''
  const act = (): Answer =>
    attempt(gateway, request.url, budget, () => issueToken(world, authorization, form, world.clock.now(), life))
  return strike(gateway, plan, request.url, logged, act, null)
}

async function business(
  gateway: Gateway,
  operation: Exclude<OperationName, 'token'>,
  request: FastifyRequest,
  logged: LoggedRequest,
): Promise<Ending> {
  const { world } = gateway
  const { sellerId, token: accessToken, correlationId } = admit(world, request.headers, world.clock.now())
  logged.sellerId = sellerId
  const budget = spend(gateway, sellerId, operation)
  const text = typeof request.body === 'string' ? request.body : ''
  const needsBody = isWriteOperation(operation) && operation !== 'orders.acknowledge'
  const call: Call = {
    operation,
    sellerId,
    purchaseOrderId: logged.purchaseOrderId ?? '',
    query: readQuery(request.url),
    body: needsBody ? readJson(request.headers, text) : null,
    correlationId,
    requestId: logged.id,
  }
  const method = request.method === 'POST' ? 'POST' : 'GET'
  const onCursor = method === 'GET' && (call.query.get('hasMoreElements') ?? call.query.get('offset')) !== null
  const plan = gateway.faults.plan({ operation, method, sellerId, purchaseOrderId: logged.purchaseOrderId, onCursor })
  if (plan.outcome?.name === 'tokenDiesEarly') {
    logged.fault = 'tokenDiesEarly'
    world.sellers.dropToken(accessToken)
    throw unauthorized('Unauthorized token or incorrect authorization header. Please verify correct format')
  }
  const { listLagMs, emptyAnswer } = gateway.faults.current()
  const emptyList = emptyAnswer === 'emptyList' || plan.blemishes.has('emptyListInsteadOf404')
  const act = (): Answer =>
    attempt(gateway, request.url, budget, () => perform(world, call, plan, { listLagMs, emptyList }, world.clock.now()))
  return strike(gateway, plan, request.url, logged, act, call)
}

/** Takes a token of the budget, or throws 429. Gives the headers that tell what is left. */
function spend(gateway: Gateway, sellerId: string, operation: OperationName): Record<string, string> {
  const taken = gateway.limits.take(sellerId, operation)
  const headers = budgetHeaders(gateway, taken)
  if (!taken.granted) throw new Throttled(headers)
  return headers
}

/** 429 with what the budget says; the gateway never reached the operation. */
class Throttled extends Refusal {
  readonly headers: Readonly<Record<string, string>>

  constructor(headers: Readonly<Record<string, string>>) {
    super(429, gatewayRefusal(429, 'REQUEST_THRESHOLD_VIOLATED', 'data', 'Rate limit of this operation is exceeded').faults)
    this.headers = headers
  }
}

/** The moment of the next token is told on the marketplace's clock, the one of its `Date` header. */
function budgetHeaders({ limits, world }: Gateway, { left, nextInMs }: Taken): Record<string, string> {
  if (left === null) return {}
  const name = limits.current().replenishHeader
  const count = { 'X-Current-Token-Count': String(left) }
  return name === 'none' ? count : { ...count, [name]: String(Math.round(world.clock.now() + nextInMs)) }
}

/** Runs the operation; a refusal is an answer like any other. */
function attempt(gateway: Gateway, url: string, headers: Readonly<Record<string, string>>, work: () => unknown): Answer {
  try {
    return { status: 200, contentType: 'application/json', text: JSON.stringify(work()), headers }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const answer = refusalAnswer(gateway, error, url)
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }
}

function refusalAnswer({ world }: Gateway, refusal: Refusal, url: string): Answer {
  const rendered = renderFaults(refusal.status, refusal.faults, refusal.shape, url.split('?')[0] ?? '', world.clock.now())
  return { status: refusal.status, ...rendered, headers: refusal instanceof Throttled ? refusal.headers : {} }
}

/** Lets the planned fault strike; `act` is the operation itself, called at most once. */
async function strike(
  gateway: Gateway,
  plan: FaultPlan,
  url: string,
  logged: LoggedRequest,
  act: () => Answer,
  call: Call | null,
): Promise<Ending> {
  const names = [...plan.blemishes.keys(), ...(plan.outcome === null ? [] : [plan.outcome.name])]
  logged.fault = names.length === 0 ? null : names.join('+')
  const slow = plan.blemishes.get('slow')
  if (slow !== undefined) {
    await delay(slow.delayMs ?? DEFAULT_SLOW_MS, undefined, { ref: false })
    await gateway.life.catchUp()
  }
  if (plan.outcome === null) return act()
  const { name, details } = plan.outcome
  const effect = details.effect ?? HAPPENS[name]
  if (name === 'lateEffect') return late(gateway, plan, details, url, call)
  const real = effect ? act() : null
  return faultAnswer(gateway, plan, name, details, url, real)
}

/** Whether the operation is carried out under each fault, unless the fault itself says otherwise. */
const HAPPENS: Readonly<Record<Outcome, boolean>> = {
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
}

function faultAnswer(
  gateway: Gateway,
  plan: FaultPlan,
  name: Outcome,
  details: FaultDetails,
  url: string,
  real: Answer | null,
): Ending {
  const now = gateway.world.clock.now()
  const path = url.split('?')[0] ?? ''
  switch (name) {
    case 'tooManyRequests':
    case 'tooManyRequestsWithoutHeader': {
      const taken = { granted: false, left: 0, nextInMs: details.delayMs ?? DEFAULT_RETRY_MS }
      return refusalAnswer(gateway, new Throttled(name === 'tooManyRequests' ? budgetHeaders(gateway, taken) : {}), url)
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
    case 'html':
      return { status: details.status ?? 503, ...renderFaults(503, [], 'html', path, now), headers: {} }
    case 'emptyBody':
      return { status: details.status ?? 200, contentType: 'application/json', text: '', headers: {} }
    case 'truncatedJson': {
      const text = real?.text ?? '{"order":{"purchaseOrderId":"48'
      const cut = Math.max(1, Math.floor(text.length * 0.6))
      return {
        status: details.status ?? real?.status ?? 200,
        contentType: 'application/json',
        text: text.slice(0, cut),
        headers: {},
      }
    }
    case 'okWithErrors': {
      const { faults } = gatewayRefusal(400, 'INVALID_REQUEST', 'data', 'Invalid Request')
      const shape = plan.errorShape === 'html' || plan.errorShape === 'empty' ? 'flat' : plan.errorShape
      return { status: details.status ?? 200, ...renderFaults(400, faults, shape, path, now), headers: {} }
    }
    case 'cursorExpired':
      return refusalAnswer(gateway, new Refusal(400, contentNotFound('The cursor has expired').faults.map(asExpired)), url)
    case 'tokenDiesEarly':
      return real ?? serverError(gateway, plan, details, url)
  }
}

function asExpired(fault: Refusal['faults'][number]): Refusal['faults'][number] {
  return { ...fault, code: 'INVALID_REQUEST.GMP_ORDER_API', field: 'nextCursor', severity: 'ERROR' }
}

function serverError(gateway: Gateway, plan: FaultPlan, details: FaultDetails, url: string): Answer {
  const status = details.status ?? plan.random.pick(SERVER_ERRORS)
  const code = status === 504 ? 'DOWNSTREAM_SYSTEM_TIME_OUT' : 'SYSTEM_ERROR'
  const { faults } = gatewayRefusal(status, code, 'data', 'Internal Server Error - Read')
  const rendered = renderFaults(status, faults, plan.errorShape, url.split('?')[0] ?? '', gateway.world.clock.now())
  return { status, ...rendered, headers: {} }
}

/** Nobody is told, and the effect comes later, on virtual time; it survives a restart of the sandbox. */
function late(gateway: Gateway, plan: FaultPlan, details: FaultDetails, url: string, call: Call | null): Ending {
  const { world } = gateway
  if (call !== null && isWriteOperation(call.operation)) {
    const { sellerId, purchaseOrderId, operation, body, correlationId, requestId } = call
    const dueAt = world.clock.now() + (details.delayMs ?? DEFAULT_LATE_MS)
    world.dueEvents.schedule(dueAt, { kind: 'late-write', sellerId, purchaseOrderId, operation, body, correlationId, requestId })
  }
  if (details.answer === 'serverError') return serverError(gateway, plan, details, url)
  return details.answer === 'drop' ? 'drop' : 'hang'
}
