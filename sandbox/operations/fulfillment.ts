import type { Operation } from '../calls/operation.ts'
import { salesChannels } from '../fulfillment/channels.ts'
import { inventoryLog } from '../fulfillment/inventory-log.ts'
import { recommendations } from '../fulfillment/recommendations.ts'
import { reportByDates, reportByDatesHyphenated, reportByMonth } from '../fulfillment/report.ts'
import { reportRequests } from '../fulfillment/report-requests.ts'
import { stockOnHand } from '../fulfillment/stock.ts'

/** The operations of the fulfilment service (specification, sections 5 to 8), and the stock on hand of the live service. */
export const operations: readonly Operation[] = [
  recommendations,
  reportByDates,
  reportByDatesHyphenated,
  reportByMonth,
  ...reportRequests,
  inventoryLog,
  salesChannels,
  stockOnHand,
]
