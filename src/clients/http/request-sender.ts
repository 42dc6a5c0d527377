import type { BudgetSignal, Grant, RateBudget } from '../rate-limit/budget.ts'
import { giveBack } from '../rate-limit/budget.ts'
import { findUnknownStatus, listAnnouncements } from './answer-drift.ts'
import { type Body, BodyError, cancellableBody, peekBody, readBounded } from './body.ts'
import { type Attempt, type Call, type Credentials, noAnswer } from './call.ts'
import type { CallOptions } from './call-options.ts'
import {
  type BudgetHeaders,
  classify,
  type Exchange,
  type FaultRules,
  headerText,
  readBudgetSignal,
  toFailure,
  type Verdict,
} from './classify.ts'
import type { ClientParts } from './client-parts.ts'
import { createMarketplaceClock, type MarketplaceClock } from './clock.ts'
import { type MarketplaceFailure, tooManyRecords } from './errors.ts'
import { createTransport, type HttpOutcome, type HttpRequest, type Transport } from './http.ts'
import { asRecord, cutRecords, onlyElement, type RecordCut, TooManyRecords } from './json.ts'
import type { Operation } from './operation.ts'
import { redactSecrets } from './redact-secrets.ts'

/** The host and the seller of requests. */
export interface RequestSenderOptions {
  readonly sellerId: string
  /** Timeout of one HTTP request, from its start to the last byte of the answer. */
  readonly requestTimeoutMs: number
  readonly parts: ClientParts
  /** Base address; may have a path. */
  readonly baseUrl: string
  /** Headers of one request, those of its credentials included. */
  readonly headers: (call: Call, credentials: Credentials['headers'], correlationId: string) => Readonly<Record<string, string>>
  readonly rules: FaultRules
  readonly budgetHeaders: BudgetHeaders
  /** Wait in ms after a 429 that names no time; default: the rule of the rate limit. */
  readonly throttleWaitMs?: number
}

const defaultMaxBodyBytes = 32 * 1024 * 1024
const defaultMaxRecords = 10_000

type UnsuccessfulVerdict = Verdict & { readonly ok: false }

/** An answer whose records are cut out. `text` is the whole document, null if it is unreadable. */
interface CutAnswer {
  readonly outcome: HttpOutcome
  readonly text: string | null
  readonly cut: RecordCut | null
}

/** A request whose answer is a file. */
interface FileRequest {
  readonly call: Call
  readonly correlationId: string
  readonly exchange: Exchange
}

/** Sends single requests of one seller to one host. The rate limit, the host's clock and the metrics learn from each answer. */
export class RequestSender {
  /** The clock of the host. */
  readonly clock: MarketplaceClock
  readonly #options: RequestSenderOptions
  readonly #budget: RateBudget
  readonly #transport: Transport
  readonly #maxBodyBytes: number
  readonly #now: () => number
  /** Operations whose deprecation was logged. */
  readonly #announced = new Set<Operation>()
  readonly #closing = new AbortController()

  constructor(options: RequestSenderOptions) {
    const { baseUrl, requestTimeoutMs, parts } = options
    const { now = Date.now, maxBodyBytes = defaultMaxBodyBytes } = parts
    this.#options = options
    this.#budget = parts.budget
    this.#maxBodyBytes = maxBodyBytes
    this.#now = now
    this.clock = createMarketplaceClock(now)
    this.#transport = createTransport({ baseUrl, requestTimeoutMs, maxBodyBytes, now })
  }

  /** Aborted when the sender is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** The failure of a call. */
  fail(operation: Operation, correlationId: string, verdict: UnsuccessfulVerdict): MarketplaceFailure {
    const { sellerId } = this.#options
    return toFailure(verdict, {
      operation: operation.name,
      sellerId,
      correlationId,
      ofCredentials: operation.isOfCredentials === true,
    })
  }

  /**
   * A permit of the rate limit.
   *
   * @throws MarketplaceFailure (`Throttled`) if there is none now
   */
  async takeGrant({ operation, budgetScope }: Call, lane: CallOptions['lane'], correlationId: string): Promise<Grant> {
    const grant = await this.#budget.take(this.#options.sellerId, operation, budgetScope, lane)
    if (grant.granted) return grant
    throw this.fail(operation, correlationId, { ...noAnswer, kind: 'throttled', sent: 'never', retryAt: grant.availableAt })
  }

