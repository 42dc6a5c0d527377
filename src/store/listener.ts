import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SteadyClient } from '../steady-client.ts'

/** Hears Postgres notifications. A hint only: a process that is woken looks at the tables, and also looks now and then without one. */
export interface Listener {
  /**
   * Calls back at every notification on the channel, and whenever the connection is back (some may have been missed).
   * Answers a function that ends it. A callback must not throw.
   */
  on(channel: string, heard: () => void): () => void
  /** Whether notifications are heard right now. */
  connected(): boolean
  close(): Promise<void>
}

/** What a listener needs. */
export interface ListenerOptions {
  readonly url: string
  readonly channels: readonly string[]
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  /** How often the connection is asked whether it lives, in milliseconds: a dead one would stay silent for ever. */
  readonly heartbeatMs?: number
  /** First and longest wait before the next try to connect, in milliseconds. */
  readonly backoffMs?: { readonly first: number; readonly longest: number }
}

const queryTimeoutMs = 10_000

/** Opens one connection of its own and keeps it: the loss of one is reported once, and it is opened again after growing, jittered waits. */
export const openListener = ({
  url,
  channels,
  log,
  heartbeatMs = 30_000,
  backoffMs = { first: 200, longest: 10_000 },
}: ListenerOptions): Listener => {
  const heardBy = new Map<string, Set<() => void>>(channels.map((channel) => [channel, new Set()]))
  const closing = new AbortController()
  let client: pg.Client | null = null
  let troubled = false

  const wake = (channel: string): void => {
    for (const heard of heardBy.get(channel) ?? []) heard()
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
    connection.on('notification', ({ channel }) => wake(channel))
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
      // Ending a connection that is lost already fails, or waits for an answer that never comes: neither matters any more.
      connection.end().catch(() => undefined)
    }
  }

  const run = async (): Promise<void> => {
    let tries = 0
    while (!closing.signal.aborted) {
      const reason = await listenOnce(() => {
        if (troubled) log.info({ tries }, 'hearing Postgres notifications again')
        troubled = false
        tries = 0
        for (const channel of channels) wake(channel)
      })
      if (closing.signal.aborted) return
      if (!troubled) log.warn({ err: reason }, 'Postgres notifications are not heard; trying to connect again')
      troubled = true
      const bound = Math.min(backoffMs.longest, backoffMs.first * 2 ** Math.min(tries, 16))
      tries += 1
      await delay(bound * (0.5 + Math.random() / 2), undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    }
  }
  const running = run()

  return {
    on: (channel, heard) => {
      const all = heardBy.get(channel)
      if (all === undefined) throw new Error(`the listener was not opened for the channel ${channel}`)
      // A wrapper of its own, so that one function may be registered twice.
      const entry = () => heard()
      all.add(entry)
      return () => all.delete(entry)
    },
    connected: () => client !== null,
    close: async () => {
      closing.abort()
      await running
    },
  }
}
