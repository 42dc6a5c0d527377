import { z } from 'zod'
import { buildList, identifier, lenient } from './lenient.ts'

/** Subscriptions to notifications on the wire, as the live service publishes them; the specification does not have them. Loose: unknown fields are kept. */

const text = z.string().min(1)

/** An event type that can be subscribed to. */
const wireEventType = z.looseObject({ eventType: text, eventVersion: text, resourceName: text })

/** The answer with all event types. */
export const wireEventTypes = z.looseObject({ eventTypes: buildList(wireEventType) })

/** A subscription; its secrets are not part of the answer. */
const wireSubscription = z.looseObject({
  subscriptionId: identifier,
  eventType: text,
  resourceName: lenient(text),
  eventUrl: text,
  status: lenient(text),
  authDetails: lenient(z.looseObject({ authMethod: lenient(text) })),
})

/** The answer with the subscriptions that were listed, created or changed. One client of the live service wraps each list once more. */
export const wireSubscriptions = z.looseObject({
  events: buildList(
    z.union([
      wireSubscription.transform((one) => [one]),
      z.looseObject({ event: buildList(wireSubscription) }).transform(({ event }) => event),
    ]),
  ).transform((lists) => lists.flat()),
})
