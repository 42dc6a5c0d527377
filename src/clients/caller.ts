import { randomUUID } from 'node:crypto'
import type { AccessToken } from './auth.ts'
import { createTokenSource } from './auth.ts'
import type { BudgetSignal, Grant } from './budget.ts'
import type { MarketplaceClock } from './clock.ts'
import { createMarketplaceClock } from './clock.ts'
import { wireToken } from './contract/token.ts'
import type { Exchange, Fault, MarketplaceFailure, Verdict } from './errors.ts'
import { budgetSignal, classify, headerText, toFailure } from './errors.ts'
import type { HttpOutcome } from './http.ts'
import { createTransport } from './http.ts'
import type { CallOptions, ClientParts, SellerConnection } from './interface.ts'
import type { CutRecord } from './json.ts'
import { cutRecords, decimalText } from './json.ts'
import type { OperationName } from './profiles/profile.ts'

/** One call of an operation. */
export interface Call {
  readonly operation: OperationName
  readonly method: 'GET' | 'POST'
  /** Path and query, sent as they stand. */
  readonly target: string
  readonly body: string | null
  /** Whether it changes something at the marketplace. */
  readonly write: boolean
  /** Where the records of the answer are. */
  readonly recordsAt: readonly string[]
}

/** A usable answer. `envelope` is the document without its records. */
export interface Answer {
  /** False when a read was answered with "none there". */
  readonly found: boolean
  readonly httpStatus: number
  readonly correlationId: string
  readonly envelope: unknown
  readonly records: readonly CutRecord[]
  /** Our own clock, epoch ms. */
  readonly sentMs: number
  readonly answeredMs: number
}

/** Carries calls of one seller over the wire: budget, token, headers, judgement. */
export interface Caller {
  readonly clock: MarketplaceClock
  /** @throws MarketplaceFailure */
  call(call: Call, options: CallOptions): Promise<Answer>
  /** A failure that is found after the answer was accepted: it is complete JSON, but not what was asked for. */
  misfit(call: Call, answer: Pick<Answer, 'correlationId' | 'httpStatus'>): MarketplaceFailure
  close(): Promise<void>
}

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024
/** Lifetime of a token that names none (public facts, section 1.1). */
const DEFAULT_TOKEN_LIFETIME_MS = 900_000
const MAX_TOKEN_LIFETIME_MS = 86_400_000

const NO_ANSWER = {
  ok: false,
  httpStatus: null,
  faults: [],
  retryAt: null,
  contentNotFound: false,
  alreadyDone: false,
  networkCode: null,
  renewToken: false,
} as const

interface Attempt {
  readonly outcome: HttpOutcome
  readonly verdict: Verdict
  readonly records: readonly CutRecord[]
}

