/** The mail server of alarms. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (`smtps:`). */
  readonly secure: boolean
  /** The connection must become secure by STARTTLS. */
  readonly requireTls: boolean
  readonly credentials: { readonly user: string; readonly password: string } | null
  /** Sender of the e-mails. */
  readonly from: string
}

const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Standard ports: submission, and submission over TLS. */
const ports = { 'smtp:': 587, 'smtps:': 465 } as const

/**
 * The mail server in an address. A password is sent over TLS only, except to this machine.
 * @param address `smtp://…` or `smtps://…`
 */
export const parseSmtpAddress = (address: string, from: string): SmtpSettings => {
  const url = new URL(address)
  const secure = url.protocol === 'smtps:'
  const credentials =
    url.username === '' ? null : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? ports[secure ? 'smtps:' : 'smtp:'] : Number(url.port),
    secure,
    requireTls: !secure && credentials !== null && !loopbackHosts.has(url.hostname),
    credentials,
    from,
  }
}
