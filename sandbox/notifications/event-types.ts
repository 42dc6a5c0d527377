/** An event type that sellers can subscribe to (public facts, sections 9.1 and 15). */
export interface EventType {
  readonly eventType: string
  readonly resourceName: string
  readonly description: string
  /** From this time on it is neither offered nor delivered; epoch milliseconds. */
  readonly endsAt: number
}

/** The only version. */
export const eventVersion = 'V1'

/** The single events of orders are removed on this day (public facts, section 15). */
const singleOrderEventsEndAt = Date.UTC(2026, 11, 15)
const never = Number.POSITIVE_INFINITY

/** Events about orders, which are sub-events of `ORDER_UPDATES` too. */
export const orderEvents = ['PO_CREATED', 'PO_LINE_AUTOCANCELLED', 'INTENT_TO_CANCEL', 'FRAUD_CANCEL'] as const
export type OrderEvent = (typeof orderEvents)[number]

/** Of the sandbox's own events. The name of the delivered return is not published. */
const eventTypes: readonly EventType[] = [
  { eventType: 'ORDER_UPDATES', resourceName: 'ORDER', description: 'An order was created or changed', endsAt: never },
  ...orderEvents.slice(0, 3).map((eventType) => ({
    eventType,
    resourceName: 'ORDER',
    description: 'Replaced by ORDER_UPDATES',
    endsAt: singleOrderEventsEndAt,
  })),
  { eventType: 'RETURN_CREATED', resourceName: 'RETURNS', description: 'A buyer returns items', endsAt: never },
  { eventType: 'RETURN_DELIVERED', resourceName: 'RETURNS', description: 'Returned items have arrived', endsAt: never },
  { eventType: 'REPORT_STATUS', resourceName: 'REPORTS', description: 'A requested report is ready, or failed', endsAt: never },
]

/** The event types that are offered at this time. */
export const findEventTypes = (now: number): readonly EventType[] => eventTypes.filter(({ endsAt }) => now < endsAt)
