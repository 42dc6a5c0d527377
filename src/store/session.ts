import { Socket } from 'node:net'
import type pg from 'pg'
import { SteadyClient } from '../steady-client.ts'

declare module 'pg' {
  interface ClientBase {
    /** What the client asks for when it connects. */
    getStartupConf(): Record<string, string>
  }
}

/**
 * A client whose session is in UTC and writes times by ISO 8601, whatever the server, the database or the role is set to: typed queries take every
 * time for one of UTC. Asked for at the start of the connection, where poolers take these two and keep them for each of their clients.
 */
export class UtcClient extends SteadyClient {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC', DateStyle: 'ISO' }
  }
}

/**
 * How long the server lets one of our sessions block others. A process that is frozen, or cut off from the server, keeps its locks no
 * longer than this: all others wait for them. In milliseconds.
 */
export interface SessionBounds {
  /** A transaction in which nothing is asked for: the process that opened it is frozen or gone. */
  readonly idleInTransactionMs: number
  /** One wait for a lock. Longer than an idle transaction may live, so that a session that waits for a frozen one outlives it. */
  readonly lockMs: number
  /** One statement, its waits included. */
  readonly statementMs: number
  /** A transaction, whatever it does; only servers from version 17 on know this one. */
  readonly transactionMs: number
  /** On our side: a connection on which nothing has come for so long, longer than any statement may take, is given up. */
  readonly silenceMs: number
}

/** The bounds of the daemon's sessions. */
export const sessionBounds: SessionBounds = {
  idleInTransactionMs: 10_000,
  lockMs: 20_000,
  statementMs: 60_000,
  transactionMs: 120_000,
  silenceMs: 75_000,
}

// A server notices within half a minute that a client's machine is gone: probes every five seconds, after ten quiet ones.
const networkSettings = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '20000',
} as const

// Set by a statement and not at the start-up of the connection: poolers refuse start-up parameters that they do not know, and DATABASE_URL
// may carry options of its own. What the server does not know (older versions) or what is set tighter already stays as it is. On a Unix
// socket the network settings are 0 and mean nothing.
const wantedSettings = `
  FROM jsonb_each_text($1::jsonb) AS w (name, value)
  JOIN pg_catalog.pg_settings s ON s.name = w.name
  WHERE s.setting ~ '^-?[0-9]+$' AND (s.setting::bigint <= 0 OR s.setting::bigint > w.value::bigint)`
const bound = `SELECT set_config(s.name, w.value, false) ${wantedSettings}`
const wantedInTransactions = `SELECT s.name, w.value ${wantedSettings} ORDER BY 1`

const timeouts = (bounds: SessionBounds) => ({
  idle_in_transaction_session_timeout: String(bounds.idleInTransactionMs),
  lock_timeout: String(bounds.lockMs),
  statement_timeout: String(bounds.statementMs),
  transaction_timeout: String(bounds.transactionMs),
})

const socketOf = (client: pg.ClientBase): Socket | null => {
  const connection: unknown = Reflect.get(client, 'connection')
  const stream: unknown = typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : null
  return stream instanceof Socket ? stream : null
}

const boundSilence = (client: pg.ClientBase, { silenceMs }: SessionBounds): void => {
  const socket = socketOf(client)
  socket?.setTimeout(silenceMs, () => {
    socket.destroy(new Error('Postgres has not answered for longer than any statement may take'))
  })
}

/**
 * Bounds a session, on the server's side and on ours; for every new connection, before it is used. Behind a partition nobody would tell
 * us for a quarter of an hour that the server is gone.
 */
export const boundSession = async (client: pg.ClientBase, bounds: SessionBounds = sessionBounds): Promise<void> => {
  boundSilence(client, bounds)
  await client.query(bound, [JSON.stringify({ ...timeouts(bounds), ...networkSettings })])
}

/** Bounds of what goes through a pooler in transaction mode, where sessions are those of all its clients: they hold for one transaction each. */
export interface TransactionBounds {
  /** Bounds a new connection on our side. */
  bound(client: pg.ClientBase): Promise<void>
  /** What begins each transaction; empty where the server, or the role, bounds them tighter. */
  statement(): string
}

/** As {@link boundSession} where each session serves many clients: none of it outlives its transaction. */
export const boundTransactions = (bounds: SessionBounds = sessionBounds): TransactionBounds => {
  let statement = ''
  return {
    bound: async (client) => {
      boundSilence(client, bounds)
      const { rows } = await client.query<{ name: string; value: string }>(wantedInTransactions, [
        JSON.stringify(timeouts(bounds)),
      ])
      statement = rows.map(({ name, value }) => `SET LOCAL ${name} = ${value}`).join('; ')
    },
    statement: () => statement,
  }
}
