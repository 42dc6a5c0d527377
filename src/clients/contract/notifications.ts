import { z } from 'zod'
import { buildList, identifier, lenient } from './lenient.ts'

/** Notifications on the wire (public facts, sections 9.1 and 15). Loose: only ids and types are read, and nothing else is kept. */

const names = lenient(identifier)

const wireOrderHint = lenient(z.looseObject({ purchaseOrderId: names }))

/** The marketplace's notification of an event. */
export const wireNotification = z.looseObject({
  source: z.looseObject({ eventType: z.string().min(1), eventId: names }),
  payload: lenient(
    z.looseObject({
      subEventType: lenient(z.string()),
      purchaseOrderId: names,
      order: wireOrderHint,
      returnOrders: lenient(buildList(z.looseObject({ returnOrderId: names }))),
      returnOrderId: names,
      requestId: names,
    }),
  ),
})

/** See {@link wireNotification}. */
export type WireNotification = z.infer<typeof wireNotification>
