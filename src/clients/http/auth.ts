import { MarketplaceFailure } from './errors.ts'

/** A token and its number, so that a late 401 for an old token does not discard the new one. */
export interface AccessToken {
  readonly value: string
  readonly generation: number
}

/** The answer of the token operation. */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly value: string; readonly lifetimeMs: number }
  /** The marketplace itself rejects the credentials. `failure` creates the error of one call that needed a token. */
  | { readonly kind: 'refused'; readonly failure: (verdict: RefusalVerdict) => MarketplaceFailure }
  /** Anything else. `isAnswered`: there was an answer, and it was no 429. */
  | { readonly kind: 'outage'; readonly isAnswered: boolean; readonly failure: MarketplaceFailure }

/** The result of a token request. */
export type TokenOutcome =
  | { readonly kind: 'token'; readonly token: AccessToken }
  | { readonly kind: 'refused' | 'outage'; readonly failure: MarketplaceFailure }

/** The result of the refusals so far: the credentials are dead, or the next token request is made at `retryAt` (our own clock). */
export type RefusalVerdict = { readonly dead: true } | { readonly dead: false; readonly retryAt: Date }

/** Access tokens of one seller. */
export interface TokenSource {
  /**
   * The current token. Requests one if there is none or it is about to expire; concurrent callers share the request. Credentials are dead after repeated
   * refusals (see {@link refusalsToDie}). Before that it throws `Unavailable` with the time of the next attempt, and makes no request earlier. After that it
   * throws `credentialsDead`, and makes no request until `clearRefusals` or a successful `request`.
   *
   * @throws MarketplaceFailure of the operation `token`
   */
  token(signal: AbortSignal): Promise<AccessToken>
  /** Requests a token now, even after refusals. Never throws: an aborted call gets an outage. */
  request(signal: AbortSignal): Promise<TokenOutcome>
  /** Resets the refusals: the next call requests a token. */
  clearRefusals(): void
  /** Whether a token was granted, and the credentials have not been refused since. */
  areAccepted(): boolean
  /** The marketplace did not accept this token: the next call gets a new one. */
  reject(token: AccessToken): void
}

/** The result of a check of the credentials. `failure` is the answer of the token operation. */
export type CredentialsAnswer =
  | { readonly accepted: true }
  /** `refused`: by the marketplace itself; otherwise the result is unknown. */
  | { readonly accepted: false; readonly refused: boolean; readonly failure: MarketplaceFailure }

/** The refresh token of a seller that its settings name, and the client that it was issued to. */
export interface ConfiguredRefreshToken {
  readonly sellerId: string
  readonly clientId: string
  readonly refreshToken: string
}

/** Keeps the refresh tokens that the marketplace issues in place of the configured ones. */
export interface RefreshTokens {
  /**
   * Calls `request` with the newest refresh token of a seller, and takes over its `replacement` before it returns; null: it was not replaced. One request of a
   * seller at a time, in all processes, if replacements are stored.
   *
   * @throws RefreshTokenUnreadable, and what keeps the token from being read
   */
  use<Result extends { readonly replacement: string | null }>(
    configured: ConfiguredRefreshToken,
    request: (refreshToken: string) => Promise<Result>,
  ): Promise<Result>
}

/** The stored refresh token of a seller cannot be decrypted with the keys of this process. */
export class RefreshTokenUnreadable extends Error {
  override readonly name = 'RefreshTokenUnreadable'
}

/** The credentials of one seller. */
export interface CredentialsClient {
  /** Requests a token now, even after refusals, within the rate limit. All calls use a granted token. Never throws. */
  check(signal: AbortSignal): Promise<CredentialsAnswer>
  /** Resets the refusals: the next call requests a token. */
  clearRefusals(): void
  /** Whether a token was granted, and they have not been refused since. */
  areAccepted(): boolean
}

/** Options of a token source. `fetchToken` is shared, so the signal of the first caller does not abort it. */
export interface TokenSourceOptions {
  /** Never throws for errors of the marketplace. */
  readonly fetchToken: () => Promise<TokenAnswer>
  readonly now: () => number
  /** The error of a caller that was aborted while it waited. */
  readonly aborted: () => MarketplaceFailure
}

/** A token is renewed this time before its expiry, or after three quarters of its lifetime if that is later. */
const renewalMarginMs = 120_000
const renewalPauseMs = 10_000

/** Credentials are dead after this number of consecutive refusals over at least {@link refusedForMs}: a single one may be an error of the marketplace. */
export const refusalsToDie = 3
/** See {@link refusalsToDie}. */
export const refusedForMs = 60_000
/** Pause after the first refusal; each further one doubles it. The third request is made after the minute. */
const firstRefusalPauseMs = 20_000
const maxRefusalPauseMs = 300_000

