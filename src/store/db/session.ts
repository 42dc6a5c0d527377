import { Socket } from 'node:net'
import type pg from 'pg'
import { SteadyClient } from '../../util/net/postgres-client.ts'

declare module 'pg' {
  interface ClientBase {
    /** The startup parameters of a connection. */
    getStartupConf(): Record<string, string>
  }
}

/**
 * A client whose session uses UTC and ISO 8601, independent of the settings of the server, the database or the role: typed queries assume UTC.
 * These are startup parameters, which poolers accept and keep for each of their clients.
 */
export class UtcClient extends SteadyClient {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC', DateStyle: 'ISO' }
  }
}

/**
 * Timeouts of a session, in milliseconds. They limit how long a frozen or disconnected process keeps its locks, for which all others wait.
 */
export interface SessionBounds {
  /** A transaction without statements: its process is frozen or has ended. */
  readonly idleInTransactionMs: number
  /** One wait for a lock. Longer than `idleInTransactionMs`, so that a session that waits for a frozen one outlives it. */
  readonly lockMs: number
  /** One statement, including its waits. */
  readonly statementMs: number
  /** A whole transaction; only servers of version 17 and later support it. */
  readonly transactionMs: number
  /** On our side: a connection on which nothing was received for this time is closed. Longer than any statement may take. */
  readonly silenceMs: number
}

/** The timeouts of the daemon's sessions. */
export const sessionBounds: SessionBounds = {
  idleInTransactionMs: 10_000,
  lockMs: 20_000,
  statementMs: 60_000,
  transactionMs: 120_000,
  silenceMs: 75_000,
}

// The server detects within half a minute that a client's machine is unreachable: probes every five seconds, after ten idle seconds.
const networkSettings = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '20000',
} as const

// Set by a statement, not as startup parameters: poolers reject startup parameters that they do not know, and DATABASE_URL may have options of its own.
// Settings that an older server does not have, and stricter ones, stay unchanged. On a Unix socket the network settings are 0 and have no effect.
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

const findSocket = (client: pg.ClientBase): Socket | null => {
  const connection: unknown = Reflect.get(client, 'connection')
  const stream: unknown = typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : null
  return stream instanceof Socket ? stream : null
}

const boundSilence = (client: pg.ClientBase, { silenceMs }: SessionBounds): void => {
  const socket = findSocket(client)
  socket?.setTimeout(silenceMs, () => {
    socket.destroy(new Error('Postgres has not answered for longer than any statement may take'))
  })
}

/**
 * Sets the timeouts of a new connection, on the server and on our side. Without ours, a network partition would be detected only after a quarter of an
 * hour.
 */
export const boundSession = async (client: pg.ClientBase, bounds: SessionBounds = sessionBounds): Promise<void> => {
  boundSilence(client, bounds)
  await client.query(bound, [JSON.stringify({ ...timeouts(bounds), ...networkSettings })])
}

/** Timeouts behind a pooler in transaction mode, where all clients share the sessions: they are set for each transaction. */
export interface TransactionBounds {
  /** Sets the timeout of a new connection on our side. */
  bound(client: pg.ClientBase): Promise<void>
  /** The first statements of each transaction; empty: the server, or the role, has stricter timeouts. */
  statement(): string
}

/** As {@link boundSession}, behind a pooler in transaction mode. */
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
