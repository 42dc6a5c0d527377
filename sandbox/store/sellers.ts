import { randomUUID } from 'node:crypto'
import { type Database, toInteger, toText } from '../core/database.ts'

interface Seller {
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** Revoked credentials get no token, and tokens already given out are dead. */
  readonly revoked: boolean
  /** Its key is one that the seller has delegated to a solution provider, with access to a part of the operations. */
  readonly delegated: boolean
}

export interface SellerStore {
  put(seller: Seller): void
  list(): Seller[]
  find(sellerId: string): Seller | null
  byClientId(clientId: string): Seller | null
  /** A new token that works until `expiresAt` (virtual epoch milliseconds); earlier ones keep working until they expire. */
  issueToken(sellerId: string, expiresAt: number, now: number): string
  /** The seller that a token still speaks for; `null` when it is unknown, expired or revoked. */
  sellerOfToken(token: string, now: number): string | null
  /** When a token was given out (virtual epoch milliseconds); 0 when that is not known. */
  tokenIssuedAt(token: string): number
  dropToken(token: string): void
  dropTokens(sellerId: string): void
}

export const createSellerStore = (database: Database): SellerStore => {
  const seller = (row: ReturnType<Database['get']>): Seller | null =>
    row === undefined
      ? null
      : {
          sellerId: toText(row, 'seller_id'),
          clientId: toText(row, 'client_id'),
          clientSecret: toText(row, 'client_secret'),
          revoked: toInteger(row, 'revoked') === 1,
          delegated: toInteger(row, 'delegated') === 1,
        }
  const dropTokens = (sellerId: string): void => {
    database.run('DELETE FROM tokens WHERE seller_id = ?', sellerId)
  }
  return {
    put(given) {
      database.run(
        `INSERT INTO sellers (seller_id, client_id, client_secret, revoked, delegated) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (seller_id) DO UPDATE SET client_id = excluded.client_id, client_secret = excluded.client_secret, revoked = excluded.revoked,
           delegated = excluded.delegated`,
        given.sellerId,
        given.clientId,
        given.clientSecret,
        given.revoked ? 1 : 0,
        given.delegated ? 1 : 0,
      )
      if (given.revoked) dropTokens(given.sellerId)
    },
    list: () => database.all('SELECT * FROM sellers ORDER BY seller_id').flatMap((row) => seller(row) ?? []),
    find: (sellerId) => seller(database.get('SELECT * FROM sellers WHERE seller_id = ?', sellerId)),
    byClientId: (clientId) => seller(database.get('SELECT * FROM sellers WHERE client_id = ?', clientId)),
    issueToken(sellerId, expiresAt, now) {
      const token = `eyJ${randomUUID().replaceAll('-', '')}${randomUUID().replaceAll('-', '')}`
      database.run('DELETE FROM tokens WHERE expires_at <= ?', now)
      database.run(
        'INSERT INTO tokens (token, seller_id, expires_at, issued_at) VALUES (?, ?, ?, ?)',
        token,
        sellerId,
        expiresAt,
        now,
      )
      return token
    },
    sellerOfToken(token, now) {
      const row = database.get('SELECT seller_id FROM tokens WHERE token = ? AND expires_at > ?', token, now)
      return row === undefined ? null : toText(row, 'seller_id')
    },
    tokenIssuedAt(token) {
      const row = database.get('SELECT issued_at FROM tokens WHERE token = ?', token)
      return row === undefined ? 0 : toInteger(row, 'issued_at')
    },
    dropToken: (token) => {
      database.run('DELETE FROM tokens WHERE token = ?', token)
    },
    dropTokens,
  }
}
