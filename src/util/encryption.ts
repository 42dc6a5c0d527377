import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts a text with AES-256-GCM: nonce, tag and ciphertext. It can be decrypted only with the same `context`, so that it is of no use in the place of
 * another one.
 * @param key 32 bytes
 */
export const encryptText = (text: string, key: Uint8Array, context: string): Uint8Array => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context, 'utf8'))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
}

const decryptWith = (encrypted: Uint8Array, key: Uint8Array, context: string): string | null => {
  const bytes = Buffer.from(encrypted)
  if (bytes.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context, 'utf8')).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  const start = decipher.update(bytes.subarray(nonceBytes + tagBytes))
  try {
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    // The only error of `final` is a wrong tag: another key, another context, or changed bytes.
    return null
  }
}

/** The text that {@link encryptText} has encrypted with one of these keys; null: with none of them, or for another context. */
export const decryptText = (encrypted: Uint8Array, keys: readonly Uint8Array[], context: string): string | null => {
  for (const key of keys) {
    const text = decryptWith(encrypted, key, context)
    if (text !== null) return text
  }
  return null
}
