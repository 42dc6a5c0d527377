/** A server in messages about TLS, with the settings to correct. */
export interface TlsServer {
  readonly name: string
  /** The setting that names the certificate authority. */
  readonly authority: string
  /** The settings that name our own certificate and its key. */
  readonly own: string
}

type BuildMessage = (server: TlsServer) => string

// Recognised by their messages: some libraries keep nothing else of the error.
const messages: readonly (readonly [RegExp, BuildMessage])[] = [
  [
    /self-signed certificate|unable to (verify the first|get (local )?issuer) certificate|certificate signature failure/i,
    ({ name, authority }) =>
      `the certificate of ${name} is signed by an authority that is not trusted: name the file of that authority in ${authority}`,
  ],
  [
    /certificate has expired|certificate is not yet valid/i,
    ({ name }) => `the certificate of ${name} is not valid at this time: renew it, or correct the clock`,
  ],
  [
    /does not match certificate's altnames/i,
    ({ name }) => `the certificate of ${name} is for other names: use one of them in the address, or have it issued for this one`,
  ],
  [
    /alert (certificate required|bad certificate|unknown ca)|requires a valid client certificate/i,
    ({ name, own }) => `${name} wants a certificate of ours that it trusts: name it and its key in ${own}`,
  ],
  [
    /wrong version number|packet length too long|does not support SSL connections/i,
    ({ name }) => `${name} does not speak TLS at this port`,
  ],
]

/** Why a TLS handshake failed, and what to do, as a sentence; null if the error is not about TLS. */
export const describeTlsError = (message: string, server: TlsServer): string | null =>
  messages.find(([pattern]) => pattern.test(message))?.[1](server) ?? null
