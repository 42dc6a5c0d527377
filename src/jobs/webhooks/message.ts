import { Webhook } from 'standardwebhooks'
import type { Change } from '../../domain/changes/change.ts'
import { buildChangeEvent } from '../../domain/changes/cloud-event.ts'

/** A message as it is sent. */
export interface WebhookMessage {
  /** `webhook-id`: the same for every attempt, so that a receiver knows a message again. */
  readonly id: string
  /** A CloudEvent in structured mode. */
  readonly body: string
}

/** Media type of the body. */
const contentType = 'application/cloudevents+json; charset=utf-8'

/** The message of a change for an endpoint: the same CloudEvent as the feed serves. */
export const buildMessage = (endpointId: string, change: Change): WebhookMessage => ({
  id: `${endpointId}_${change.seq}`,
  body: JSON.stringify(buildChangeEvent(change)),
})

/** Type of a test message. */
export const testType = 'webhook.test'

/** A message that says nothing but that messages arrive. */
export const testMessage = (endpointId: string, id: string, now: Date): WebhookMessage => ({
  id: `${endpointId}_${id}`,
  body: JSON.stringify({
    specversion: '1.0',
    id,
    source: 'urn:tallyman:webhooks',
    type: testType,
    subject: endpointId,
    time: now,
    datacontenttype: 'application/json',
    data: { endpointId },
  }),
})

/** Headers of a message, signed with each of the secrets (Standard Webhooks 1.0): a receiver accepts it when it knows one of them. */
export const buildHeaders = (
  { id, body }: WebhookMessage,
  secrets: readonly string[],
  { now, userAgent }: { readonly now: Date; readonly userAgent: string },
): Readonly<Record<string, string>> => ({
  'content-type': contentType,
  'user-agent': userAgent,
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
})
