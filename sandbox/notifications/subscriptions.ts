import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Call, Result } from '../calls/operation.ts'
import { contentNotFound, gatewayRefusal, Refusal } from '../core/errors.ts'
import type { World } from '../world.ts'
import { eventVersion, findEventTypes } from './event-types.ts'
import { readForm } from './form.ts'
import { type AuthDetails, type Subscription, statuses, targetSchema } from './model.ts'
import { isDelivered, sendNotification } from './send.ts'

const component = 'GMP_NOTIFICATION_API'
const maxEvents = 50

const refuse = (field: string, description: string): Refusal =>
  new Refusal(400, [{ code: `INVALID_REQUEST_CONTENT.${component}`, field, description, severity: 'ERROR', category: 'DATA' }])

const noSubscription = (): Refusal => contentNotFound('There is no such subscription', component)

const eventSchema = targetSchema.extend({
  eventType: z.string().min(1),
  eventVersion: z.literal(eventVersion),
  resourceName: z.string().min(1),
  status: z.enum(statuses).default('ACTIVE'),
})
const creationSchema = z.object({ events: z.array(eventSchema).min(1).max(maxEvents) })
const changeSchema = eventSchema
  .pick({ eventVersion: true, eventUrl: true, authDetails: true, headers: true, status: true })
  .partial()

/** The body by its schema; a refusal names the first wrong field, never its value. */
const read = <T extends z.ZodType>(schema: T, body: unknown): z.infer<T> => {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'data' : issue.path.join('.')
  throw refuse(field, `${field} is missing or not valid`)
}

/** Refuses event types that are not offered, or belong to another resource. */
const checkEventType = (eventType: string, resourceName: string, now: number): void => {
  const known = findEventTypes(now).find((one) => one.eventType === eventType)
  if (known === undefined) throw refuse('eventType', `${eventType} cannot be subscribed to`)
  if (known.resourceName !== resourceName) throw refuse('resourceName', `${eventType} is of the resource ${known.resourceName}`)
}

/** Secrets are not shown again. */
const viewDetails = (details: AuthDetails): Record<string, unknown> => {
  const { authMethod, authHeaderName } = details
  switch (details.authMethod) {
    case 'BASIC_AUTH':
      return { authMethod, authHeaderName, userName: details.userName }
    case 'HMAC':
      return { authMethod, authHeaderName }
    case 'OAUTH':
      return { authMethod, authHeaderName, authUrl: details.authUrl, clientId: details.clientId }
  }
}

const view = ({ sellerId, authDetails, headers, ...rest }: Subscription): Record<string, unknown> => ({
  ...rest,
  partnerId: sellerId,
  eventVersion,
  ...(authDetails == null ? {} : { authDetails: viewDetails(authDetails) }),
  ...(headers == null ? {} : { headers }),
})

/** The specification does not have these operations. */
const requireNotifications = ({ settings }: World): void => {
  if (!settings.dialect.liveOperations) throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
}

const findOwn = ({ notifications }: World, { sellerId, params }: Call): Subscription => {
  const found = notifications.find(params['subscriptionId'] ?? '')
  if (found === null || found.sellerId !== sellerId) throw noSubscription()
  return found
}

/** `GET /v3/webhooks/eventTypes`. */
export const listEventTypes = (world: World, now: number): Result => {
  requireNotifications(world)
  const eventTypes = findEventTypes(now).map(({ endsAt: _endsAt, ...type }) => ({ ...type, eventVersion }))
  return { json: { eventTypes } }
}

/** `GET /v3/webhooks/subscriptions`, with its filters. */
export const listSubscriptions = (world: World, { sellerId, query }: Call): Result => {
  requireNotifications(world)
  const filters = ['subscriptionId', 'eventType', 'resourceName', 'status'] as const
  const events = world.notifications
    .list(sellerId)
    .filter((one) => filters.every((name) => query.get(name) === null || query.get(name) === one[name]))
    .map(view)
  return { json: { events } }
}

/** `POST /v3/webhooks/subscriptions`: all of the events or none. The same one can be subscribed to more than once. */
export const createSubscriptions = (world: World, { sellerId, body }: Call, now: number): Result => {
  requireNotifications(world)
  const { events } = read(creationSchema, body)
  for (const { eventType, resourceName } of events) checkEventType(eventType, resourceName, now)
  const made = events.map(({ eventVersion: _version, ...event }) => ({ ...event, subscriptionId: randomUUID(), sellerId }))
  world.database.transaction(() => {
    for (const subscription of made) world.notifications.put(subscription)
  })
  return { json: { events: made.map(view) } }
}

/** `PATCH /v3/webhooks/subscriptions/{subscriptionId}`. */
export const changeSubscription = (world: World, call: Call): Result => {
  requireNotifications(world)
  const { eventVersion: _version, ...change } = read(changeSchema, call.body)
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const changed = { ...findOwn(world, call), ...given }
  world.notifications.put(changed)
  return { json: { events: [view(changed)] } }
}

/** `DELETE /v3/webhooks/subscriptions/{subscriptionId}`. */
export const deleteSubscription = (world: World, call: Call): Result => {
  requireNotifications(world)
  const { subscriptionId } = findOwn(world, call)
  world.notifications.remove(subscriptionId)
  return { json: { subscriptionId, message: 'Subscription has been deleted' } }
}

/** A payload of the type, about an order and a return that do not exist. */
const buildSample = (eventType: string, sellerId: string, now: number): string => {
  const order = { purchaseOrderId: '4800000000000', customerOrderId: '200000000000000', orderLines: [] }
  const payloads: Readonly<Record<string, object>> = {
    ORDER: eventType === 'ORDER_UPDATES' ? { subEventType: 'PO_CREATED', order } : order,
    RETURNS: { partnerName: sellerId, returnOrders: [{ purchaseOrderId: '4800000000000', returnOrderId: '1190000000000' }] },
    REPORTS: { requestId: randomUUID(), requestStatus: 'READY', reportType: 'INVENTORY_RECON', reportVersion: 'v1' },
  }
  const resource = findEventTypes(now).find((one) => one.eventType === eventType)?.resourceName ?? ''
  const source = { eventType, eventTime: new Date(now).toISOString(), eventId: randomUUID() }
  return JSON.stringify({ source, payload: { partnerId: sellerId, ...payloads[resource] } })
}

/** `POST /v3/webhooks/test`: sends a sample, once and without faults, and answers whether it was accepted. */
export const testSubscription = async (world: World, { sellerId, body }: Call, now: number): Promise<Result> => {
  requireNotifications(world)
  const { eventType, resourceName, eventUrl, authDetails, headers } = read(eventSchema.omit({ status: true }), body)
  checkEventType(eventType, resourceName, now)
  const outcome = await sendNotification({ eventUrl, authDetails, headers }, buildSample(eventType, sellerId, now), {
    form: readForm(world),
    prefix: world.settings.dialect.headerPrefix,
    tokens: new Map(),
    signal: new AbortController().signal,
  })
  if (isDelivered(outcome)) return { json: { message: 'The eventUrl has accepted the notification' } }
  throw refuse('eventUrl', `eventUrl answered ${outcome.httpStatus ?? `nothing (${outcome.error ?? 'unknown'})`}`)
}
