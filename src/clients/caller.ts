import { randomUUID } from 'node:crypto'
import { type Body, ownedBody } from './body.ts'
import type { BudgetSignal } from './bucket.ts'
import { type Grant, giveBack } from './budget.ts'
import type { CallOptions } from './call-options.ts'
import type { ClientParts } from './client-parts.ts'
import type { MarketplaceClock } from './clock.ts'
import { createMarketplaceClock } from './clock.ts'
import { bodyTooLarge, type Fault, type MarketplaceFailure, tooManyRecords } from './errors.ts'
import type { HttpOutcome, HttpRequest } from './http.ts'
import { BodyFault, createTransport, readBounded } from './http.ts'
import type { CutRecord, RecordCut } from './json.ts'
import { asRecord, cutRecords, soleElement, TooManyRecords } from './json.ts'
import type { BudgetHeaders, Exchange, FaultRules, ResponseHeaders, Verdict } from './judge.ts'
import { budgetSignal, classify, headerText, toFailure } from './judge.ts'
import type { Operation } from './operation.ts'

/** One call of an operation. */
export interface Call {
  readonly operation: Operation
  readonly method: 'GET' | 'POST'
  /** Path and query, sent as they stand. */
  readonly target: string
  readonly body: string | null
  /** Where the records of the answer are. */
  readonly recordsAt: readonly string[]
  /** The answer is the record itself and not an envelope: its text is the only record, and a `status` in it is the record's own. */
  readonly answerIsRecord?: true
  /** The answer may be the only element of an array, which is then removed. */
  readonly mayBeWrapped?: true
  /** Headers of this operation alone, beside those that every request carries; they overrule those. */
  readonly headers?: Readonly<Record<string, string>>
  /** Another spelling of the marketplace's header names, where it has one; see its `headers`. */
  readonly headerSpelling?: 'underscored' | 'plain'
  /** The share of the operation's budget that it draws on, where shares have limits of their own. */
  readonly budgetScope?: string
  /** The answer is a file of any size and no JSON; for {@link Caller.download}. */
  readonly isFile?: true
}

/** A file as the answer. */
export interface FileAnswer {
  readonly headers: ResponseHeaders
  readonly correlationId: string
  /** The file, unpacked, in pieces. It must be read or given up: it throws a `MarketplaceFailure` when it does not come whole. */
  readonly body: Body
  /** Our own clock, epoch ms. */
  readonly sentMs: number
  readonly answeredMs: number
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

/** Carries calls of one seller to one host: budget, authorisation, headers, judgement. */
export interface Caller<A extends Authorisation = Authorisation> {
  /** How its requests are authorised. */
  readonly authorisation: A
  /** The clock of that host. */
  readonly clock: MarketplaceClock
  /** @throws MarketplaceFailure */
  call(call: Call, options: CallOptions): Promise<Answer>
  /**
   * A call whose answer is a file, read in constant memory; null when there is none. JSON or HTML in its place is judged as any answer.
   *
   * @throws MarketplaceFailure
   */
  download(call: Call & { readonly isFile: true }, options: CallOptions): Promise<FileAnswer | null>
  /** A failure that is found after the answer was accepted: it is complete JSON, but not what was asked for. */
  misfit(call: Call, answer: Pick<Answer, 'correlationId' | 'httpStatus'>): MarketplaceFailure
  /**
   * Takes no new calls: they fail as never sent and may be made again at once, by another caller. What is under way goes on; resolves when it
   * has ended, at the latest when its requests have run out of time, and all is closed then.
   */
  retire(): Promise<void>
  /** Breaks off what is under way, and closes. */
  close(): Promise<void>
}

/** What one request proves its origin with. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  /** Texts that an answer may echo, and that must go no further. */
  readonly secrets: readonly string[]
  /** The answer was a 401. True when the same call may be accepted with the next credentials: a read then goes out once more. */
  reject(faults: readonly Fault[]): boolean
}

/** How requests to one host are authorised. */
export interface Authorisation {
  /**
   * Credentials of one request, asked for directly before it is sent.
   *
   * @throws MarketplaceFailure when there are none
   */
  credentials(signal: AbortSignal): Promise<Credentials>
}

/** What an authorisation may use of its caller. */
export interface BareCaller {
  readonly clock: MarketplaceClock
  /** One request without authorisation, out of its operation's budget. It ends with the caller, not with whoever needed it first. */
  send(call: Call, credentials: Pick<Credentials, 'headers' | 'secrets'>, correlationId: string): Promise<Attempt>
}

