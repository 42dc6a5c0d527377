import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Acting } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { closeSession, openSession, readSession, type StoredSession } from '../store/sessions.ts'
import { apiKeyId, type Caller, operatorCaller } from './caller.ts'
import { callerOfKey, digest, type KeyRing } from './keys.ts'

/** A session lasts so long, whatever happens in it, in milliseconds: a working day. */
const lastsMs = 12 * 3_600_000
/** How long a process believes what it has read of a session, in milliseconds: one that ends through another process ends within this time. */
const trustedForMs = 2_000
/** Sessions that a process remembers. */
const mostHeld = 1_000
const tokenBytes = 32
const cookieName = 'tallyman_session'
const tokenPattern = new RegExp(`(?:^|; *)${cookieName}=([A-Za-z0-9_-]{43})(?:;|$)`)

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
const proofOf = (token: string, keyHash: string): Buffer => createHmac('sha256', token).update(keyHash).digest()

/** The session's token in a Cookie header; null: there is none. */
export const sessionToken = (cookie: string | undefined): string | null => tokenPattern.exec(cookie ?? '')?.[1] ?? null

/** The header that gives a browser a session's token, or takes it away (null). No script reads it, and no other site makes a browser send it. */
export const sessionCookie = (token: string | null, secure: boolean): string =>
  [
    `${cookieName}=${token ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${token === null ? 0 : lastsMs / 1_000}`,
    ...(secure ? ['Secure'] : []),
  ].join('; ')

/** Sessions of people: opened with a key, and ended with it. */
export interface Sessions {
  /** Opens one with a key's text, which has been checked. */
  open(keyText: string, keyId: string, by: Acting): Promise<{ readonly token: string; readonly expiresAt: Date }>
  /** Who has this token; null: it has expired or was closed, or its key was revoked or changed. */
  find(token: string): Promise<{ readonly caller: Caller; readonly expiresAt: Date } | null>
  close(token: string, by: Acting): Promise<void>
}

/** The sessions of a database; every process knows them. `apiKey` is what API_KEY is now. */
export const createSessions = (
  database: Database,
  keys: Pick<KeyRing, 'withId'>,
  apiKey: string | null,
  nowMs: () => number = () => performance.now(),
): Sessions => {
  const held = new Map<string, { readonly session: StoredSession | null; readonly atMs: number }>()

  const stored = async (tokenHash: string): Promise<StoredSession | null> => {
    const known = held.get(tokenHash)
    if (known !== undefined && nowMs() - known.atMs < trustedForMs) return known.session
    const session = await readSession(database, tokenHash)
    held.delete(tokenHash)
    held.set(tokenHash, { session, atMs: nowMs() })
    for (const oldest of held.keys()) {
      if (held.size <= mostHeld) break
      held.delete(oldest)
    }
    return session
  }

  const find: Sessions['find'] = async (token) => {
    const session = await stored(hashOf(token))
    if (session === null || session.expiresAt.getTime() <= Date.now()) return null
    const proof = Buffer.from(session.proof, 'hex')
    const isProven = (hash: string): boolean => timingSafeEqual(proofOf(token, hash), proof)
    const isStillAccepted = async (): Promise<boolean> => (await find(token)) !== null
    const { expiresAt } = session
    if (session.keyId === apiKeyId) {
      if (apiKey === null || !isProven(digest(apiKey).toString('hex'))) return null
      return { caller: { ...operatorCaller(apiKeyId), session: true, isStillAccepted }, expiresAt }
    }
    const key = await keys.withId(session.keyId)
    if (key === null || !key.hashes.some(isProven)) return null
    return { caller: { ...callerOfKey(key, isStillAccepted), session: true }, expiresAt }
  }

  return {
    find,
    open: async (keyText, keyId, by) => {
      const token = randomBytes(tokenBytes).toString('base64url')
      const proof = proofOf(token, digest(keyText).toString('hex')).toString('hex')
      return { token, expiresAt: await openSession(database, { tokenHash: hashOf(token), keyId, proof, forMs: lastsMs }, by) }
    },
    close: async (token, by) => {
      await closeSession(database, hashOf(token), by)
      held.delete(hashOf(token))
    },
  }
}
