import { type ChannelKind, channelRetryDelayMs } from '../../domain/alarms/alarm-channels.ts'
import { type AlarmMessage, buildAlarmMessage, buildTestMessage } from '../../domain/alarms/alarm-message.ts'
import { claimChannel, releaseChannel, settleSent, settleUnsent } from '../../store/alarms/alarm-notices.ts'
import type { Database } from '../../store/db/database.ts'
import type { WebhookTransport } from '../webhooks/transport.ts'
import { buildEmail, buildSlackBody, buildTeamsBody } from './formats.ts'
import type { Mailer } from './mailer.ts'

/** What messages are sent with. */
export interface ChannelParts {
  readonly database: Database
  /** Sends to Slack and Teams, with the rules for addresses of webhooks. */
  readonly transport: WebhookTransport
  /** Null: no mail server is set. */
  readonly mailer: Mailer | null
  /** Address of the console for links; null: messages have none. */
  readonly consoleUrl: string | null
  /** `user-agent` of every request. */
  readonly userAgent: string
  /** Called after every attempt. */
  readonly onOutcome: (kind: ChannelKind, outcome: 'sent' | 'failed') => void
}

/** How an attempt to send a message ended. */
export interface SendOutcome {
  readonly delivered: boolean
  /** HTTP status, or status of the mail server; null: there was no answer. */
  readonly status: number | null
  /** Why there was no answer, or what was not accepted: a code; null: nothing. */
  readonly error: string | null
  /** What the receiver asks to wait, in milliseconds. */
  readonly retryAfterMs: number | null
}

const sendEmail = async (
  { mailer }: ChannelParts,
  address: string,
  message: AlarmMessage,
  signal: AbortSignal,
): Promise<SendOutcome> => {
  if (mailer === null) return { delivered: false, status: null, error: 'smtp-not-set', retryAfterMs: null }
  const outcome = await mailer.send({ recipients: address.split(','), ...buildEmail(message) }, signal)
  if (!outcome.sent) return { delivered: false, status: outcome.status, error: outcome.error, retryAfterMs: null }
  return {
    delivered: true,
    status: outcome.status,
    error: outcome.refused === 0 ? null : `${outcome.refused}-recipients-refused`,
    retryAfterMs: null,
  }
}

const send = async (
  parts: ChannelParts,
  { kind, address }: { readonly kind: ChannelKind; readonly address: string },
  message: AlarmMessage,
  signal: AbortSignal,
): Promise<SendOutcome> => {
  if (kind === 'email') return sendEmail(parts, address, message, signal)
  const body = kind === 'slack' ? buildSlackBody(message) : buildTeamsBody(message)
  const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': parts.userAgent }
  const { httpStatus, error, retryAfterMs } = await parts.transport.post({ url: address, headers, body, signal })
  const delivered = httpStatus !== null && httpStatus >= 200 && httpStatus <= 299
  return { delivered, status: httpStatus, error, retryAfterMs }
}

const count = async (parts: ChannelParts, kind: ChannelKind, attempt: Promise<SendOutcome>): Promise<SendOutcome> => {
  const outcome = await attempt
  parts.onOutcome(kind, outcome.delivered ? 'sent' : 'failed')
  return outcome
}

/** So much longer than an attempt no other process begins one: the rest is for Postgres. */
const leaseMarginMs = 20_000

/** The outcome of an attempt as the channel shows it. */
const formatFailure = ({ status, error }: SendOutcome): string =>
  [...(error === null ? [] : [error]), ...(status === null ? [] : [`status ${status}`])].join(', ')

/**
 * Sends a channel one message about all alarms that are due to it, and records them. At least once: after a crash between sending and recording it is sent
 * again. Returns the time until the next attempt in milliseconds; null: nothing is left.
 * @throws the signal's reason when it is aborted; nothing is recorded then
 */
export const sendDueAlarms = async (parts: ChannelParts, channelId: string, signal: AbortSignal): Promise<number | null> => {
  const { database, transport, consoleUrl } = parts
  const channel = await claimChannel(database, channelId, transport.timeoutMs + leaseMarginMs)
  if (channel === null) return null
  const message = buildAlarmMessage(channel.notices, consoleUrl)
  const outcome = await count(parts, channel.kind, send(parts, channel, message, signal)).catch(async (error: unknown) => {
    // If that fails too, the lease ends by itself.
    await Promise.allSettled([releaseChannel(database, channelId)])
    throw error
  })
  if (outcome.delivered) {
    await settleSent(database, channel, outcome.error)
    return null
  }
  const delayMs = channelRetryDelayMs(channel.failures + 1, outcome.retryAfterMs)
  await settleUnsent(database, channel, { error: formatFailure(outcome), delayMs })
  return delayMs
}

/** Sends a test message now, once, in every state of the channel. */
export const sendTest = (
  parts: ChannelParts,
  channel: { readonly name: string; readonly kind: ChannelKind; readonly address: string },
  signal: AbortSignal,
): Promise<SendOutcome> =>
  count(parts, channel.kind, send(parts, channel, buildTestMessage(channel.name, parts.consoleUrl), signal))