/** Where a caller sends to, and as whom. */
export interface CallerOptions<A extends Authorisation> {
  readonly sellerId: string
  /** Longest life of one HTTP request, from its start to the last byte of the answer. */
  readonly requestTimeoutMs: number
  readonly parts: ClientParts
  /** Base address; may have a path. */
  readonly baseUrl: string
  readonly authorise: (bare: BareCaller) => A
  /** Headers of one request, those of its credentials among them. */
  readonly headers: (call: Call, credentials: Credentials['headers'], correlationId: string) => Readonly<Record<string, string>>
  readonly rules: FaultRules
  readonly budgetHeaders: BudgetHeaders
  /** Wait in ms after a 429 that names no time; the budget's own rule when absent. */
  readonly throttleWaitMs?: number
}

const defaultMaxBodyBytes = 32 * 1024 * 1024
const defaultMaxRecords = 10_000
/** Beyond the time of its requests, a call has so long to judge what they brought. */
const retirementMarginMs = 5_000
/** In the place of a network fault: the caller takes no new calls. */
const callerRetired = 'CALLER_RETIRED'

/** A verdict's fields where no answer was judged. */
export const noAnswer = {
  ok: false,
  httpStatus: null,
  faults: [],
  retryAt: null,
  contentNotFound: false,
  alreadyDone: false,
  networkCode: null,
  renewToken: false,
  staleToken: false,
  ownWord: false,
} as const

/** One HTTP request with its judgement. */
export interface Attempt {
  readonly outcome: HttpOutcome
  readonly verdict: Verdict
  readonly records: readonly CutRecord[]
  /** The answer, where it is a file. */
  readonly file: Body | null
}

/** The first byte of a body that is no white space and no byte order mark; null where there is none. */
const firstByte = (chunk: Uint8Array): number | null =>
  chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf) ?? null

/**
 * Begins to read a body: whether it looks like a file rather than JSON or HTML, and all of it again.
 *
 * @throws BodyFault also when nothing but white space comes within so many bytes; the body is given up then
 */
const peek = async (body: Body, maxBytes: number): Promise<{ readonly looksLikeFile: boolean; readonly whole: Body }> => {
  const read: Uint8Array[] = []
  let length = 0
  let first: number | null = null
  while (first === null) {
    const next = await body.next()
    if (next.done === true) break
    read.push(next.value)
    length += next.value.length
    first = firstByte(next.value)
    if (first !== null || length <= maxBytes) continue
    await body.return()
    throw new BodyFault(bodyTooLarge)
  }
  const whole = async function* (): Body {
    try {
      yield* read.splice(0)
      yield* body
    } finally {
      await body.return()
    }
  }
  return {
    looksLikeFile: first !== null && !'{[<'.includes(String.fromCharCode(first)),
    whole: ownedBody(whole(), () => body.return()),
  }
}

/** Shortest beginning of a secret that is looked for at the end of a text. */
const tellingLength = 6

const withoutSecret = (text: string, secret: string): string => {
  if (secret === '') return text
  const whole = text.replaceAll(secret, '[redacted]')
  // Texts of faults are cut to a length, perhaps in the middle of a secret.
  for (let length = Math.min(secret.length - 1, whole.length); length >= tellingLength; length -= 1) {
    if (whole.endsWith(secret.slice(0, length))) return `${whole.slice(0, -length)}[redacted]`
  }
  return whole
}

/** A gateway may echo what it was sent; the echo must not travel into the database or a log. */
const withoutSecrets = (verdict: Verdict, secrets: readonly string[]): Verdict => {
  const hide = (text: string | null): string | null => (text === null ? null : secrets.reduce(withoutSecret, text))
  const faults = verdict.faults.map(({ code, field, description }) => ({
    code: hide(code),
    field: hide(field),
    description: hide(description),
  }))
  return { ...verdict, faults }
}

/**
 * A caller for one seller and one host. A client of some operation describes each request as a {@link Call} and gets an
 * {@link Answer}, or a `MarketplaceFailure`: nothing else looks at a status code. What an operation needs beyond the ordinary
 * headers goes into `Call.headers`.
 */
