import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Database } from '../../store/db/database.ts'
import type { Actor } from '../../store/keys/audit.ts'
import { closeSession, openSession, readSession, type StoredSession } from '../../store/keys/sessions.ts'
import { apiKeyId, buildKeyCaller, type Caller, operatorCaller } from './caller.ts'
import { digest, type KeyRing } from './keys.ts'

/** Duration of a session, regardless of its use, in milliseconds: a working day. */
const sessionMs = 12 * 3_600_000
/** How long a session that was read is cached, in milliseconds. A session that ends through another process is accepted no longer than this. */
const cacheMs = 2_000
/** Sessions in the cache of a process. */
const maxCached = 1_000
const tokenBytes = 32
const cookieName = 'tallyman_session'
const tokenPattern = new RegExp(`(?:^|; *)${cookieName}=([A-Za-z0-9_-]{43})(?:;|$)`)

const hashText = (token: string): string => createHash('sha256').update(token).digest('hex')
const buildProof = (token: string, keyHash: string): Buffer => createHmac('sha256', token).update(keyHash).digest()

/** The session's token in a Cookie header; null: there is none. */
export const sessionToken = (cookie: string | undefined): string | null => tokenPattern.exec(cookie ?? '')?.[1] ?? null

/** The Set-Cookie header that stores a session's token in a browser, or deletes it (null). Scripts cannot read the cookie; other sites cannot send it. */
export const sessionCookie = (token: string | null, secure: boolean): string =>
  [
    `${cookieName}=${token ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${token === null ? 0 : sessionMs / 1_000}`,
    ...(secure ? ['Secure'] : []),
  ].join('; ')

/** Sessions of people. A session ends with the key that opened it. */
export interface Sessions {
  /** Opens a session with the text of a key that has been checked. */
  open(keyText: string, keyId: string, by: Actor): Promise<{ readonly token: string; readonly expiresAt: Date }>
  /** The session with this token; null: it has expired or was closed, or its key was revoked or changed. */
  find(token: string): Promise<{ readonly caller: Caller; readonly expiresAt: Date } | null>
  close(token: string, by: Actor): Promise<void>
}

/** The sessions of a database, shared by all processes. `apiKey`: the current API_KEY. */
export const createSessions = (
  database: Database,
  keys: Pick<KeyRing, 'findById'>,
  apiKey: string | null,
  nowMs: () => number = () => performance.now(),
): Sessions => {
  const cache = new Map<string, { readonly session: StoredSession | null; readonly atMs: number }>()

  const readCached = async (tokenHash: string): Promise<StoredSession | null> => {
    const cached = cache.get(tokenHash)
    if (cached !== undefined && nowMs() - cached.atMs < cacheMs) return cached.session
    const session = await readSession(database, tokenHash)
    cache.delete(tokenHash)
    cache.set(tokenHash, { session, atMs: nowMs() })
    for (const oldest of cache.keys()) {
      if (cache.size <= maxCached) break
      cache.delete(oldest)
    }
    return session
  }

  const find: Sessions['find'] = async (token) => {
    const session = await readCached(hashText(token))
    if (session === null || session.expiresAt.getTime() <= Date.now()) return null
    const proof = Buffer.from(session.proof, 'hex')
    const isProven = (hash: string): boolean => timingSafeEqual(buildProof(token, hash), proof)
    const isStillAccepted = async (): Promise<boolean> => (await find(token)) !== null
    const { expiresAt } = session
    if (session.keyId === apiKeyId) {
      if (apiKey === null || !isProven(digest(apiKey).toString('hex'))) return null
      return { caller: { ...operatorCaller(apiKeyId), session: true, isStillAccepted }, expiresAt }
    }
    const key = await keys.findById(session.keyId)
    if (key === null || !key.hashes.some(isProven)) return null
    return { caller: { ...buildKeyCaller(key, isStillAccepted), session: true }, expiresAt }
  }

  return {
    find,
    open: async (keyText, keyId, by) => {
      const token = randomBytes(tokenBytes).toString('base64url')
      const proof = buildProof(token, digest(keyText).toString('hex')).toString('hex')
      return { token, expiresAt: await openSession(database, { tokenHash: hashText(token), keyId, proof, forMs: sessionMs }, by) }
    },
    close: async (token, by) => {
      await closeSession(database, hashText(token), by)
      cache.delete(hashText(token))
    },
  }
}
