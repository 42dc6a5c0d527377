import type { Operation } from '../operations/operation.ts'
import { salesChannels } from './channels.ts'
import { inventoryLog } from './inventory-log.ts'
import { recommendations } from './recommendations.ts'
import { reportByDates, reportByMonth } from './report.ts'

/** The operations of the fulfilment service (specification, sections 5 to 8). */
export const fulfillmentOperations: readonly Operation[] = [
  recommendations,
  reportByDates,
  reportByMonth,
  inventoryLog,
  salesChannels,
]
