import { z } from 'zod'
import type { Effect, Write } from './history.ts'
import type { AskedOfReturn } from './returns.ts'
import type { Asked, AskedEntry, TrueOrder } from './truth.ts'

const amount = z.union([z.string(), z.number()]).transform(Number)
const wireEntries = z.array(
  z.object({
    lineNumber: z.string(),
    orderLineStatuses: z
      .object({
        orderLineStatus: z.array(
          z.object({
            statusQuantity: z.object({ amount }).optional(),
            quantity: z.object({ amount }).optional(),
            cancellationReason: z.string().optional(),
            trackingInfo: z.object({ trackingNumber: z.string() }).optional(),
            currentTrackingInfo: z.object({ trackingNumber: z.string() }).optional(),
          }),
        ),
      })
      .optional(),
    refunds: z
      .object({
        refund: z.array(
          z.object({
            refundCharges: z.object({
              refundCharge: z.array(
                z.object({
                  refundReason: z.string(),
                  charge: z.object({
                    chargeAmount: z.object({ amount }),
                    tax: z.object({ taxAmount: z.object({ amount }) }).nullish(),
                  }),
                }),
              ),
            }),
          }),
        ),
      })
      .optional(),
  }),
)
const wireBody = z.record(
  z.string(),
  z.object({ processMode: z.literal('PARTIAL_UPDATE').optional(), orderLines: z.object({ orderLine: wireEntries }) }),
)
const wireReturnBody = z.object({
  customerOrderId: z.string(),
  refundLines: z.array(z.object({ returnOrderLineNumber: z.int(), quantity: z.object({ measurementValue: z.int() }) })),
})

/** A write on a purchase order itself. */
export type OrderWrite = Exclude<Write, 'refund-return'>

/** Whether the body of a shipment corrects the tracking number of units that are shipped already. */
export const isCorrection = (body: string): boolean =>
  Object.values(wireBody.parse(JSON.parse(body))).some(({ processMode }) => processMode !== undefined)

const cents = (value: number): number => Math.round(-value * 100)

/** What a request asks of an order. */
export const askedBy = (write: OrderWrite, body: string, order: TrueOrder): Asked => {
  if (write === 'acknowledge') {
    const entries = order.lines.map(({ lineNumber }) => ({ lineNumber, units: null, mark: '', cents: 0, taxCents: 0 }))
    return { kind: write, entries }
  }
  const lines = Object.values(wireBody.parse(JSON.parse(body))).flatMap(({ orderLines }) => orderLines.orderLine)
  const entries = lines.flatMap(({ lineNumber, orderLineStatuses, refunds }): AskedEntry[] => {
    const statuses = (orderLineStatuses?.orderLineStatus ?? []).map((status) => ({
      units: status.statusQuantity?.amount ?? status.quantity?.amount ?? 0,
      mark: status.trackingInfo?.trackingNumber ?? status.cancellationReason ?? '',
      ...(status.currentTrackingInfo === undefined ? {} : { from: status.currentTrackingInfo.trackingNumber }),
    }))
    if (write !== 'refund') return statuses.map((status) => ({ ...status, lineNumber, cents: 0, taxCents: 0 }))
    const charges = (refunds?.refund ?? []).flatMap(({ refundCharges }) => refundCharges.refundCharge)
    return [
      {
        lineNumber,
        units: statuses.reduce((sum, { units }) => sum + units, 0),
        mark: charges[0]?.refundReason ?? '',
        cents: charges.reduce((sum, { charge }) => sum + cents(charge.chargeAmount.amount), 0),
        taxCents: charges.reduce((sum, { charge }) => sum + cents(charge.tax?.taxAmount.amount ?? 0), 0),
      },
    ]
  })
  return { kind: write, entries }
}

/** What a request asks of a return. */
export const askedOfReturn = (body: string): readonly AskedOfReturn[] =>
  wireReturnBody.parse(JSON.parse(body)).refundLines.map(({ returnOrderLineNumber, quantity }) => ({
    returnLineNumber: returnOrderLineNumber,
    units: quantity.measurementValue,
  }))

const share = (whole: number, entry: AskedEntry): number =>
  entry.units === null || entry.units === 0 ? 0 : Math.floor((whole * (entry.units - 1)) / entry.units)

/** What an effect makes of what was asked of an order. */
export const distorted = (asked: Asked, { of }: Effect): Asked => {
  const [first] = asked.entries
  switch (of) {
    case 'all':
    case 'nothing':
      return asked
    case 'some lines':
      return { ...asked, entries: asked.entries.filter(({ lineNumber }) => lineNumber === first?.lineNumber) }
    case 'some units':
      return {
        ...asked,
        entries: asked.entries
          .map((entry) => ({
            ...entry,
            units: entry.units === null ? null : entry.units - 1,
            cents: share(entry.cents, entry),
            taxCents: share(entry.taxCents, entry),
          }))
          .filter(({ units }) => units === null || units > 0),
      }
    case 'more':
      return {
        ...asked,
        entries: asked.entries.map((entry) => ({ ...entry, cents: entry.cents * 3, taxCents: entry.taxCents * 3 })),
      }
  }
}

/** What an effect makes of what was asked of a return. Its money is the marketplace's own, so that there is never more of it. */
export const distortedReturn = (asked: readonly AskedOfReturn[], { of }: Effect): readonly AskedOfReturn[] => {
  switch (of) {
    case 'all':
    case 'nothing':
    case 'more':
      return asked
    case 'some lines':
      return asked.slice(0, 1)
    case 'some units':
      return asked.map((entry) => ({ ...entry, units: entry.units - 1 })).filter(({ units }) => units > 0)
  }
}
