import type { ParsedRecord } from '../../../src/clients/http/record.ts'
import { parseInventoryLogEntry } from '../../../src/clients/marketplace/inventory-log-record.ts'
import { parseOrder } from '../../../src/clients/marketplace/orders/order-record.ts'
import { parseReportRow } from '../../../src/clients/marketplace/reports/report-csv.ts'
import { parseReturn } from '../../../src/clients/marketplace/return-record.ts'
import type { InventoryLogEntry } from '../../../src/domain/inventory/inventory-log.ts'
import type { PurchaseOrder } from '../../../src/domain/orders/order.ts'
import type { ReturnOrder } from '../../../src/domain/orders/return.ts'
import type { ReportedRow } from '../../../src/store/inventory/reconciliation-rows.ts'
import type { StorableRecord } from '../../../src/store/versioned/versions.ts'
import { wireLine, wireOrderSample } from '../../clients/samples.ts'

/** A record that must be one. */
export const readable = <T>(parsed: ParsedRecord<T>): StorableRecord<T> => {
  if (!parsed.ok) throw new Error(parsed.fault)
  return parsed
}

/** Units of a line in one state, in the wire format. */
export const wireStatus = (status: string, units: number, more: Readonly<Record<string, unknown>> = {}) => ({
  status,
  statusQuantity: { unitOfMeasurement: 'EACH', amount: String(units) },
  trackingInfo: null,
  ...more,
})

/** A line with units in these states. */
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
): StorableRecord<PurchaseOrder> => readable(parseOrder(JSON.stringify(wireOrderSample(purchaseOrderId, overrides))))

/** An order with these lines. */
export const orderWith = (
  purchaseOrderId: string,
  lines: readonly unknown[],
  overrides: Readonly<Record<string, unknown>> = {},
): StorableRecord<PurchaseOrder> => orderRecord(purchaseOrderId, { orderLines: { orderLine: lines }, ...overrides })

/** A return as a page would bring it. */
export const returnRecord = (wire: unknown): StorableRecord<ReturnOrder> => readable(parseReturn(JSON.stringify(wire)))

/** A row of the report of a month (`YYYY-MM`): ten units to begin with, so many of them sold. */
export const reportRecord = (
  month: string,
  sku: string,
  sold: number,
  reportId: bigint | null = null,
): StorableRecord<ReportedRow> => {
  const row = {
    GTIN: `000${sku}`,
    SKU: sku,
    'Beginning Quantity': '10',
    'Ending Quantity': String(10 - sold),
    'Units Sold': String(sold),
    'Units Returned': '0',
    'Units Lost': '0',
    'Units Found': '0',
    'Units Damaged': '0',
    'Other Adjustments': '0',
  }
  const record = readable(parseReportRow(JSON.stringify({ month, row })))
  return { ...record, value: { row: record.value, reportId } }
}

/** An entry of the log of a SKU; default: two units shipped to a customer. */
export const logRecord = (sku: string, overrides: Readonly<Record<string, unknown>> = {}): StorableRecord<InventoryLogEntry> => {
  const entry = {
    id: 'e',
    fcName: 'KY1',
    changedUnits: -2,
    transactionTime: '2026-10-01T00:01:00.000Z',
    transactionLocation: 'Inventory',
    transactionReasonCode: 'SIP',
    transactionReasonDesc: 'Shipped to Customer',
    transactionType: 'Ship',
    shipmentId: null,
    ...overrides,
  }
  const payload = { gtin: '00012345678905', vendorSku: sku, inventoryLog: [entry] }
  return readable(parseInventoryLogEntry(JSON.stringify({ payload })))
}
