import type { Operation } from '../calls/operation.ts'
import { salesChannels } from '../fulfillment/channels.ts'
import { inventoryLog } from '../fulfillment/inventory-log.ts'
import { recommendations } from '../fulfillment/recommendations.ts'
import { reportByDates, reportByMonth } from '../fulfillment/report.ts'

/** The operations of the fulfilment service (specification, sections 5 to 8). */
export const operations: readonly Operation[] = [recommendations, reportByDates, reportByMonth, inventoryLog, salesChannels]
