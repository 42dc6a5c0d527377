import { type Cents, jsonAmount } from '../core/money.ts'
import type { ReturnedLine, ReturnOrder, ReturnStep } from '../rules/returns-model.ts'

const iso = (at: number): string => new Date(at).toISOString()

/** A return as it goes over the wire: ISO dates, integer line numbers, numbers as quantities (public facts, section 4.2). `liveFields`: with those of section 15. */
export const viewReturn = (order: ReturnOrder, liveFields: boolean): Record<string, unknown> => {
  const money = (cents: Cents): Record<string, unknown> => ({ currencyAmount: jsonAmount(cents), currencyUnit: order.currency })
  const total = order.lines.reduce((sum, line) => sum + line.quantity * (line.unitPrice + line.unitTax), 0)
  return {
    returnOrderId: order.returnOrderId,
    customerEmailId: order.customerEmail,
    returnType: 'REFUND',
    replacementCustomerOrderId: '',
    customerName: {
      firstName: order.customerName.split(' ')[0] ?? '',
      lastName: order.customerName.split(' ').slice(1).join(' '),
    },
    customerOrderId: order.customerOrderId,
    returnOrderDate: iso(order.createdAt),
    returnByDate: iso(order.returnBy),
    refundMode: 'POST_DELIVERY',
    totalRefundAmount: money(total),
    returnLineGroups: [
      {
        groupNo: 1,
        returnLines: order.lines.map((line) => ({ returnOrderLineNumber: line.returnOrderLineNumber })),
        labels: [
          {
            labelImageURL: `https://labels.example/${order.returnOrderId}.png`,
            carrierInfoList: [{ carrierId: '2', carrierName: 'FedEx', serviceType: 'GROUND', trackingNo: order.trackingNumber }],
          },
        ],
        returnExpectedFlag: true,
      },
    ],
    returnOrderLines: order.lines.map((line) => viewLine(order, line, liveFields)),
    returnChannel: { channelName: 'ONLINE' },
  }
}

const viewLine = (order: ReturnOrder, line: ReturnedLine, liveFields: boolean): Record<string, unknown> => {
  const money = (cents: Cents): Record<string, unknown> => ({ currencyAmount: jsonAmount(cents), currencyUnit: order.currency })
  const last = line.steps.at(-1)
  return {
    returnOrderLineNumber: line.returnOrderLineNumber,
    salesOrderLineNumber: integerLineNumber(line),
    returnReason: line.reason,
    purchaseOrderId: line.purchaseOrderId,
    purchaseOrderLineNumber: integerLineNumber(line),
    exceptionItemType: line.exceptionItemType ?? '',
    isReturnForException: line.exceptionItemType !== undefined,
    rechargeReason: '',
    returnCancellationReason: '',
    item: {
      sku: line.sku,
      productName: line.productName,
      condition: 'New',
      itemWeight: { unitOfMeasure: 'LB', measurementValue: 1 },
    },
    charges: [
      {
        chargeCategory: 'PRODUCT',
        chargeName: 'ItemPrice',
        chargePerUnit: money(line.unitPrice),
        isDiscount: false,
        isBillable: false,
        tax: [{ taxName: 'Item Price Tax', excessTax: money(0), taxPerUnit: money(line.unitTax) }],
        excessCharge: money(0),
        references: [],
      },
    ],
    unitPrice: money(line.unitPrice),
    chargeTotals: [
      { name: 'lineUnitPrice', value: money(line.unitPrice) },
      { name: 'lineProductTaxes', value: money(line.unitTax * line.quantity) },
      { name: 'lineSubTotal', value: money(line.unitPrice * line.quantity) },
      { name: 'lineTotal', value: money((line.unitPrice + line.unitTax) * line.quantity) },
    ],
    cancellableQty: line.steps.reduce((sum, step) => (step.state === 'RETURN_INITIATED' ? sum + step.quantity : sum), 0),
    quantity: { unitOfMeasure: 'EACH', measurementValue: line.quantity },
    refundedQty: line.refundedQuantity,
    ...(liveFields ? viewLiveFields(line) : {}),
    rechargeableQty: 0,
    isFastReplacement: 'false',
    isKeepIt: 'false',
    lastItem: 'false',
    returnExpectedFlag: true,
    currentTrackingStatuses: line.steps.map((step) => viewStep(step, line)),
    // The published sample leaves the unit of measure out here.
    refundChannels: line.channels.map(({ name, quantity }) => ({
      refundChannelName: name,
      quantity: { measurementValue: quantity },
    })),
    returnTrackingDetail: line.steps.map((step, index) => ({
      sequenceNo: index + 1,
      eventTag: step.state,
      eventDescription: step.state.toLowerCase().replaceAll('_', ' '),
      eventTime: iso(step.at),
      references: [],
    })),
    status: last?.state ?? 'RETURN_INITIATED',
    statusTime: iso(last?.at ?? order.createdAt),
    currentRefundStatus: refundStatus(line),
  }
}

/** Exceptions are at the cost of the marketplace. The names and values are published, the form of the attributes is not. */
const viewLiveFields = (line: ReturnedLine): Record<string, unknown> => ({
  refundCoveredBy: line.exceptionItemType === undefined ? 'SELLER' : 'MARKETPLACE',
  ...(line.exceptionItemType === undefined
    ? {}
    : { miscAttributes: [{ name: 'EXCEPTION_TYPE', value: line.exceptionItemType }] }),
})

const integerLineNumber = (line: ReturnedLine): number => Number(line.purchaseOrderLineNumber)

const viewStep = (step: ReturnStep, line: ReturnedLine): Record<string, unknown> => ({
  status: step.state,
  statusTime: iso(step.at),
  currentRefundStatus: step.state === 'REFUND_ISSUED' ? 'REFUND_COMPLETED' : refundStatus(line),
  quantity: { unitOfMeasure: 'EACH', measurementValue: step.quantity },
})

const refundStatus = (line: ReturnedLine): string => {
  if (line.refundedQuantity >= line.quantity) return 'REFUND_COMPLETED'
  return line.refundedQuantity > 0 ? 'REFUND_INITIATED' : 'NOT_INITIATED'
}
