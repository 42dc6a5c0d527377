/** Every operation that has a rate budget of its own. A call under any other name is refused before it reaches the wire. */
export type OperationName =
  | 'token'
  | 'orders.list'
  | 'orders.released'
  | 'orders.get'
  | 'orders.acknowledge'
  | 'orders.ship'
  | 'orders.cancel'
  | 'orders.refund'
  | 'returns.list'

/** The operations that change something at the marketplace: none of them may be sent again without reading back first. */
export type WriteOperationName = 'orders.acknowledge' | 'orders.ship' | 'orders.cancel' | 'orders.refund'

/** At most `tokens` requests in any `perMs` milliseconds, for one seller. */
export interface RateLimit {
  readonly tokens: number
  readonly perMs: number
}

/** One limit for each operation. */
export type RateLimits = Readonly<Record<OperationName, RateLimit>>

/** Header names (lower case, in order of preference) in which the marketplace tells what is left of its budget. */
export interface BudgetHeaders {
  /** Requests that may still be sent. */
  readonly remaining: readonly string[]
  /** When the next one comes back: epoch ms, epoch s or ISO 8601. */
  readonly replenishAt: readonly string[]
}

/** Name of the object that carries the units of a request. Answers are read with either. */
export type QuantityField = 'quantity' | 'statusQuantity'

/** What differs between the specification and a live marketplace, as data. */
export interface Profile {
  readonly name: string
  /** The company abbreviation in header names: `XX` in `XX_SEC.ACCESS_TOKEN`. */
  readonly headerPrefix: string
  readonly quantityField: QuantityField
  readonly tokenPath: string
  readonly rateLimits: RateLimits
  readonly budgetHeaders: BudgetHeaders
  /** Whether a refund line states its units beside its money (MLMQ rule 5). */
  readonly refundQuantity: boolean
  /** `unitOfMeasurement` of every quantity that requests carry. */
  readonly unitOfMeasurement: string
  /** Whether ship lines carry `sellerOrderId`, which the live service's schema requires (at most 30 characters). */
  readonly shipSellerOrderId: boolean
  /** Whether refund lines carry `isFullRefund: false`. */
  readonly refundMode: boolean
  /** Carriers that go by name; others are sent as `otherCarrier`. Null when the marketplace publishes no list. */
  readonly carriers: ReadonlySet<string> | null
  /** Most records that one page may ask for. */
  readonly maxPageSize: number
}
