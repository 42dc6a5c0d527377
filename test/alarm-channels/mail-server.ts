import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/** An e-mail as a mail server got it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly headers: string
  readonly text: string
}

/** A mail server that keeps what it gets. */
export interface MailServer {
  readonly port: number
  readonly received: ReceivedMail[]
  /** Refuses these recipients from now on. */
  refuse(...recipients: readonly string[]): void
  close(): Promise<void>
}

const decodeQuotedPrintable = (body: string): string =>
  Buffer.from(
    body.replace(/=\r\n/g, '').replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')

/** Starts a mail server on a port of its own, without TLS; with a password it requires the user `tallyman`. */
export const startMailServer = async (password: string | null = null): Promise<MailServer> => {
  const received: ReceivedMail[] = []
  const refused = new Set<string>()
  const smtp = new SMTPServer({
    disabledCommands: password === null ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: password === null,
    disableReverseLookup: true,
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.username === 'tallyman' && auth.password === password ? done(null, { user: 1 }) : done(new Error('wrong password')),
    onRcptTo: ({ address }, _session, done) => (refused.has(address) ? done(new Error('no such mailbox here')) : done()),
    onData: (stream, { envelope }, done) => {
      text(stream).then((raw) => {
        const end = raw.indexOf('\r\n\r\n')
        const headers = raw.slice(0, end)
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          subject: /^Subject: (.*(\r\n .*)*)$/m.exec(headers)?.[1]?.replace(/\r\n /g, ' ') ?? '',
          headers,
          text: /quoted-printable/.test(headers) ? decodeQuotedPrintable(raw.slice(end + 4)) : raw.slice(end + 4),
        })
        done()
      }, done)
    },
  })
  smtp.on('error', () => undefined)
  const server = smtp.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port')
  return {
    port: address.port,
    received,
    refuse: (...recipients) => {
      for (const recipient of recipients) refused.add(recipient)
    },
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
}
