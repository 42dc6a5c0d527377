import { randomUUID } from 'node:crypto'
import { type Database, type Row, toInteger, toText } from '../core/database.ts'

/** `active`: accepted. `replaced`: another one was issued in its place. `revoked`: the seller has withdrawn its consent. */
export type ConnectionState = 'active' | 'replaced' | 'revoked'

/** A refresh token: the access of an app of a solution provider to a seller. */
export interface Connection {
  readonly refreshToken: string
  readonly clientId: string
  readonly sellerId: string
  readonly state: ConnectionState
  /** Whether each use replaces the token. */
  readonly rotates: boolean
}

/** The apps of solution providers, and the sellers that have authorised them. */
export interface ConnectionStore {
  /** Adds an app, or changes its secret. */
  putApp(clientId: string, clientSecret: string): void
  /** The secret of an app; `null`: there is no such app. */
  findSecret(clientId: string): string | null
  /** Issues a refresh token. Earlier ones of the same app and seller are replaced. */
  issue(connection: Pick<Connection, 'clientId' | 'sellerId' | 'rotates'>): Connection
  find(refreshToken: string): Connection | null
  /** All of them, oldest first. */
  list(): readonly Connection[]
  /** Revokes all refresh tokens of an app for a seller. The number of those that were active. */
  revoke(clientId: string, sellerId: string): number
}

const states: readonly ConnectionState[] = ['active', 'replaced', 'revoked']

const readState = (row: Row): ConnectionState => {
  const text = toText(row, 'state')
  const state = states.find((one) => one === text)
  if (state === undefined) throw new TypeError(`${text} is no state of a refresh token`)
  return state
}

const toConnection = (row: Row): Connection => ({
  refreshToken: toText(row, 'token'),
  clientId: toText(row, 'client_id'),
  sellerId: toText(row, 'seller_id'),
  state: readState(row),
  rotates: toInteger(row, 'rotates') === 1,
})

export const createConnectionStore = (database: Database): ConnectionStore => ({
  putApp(clientId, clientSecret) {
    database.run(
      `INSERT INTO apps (client_id, client_secret) VALUES (?, ?) ON CONFLICT (client_id) DO UPDATE SET client_secret = excluded.client_secret`,
      clientId,
      clientSecret,
    )
  },
  findSecret(clientId) {
    const row = database.get('SELECT client_secret FROM apps WHERE client_id = ?', clientId)
    return row === undefined ? null : toText(row, 'client_secret')
  },
  issue: ({ clientId, sellerId, rotates }) =>
    database.transaction(() => {
      database.run(
        `UPDATE refresh_tokens SET state = 'replaced' WHERE client_id = ? AND seller_id = ? AND state = 'active'`,
        clientId,
        sellerId,
      )
      const refreshToken = `rt-${randomUUID()}${randomUUID()}`
      database.run(
        `INSERT INTO refresh_tokens (token, client_id, seller_id, state, rotates, number)
         VALUES (?, ?, ?, 'active', ?, (SELECT COUNT(*) FROM refresh_tokens))`,
        refreshToken,
        clientId,
        sellerId,
        rotates ? 1 : 0,
      )
      return { refreshToken, clientId, sellerId, state: 'active', rotates }
    }),
  find(refreshToken) {
    const row = database.get('SELECT * FROM refresh_tokens WHERE token = ?', refreshToken)
    return row === undefined ? null : toConnection(row)
  },
  list: () => database.all('SELECT * FROM refresh_tokens ORDER BY number').map(toConnection),
  revoke: (clientId, sellerId) => {
    const active = database.all(
      `SELECT token FROM refresh_tokens WHERE client_id = ? AND seller_id = ? AND state = 'active'`,
      clientId,
      sellerId,
    )
    database.run(`UPDATE refresh_tokens SET state = 'revoked' WHERE client_id = ? AND seller_id = ?`, clientId, sellerId)
    return active.length
  },
})