  /** Sends one request and classifies its answer. */
  async send(
    call: Call,
    credentials: Pick<Credentials, 'headers' | 'secrets'>,
    correlationId: string,
    options: Pick<CallOptions, 'signal' | 'maySend'> & { readonly grant: Grant },
  ): Promise<Attempt> {
    const { grant } = options
    const request = this.#buildRequest(call, credentials.headers, correlationId, options)
    const received = call.isFile
      ? await this.#exchangeFile(request, this.#transport)
      : { outcome: await this.#transport.exchange(request), file: null }
    const { outcome, text, cut } = this.#cutAnswer(call, received.outcome)
    if (outcome.sent === 'never') await giveBack(grant)
    if (outcome.status !== null)
      this.clock.observe(headerText(outcome.headers, 'date') ?? undefined, outcome.sentMs, outcome.answeredMs)
    const exchange = this.#buildExchange(call, outcome, cut?.envelopeText ?? text)
    const verdict: Verdict =
      received.file === null
        ? redactSecrets(classify(exchange), [...credentials.secrets, ...(call.secrets ?? [])])
        : { ok: true, body: null, faults: [] }
    if (outcome.status !== null) {
      const isThrottled = !verdict.ok && verdict.kind === 'throttled'
      await this.#learn(call, readBudgetSignal({ ...exchange, status: isThrottled ? 429 : outcome.status }), grant)
      this.#reportDrift(call.operation, outcome)
    }
    if (received.file !== null) {
      const file = this.#observeFile(received.file, { call, correlationId, exchange }, outcome)
      return { outcome, verdict, records: [], file }
    }
    this.#report(call, correlationId, outcome, verdict, outcome.endedMs)
    const whole = text === null || call.answerIsRecord === undefined ? [] : [asRecord(text)]
    return { outcome, verdict, records: cut?.records ?? whole, file: null }
  }

  /**
   * Requests a file from an address that an answer of the operation has named. The address may be on another host: nothing that identifies the seller is sent, and
   * neither the rate limit nor the clock learns from its answer.
   */
  async fetchFile(operation: Operation, address: URL, correlationId: string, signal: AbortSignal): Promise<Attempt> {
    const { requestTimeoutMs } = this.#options
    const { origin: baseUrl, pathname, search } = address
    const transport = createTransport({ baseUrl, requestTimeoutMs, maxBodyBytes: this.#maxBodyBytes, now: this.#now })
    const call: Call = { operation, method: 'GET', target: `${pathname}${search}`, body: null, recordsAt: [], isFile: true }
    const request = {
      ...{ method: call.method, target: call.target, headers: { accept: '*/*' }, body: null },
      signal: AbortSignal.any([signal, this.#closing.signal]),
      freshConnection: true,
    }
    const { outcome, file } = await this.#exchangeFile(request, transport)
    const exchange = this.#buildExchange(call, outcome, outcome.bodyText)
    if (file !== null) {
      const observed = this.#observeFile(file, { call, correlationId, exchange }, outcome)
      return { outcome, verdict: { ok: true, body: null, faults: [] }, records: [], file: observed }
    }
    // The address is a secret: it grants the right to read the file.
    const verdict = redactSecrets(classify(exchange), [address.href, search])
    this.#report(call, correlationId, outcome, verdict, outcome.endedMs)
    return { outcome, verdict, records: [], file: null }
  }

  /** Aborts the requests in progress and closes idle connections. */
  close(): void {
    this.#closing.abort()
    this.#transport.close()
  }

  #buildRequest(
    call: Call,
    credentialHeaders: Credentials['headers'],
    correlationId: string,
    { signal, maySend }: Pick<CallOptions, 'signal' | 'maySend'>,
  ): HttpRequest {
    return {
      method: call.method,
      target: call.target,
      headers: this.#options.headers(call, credentialHeaders, correlationId),
      body: call.body,
      signal: AbortSignal.any([signal, this.#closing.signal]),
      // Files are rare and have a low rate limit: a request on a kept connection that has died would waste it.
      freshConnection: call.operation.write === true || call.isFile === true,
      ...(maySend === undefined ? {} : { maySend }),
    }
  }

  #buildExchange(call: Call, outcome: HttpOutcome, bodyText: string | null): Exchange {
    const { budgetHeaders, rules, throttleWaitMs } = this.#options
    return {
      ...call.operation,
      sent: outcome.sent,
      status: outcome.status,
      headers: outcome.headers,
      bodyText,
      networkCode: outcome.networkCode,
      nowMs: outcome.answeredMs,
      marketplaceNowMs: this.clock.at(outcome.answeredMs).getTime(),
      budgetHeaders,
      rules,
      ...(call.answerIsRecord === undefined ? {} : { statusIsData: call.answerIsRecord }),
      ...(throttleWaitMs === undefined ? {} : { throttleWaitMs }),
    }
  }

  /** One HTTP request whose answer may be a file. A file is returned unread, any other answer is read here. */
  async #exchangeFile(
    request: HttpRequest,
    transport: Transport,
  ): Promise<{ readonly outcome: HttpOutcome; readonly file: Body | null }> {
    const { body, ...opened } = await transport.open(request)
    const end = (bodyText: string | null, networkCode: string | null): HttpOutcome => ({
      ...opened,
      bodyText,
      networkCode,
      endedMs: this.#now(),
    })
    if (body === null) return { outcome: end(null, opened.networkCode), file: null }
    try {
      const { isFile, whole } = await peekBody(body, this.#maxBodyBytes)
      // Only a 200 is a complete file: a 206, for example, is a part.
      if (opened.status === 200 && isFile) return { outcome: end(null, null), file: whole }
      return { outcome: end(new TextDecoder().decode(await readBounded(whole, this.#maxBodyBytes)), null), file: null }
    } catch (error) {
      if (!(error instanceof BodyError)) throw error
      return { outcome: end(null, error.code), file: null }
    }
  }

  /** Cuts the records out of an answer. An answer with too many records is treated as one that is too large. */
  #cutAnswer(call: Call, outcome: HttpOutcome): CutAnswer {
    const { maxRecords = defaultMaxRecords } = this.#options.parts
    const text = outcome.bodyText !== null && call.mayBeWrapped === true ? onlyElement(outcome.bodyText) : outcome.bodyText
    if (text === null || call.recordsAt.length === 0) return { outcome, text, cut: null }
    try {
      return { outcome, text, cut: cutRecords(text, call.recordsAt, maxRecords) }
    } catch (error) {
      if (!(error instanceof TooManyRecords)) throw error
      return { outcome: { ...outcome, bodyText: null, networkCode: tooManyRecords }, text: null, cut: null }
    }
  }

  /** An answer proves what happened to a write: an error of the rate limit must not lose it. */
  async #learn({ operation, budgetScope }: Call, signal: BudgetSignal, grant: Grant): Promise<void> {
    const { sellerId, parts } = this.#options
    try {
      await this.#budget.learn(sellerId, operation, signal, budgetScope, grant)
    } catch (error) {
      parts.log.warn(
        { seller_id: sellerId, operation: operation.name, err: error },
        'the rate limit could not be updated from an answer',
      )
    }
  }

  /** Reports an unknown status, and headers that announce the end of the operation (public facts, sections 7.5 and 15), which are logged once. */
  #reportDrift(operation: Operation, { status, headers }: HttpOutcome): void {
    const { sellerId, parts } = this.#options
    const announcements = listAnnouncements(headers)
    for (const drift of [...announcements, findUnknownStatus(status)])
      if (drift !== null) parts.hooks?.onDrift?.({ ...drift, sellerId, operation: operation.name })
    if (announcements.length === 0 || this.#announced.has(operation)) return
    this.#announced.add(operation)
    const [deprecation, sunset] = [headerText(headers, 'deprecation'), headerText(headers, 'sunset')]
    parts.log.warn(
      { seller_id: sellerId, operation: operation.name, deprecation, sunset },
      'the marketplace announces that it will remove this operation',
    )
  }

  /** A file that is reported when it has ended, and classified if it does not arrive completely. */
  #observeFile(file: Body, { call, correlationId, exchange }: FileRequest, outcome: HttpOutcome): Body {
    const complete = { ok: true, body: null, faults: [] } as const
    const report = (ended: Verdict): void => this.#report(call, correlationId, outcome, ended, this.#now())
    const fail = (verdict: UnsuccessfulVerdict): MarketplaceFailure => this.fail(call.operation, correlationId, verdict)
    const chunks = async function* (): Body {
      let ended: Verdict = complete
      try {
        yield* file
      } catch (error) {
        if (!(error instanceof BodyError)) throw error
        ended = classify({ ...exchange, networkCode: error.code })
        throw ended.ok ? error : fail(ended)
      } finally {
        report(ended)
      }
    }
    return cancellableBody(chunks(), async () => {
      await file.return()
      report(complete)
    })
  }

  #report(call: Call, correlationId: string, outcome: HttpOutcome, ended: Verdict, endedMs: number): void {
    const { sellerId, parts } = this.#options
    parts.hooks?.onRequest?.({
      sellerId,
      correlationId,
      operation: call.operation.name,
      outcome: ended.ok ? 'ok' : ended.contentNotFound ? 'none' : ended.kind,
      status: outcome.status,
      durationMs: endedMs - outcome.sentMs,
    })
  }
}
