import { MarketplaceFailure } from './errors.ts'

/** A token with its age, so that a late 401 for an old token does not throw away the new one. */
export interface AccessToken {
  readonly value: string
  readonly generation: number
}

/** What the token operation answered. */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly value: string; readonly lifetimeMs: number }
  /** The marketplace's own word that it does not accept the credentials. `failure` makes the error for one call that needed a token. */
  | { readonly kind: 'refused'; readonly failure: (verdict: RefusalVerdict) => MarketplaceFailure }
  /** Anything else; `heard`: some answer came, and no 429. */
  | { readonly kind: 'outage'; readonly heard: boolean; readonly failure: MarketplaceFailure }

/** What came of asking the token operation. */
export type TokenOutcome =
  | { readonly kind: 'token'; readonly token: AccessToken }
  | { readonly kind: 'refused' | 'outage'; readonly failure: MarketplaceFailure }

/** What a refusal means by now: the credentials are dead, or the operation is asked again at `retryAt` (our own clock). */
export type RefusalVerdict = { readonly dead: true } | { readonly dead: false; readonly retryAt: Date }

/** Access tokens of one seller. */
export interface TokenSource {
  /**
   * The token to use now; fetches one when there is none or it is about to expire, however many callers ask at once. A refusal is believed
   * when it was repeated (see {@link refusalsToDie}): until then `Unavailable` with the time of the next try, without asking before it;
   * from then on `credentialsDead`, without asking again until `forgive` or an accepted `ask`.
   *
   * @throws MarketplaceFailure of the operation `token`
   */
  token(signal: AbortSignal): Promise<AccessToken>
  /** Asks the token operation now, whatever it answered before. Never throws: whoever is aborted learns nothing, which is an outage. */
  ask(signal: AbortSignal): Promise<TokenOutcome>
  /** Forgets the refusals so far. */
  forgive(): void
  /** Whether a token was granted, and the credentials have not been refused since. */
  accepted(): boolean
  /** The marketplace did not accept this token: the next caller gets a new one. */
  reject(token: AccessToken): void
}

/** What the token operation says of the credentials. `failure` is what it answered. */
export type CredentialsAnswer =
  | { readonly accepted: true }
  /** `refused`: by the marketplace's own word; otherwise nothing is known. */
  | { readonly accepted: false; readonly refused: boolean; readonly failure: MarketplaceFailure }

/** The credentials of one seller, as the token operation sees them. */
export interface CredentialsClient {
  /** Asks for a token now, whatever was answered before, out of the budget; one that is granted serves all calls. Never throws. */
  ask(signal: AbortSignal): Promise<CredentialsAnswer>
  /** Forgets that they were refused: the next call asks for a token. */
  forgive(): void
  /** Whether a token was granted, and they have not been refused since. */
  accepted(): boolean
}

/** What a token source needs. `fetchToken` runs on its own, not under the signal of the caller that happened to need it first. */
export interface TokenSourceOptions {
  /** Never throws for what the marketplace does. */
  readonly fetchToken: () => Promise<TokenAnswer>
  readonly now: () => number
  /** The error for a caller that was aborted while it waited. */
  readonly aborted: () => MarketplaceFailure
}

/** A token is renewed this long before its end, or after three quarters of its life if that is later. */
const renewalMarginMs = 120_000
const renewalPauseMs = 10_000

/** Credentials are dead after so many refusals in a row, over at least {@link refusedForMs}: one may be an accident of the marketplace. */
export const refusalsToDie = 3
/** See {@link refusalsToDie}. */
export const refusedForMs = 60_000
/** Pause after the first refusal; each one more doubles it. The third try comes when the minute is over. */
const firstRefusalPauseMs = 20_000
const longestRefusalPauseMs = 300_000

/** Refusals in a row. Times are on our own clock. */
interface Refusals {
  readonly count: number
  readonly firstMs: number
  readonly askAgainAtMs: number
  readonly dead: boolean
  readonly failure: (verdict: RefusalVerdict) => MarketplaceFailure
}

/** Moment (same clock as `nowMs`) from which a token that was asked for at `nowMs` should be renewed. */
export const renewalDueMs = (nowMs: number, lifetimeMs: number): number =>
  nowMs + lifetimeMs - Math.min(renewalMarginMs, lifetimeMs / 4)

