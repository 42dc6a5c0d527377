/** At most `tokens` requests in any `perMs` milliseconds, for one seller. */
export interface RateLimit {
  readonly tokens: number
  readonly perMs: number
  /** An operator has set it, be it to leave calls to another program: what the marketplace says may lower it and never raises it. */
  readonly isSet?: true
}

/** Limits that overrule those of the operations themselves, by name of the operation. */
export type RateLimits = Readonly<Record<string, RateLimit>>

/**
 * One operation of a marketplace, declared by the endpoint that calls it. It is a value: a call carries it, the budget takes by it, and its
 * answers are judged by it.
 */
export interface Operation<Name extends string = string> {
  /** Names it in the rate budget, metrics, failures and stored requests; unique. */
  readonly name: Name
  /** The published limit, or the best guess at it; the marketplace's answers correct it. */
  readonly limit: RateLimit
  /**
   * Where the answer carries what was asked for: keys of its document, a dot between those that stand inside one another. Errors beside
   * one of them are remarks, errors without any are the answer. Empty where the answer is no JSON document.
   */
  readonly payloadKeys: readonly string[]
  /** It changes something at the marketplace: none may be sent again without reading back first. */
  readonly write?: boolean
  /** It refuses with a 2xx and errors in the body: errors without a record are a no, whatever their codes. */
  readonly refusesInBody?: true
  /** It also refuses in the words of OAuth 2.0 (RFC 6749, section 5.2): they are then the marketplace's own. */
  readonly speaksOAuth?: true
  /** One answer serves all who wait for it: they come back together, not one interval after another. */
  readonly isShared?: true
  /** It obtains credentials: its failures are about the seller, and never about what a caller wanted with them. */
  readonly isOfCredentials?: true
  /** Each process calls it for itself, and nothing is published of how many may: its limit is that of one process. */
  readonly ofEachProcess?: true
}

/** A limit of so many requests a minute. */
export const perMinute = (tokens: number): RateLimit => ({ tokens, perMs: 60_000 })
