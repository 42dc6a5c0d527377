import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { keyText, parseKeyId } from '../../domain/values/keys.ts'
import type { SqlRunner } from '../../store/db/database.ts'
import { type ActiveKey, noteKeyUsed, readActiveKeys } from '../../store/keys/api-keys.ts'

/** How long the keys that were read are cached, in milliseconds. A key that is revoked through another process is accepted no longer than this. */
const cacheMs = 2_000

/** Interval at which the use of a key is stored, in milliseconds. */
const noteUseEveryMs = 60_000

const idBytes = 12
const secretBytes = 32

/** SHA-256 of a key's text. The text has 256 random bits, so no slow hash is needed against guessing. */
export const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A new key: its id, its text (shown once) and its hash (stored). With an id: another secret of that key. */
export const makeKey = (id?: string): { readonly id: string; readonly text: string; readonly hash: string } => {
  const fresh = keyText(randomBytes(idBytes), randomBytes(secretBytes))
  const text = id === undefined ? fresh.text : fresh.text.replace(fresh.id, id)
  return { id: id ?? fresh.id, text, hash: digest(text).toString('hex') }
}

/** The active keys, cached by this process. */
export interface KeyRing {
  /** The key with this text; null: it does not exist, was revoked, or is newer than the cache. */
  find(text: string): Promise<ActiveKey | null>
  /** Reads the keys again; then as `find`. */
  refreshAndFind(text: string): Promise<ActiveKey | null>
  /** The active key with this id; null: there is none. */
  findById(id: string): Promise<ActiveKey | null>
  /** Stores the time of use of a key, at most once a minute. */
  noteUsed(id: string): Promise<void>
  /** Empties the cache, after a key has changed. */
  invalidate(): void
}

/** Opens the keys of a database. All of them are cached, so using one costs no statement. */
export const createKeyRing = (sql: SqlRunner, nowMs: () => number = () => performance.now()): KeyRing => {
  let cached: { readonly keys: Promise<ReadonlyMap<string, ActiveKey>>; readonly atMs: number } | null = null
  const notedAtMs = new Map<string, number>()

  const read = async (): Promise<ReadonlyMap<string, ActiveKey>> =>
    new Map((await readActiveKeys(sql)).map((key) => [key.id, key]))

  const current = (): Promise<ReadonlyMap<string, ActiveKey>> => {
    if (cached !== null && nowMs() - cached.atMs < cacheMs) return cached.keys
    const reading = { keys: read(), atMs: nowMs() }
    cached = reading
    // A failed read is not cached. Its error reaches the callers through the returned promise.
    reading.keys.catch(() => {
      if (cached === reading) cached = null
    })
    return reading.keys
  }

  const find = async (text: string): Promise<ActiveKey | null> => {
    const id = parseKeyId(text)
    if (id === null) return null
    const key = (await current()).get(id)
    if (key === undefined) return null
    const given = digest(text)
    // Every hash is compared, in constant time: the duration reveals nothing.
    const matching = key.hashes.filter((hash) => timingSafeEqual(Buffer.from(hash, 'hex'), given))
    return matching.length > 0 ? key : null
  }

  return {
    find,
    refreshAndFind: (text) => {
      if (parseKeyId(text) !== null) cached = null
      return find(text)
    },
    findById: async (id) => (await current()).get(id) ?? null,
    noteUsed: async (id) => {
      const noted = notedAtMs.get(id)
      if (noted !== undefined && nowMs() - noted < noteUseEveryMs) return
      notedAtMs.set(id, nowMs())
      await noteKeyUsed(sql, id)
    },
    invalidate: () => {
      cached = null
    },
  }
}