export const createCaller = <A extends Authorisation>({
  sellerId,
  requestTimeoutMs,
  parts,
  baseUrl,
  authorise,
  headers,
  rules,
  budgetHeaders,
  throttleWaitMs,
}: CallerOptions<A>): Caller<A> => {
  const now = parts.now ?? Date.now
  const clock = createMarketplaceClock(now)
  const closing = new AbortController()
  const announced = new Set<Operation>()
  const maxBodyBytes = parts.maxBodyBytes ?? defaultMaxBodyBytes
  const maxRecords = parts.maxRecords ?? defaultMaxRecords
  let isRetired = false
  let underWay = 0
  let onRest: () => void = () => undefined
  const transport = createTransport({
    baseUrl,
    requestTimeoutMs,
    maxBodyBytes,
    now,
  })

  const fail = (operation: Operation, correlationId: string, verdict: Verdict & { readonly ok: false }): MarketplaceFailure =>
    toFailure(verdict, {
      operation: operation.name,
      sellerId,
      correlationId,
      ofCredentials: operation.isOfCredentials === true,
    })

  /** Something is under way from now on, until what this answers is called; a second call of that does nothing. */
  const begin = (): (() => void) => {
    let isOver = false
    underWay += 1
    return () => {
      if (isOver) return
      isOver = true
      underWay -= 1
      if (underWay === 0) onRest()
    }
  }

  /** Does work that counts as under way for as long as it lasts. */
  const whileUnderWay = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const end = begin()
    try {
      return await work()
    } finally {
      end()
    }
  }

  const refuseIfRetired = (operation: Operation, correlationId: string): void => {
    if (!isRetired) return
    const told = { kind: 'throttled', sent: 'never', retryAt: new Date(now()), networkCode: callerRetired } as const
    throw fail(operation, correlationId, { ...noAnswer, ...told })
  }

  const spend = async ({ operation, budgetScope }: Call, lane: CallOptions['lane'], correlationId: string): Promise<Grant> => {
    const leave = await parts.budget.take(sellerId, operation, budgetScope, lane)
    if (leave.granted) return leave
    throw fail(operation, correlationId, { ...noAnswer, kind: 'throttled', sent: 'never', retryAt: leave.availableAt })
  }

  /** An answer is evidence of what happened to a write: a budget that cannot be reached must not lose it. */
  const learn = async ({ operation, budgetScope }: Call, signal: BudgetSignal, grant: Grant): Promise<void> => {
    try {
      await parts.budget.learn(sellerId, operation, signal, budgetScope, grant)
    } catch (error) {
      parts.log.warn(
        { seller_id: sellerId, operation: operation.name, err: error },
        'the rate budget could not learn from an answer',
      )
    }
  }

  /** Deprecation is announced in headers (public facts, section 7.5): reported once for each operation. */
  const announce = (operation: Operation, outcome: HttpOutcome): void => {
    const deprecation = headerText(outcome.headers, 'deprecation')
    const sunset = headerText(outcome.headers, 'sunset')
    if (deprecation === null && sunset === null) return
    if (announced.has(operation)) return
    announced.add(operation)
    parts.log.warn(
      { seller_id: sellerId, operation: operation.name, deprecation, sunset },
      'the marketplace announces the end of this operation',
    )
  }

  /** One HTTP request; an answer that is a file is left to be read, any other is read here. */
  const exchangeFile = async (request: HttpRequest): Promise<{ readonly outcome: HttpOutcome; readonly file: Body | null }> => {
    const { body, ...opened } = await transport.open(request)
    const ended = (bodyText: string | null, networkCode: string | null): HttpOutcome => ({
      ...opened,
      bodyText,
      networkCode,
      endedMs: now(),
    })
    if (body === null) return { outcome: ended(null, opened.networkCode), file: null }
    try {
      const { looksLikeFile, whole } = await peek(body, maxBodyBytes)
      // Nothing but a plain 200 is all of a file: a 206, for one, is a part.
      if (opened.status === 200 && looksLikeFile) return { outcome: ended(null, null), file: whole }
      return { outcome: ended(new TextDecoder().decode(await readBounded(whole, maxBodyBytes)), null), file: null }
    } catch (error) {
      if (!(error instanceof BodyFault)) throw error
      return { outcome: ended(null, error.code), file: null }
    }
  }

  /** The records of an answer. One with more of them than can be worked through did not come, as one that is too large. */
  const cutAnswer = (
    call: Call,
    outcome: HttpOutcome,
  ): { readonly outcome: HttpOutcome; readonly text: string | null; readonly cut: RecordCut | null } => {
    const text = outcome.bodyText !== null && call.mayBeWrapped === true ? soleElement(outcome.bodyText) : outcome.bodyText
    if (text === null || call.recordsAt.length === 0) return { outcome, text, cut: null }
    try {
      return { outcome, text, cut: cutRecords(text, call.recordsAt, maxRecords) }
    } catch (error) {
      if (!(error instanceof TooManyRecords)) throw error
      return { outcome: { ...outcome, bodyText: null, networkCode: tooManyRecords }, text: null, cut: null }
    }
  }

  /** One HTTP request and all that is learned from it. */
  const attempt = async (
    call: Call,
    credentials: Pick<Credentials, 'headers' | 'secrets'>,
    correlationId: string,
    { grant, signal, mayLeave }: Pick<CallOptions, 'signal' | 'mayLeave'> & { readonly grant: Grant },
  ): Promise<Attempt> => {
    const request: HttpRequest = {
      method: call.method,
      target: call.target,
      headers: headers(call, credentials.headers, correlationId),
      body: call.body,
      signal: AbortSignal.any([signal, closing.signal]),
      // A file is asked for seldom, out of a small budget: a kept connection that has died would cost a request.
      freshConnection: call.operation.write === true || call.isFile === true,
      ...(mayLeave === undefined ? {} : { mayLeave }),
    }
    const { outcome: came, file } = call.isFile
      ? await exchangeFile(request)
      : { outcome: await transport.exchange(request), file: null }
    const { outcome, text, cut } = cutAnswer(call, came)
    if (outcome.sent === 'never') await giveBack(grant)
    if (outcome.status !== null)
      clock.observe(headerText(outcome.headers, 'date') ?? undefined, outcome.sentMs, outcome.answeredMs)
    const exchange: Exchange = {
      ...call.operation,
      sent: outcome.sent,
      status: outcome.status,
      headers: outcome.headers,
      bodyText: cut?.envelopeText ?? text,
      networkCode: outcome.networkCode,
      nowMs: outcome.answeredMs,
      marketplaceNowMs: clock.at(outcome.answeredMs).getTime(),
      budgetHeaders,
      rules,
      ...(call.answerIsRecord === undefined ? {} : { statusIsData: call.answerIsRecord }),
      ...(throttleWaitMs === undefined ? {} : { throttleWaitMs }),
    }
    const verdict: Verdict =
      file === null ? withoutSecrets(classify(exchange), credentials.secrets) : { ok: true, body: null, faults: [] }
    if (outcome.status !== null) {
      const throttled = !verdict.ok && verdict.kind === 'throttled'
      const told = budgetSignal({ ...exchange, status: throttled ? 429 : outcome.status })
      await learn(call, told, grant)
      announce(call.operation, outcome)
    }
    const report = (ended: Verdict, endedMs: number): void =>
      parts.hooks?.onRequest?.({
        sellerId,
        operation: call.operation.name,
        outcome: ended.ok ? 'ok' : ended.contentNotFound ? 'none' : ended.kind,
        status: outcome.status,
        durationMs: endedMs - outcome.sentMs,
      })
    if (file !== null) {
      const leave = async (): Promise<void> => {
        await file.return()
        report(verdict, now())
      }
      return { outcome, verdict, records: [], file: ownedBody(watched(file, { call, correlationId, exchange }, report), leave) }
    }
    report(verdict, outcome.endedMs)
    const whole = text === null || call.answerIsRecord === undefined ? [] : [asRecord(text)]
    return { outcome, verdict, records: cut?.records ?? whole, file: null }
  }

  /** A file on its way: reported when it has ended, judged when it did not come whole. */
  const watched = async function* (
    file: Body,
    { call, correlationId, exchange }: { readonly call: Call; readonly correlationId: string; readonly exchange: Exchange },
    report: (ended: Verdict, endedMs: number) => void,
  ): Body {
    let ended: Verdict = { ok: true, body: null, faults: [] }
    try {
      yield* file
    } catch (error) {
      if (!(error instanceof BodyFault)) throw error
      ended = classify({ ...exchange, networkCode: error.code })
      throw ended.ok ? error : fail(call.operation, correlationId, ended)
    } finally {
      report(ended, now())
    }
  }

  const authorisation = authorise({
    clock,
    send: (call, credentials, correlationId) =>
      whileUnderWay(async () => {
        const grant = await spend(call, undefined, correlationId)
        return await attempt(call, credentials, correlationId, { grant, signal: closing.signal })
      }),
  })

  /**
   * One authorised request, out of the budget; `mayRepeat`: a read that was not looked at, which may go out once more. A write goes out
   * once, whatever its answer: each of its requests is an attempt of whoever sends it, under a correlation id that is stored before.
   */
  const authorised = async (
    call: Call,
    options: Pick<CallOptions, 'grant' | 'lane' | 'signal' | 'mayLeave'>,
    correlationId: string,
  ): Promise<Attempt & { readonly mayRepeat: boolean }> => {
    // In this order: without credentials no request leaves, and where one call an hour is allowed, that must not cost the hour.
    const credentials = await authorisation.credentials(options.signal)
    const grant = options.grant ?? (await spend(call, options.lane, correlationId))
    const made = await attempt(call, credentials, correlationId, { ...options, grant })
    const { verdict, outcome } = made
    if (verdict.ok || !verdict.renewToken) return { ...made, mayRepeat: outcome.staleConnection && !call.operation.write }
    const othersMayDo = credentials.reject(verdict.faults)
    if (call.operation.write) return { ...made, mayRepeat: false }
    if (othersMayDo) return { ...made, mayRepeat: true }
    // Other credentials will not come by themselves, so the marketplace's own word is final.
    return { ...made, verdict: verdict.ownWord ? { ...verdict, kind: 'refused' } : verdict, mayRepeat: false }
  }

  /** A call to its end: a second request when a read was not looked at, a failure unless it brought something or "none there". */
  const settle = async (
    call: Call,
    options: CallOptions,
  ): Promise<Attempt & { readonly correlationId: string; readonly found: boolean }> => {
    let correlationId = options.correlationId ?? randomUUID()
    let result = await authorised(call, options, correlationId)
    if (result.mayRepeat) {
      // Unique for each request, so the second one has an id of its own. What was not looked at has used up no budget: where one call an
      // hour is allowed, a token that died early must not cost that hour.
      correlationId = randomUUID()
      result = await authorised(call, { signal: options.signal, grant: { granted: true } }, correlationId)
    }
    const { verdict } = result
    const nothingThere = !verdict.ok && verdict.contentNotFound && !call.operation.write
    if (!verdict.ok && !nothingThere) {
      const failure = fail(call.operation, correlationId, verdict)
      parts.log.debug(
        { seller_id: sellerId, operation: call.operation.name, correlation_id: correlationId, kind: failure.kind },
        failure.message,
      )
      throw failure
    }
    return { ...result, correlationId, found: !nothingThere }
  }

  /** A file that counts as under way until it has ended. */
  const untilEnded = (body: Body, end: () => void): Body => {
    const whole = async function* (): Body {
      try {
        yield* body
      } finally {
        end()
      }
    }
    const leave = async (): Promise<void> => {
      await body.return()
      end()
    }
    return ownedBody(whole(), leave)
  }

  const close = async (): Promise<void> => {
    isRetired = true
    closing.abort()
    transport.close()
  }

  const misfit: Caller<A>['misfit'] = (call, answer) => {
    const kind = call.operation.write ? 'unknown' : 'malformed'
    return fail(call.operation, answer.correlationId, { ...noAnswer, kind, sent: 'answered', httpStatus: answer.httpStatus })
  }

  return {
    authorisation,
    clock,
    async call(call, options) {
      refuseIfRetired(call.operation, options.correlationId ?? randomUUID())
      const { outcome, verdict, records, found, correlationId } = await whileUnderWay(() => settle(call, options))
      return {
        found,
        httpStatus: outcome.status ?? 0,
        correlationId,
        envelope: verdict.ok ? verdict.body : null,
        records,
        sentMs: outcome.sentMs,
        answeredMs: outcome.answeredMs,
      }
    },
    async download(call, options) {
      refuseIfRetired(call.operation, options.correlationId ?? randomUUID())
      const end = begin()
      let isOnItsWay = false
      try {
        const { outcome, file, found, correlationId } = await settle(call, options)
        if (!found) return null
        if (file === null) throw misfit(call, { correlationId, httpStatus: outcome.status ?? 0 })
        const { headers, sentMs, answeredMs } = outcome
        isOnItsWay = true
        return { headers, correlationId, body: untilEnded(file, end), sentMs, answeredMs }
      } finally {
        if (!isOnItsWay) end()
      }
    },
    misfit,
    async retire() {
      isRetired = true
      // A call may ask for a token before its own request.
      const longestMs = 2 * requestTimeoutMs + retirementMarginMs
      if (underWay > 0 && !closing.signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, longestMs)
          onRest = () => {
            clearTimeout(timer)
            resolve()
          }
          closing.signal.addEventListener('abort', onRest, { once: true })
        })
      }
      await close()
    },
    close,
  }
}
