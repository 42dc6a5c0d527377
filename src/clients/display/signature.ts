import { createPrivateKey, sign } from 'node:crypto'
import type { Authorisation, AuthorisationContext } from '../http/call.ts'
import type { DisplayConnection } from '../marketplace/connection.ts'

/** A larger clock error was the reason of a refused signature. */
const maxClockErrorMs = 30_000

/**
 * Signs display-advertising requests (specification, Authentication; public facts, section 1.3): RSA-SHA256 with PKCS#1 v1.5 padding
 * over consumer id, epoch milliseconds and key version, each followed by a newline, in Base64. Each request has its own signature with the display host's clock:
 * the lifetime of a signature is not published; a related service states about three minutes. After a refusal because of the time, a second attempt is useful,
 * since the refusal shows the host's clock. Any other refusal requires other settings.
 */
export const createSignatureAuthorisation = (
  headerPrefix: string,
  display: DisplayConnection,
  context: AuthorisationContext,
): Authorisation => {
  const consumerId = display.consumerId.trim()
  const keyVersion = display.keyVersion.trim()
  const key = createPrivateKey(display.privateKey)
  return {
    async credentials() {
      const signedMs = context.clock.now().getTime()
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
          const isTimeError = faults.some(({ code, description }) =>
            /time\s*stamp|expired/i.test(`${code ?? ''} ${description ?? ''}`),
          )
          return isTimeError || Math.abs(context.clock.now().getTime() - signedMs) > maxClockErrorMs
        },
      }
    },
  }
}