/** A caller for one seller. */
export function createCaller(connection: SellerConnection, parts: ClientParts): Caller {
  const { sellerId, headerPrefix } = connection
  const now = parts.now ?? Date.now
  const clock = createMarketplaceClock(now)
  const closing = new AbortController()
  const announced = new Set<OperationName>()
  let newestToken = ''
  const transport = createTransport({
    baseUrl: connection.marketplaceUrl,
    requestTimeoutMs: connection.requestTimeoutMs,
    maxBodyBytes: parts.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    now,
  })

  /** A gateway may echo what it was sent; the echo must not travel into the database or a log. */
  function withoutSecrets(faults: readonly Fault[]): readonly Fault[] {
    const basic = basicCredentials(connection)
    const secrets = [newestToken, connection.clientSecret, basic, basic.slice('Basic '.length)].filter((secret) => secret !== '')
    const hide = (text: string | null): string | null =>
      secrets.reduce<string | null>((seen, secret) => seen?.replaceAll(secret, '[redacted]') ?? null, text)
    return faults.map(({ code, field, description }) => ({
      code: hide(code),
      field: hide(field),
      description: hide(description),
    }))
  }

  function fail(operation: OperationName, correlationId: string, verdict: Verdict & { readonly ok: false }): MarketplaceFailure {
    return toFailure({ ...verdict, faults: withoutSecrets(verdict.faults) }, { operation, sellerId, correlationId })
  }

  async function spend(operation: OperationName, grant: Grant | undefined, correlationId: string): Promise<void> {
    const leave = grant ?? (await parts.budget.take(sellerId, operation))
    if (leave.granted) return
    throw fail(operation, correlationId, { ...NO_ANSWER, kind: 'throttled', sent: 'never', retryAt: leave.availableAt })
  }

  /** An answer is evidence of what happened to a write: a budget that cannot be reached must not lose it. */
  async function learn(operation: OperationName, signal: BudgetSignal): Promise<void> {
    try {
      await parts.budget.learn(sellerId, operation, signal)
    } catch (error) {
      parts.log.warn({ seller_id: sellerId, operation, err: error }, 'the rate budget could not learn from an answer')
    }
  }

  /** Deprecation is announced in headers (public facts, section 7.5): told once for each operation. */
  function announce(operation: OperationName, outcome: HttpOutcome): void {
    const deprecation = headerText(outcome.headers, 'deprecation')
    const sunset = headerText(outcome.headers, 'sunset')
    if (deprecation === null && sunset === null) return
    if (announced.has(operation)) return
    announced.add(operation)
    parts.log.warn({ seller_id: sellerId, operation, deprecation, sunset }, 'the marketplace announces the end of this operation')
  }

  /** One HTTP request and all that is learned from it. */
  async function attempt(
    call: Call,
    correlationId: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const outcome = await transport.exchange({
      method: call.method,
      target: call.target,
      headers: {
        accept: 'application/json',
        [`${headerPrefix}_QOS.CORRELATION_ID`]: correlationId,
        [`${headerPrefix}_SVC.NAME`]: connection.serviceName,
        ...headers,
      },
      body: call.body,
      signal: AbortSignal.any([signal, closing.signal]),
      freshConnection: call.write,
    })
    if (outcome.status !== null)
      clock.observe(headerText(outcome.headers, 'date') ?? undefined, outcome.sentMs, outcome.answeredMs)
    const cut = outcome.bodyText === null || call.recordsAt.length === 0 ? null : cutRecords(outcome.bodyText, call.recordsAt)
    const exchange: Exchange = {
      write: call.write,
      sent: outcome.sent,
      status: outcome.status,
      headers: outcome.headers,
      bodyText: cut?.envelopeText ?? outcome.bodyText,
      networkCode: outcome.networkCode,
      nowMs: outcome.answeredMs,
      marketplaceNowMs: clock.at(outcome.answeredMs).getTime(),
      budgetHeaders: connection.profile.budgetHeaders,
    }
    const verdict = classify(exchange)
    if (outcome.status !== null) {
      const throttled = !verdict.ok && verdict.kind === 'throttled'
      const told = budgetSignal({ ...exchange, status: outcome.status })
      await learn(call.operation, throttled ? { ...told, status: 429 } : told)
      announce(call.operation, outcome)
    }
    parts.hooks?.onRequest?.({
      sellerId,
      operation: call.operation,
      outcome: verdict.ok ? 'ok' : verdict.contentNotFound ? 'none' : verdict.kind,
      status: outcome.status,
      durationMs: outcome.endedMs - outcome.sentMs,
    })
    return { outcome, verdict, records: cut?.records ?? [] }
  }

  const tokens = createTokenSource({
    now,
    aborted: () => fail('token', randomUUID(), { ...NO_ANSWER, kind: 'unavailable', sent: 'never', networkCode: 'ABORTED' }),
    async fetchToken() {
      const operation = 'token'
      const correlationId = randomUUID()
      await spend(operation, undefined, correlationId)
      const call: Call = {
        operation,
        method: 'POST',
        target: connection.tokenPath,
        body: 'grant_type=client_credentials',
        // A second token harms nobody: this POST may be repeated like a read.
        write: false,
        recordsAt: [],
      }
      const headers = { authorization: basicCredentials(connection), 'content-type': 'application/x-www-form-urlencoded' }
      const { verdict, outcome } = await attempt(call, correlationId, headers, closing.signal)
      if (!verdict.ok) {
        const { httpStatus, kind } = verdict
        const dead = kind !== 'throttled' && (httpStatus === 400 || httpStatus === 401 || httpStatus === 403)
        // Nothing but dead credentials is final here, and whatever became of the token request, the call that needed it never left.
        const judged = {
          ...verdict,
          faults: withoutSecrets(verdict.faults),
          contentNotFound: false,
          sent: 'never',
          kind: dead ? 'refused' : kind === 'throttled' ? kind : 'unavailable',
        } as const
        throw toFailure(judged, { operation, sellerId, correlationId, credentialsDead: dead })
      }
      const parsed = wireToken.safeParse(verdict.body)
      if (!parsed.success)
        throw fail(operation, correlationId, { ...NO_ANSWER, kind: 'unavailable', sent: 'never', httpStatus: outcome.status })
      const seconds = Number(decimalText(parsed.data.expires_in) ?? Number.NaN)
      const lifetimeMs = seconds > 0 ? Math.min(seconds * 1000, MAX_TOKEN_LIFETIME_MS) : DEFAULT_TOKEN_LIFETIME_MS
      newestToken = parsed.data.access_token
      return { value: newestToken, lifetimeMs }
    },
  })

  async function authorised(call: Call, token: AccessToken, correlationId: string, signal: AbortSignal): Promise<Attempt> {
    const headers = {
      [`${headerPrefix}_SEC.ACCESS_TOKEN`]: token.value,
      ...(call.body === null ? {} : { 'content-type': 'application/json' }),
    }
    return await attempt(call, correlationId, headers, signal)
  }

  /** Whether the request was surely not looked at, so that even a write may go out once more. */
  function mayRepeat(call: Call, { outcome, verdict }: Attempt, token: AccessToken): boolean {
    if (!verdict.ok && verdict.renewToken) {
      tokens.reject(token)
      return true
    }
    return outcome.staleConnection && !call.write
  }

  return {
    clock,
    async call(call, options) {
      let correlationId = options.correlationId ?? randomUUID()
      await spend(call.operation, options.grant, correlationId)
      let token = await tokens.token(options.signal)
      let result = await authorised(call, token, correlationId, options.signal)
      if (mayRepeat(call, result, token)) {
        // Unique for each request, so the second one has an id of its own.
        correlationId = randomUUID()
        token = await tokens.token(options.signal)
        await spend(call.operation, undefined, correlationId)
        result = await authorised(call, token, correlationId, options.signal)
        // A new token that is not accepted either is not used a third time by the next caller.
        if (!result.verdict.ok && result.verdict.renewToken) tokens.reject(token)
      }
      const { outcome, verdict, records } = result
      const nothingThere = !verdict.ok && verdict.contentNotFound && !call.write
      if (!verdict.ok && !nothingThere) {
        const failure = fail(call.operation, correlationId, verdict)
        parts.log.debug(
          { seller_id: sellerId, operation: call.operation, correlation_id: correlationId, kind: failure.kind },
          failure.message,
        )
        throw failure
      }
      return {
        found: !nothingThere,
        httpStatus: outcome.status ?? 0,
        correlationId,
        envelope: verdict.ok ? verdict.body : null,
        records,
        sentMs: outcome.sentMs,
        answeredMs: outcome.answeredMs,
      }
    },
    misfit(call, answer) {
      const kind = call.write ? 'unknown' : 'malformed'
      return fail(call.operation, answer.correlationId, { ...NO_ANSWER, kind, sent: 'answered', httpStatus: answer.httpStatus })
    },
    async close() {
      closing.abort()
      transport.close()
    },
  }
}

function basicCredentials({ clientId, clientSecret }: SellerConnection): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
}
