import { createHash } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describeError, Misused } from './errors.ts'

/** An HTTP request that carries events: CloudEvents 1.0 in structured or batch mode, signed with Standard Webhooks. */
export interface EventsRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Builds the request for events: one event in structured mode, a list in batch mode. @throws Misused when the secret is invalid */
export const buildEventsRequest = (
  events: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[],
  secret: string | null,
  now: Date,
): EventsRequest => {
  const body = JSON.stringify(events)
  const type = Array.isArray(events) ? 'application/cloudevents-batch+json' : 'application/cloudevents+json'
  return { headers: { 'content-type': `${type}; charset=utf-8`, ...(secret === null ? {} : signBody(body, secret, now)) }, body }
}

// The id is a hash of the content: repeated events have the same id, as Standard Webhooks requires.
/** The headers of Standard Webhooks for a body. @throws Misused when the secret is invalid */
export const signBody = (body: string, secret: string, now: Date): Record<string, string> => {
  const id = `msg_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`
  try {
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    }
  } catch (error) {
    throw new Misused(`EVENTS_SECRET cannot sign: ${describeError(error)}; it must be whsec_ followed by base64`)
  }
}
