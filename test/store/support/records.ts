import { parseOrder } from '../../../src/clients/marketplace/order-record.ts'
import { parseReturn } from '../../../src/clients/marketplace/return-record.ts'
import type { PurchaseOrder } from '../../../src/domain/order.ts'
import type { ReturnOrder } from '../../../src/domain/return.ts'
import type { StorableRecord } from '../../../src/store/versions.ts'
import { wireLine, wireOrderSample } from '../../clients/samples.ts'

/** So many units of a line in one state, as the wire says it. */
export const wireStatus = (status: string, units: number, more: Readonly<Record<string, unknown>> = {}) => ({
  status,
  statusQuantity: { unitOfMeasurement: 'EACH', amount: String(units) },
  trackingInfo: null,
  ...more,
})

/** A line whose units stand as told. */
export const lineWith = (
  lineNumber: string,
  units: number,
  statuses: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
) => wireLine(lineNumber, units, { orderLineStatuses: { orderLineStatus: statuses }, ...more })

/** An order as a page would bring it. */
export const orderRecord = (
  purchaseOrderId: string,
  overrides: Readonly<Record<string, unknown>> = {},
): StorableRecord<PurchaseOrder> => {
  const parsed = parseOrder(JSON.stringify(wireOrderSample(purchaseOrderId, overrides)))
  if (!parsed.ok) throw new Error(parsed.fault)
  return parsed
}

/** An order with these lines. */
export const orderWith = (
  purchaseOrderId: string,
  lines: readonly unknown[],
  overrides: Readonly<Record<string, unknown>> = {},
): StorableRecord<PurchaseOrder> => orderRecord(purchaseOrderId, { orderLines: { orderLine: lines }, ...overrides })

/** A return as a page would bring it. */
export const returnRecord = (wire: unknown): StorableRecord<ReturnOrder> => {
  const parsed = parseReturn(JSON.stringify(wire))
  if (!parsed.ok) throw new Error(parsed.fault)
  return parsed
}
