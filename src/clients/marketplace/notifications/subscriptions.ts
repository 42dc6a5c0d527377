import { wireEventTypes, wireSubscriptions } from '../../contract/subscriptions.ts'
import type { Answer, Call } from '../../http/call.ts'
import type { CallOptions } from '../../http/call-options.ts'
import type { Operations } from '../../http/endpoint.ts'
import { perMinute } from '../../http/operation.ts'
import { endpoint, type Host } from '../endpoint.ts'
import { type ProofMode, proofModes } from './proof-modes.ts'

/** An event type that can be subscribed to. */
export interface EventType {
  readonly eventType: string
  readonly eventVersion: string
  readonly resourceName: string
}

/** How the marketplace proves its notifications, always in the Authorization header (public facts, section 15). */
export type NotificationProof =
  | { readonly mode: 'basic'; readonly user: string; readonly password: string }
  | { readonly mode: 'hmac'; readonly secret: string }
  | { readonly mode: 'oauth'; readonly tokenUrl: string; readonly clientId: string; readonly clientSecret: string }

/** A subscription of the seller. */
export interface Subscription {
  readonly id: string
  readonly eventType: string
  /** Null: the marketplace does not name it. */
  readonly resourceName: string | null
  readonly url: string
  readonly isActive: boolean
  /** Null: none, or one that is not known. */
  readonly mode: ProofMode | null
}

/** Where and how notifications are sent. */
export interface Destination {
  readonly url: string
  readonly proof: NotificationProof
}

/** The seller's subscriptions to notifications. Every method throws a `MarketplaceFailure`. */
export interface SubscriptionsClient {
  listEventTypes(options: CallOptions): Promise<readonly EventType[]>
  list(options: CallOptions): Promise<readonly Subscription[]>
  /** Subscribes to all of them in one request. It is not known whether the marketplace refuses a second subscription to the same event. */
  create(eventTypes: readonly EventType[], destination: Destination, options: CallOptions): Promise<readonly Subscription[]>
  /** Makes a subscription active, with this destination. */
  update(id: string, destination: Destination, options: CallOptions): Promise<void>
  remove(id: string, options: CallOptions): Promise<void>
  /** Has the marketplace send a sample. Its message; it refuses if the destination did not accept the sample. */
  test(eventType: EventType, destination: Destination, options: CallOptions): Promise<string>
}

/** Limits: public facts, section 5.1. */
const operations = {
  eventTypes: { name: 'notifications.event-types', limit: perMinute(5), payloadKeys: ['eventTypes'] },
  list: { name: 'notifications.list', limit: perMinute(50), payloadKeys: ['events'] },
  create: { name: 'notifications.subscribe', limit: perMinute(200), payloadKeys: ['events'], write: true },
  update: { name: 'notifications.change', limit: perMinute(5), payloadKeys: ['events'], write: true },
  remove: { name: 'notifications.unsubscribe', limit: perMinute(10), payloadKeys: ['subscriptionId', 'message'], write: true },
  test: { name: 'notifications.test', limit: perMinute(10), payloadKeys: ['message'], write: true },
} as const satisfies Operations

const authMethods = { basic: 'BASIC_AUTH', hmac: 'HMAC', oauth: 'OAUTH' } as const satisfies Record<ProofMode, string>
const authHeaderName = 'Authorization'

const buildAuthDetails = (proof: NotificationProof) => {
  const common = { authMethod: authMethods[proof.mode], authHeaderName }
  switch (proof.mode) {
    case 'basic':
      return { ...common, userName: proof.user, password: proof.password }
    case 'hmac':
      return { ...common, clientSecret: proof.secret }
    case 'oauth':
      return { ...common, authUrl: proof.tokenUrl, clientId: proof.clientId, clientSecret: proof.clientSecret }
  }
}

/** The text of a proof that an answer must not reveal. */
const listSecrets = (proof: NotificationProof): readonly string[] => {
  switch (proof.mode) {
    case 'basic':
      return [proof.password]
    case 'hmac':
      return [proof.secret]
    case 'oauth':
      return [proof.clientSecret]
  }
}