/** Tokens of one pair of credentials; other credentials need another source. */
export const createTokenSource = (options: TokenSourceOptions): TokenSource => {
  const { now } = options
  let current: (AccessToken & { readonly renewAtMs: number; readonly expiresAtMs: number }) | null = null
  let asking: Promise<TokenOutcome> | null = null
  let refusals: Refusals | null = null
  let generation = 0
  let isAccepted = false

  const refusedOnceMore = (failure: Refusals['failure']): Refusals => {
    const nowMs = now()
    // A clock that was set back must not make the first refusal one of the future.
    const firstMs = Math.min(refusals?.firstMs ?? nowMs, nowMs)
    const count = (refusals?.count ?? 0) + 1
    const pauseMs = Math.min(firstRefusalPauseMs * 2 ** (count - 1), longestRefusalPauseMs)
    const dead = refusals?.dead === true || (count >= refusalsToDie && nowMs - firstMs >= refusedForMs)
    return { count, firstMs, askAgainAtMs: nowMs + pauseMs, dead, failure }
  }

  const failureOf = ({ dead, askAgainAtMs, failure }: Refusals): MarketplaceFailure =>
    failure(dead ? { dead } : { dead, retryAt: new Date(askAgainAtMs) })

  const fetchOnce = async (): Promise<TokenOutcome> => {
    const askedMs = now()
    const answer = await options.fetchToken()
    if (answer.kind === 'token') {
      generation += 1
      isAccepted = true
      refusals = null
      // Counted from when we asked: the marketplace started the clock before its answer arrived.
      current = {
        value: answer.value,
        generation,
        renewAtMs: renewalDueMs(askedMs, answer.lifetimeMs),
        expiresAtMs: askedMs + answer.lifetimeMs,
      }
      return { kind: 'token', token: current }
    }
    if (answer.kind === 'refused') {
      isAccepted = false
      refusals = refusedOnceMore(answer.failure)
      return { kind: 'refused', failure: failureOf(refusals) }
    }
    // An operation that answers now this and now that is at fault itself: the refusals were not in a row.
    if (answer.heard && refusals?.dead !== true) refusals = null
    return { kind: 'outage', failure: answer.failure }
  }

  const shared = (): Promise<TokenOutcome> => {
    asking ??= fetchOnce().finally(() => {
      asking = null
    })
    return asking
  }

  /** The renewal was early on purpose: the old token still serves while there is no new one. */
  const stillServing = (renewAtMs: number): AccessToken | null => {
    if (current === null || now() >= current.expiresAtMs) return null
    current = { ...current, renewAtMs }
    return current
  }

  const mayAsk = ({ dead, askAgainAtMs }: Refusals): boolean => {
    const waitMs = askAgainAtMs - now()
    return !dead && (waitMs <= 0 || waitMs > longestRefusalPauseMs)
  }

  return {
    async token(signal) {
      if (signal.aborted) throw options.aborted()
      if (current !== null && now() < current.renewAtMs) return current
      if (refusals !== null && !mayAsk(refusals)) {
        const serving = stillServing(refusals.askAgainAtMs)
        if (serving !== null) return serving
        throw failureOf(refusals)
      }
      const outcome = await unlessAborted(shared(), signal, options.aborted)
      if (outcome.kind === 'token') return outcome.token
      const serving = stillServing(refusals?.askAgainAtMs ?? now() + renewalPauseMs)
      if (serving !== null) return serving
      throw outcome.failure
    },
    async ask(signal) {
      if (signal.aborted) return { kind: 'outage', failure: options.aborted() }
      try {
        return await unlessAborted(shared(), signal, options.aborted)
      } catch (error) {
        if (error instanceof MarketplaceFailure) return { kind: 'outage', failure: error }
        throw error
      }
    },
    forgive() {
      refusals = null
    },
    accepted: () => isAccepted,
    reject(token) {
      if (current?.generation === token.generation) current = null
    },
  }
}

/** Waits for shared work without cancelling it for the others. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal, aborted: () => Error): Promise<T> =>
  await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(aborted())
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
