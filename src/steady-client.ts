import pg from 'pg'

/**
 * A Postgres client that never crashes the process. An `error` event without a listener is fatal in Node, and a client of a pool has none
 * while it is checked out, nor after `removeAllListeners` (BullMQ calls it on closing). A terminated backend causes it at any of
 * these moments, and twice. Nothing is hidden: the query under way rejects, and so does the next one.
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

/** A pool whose subclass decides which connection it hands out to whoever takes one; single queries take theirs as `pg` does. */
export class HandingPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(
    callback: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): void
  override connect(
    callback?: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return this.handOut(() => super.connect())
    // Used for one query each, which rejects where the connection is broken.
    super.connect(callback)
    return undefined
  }

  /** The connection for whoever takes one; `next` takes one of the pool. */
  protected handOut(next: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    return next()
  }
}