/** Consecutive refusals. Times are on our own clock. */
interface Refusals {
  readonly count: number
  readonly firstMs: number
  readonly nextRequestAtMs: number
  readonly dead: boolean
  readonly failure: (verdict: RefusalVerdict) => MarketplaceFailure
}

/** The time (same clock as `nowMs`) at which a token requested at `nowMs` is renewed. */
export const renewalDueMs = (nowMs: number, lifetimeMs: number): number =>
  nowMs + lifetimeMs - Math.min(renewalMarginMs, lifetimeMs / 4)

/** The tokens of one pair of credentials. */
export const createTokenSource = (options: TokenSourceOptions): TokenSource => {
  const { now } = options
  let current: (AccessToken & { readonly renewAtMs: number; readonly expiresAtMs: number }) | null = null
  let pending: Promise<TokenOutcome> | null = null
  let refusals: Refusals | null = null
  let generation = 0
  let isAccepted = false

  const addRefusal = (failure: Refusals['failure']): Refusals => {
    const nowMs = now()
    // If the clock was set back, the first refusal must not be in the future.
    const firstMs = Math.min(refusals?.firstMs ?? nowMs, nowMs)
    const count = (refusals?.count ?? 0) + 1
    const pauseMs = Math.min(firstRefusalPauseMs * 2 ** (count - 1), maxRefusalPauseMs)
    const dead = refusals?.dead === true || (count >= refusalsToDie && nowMs - firstMs >= refusedForMs)
    return { count, firstMs, nextRequestAtMs: nowMs + pauseMs, dead, failure }
  }

  const buildFailure = ({ dead, nextRequestAtMs, failure }: Refusals): MarketplaceFailure =>
    failure(dead ? { dead } : { dead, retryAt: new Date(nextRequestAtMs) })

  const fetchOnce = async (): Promise<TokenOutcome> => {
    const requestedMs = now()
    const answer = await options.fetchToken()
    if (answer.kind === 'token') {
      generation += 1
      isAccepted = true
      refusals = null
      // The lifetime began at the marketplace before its answer arrived, so it counts from our request.
      current = {
        value: answer.value,
        generation,
        renewAtMs: renewalDueMs(requestedMs, answer.lifetimeMs),
        expiresAtMs: requestedMs + answer.lifetimeMs,
      }
      return { kind: 'token', token: current }
    }
    if (answer.kind === 'refused') {
      isAccepted = false
      refusals = addRefusal(answer.failure)
      return { kind: 'refused', failure: buildFailure(refusals) }
    }
    // Alternating answers are an error of the operation: the refusals are not consecutive.
    if (answer.isAnswered && refusals?.dead !== true) refusals = null
    return { kind: 'outage', failure: answer.failure }
  }

  const fetchShared = (): Promise<TokenOutcome> => {
    pending ??= fetchOnce().finally(() => {
      pending = null
    })
    return pending
  }

  /** The old token, while it is valid: renewal is early so that it can be used until there is a new one. Null: it has expired. */
  const extendCurrent = (renewAtMs: number): AccessToken | null => {
    if (current === null || now() >= current.expiresAtMs) return null
    current = { ...current, renewAtMs }
    return current
  }

  const mayRequest = ({ dead, nextRequestAtMs }: Refusals): boolean => {
    const waitMs = nextRequestAtMs - now()
    return !dead && (waitMs <= 0 || waitMs > maxRefusalPauseMs)
  }

  return {
    async token(signal) {
      if (signal.aborted) throw options.aborted()
      if (current !== null && now() < current.renewAtMs) return current
      if (refusals !== null && !mayRequest(refusals)) {
        const serving = extendCurrent(refusals.nextRequestAtMs)
        if (serving !== null) return serving
        throw buildFailure(refusals)
      }
      const outcome = await unlessAborted(fetchShared(), signal, options.aborted)
      if (outcome.kind === 'token') return outcome.token
      const serving = extendCurrent(refusals?.nextRequestAtMs ?? now() + renewalPauseMs)
      if (serving !== null) return serving
      throw outcome.failure
    },
    async request(signal) {
      if (signal.aborted) return { kind: 'outage', failure: options.aborted() }
      try {
        return await unlessAborted(fetchShared(), signal, options.aborted)
      } catch (error) {
        if (error instanceof MarketplaceFailure) return { kind: 'outage', failure: error }
        throw error
      }
    },
    clearRefusals() {
      refusals = null
    },
    areAccepted: () => isAccepted,
    reject(token) {
      if (current?.generation === token.generation) current = null
    },
  }
}

/** Waits for shared work. An abort ends the wait, not the work. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal, aborted: () => Error): Promise<T> =>
  await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(aborted())
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
