import { randomUUID } from 'node:crypto'
import { conforms, findDrift } from '../../domain/drift/shape.ts'
import type { Grant } from '../rate-limit/budget.ts'
import { withEnd } from './body.ts'
import {
  type Answer,
  type Attempt,
  type Authorisation,
  type AuthorisationContext,
  type Call,
  type FileAnswer,
  noAnswer,
} from './call.ts'
import type { CallOptions } from './call-options.ts'
import type { MarketplaceClock } from './clock.ts'
import type { MarketplaceFailure } from './errors.ts'
import { OpenCalls } from './open-calls.ts'
import type { Operation } from './operation.ts'
import type { CompareRecord } from './record.ts'
import { RequestSender, type RequestSenderOptions } from './request-sender.ts'

/**
 * Makes calls of one seller to one host: rate limit, authorisation, headers, classification. A client describes each request as a {@link Call} and gets an
 * {@link Answer} or a `MarketplaceFailure`. No other code reads a status code.
 */
export interface Caller<A extends Authorisation = Authorisation> {
  /** How its requests are authorised. */
  readonly authorisation: A
  /** The clock of the host. */
  readonly clock: MarketplaceClock
  /** @throws MarketplaceFailure */
  call(call: Call, options: CallOptions): Promise<Answer>
  /**
   * A call whose answer is a file, read in constant memory; null if there is none. JSON or HTML in its place is classified as any other answer.
   *
   * @throws MarketplaceFailure
   */
  download(call: Call & { readonly isFile: true }, options: CallOptions): Promise<FileAnswer | null>
  /**
   * A file at an address that an answer of the operation has named, requested without credentials and outside of the rate limit. The address is never part of an
   * error or a log line. The host may be another one; its answers do not count as answers of the marketplace.
   *
   * @throws MarketplaceFailure
   */
  downloadFrom(operation: Operation, address: URL, options: Pick<CallOptions, 'signal'>): Promise<FileAnswer>
  /** Compares records of answers of an operation with their published form; undefined if nobody wants to know. */
  compareRecords(operation: Operation): CompareRecord | undefined
  /** The failure for an accepted answer that is complete JSON, but not what was requested. */
  unexpectedAnswer(call: Pick<Call, 'operation'>, answer: Pick<Answer, 'correlationId' | 'httpStatus'>): MarketplaceFailure
  /**
   * Accepts no new calls: they fail as never sent, and another caller may make them immediately. Calls in progress continue. Resolves when they have ended
   * and everything is closed; their timeouts limit the wait.
   */
  retire(): Promise<void>
  /** Aborts the calls in progress and closes. */
  close(): Promise<void>
}

/** The host, the seller and the authorisation of a caller. */
export interface CallerOptions<A extends Authorisation> extends RequestSenderOptions {
  readonly authorise: (context: AuthorisationContext) => A
}

/** The time that a call may need after its requests to classify the answers. */
const retirementMarginMs = 5_000
/** The first records of each operation are all compared with their published form … */
const comparedAtFirst = 500
/** … and of the later ones, one in this number. */
const comparedShare = 4
/** `networkCode` of a call to a retired caller. */
const callerRetired = 'CALLER_RETIRED'

/** The last request of a call. */
interface SettledCall extends Attempt {
  readonly correlationId: string
  /** False if the marketplace answered a read with "not found". */
  readonly found: boolean
}

class HttpCaller<A extends Authorisation> implements Caller<A> {
  readonly authorisation: A
  readonly clock: MarketplaceClock
  readonly #options: CallerOptions<A>
  readonly #sender: RequestSender
  readonly #openCalls = new OpenCalls()
  /** Records by operation. */
  readonly #compared = new Map<string, number>()
  #isRetired = false

