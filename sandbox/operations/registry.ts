import { campaignOperations } from '../campaigns/operations.ts'
import { displayOperations } from '../display/operations.ts'
import { fulfillmentOperations } from '../fulfillment/operations.ts'
import { shippingSettingsOperations } from '../shipping-settings/operations.ts'
import type { Operation } from './operation.ts'
import { orderOperations } from './orders.ts'
import { settlementOperations } from './settlements.ts'

/** Every operation of the sandbox marketplace. */
export const operations: readonly Operation[] = [
  ...orderOperations,
  ...displayOperations,
  ...campaignOperations,
  ...shippingSettingsOperations,
  ...fulfillmentOperations,
  ...settlementOperations,
]

/** Their names, as control requests give them. */
export const operationNames: readonly string[] = operations.map(({ name }) => name)
