import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What was agreed with the sandbox's only integrator when it was onboarded; it stays through every reset. */
export interface DisplayIdentity {
  readonly consumerId: string
  readonly authToken: string
  readonly keyVersion: string
  readonly advertiserId: number
  /** Verifies signatures made with the private key in `display-private-key.pem`. */
  readonly publicKey: KeyObject
}

const privateKeyFile = 'display-private-key.pem'

/**
 * The identity that signs display-advertising requests. At the first start a 2048-bit RSA key pair is made (public facts, section
 * 1.3); the private key lies in `dataDir` (PKCS#8 PEM, readable by the owner only) for the signing client.
 */
export const openDisplayIdentity = (dataDir: string): DisplayIdentity => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, privateKeyFile)
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  return {
    consumerId: 'sandbox-consumer',
    authToken: 'sandbox-display-token',
    keyVersion: '1',
    advertiserId: 10001,
    publicKey: createPublicKey(readFileSync(path, 'utf8')),
  }
}