  constructor(options: CallerOptions<A>) {
    const sender = new RequestSender(options)
    this.#options = options
    this.#sender = sender
    this.clock = sender.clock
    this.authorisation = options.authorise({
      clock: sender.clock,
      send: (call, credentials, correlationId) =>
        this.#openCalls.run(async () => {
          const grant = await sender.takeGrant(call, undefined, correlationId)
          return await sender.send(call, credentials, correlationId, { grant, signal: sender.closed })
        }),
    })
  }

  async call(call: Call, options: CallOptions): Promise<Answer> {
    this.#refuseIfRetired(call.operation, options.correlationId ?? randomUUID())
    const { outcome, verdict, records, found, correlationId } = await this.#openCalls.run(() => this.#settle(call, options))
    return {
      found,
      httpStatus: outcome.status ?? 0,
      correlationId,
      envelope: verdict.ok ? verdict.body : null,
      records,
      sentMs: outcome.sentMs,
      answeredMs: outcome.answeredMs,
    }
  }

  async download(call: Call & { readonly isFile: true }, options: CallOptions): Promise<FileAnswer | null> {
    this.#refuseIfRetired(call.operation, options.correlationId ?? randomUUID())
    return await this.#whileOpen(async (end) => {
      const { found, ...settled } = await this.#settle(call, options)
      return found ? this.#buildFileAnswer(call, settled, end) : null
    })
  }

  async downloadFrom(operation: Operation, address: URL, { signal }: Pick<CallOptions, 'signal'>): Promise<FileAnswer> {
    const correlationId = randomUUID()
    this.#refuseIfRetired(operation, correlationId)
    return await this.#whileOpen(async (end) => {
      const made = await this.#sender.fetchFile(operation, address, correlationId, signal)
      if (!made.verdict.ok) throw this.#sender.fail(operation, correlationId, made.verdict)
      return this.#buildFileAnswer({ operation }, { ...made, correlationId }, end)
    })
  }

  /** A call that is in progress until its file has ended; null or an error: there is no file. */
  async #whileOpen<File extends FileAnswer | null>(open: (end: () => void) => Promise<File>): Promise<File> {
    const end = this.#openCalls.begin()
    let file: File | null = null
    try {
      file = await open(end)
      return file
    } finally {
      if (file === null) end()
    }
  }

  #buildFileAnswer(
    call: Pick<Call, 'operation'>,
    { outcome, file, correlationId }: Attempt & { readonly correlationId: string },
    end: () => void,
  ): FileAnswer {
    if (file === null) throw this.unexpectedAnswer(call, { correlationId, httpStatus: outcome.status ?? 0 })
    const { headers, sentMs, answeredMs } = outcome
    return { headers, correlationId, body: withEnd(file, end), sentMs, answeredMs }
  }

  unexpectedAnswer(call: Pick<Call, 'operation'>, answer: Pick<Answer, 'correlationId' | 'httpStatus'>): MarketplaceFailure {
    const kind = call.operation.write ? 'unknown' : 'malformed'
    const { correlationId, httpStatus } = answer
    return this.#sender.fail(call.operation, correlationId, { ...noAnswer, kind, sent: 'answered', httpStatus })
  }

  compareRecords({ name }: Operation): CompareRecord | undefined {
    const { sellerId, parts } = this.#options
    const onDrift = parts.hooks?.onDrift
    if (onDrift === undefined) return undefined
    return (published, raw, odd) => {
      if (!this.#isCompared(name, odd) || conforms(published, raw)) return
      for (const drift of findDrift(published, raw)) onDrift({ ...drift, sellerId, operation: name })
    }
  }

  /** A comparison costs a fifteenth of reading a record. A new field is in many records, so a part of them shows it. */
  #isCompared(operation: string, odd: boolean): boolean {
    const count = (this.#compared.get(operation) ?? 0) + 1
    this.#compared.set(operation, count)
    return odd || count <= comparedAtFirst || count % comparedShare === 0
  }

  async retire(): Promise<void> {
    this.#isRetired = true
    // A call may request a token before its own request.
    await this.#openCalls.waitForEnd(2 * this.#options.requestTimeoutMs + retirementMarginMs, this.#sender.closed)
    await this.close()
  }

  async close(): Promise<void> {
    this.#isRetired = true
    this.#sender.close()
  }

  #refuseIfRetired(operation: Operation, correlationId: string): void {
    if (!this.#isRetired) return
    const retryAt = new Date((this.#options.parts.now ?? Date.now)())
    const verdict = { ...noAnswer, kind: 'throttled', sent: 'never', retryAt, networkCode: callerRetired } as const
    throw this.#sender.fail(operation, correlationId, verdict)
  }

  /**
   * One authorised request within the rate limit. `mayRepeat`: a read that the marketplace did not process, which may be sent once more. A write is sent
   * once, even if its answer is an error: its sender stores each request as an attempt with its correlation id before it is sent.
   */
  async #sendAuthorised(
    call: Call,
    options: Pick<CallOptions, 'grant' | 'lane' | 'signal' | 'maySend'>,
    correlationId: string,
  ): Promise<Attempt & { readonly mayRepeat: boolean }> {
    // Credentials first: without them no request is sent, and a limit of one call an hour must not lose its permit.
    const credentials = await this.authorisation.credentials(options.signal)
    const grant = options.grant ?? (await this.#sender.takeGrant(call, options.lane, correlationId))
    const made = await this.#sender.send(call, credentials, correlationId, { ...options, grant })
    const { verdict, outcome } = made
    if (verdict.ok || !verdict.renewToken) return { ...made, mayRepeat: outcome.staleConnection && !call.operation.write }
    const mayNextBeAccepted = credentials.reject(verdict.faults)
    if (call.operation.write) return { ...made, mayRepeat: false }
    if (mayNextBeAccepted) return { ...made, mayRepeat: true }
    // There will be no other credentials, so the marketplace's own refusal is final.
    return { ...made, verdict: verdict.fromMarketplace ? { ...verdict, kind: 'refused' } : verdict, mayRepeat: false }
  }

  /**
   * Completes a call: repeats a read that was not processed once.
   *
   * @throws MarketplaceFailure unless the answer is usable or "not found"
   */
  async #settle(call: Call, options: CallOptions): Promise<SettledCall> {
    const { operation } = call
    let correlationId = options.correlationId ?? randomUUID()
    let result = await this.#sendAuthorised(call, options, correlationId)
    if (result.mayRepeat) {
      // Correlation ids are unique for each request. A request that was not processed did not use the rate limit: with one call an hour, a token that expired
      // early must not cost that hour.
      correlationId = randomUUID()
      const grant: Grant = { granted: true }
      result = await this.#sendAuthorised(call, { signal: options.signal, grant }, correlationId)
    }
    const { verdict } = result
    const isNotFound = !verdict.ok && verdict.contentNotFound && !operation.write
    if (verdict.ok || isNotFound) return { ...result, correlationId, found: !isNotFound }
    const { sellerId, parts } = this.#options
    const failure = this.#sender.fail(operation, correlationId, verdict)
    parts.log.debug(
      { seller_id: sellerId, operation: operation.name, correlation_id: correlationId, kind: failure.kind },
      failure.message,
    )
    throw failure
  }
}

/** A caller for one seller and one host. */
export const createCaller = <A extends Authorisation>(options: CallerOptions<A>): Caller<A> => new HttpCaller(options)
