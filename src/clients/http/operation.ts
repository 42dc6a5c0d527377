/** At most `tokens` requests in any `perMs` milliseconds, for one seller. */
export interface RateLimit {
  readonly tokens: number
  readonly perMs: number
  /** An operator has set it, for example to reserve calls for another program: signals of the marketplace may lower it, but never raise it. */
  readonly isSet?: true
}

/** Limits that overrule those of the operations, by operation name. */
export type RateLimits = Readonly<Record<string, RateLimit>>

/**
 * One operation of a marketplace, declared by the endpoint that calls it. It is a value: calls, rate limits and the classification of answers use it.
 */
export interface Operation<Name extends string = string> {
  /** Its name in rate limits, metrics, failures and stored requests; unique. */
  readonly name: Name
  /** The published limit, or an estimate; the marketplace's answers correct it. */
  readonly limit: RateLimit
  /**
   * Keys of the requested data in the answer, with dots for nested keys. Errors beside one of them are warnings; errors without any are the answer. Empty if the
   * answer is no JSON document.
   */
  readonly payloadKeys: readonly string[]
  /** It changes something at the marketplace: it must not be sent again without reading back first. */
  readonly write?: boolean
  /** It refuses with a 2xx and errors in the body: errors without a record are a refusal, regardless of their codes. */
  readonly refusesInBody?: true
  /** It also refuses with errors of OAuth 2.0 (RFC 6749, section 5.2), which then count as errors of the marketplace. */
  readonly speaksOAuth?: true
  /** All waiting callers share one answer: they ask again at the same time, not one interval after another. */
  readonly isShared?: true
  /** It obtains credentials: its failures concern the seller, never the call that needed them. */
  readonly isOfCredentials?: true
  /** Each process calls it for itself, and no overall limit is published: its limit is that of one process. */
  readonly ofEachProcess?: true
}

/** A limit in requests a minute. */
export const perMinute = (tokens: number): RateLimit => ({ tokens, perMs: 60_000 })
