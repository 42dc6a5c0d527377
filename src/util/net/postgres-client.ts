import pg from 'pg'

/**
 * A Postgres client that never crashes the process. An `error` event without a listener is fatal in Node. A client of a pool has no listener while it
 * is checked out, nor after `removeAllListeners` (BullMQ calls it on closing), and a terminated backend may emit the event then, even twice. No error
 * is hidden: the current query rejects, and so does the next one.
 */
export class SteadyClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', () => undefined)
  }

  override removeAllListeners(event?: string | symbol): this {
    super.removeAllListeners(event)
    if (event === undefined || event === 'error') this.on('error', () => undefined)
    return this
  }
}

/** A pool whose subclass decides which connection a caller of `connect` gets; single queries get theirs from `pg`. */
export class CheckoutPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(
    callback: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): void
  override connect(
    callback?: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return this.checkOut(() => super.connect())
    // Used for one query each, which rejects if the connection is broken.
    super.connect(callback)
    return undefined
  }

  /** Returns the connection for the caller; `next` takes one from the pool. */
  protected checkOut(next: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    return next()
  }
}