const buildDestination = ({ url, proof }: Destination) => ({ eventUrl: url, authDetails: buildAuthDetails(proof) })

/** The subscriptions of an answer; null: it has none that can be read. */
const readSubscriptions = ({ envelope }: Answer): readonly Subscription[] | null => {
  const { data } = wireSubscriptions.safeParse(envelope)
  if (data === undefined) return null
  return data.events.map(({ subscriptionId, eventType, resourceName, eventUrl, status, authDetails }) => ({
    id: String(subscriptionId),
    eventType,
    resourceName: resourceName ?? null,
    url: eventUrl,
    isActive: (status ?? 'ACTIVE').toUpperCase() === 'ACTIVE',
    mode: proofModes.find((mode) => authMethods[mode] === authDetails?.authMethod?.toUpperCase()) ?? null,
  }))
}

const createSubscriptionsClient = ({ caller, connection }: Host): SubscriptionsClient | null => {
  const { webhooksPath } = connection.profile
  if (webhooksPath === null) return null
  const subscriptions = `${webhooksPath}/subscriptions`
  const locate = (id: string): string => `${subscriptions}/${encodeURIComponent(id)}`
  const read = (operation: Call['operation'], target: string): Call => ({
    operation,
    method: 'GET',
    target,
    body: null,
    recordsAt: [],
  })
  const write = (
    operation: Call['operation'],
    method: Call['method'],
    target: string,
    body: object,
    proof: NotificationProof,
  ): Call => ({
    operation,
    method,
    target,
    body: JSON.stringify(body),
    recordsAt: [],
    secrets: listSecrets(proof),
  })
  return {
    async listEventTypes(options) {
      const call = read(operations.eventTypes, `${webhooksPath}/eventTypes`)
      const answer = await caller.call(call, options)
      const { data } = wireEventTypes.safeParse(answer.envelope)
      if (data === undefined) throw caller.unexpectedAnswer(call, answer)
      return data.eventTypes.map(({ eventType, eventVersion, resourceName }) => ({ eventType, eventVersion, resourceName }))
    },
    async list(options) {
      const call = read(operations.list, subscriptions)
      const answer = await caller.call(call, options)
      if (!answer.found) return []
      const found = readSubscriptions(answer)
      if (found === null) throw caller.unexpectedAnswer(call, answer)
      return found
    },
    async create(eventTypes, destination, options) {
      const events = eventTypes.map((eventType) => ({ ...eventType, ...buildDestination(destination), status: 'ACTIVE' }))
      const call = write(operations.create, 'POST', subscriptions, { events }, destination.proof)
      const answer = await caller.call(call, options)
      const made = readSubscriptions(answer)
      if (made === null) throw caller.unexpectedAnswer(call, answer)
      return made
    },
    async update(id, destination, options) {
      const body = { ...buildDestination(destination), status: 'ACTIVE' }
      await caller.call(write(operations.update, 'PATCH', locate(id), body, destination.proof), options)
    },
    async remove(id, options) {
      await caller.call(
        { operation: operations.remove, method: 'DELETE', target: locate(id), body: null, recordsAt: [] },
        options,
      )
    },
    async test(eventType, destination, options) {
      const body = { ...eventType, ...buildDestination(destination) }
      const { envelope } = await caller.call(
        write(operations.test, 'POST', `${webhooksPath}/test`, body, destination.proof),
        options,
      )
      const isObject = typeof envelope === 'object' && envelope !== null
      return isObject && 'message' in envelope && typeof envelope.message === 'string' ? envelope.message : 'accepted'
    },
  }
}

/** Subscriptions to notifications (public facts, sections 9.1 and 15); a marketplace whose profile names no path does not have them. They are no record. */
export const subscriptionsEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: (rawText) => ({ ok: false, key: null, fault: 'a subscription is no record', rawText }),
  create: createSubscriptionsClient,
})
