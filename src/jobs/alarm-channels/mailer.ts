import { createTransport } from 'nodemailer'
import type { SmtpSettings } from '../../config/smtp.ts'

/** An e-mail. */
export interface Email {
  readonly recipients: readonly string[]
  readonly subject: string
  readonly text: string
}

/** How the attempt to send an e-mail ended. */
export type MailOutcome =
  | { readonly sent: true; readonly status: number | null; readonly refused: number }
  /** `error` is a code; never text of the server, which may quote an address. */
  | { readonly sent: false; readonly status: number | null; readonly error: string }

/** Sends e-mails by one mail server. */
export interface Mailer {
  /** One attempt. Never throws for anything that the server does. @throws the signal's reason when it is aborted */
  send(email: Email, signal: AbortSignal): Promise<MailOutcome>
}

/** Time for the connection, for the greeting, and between two answers, in milliseconds. */
const stepTimeoutMs = 10_000

const readMember = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined

const readStatus = (error: unknown): number | null => {
  const status = readMember(error, 'responseCode')
  return typeof status === 'number' ? status : null
}

const readCode = (error: unknown): string => {
  const code = readMember(error, 'code')
  return typeof code === 'string' && /^[\w-]{1,60}$/.test(code) ? code : 'unknown'
}

/**
 * A mailer; it connects for each e-mail.
 * @param timeoutMs of a whole attempt
 */
export const createMailer = ({ host, port, secure, requireTls, credentials, from }: SmtpSettings, timeoutMs: number): Mailer => {
  const transport = createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(credentials === null ? {} : { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    dnsTimeout: stepTimeoutMs,
    // The content is text; nothing of it may name a file or an address to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async ({ recipients, subject, text }, signal) => {
      signal.throwIfAborted()
      try {
        const { rejected, response } = await transport.sendMail({
          from,
          to: [...recipients],
          subject,
          text,
          // So that no automatic answer comes back (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        })
        const [, status] = /^(\d{3})/.exec(response) ?? []
        return { sent: true, status: status === undefined ? null : Number(status), refused: rejected.length }
      } catch (error) {
        signal.throwIfAborted()
        return { sent: false, status: readStatus(error), error: readCode(error) === 'EABORT' ? 'timeout' : readCode(error) }
      }
    },
  }
}
