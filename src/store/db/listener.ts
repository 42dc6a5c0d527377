import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SteadyClient } from '../../util/net/postgres-client.ts'

/** Receives Postgres notifications. They are hints only: a notified process reads the tables, and it also polls them without notifications. */
export interface Listener {
  /**
   * Calls back at every notification on the channel, and after every reconnect (notifications may have been missed).
   * Returns a function that unsubscribes. A callback must not throw.
   */
  on(channel: string, onNotification: () => void): () => void
  /** Whether notifications are being received. */
  connected(): boolean
  close(): Promise<void>
}

/** Options of {@link openListener}. */
export interface ListenerOptions {
  readonly url: string
  readonly channels: readonly string[]
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  /** Interval of heartbeat queries, in milliseconds: they detect a dead connection, which reports no error by itself. */
  readonly heartbeatMs?: number
  /** First and maximum wait before the next attempt to connect, in milliseconds. */
  readonly backoffMs?: { readonly first: number; readonly max: number }
}

const queryTimeoutMs = 10_000

/** Opens a connection of its own and keeps it open: logs a loss once, and reconnects with exponential backoff and jitter. */
export const openListener = ({
  url,
  channels,
  log,
  heartbeatMs = 30_000,
  backoffMs = { first: 200, max: 10_000 },
}: ListenerOptions): Listener => {
  const subscribers = new Map<string, Set<() => void>>(channels.map((channel) => [channel, new Set()]))
  const closing = new AbortController()
  let client: pg.Client | null = null
  let isLossLogged = false

  const notify = (channel: string): void => {
    for (const onNotification of subscribers.get(channel) ?? []) onNotification()
  }

  /** Resolves when the connection is lost or the listener closes. */
  const listenOnce = async (connected: () => void): Promise<unknown> => {
    const connection = new SteadyClient({
      connectionString: url,
      application_name: 'tallyman listener',
      connectionTimeoutMillis: queryTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
    })
    const lost = new Promise<unknown>((resolve) => {
      connection.on('error', resolve)
      connection.on('end', () => resolve(new Error('the connection ended')))
      closing.signal.addEventListener('abort', () => resolve(null), { once: true })
    })
    connection.on('notification', ({ channel }) => notify(channel))
    let heartbeat: NodeJS.Timeout | undefined
    try {
      await connection.connect()
      for (const channel of channels) await connection.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      client = connection
      connected()
      const dead = new Promise<unknown>((resolve) => {
        heartbeat = setInterval(() => connection.query('SELECT 1').catch(resolve), heartbeatMs)
        heartbeat.unref()
      })
      return await Promise.race([lost, dead])
    } catch (error) {
      return error
    } finally {
      clearInterval(heartbeat)
      client = null
      // Ending a lost connection fails, or waits for an answer that never arrives; both are harmless.
      connection.end().catch(() => undefined)
    }
  }

  const run = async (): Promise<void> => {
    let tries = 0
    while (!closing.signal.aborted) {
      const reason = await listenOnce(() => {
        if (isLossLogged) log.info({ tries }, 'receiving Postgres notifications again')
        isLossLogged = false
        tries = 0
        for (const channel of channels) notify(channel)
      })
      if (closing.signal.aborted) return
      if (!isLossLogged) log.warn({ err: reason }, 'no Postgres notifications are received; reconnecting')
      isLossLogged = true
      const waitMs = Math.min(backoffMs.max, backoffMs.first * 2 ** Math.min(tries, 16))
      tries += 1
      await delay(waitMs * (0.5 + Math.random() / 2), undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    }
  }
  const running = run()

  return {
    on: (channel, onNotification) => {
      const callbacks = subscribers.get(channel)
      if (callbacks === undefined) throw new Error(`the listener was not opened for the channel ${channel}`)
      // A wrapper, so that one function may subscribe twice.
      const entry = () => onNotification()
      callbacks.add(entry)
      return () => callbacks.delete(entry)
    },
    connected: () => client !== null,
    close: async () => {
      closing.abort()
      await running
    },
  }
}
