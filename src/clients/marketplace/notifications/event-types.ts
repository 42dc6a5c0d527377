import type { EventType } from './subscriptions.ts'

/** The day on which the single events of orders are removed, `YYYY-MM-DD` (public facts, section 15). */
export const singleOrderEventsEndOn = '2026-12-15'

const orderUpdates = 'ORDER_UPDATES'

/** The single events of orders, which are sub-events of `ORDER_UPDATES` too. */
const singleOrderEvents: ReadonlySet<string> = new Set(['PO_CREATED', 'PO_LINE_AUTOCANCELLED', 'INTENT_TO_CANCEL'])

/** Whether `ORDER_UPDATES` replaces this event type. */
export const isReplaced = (eventType: string): boolean => singleOrderEvents.has(eventType)

/** Whether a notification of this type causes a read of an order, a return or a requested report. */
export const isWanted = (eventType: string): boolean =>
  eventType === orderUpdates || eventType === 'REPORT_STATUS' || /^RETURN_/.test(eventType)

/** The type whose sample is sent as a test: one that names no order, if the marketplace has it. */
export const chooseTestType = (types: readonly EventType[]): EventType | null =>
  types.find(({ eventType }) => eventType === 'REPORT_STATUS') ?? types[0] ?? null
