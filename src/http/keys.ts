import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { idOfKey, keyText } from '../domain/keys.ts'
import { type ActiveKey, noteKeyUsed, readActiveKeys } from '../store/api-keys.ts'
import type { SqlRunner } from '../store/database.ts'
import type { Caller } from './caller.ts'

/** How long a process believes what it has read of the keys: a key that is revoked through another process ends within this time. */
const trustedForMs = 2_000

/** Interval at which the use of a key is written down. */
const noteUseEveryMs = 60_000

const idBytes = 12
const secretBytes = 32

/** SHA-256 of a key's text. The text holds 256 random bits, so that no slow hash is needed to resist guessing. */
export const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A new key: its id, its text, which is shown once, and its hash, which is stored. With an id: another secret of that key. */
export const makeKey = (id?: string): { readonly id: string; readonly text: string; readonly hash: string } => {
  const fresh = keyText(randomBytes(idBytes), randomBytes(secretBytes))
  const text = id === undefined ? fresh.text : fresh.text.replace(fresh.id, id)
  return { id: id ?? fresh.id, text, hash: digest(text).toString('hex') }
}

/** Who acts with a named key. */
export const callerOfKey = ({ id, name, scopes, sellerIds }: ActiveKey, isStillAccepted: Caller['isStillAccepted']): Caller => ({
  name,
  keyId: id,
  scopes,
  sellers: sellerIds,
  mustSign: false,
  session: false,
  isStillAccepted,
})

/** The active keys, as this process knows them. */
export interface KeyRing {
  /** The key of a text; null: there is no such key, or it was revoked, or it is newer than what was read of the keys. */
  find(text: string): Promise<ActiveKey | null>
  /** The same, by keys that are read now. */
  findAnew(text: string): Promise<ActiveKey | null>
  /** The active key with this id; null: there is none. */
  withId(id: string): Promise<ActiveKey | null>
  /** Notes the use of a key, at most once a minute. */
  noteUsed(id: string): Promise<void>
  /** Forgets what was read: a key has changed. */
  forget(): void
}

/** Opens the keys of a database. All are held, so that using one costs no statement. */
export const createKeyRing = (sql: SqlRunner, nowMs: () => number = () => performance.now()): KeyRing => {
  let held: { readonly keys: Promise<ReadonlyMap<string, ActiveKey>>; readonly atMs: number } | null = null
  const notedAtMs = new Map<string, number>()

  const read = async (): Promise<ReadonlyMap<string, ActiveKey>> =>
    new Map((await readActiveKeys(sql)).map((key) => [key.id, key]))

  const current = (): Promise<ReadonlyMap<string, ActiveKey>> => {
    if (held !== null && nowMs() - held.atMs < trustedForMs) return held.keys
    const reading = { keys: read(), atMs: nowMs() }
    held = reading
    // What could not be read is asked for again at once; whoever waits for it is told.
    reading.keys.catch(() => {
      if (held === reading) held = null
    })
    return reading.keys
  }

  const find = async (text: string): Promise<ActiveKey | null> => {
    const id = idOfKey(text)
    if (id === null) return null
    const key = (await current()).get(id)
    if (key === undefined) return null
    const given = digest(text)
    // Each of them is compared, in constant time.
    const matching = key.hashes.filter((hash) => timingSafeEqual(Buffer.from(hash, 'hex'), given))
    return matching.length > 0 ? key : null
  }

  return {
    find,
    findAnew: (text) => {
      if (idOfKey(text) !== null) held = null
      return find(text)
    },
    withId: async (id) => (await current()).get(id) ?? null,
    noteUsed: async (id) => {
      const noted = notedAtMs.get(id)
      if (noted !== undefined && nowMs() - noted < noteUseEveryMs) return
      notedAtMs.set(id, nowMs())
      await noteKeyUsed(sql, id)
    },
    forget: () => {
      held = null
    },
  }
}
