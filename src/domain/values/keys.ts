/** What a key may be used for: reading, posting ERP events, proposing them to a person, deciding and changing. None includes another. */
export const scopes = ['read', 'events:write', 'propose', 'operate'] as const

/** One of {@link scopes}. */
export type Scope = (typeof scopes)[number]

/** First characters of every named key: people and secret scanners recognise it. */
export const keyPrefix = 'tly_'

const idLength = 12
const keyPattern = new RegExp(`^${keyPrefix}([a-z2-7]{${idLength}})_[A-Za-z0-9_-]{43}$`)

/** Id of a named key by its text; null: it does not have the form of one. */
export const parseKeyId = (text: string): string | null => keyPattern.exec(text)?.[1] ?? null

const idAlphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** A key's text from random bytes: 12 for its id (60 bits are used), 32 for its secret (all 256 bits). */
export const keyText = (idBytes: Uint8Array, secretBytes: Uint8Array): { readonly id: string; readonly text: string } => {
  const id = [...idBytes.slice(0, idLength)].map((byte) => idAlphabet[byte & 31]).join('')
  return { id, text: `${keyPrefix}${id}_${Buffer.from(secretBytes).toString('base64url')}` }
}
