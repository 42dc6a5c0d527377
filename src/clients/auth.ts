import { MarketplaceFailure } from './errors.ts'

/** A token with its age, so that a late 401 for an old token does not throw away the new one. */
export interface AccessToken {
  readonly value: string
  readonly generation: number
}

/** What fetching a token brings. */
export interface FetchedToken {
  readonly value: string
  readonly lifetimeMs: number
}

/** Access tokens of one seller. */
export interface TokenSource {
  /**
   * The token to use now; fetches one when there is none or it is about to expire, however many callers ask at once.
   *
   * @throws MarketplaceFailure of the operation `token`; with `credentialsDead`, and without asking again, once the credentials were refused.
   */
  token(signal: AbortSignal): Promise<AccessToken>
  /** The marketplace did not accept this token: the next caller gets a new one. */
  reject(token: AccessToken): void
}

/** What a token source needs. `fetchToken` runs on its own, not under the signal of the caller that happened to need it first. */
export interface TokenSourceOptions {
  readonly fetchToken: () => Promise<FetchedToken>
  readonly now: () => number
  /** The error for a caller that was aborted while it waited. */
  readonly aborted: () => MarketplaceFailure
}

/** A token is renewed this long before its end, or after three quarters of its life if that is later. */
const RENEWAL_MARGIN_MS = 120_000
const RENEWAL_PAUSE_MS = 10_000

/** Moment (same clock as `nowMs`) from which a token that was asked for at `nowMs` should be renewed. */
export function renewalDueMs(nowMs: number, lifetimeMs: number): number {
  return nowMs + lifetimeMs - Math.min(RENEWAL_MARGIN_MS, lifetimeMs / 4)
}

/** Tokens of one pair of credentials; other credentials need another source. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { now } = options
  let current: (AccessToken & { readonly renewAtMs: number; readonly expiresAtMs: number }) | null = null
  let refresh: Promise<AccessToken> | null = null
  let dead: MarketplaceFailure | null = null
  let generation = 0

  async function renew(): Promise<AccessToken> {
    const askedMs = now()
    try {
      const fetched = await options.fetchToken()
      generation += 1
      // Counted from when we asked: the marketplace started the clock before its answer arrived.
      current = {
        value: fetched.value,
        generation,
        renewAtMs: renewalDueMs(askedMs, fetched.lifetimeMs),
        expiresAtMs: askedMs + fetched.lifetimeMs,
      }
      return current
    } catch (error) {
      if (error instanceof MarketplaceFailure && error.credentialsDead) dead = error
      else if (current !== null && now() < current.expiresAtMs) {
        // The renewal was early on purpose: the old token still serves, and the token operation is left alone for a while.
        current = { ...current, renewAtMs: now() + RENEWAL_PAUSE_MS }
        return current
      }
      throw error
    }
  }

  function shared(): Promise<AccessToken> {
    refresh ??= renew().finally(() => {
      refresh = null
    })
    return refresh
  }

  return {
    async token(signal) {
      if (signal.aborted) throw options.aborted()
      if (dead !== null) throw dead
      if (current !== null && now() < current.renewAtMs) return current
      return unlessAborted(shared(), signal, options.aborted)
    },
    reject(token) {
      if (current?.generation === token.generation) current = null
    },
  }
}

/** Waits for shared work without cancelling it for the others. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, aborted: () => Error): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(aborted())
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
