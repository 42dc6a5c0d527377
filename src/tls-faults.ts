/** A server as messages name it, and where the settings name what TLS needs. */
export interface TlsServer {
  readonly name: string
  /** The setting that names the certificate authority. */
  readonly authority: string
  /** The settings that name our own certificate and its key. */
  readonly own: string
}

type Saying = (server: TlsServer) => string

// By their messages: some libraries keep nothing else of the error.
const sayings: readonly (readonly [RegExp, Saying])[] = [
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

/** Why TLS with a server does not come about, and what to do, as a sentence; null where the error is about something else. */
export const tlsSaying = (message: string, server: TlsServer): string | null =>
  sayings.find(([pattern]) => pattern.test(message))?.[1](server) ?? null
