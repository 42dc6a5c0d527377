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
