import { createPrivateKey, sign } from 'node:crypto'
import type { Authorisation, BareCaller } from '../caller.ts'
import type { DisplayConnection } from '../marketplace/connection.ts'

/** A clock that is off by more than this when a signature is refused was the reason for it. */
const clockSurpriseMs = 30_000

/**
 * Signs display-advertising requests (specification, Authentication; public facts, section 1.3): RSA-SHA256 with PKCS#1 v1.5 padding
 * over consumer id, epoch milliseconds and key version, each followed by a newline, in Base64. Every request has a signature of its
 * own, made by the display host's clock: how long one lives is not published, a sister service says about three minutes. A refusal
 * that speaks of the time is worth a second try, since the refusal itself shows the host's clock; any other needs other settings.
 */
export const createSignatureAuthorisation = (
  headerPrefix: string,
  display: DisplayConnection,
  bare: BareCaller,
): Authorisation => {
  const consumerId = display.consumerId.trim()
  const keyVersion = display.keyVersion.trim()
  const key = createPrivateKey(display.privateKey)
  return {
    async credentials() {
      const signedMs = bare.clock.now().getTime()
      const signature = sign('sha256', Buffer.from(`${consumerId}\n${signedMs}\n${keyVersion}\n`), key).toString('base64')
      return {
        headers: {
          authorization: `Bearer ${display.authToken}`,
          [`${headerPrefix}_CONSUMER.ID`]: consumerId,
          [`${headerPrefix}_SEC.AUTH_SIGNATURE`]: signature,
          [`${headerPrefix}_SEC.KEY_VERSION`]: keyVersion,
          [`${headerPrefix}_CONSUMER.intimestamp`]: String(signedMs),
        },
        secrets: [signature, display.authToken],
        reject(faults) {
          const told = faults.some(({ code, description }) => /time\s*stamp|expired/i.test(`${code ?? ''} ${description ?? ''}`))
          return told || Math.abs(bare.clock.now().getTime() - signedMs) > clockSurpriseMs
        },
      }
    },
  }
}
