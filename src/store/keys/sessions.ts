import type { Database, SqlRunner } from '../db/database.ts'
import { type Actor, recordAct } from './audit.ts'

/** Maximum sessions of one key; a new session ends the oldest one. */
const maxOfKey = 100

/** A stored session. */
export interface StoredSession {
  /** Id of the key that it was opened with, or `API_KEY`. */
  readonly keyId: string
  /** HMAC of the key's hash under the session's token, in hex. */
  readonly proof: string
  readonly expiresAt: Date
}

/** Opens a session for `forMs` and records it in the audit; deletes expired sessions. Returns when it expires. */
export const openSession = (
  database: Database,
  { tokenHash, keyId, proof, forMs }: Omit<StoredSession, 'expiresAt'> & { readonly tokenHash: string; readonly forMs: number },
  by: Actor,
): Promise<Date> =>
  database.transaction(async (tx) => {
    await tx.execute(
      `DELETE FROM tallyman.sessions WHERE expires_at <= now() OR token_hash IN (
         SELECT token_hash FROM tallyman.sessions WHERE key_id = $1 ORDER BY created_at DESC OFFSET $2::int)`,
      keyId,
      maxOfKey - 1,
    )
    const [opened] = await tx.query<{ expires_at: Date }>(
      `INSERT INTO tallyman.sessions (token_hash, key_id, proof, expires_at)
       VALUES ($1, $2, $3, now() + $4::bigint * interval '1 millisecond') RETURNING expires_at`,
      tokenHash,
      keyId,
      proof,
      forMs,
    )
    if (opened === undefined) throw new Error('Postgres returned no row for the inserted session')
    const details = { expiresAt: opened.expires_at.toISOString() }
    await recordAct(tx, { by, action: 'session.opened', sellerId: null, subject: keyId, reason: null, details })
    return opened.expires_at
  })

/** A session that has not expired, by the SHA-256 of its token in hex; null: there is none. */
export const readSession = async (sql: SqlRunner, tokenHash: string): Promise<StoredSession | null> => {
  const [row] = await sql.query<{ key_id: string; proof: string; expires_at: Date }>(
    `SELECT key_id, proof, expires_at FROM tallyman.sessions WHERE token_hash = $1 AND expires_at > now()`,
    tokenHash,
  )
  return row === undefined ? null : { keyId: row.key_id, proof: row.proof, expiresAt: row.expires_at }
}

/** Ends a session, if it exists, and records it in the audit. */
export const closeSession = (database: Database, tokenHash: string, by: Actor): Promise<void> =>
  database.transaction(async (tx) => {
    const { count } = await tx.prisma.session.deleteMany({ where: { tokenHash } })
    if (count === 0) return
    await recordAct(tx, { by, action: 'session.closed', sellerId: null, subject: by.keyId ?? '', reason: null })
  })
