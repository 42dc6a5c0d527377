import { z } from 'zod'
import { Refusal } from '../core/errors.ts'

const list = <T extends z.ZodType>(item: T) => z.array(item).min(1)
const lineNumber = z.string().min(1)
const statusEntry = z.looseObject({ status: z.string() })

const shippedEntry = statusEntry.extend({
  trackingInfo: z.looseObject({
    shipDateTime: z.unknown(),
    carrierName: z.looseObject({ carrier: z.string().nullish(), otherCarrier: z.string().nullish() }),
    methodCode: z.string().nullish(),
    trackingNumber: z.union([z.string().min(1), z.number()]),
    trackingURL: z.string().nullish(),
  }),
  currentTrackingInfo: z.looseObject({ trackingNumber: z.string() }).nullish(),
})

/** Body of `POST …/shipping` (public facts, section 3.2); quantities are read apart, their field name depends on the profile. */
export const shipmentBody = z.looseObject({
  orderShipment: z.looseObject({
    processMode: z.string().nullish(),
    orderLines: z.looseObject({
      orderLine: list(
        z.looseObject({
          lineNumber,
          intentToCancelOverride: z.boolean().nullish(),
          sellerOrderId: z.string().max(30).nullish(),
          orderLineStatuses: z.looseObject({ orderLineStatus: list(shippedEntry) }),
        }),
      ),
    }),
  }),
})

/** Body of `POST …/cancel` (public facts, section 3.3). */
export const cancellationBody = z.looseObject({
  orderCancellation: z.looseObject({
    orderLines: z.looseObject({
      orderLine: list(
        z.looseObject({
          lineNumber,
          orderLineStatuses: z.looseObject({ orderLineStatus: list(statusEntry.extend({ cancellationReason: z.string() })) }),
        }),
      ),
    }),
  }),
})

const money = z.looseObject({ currency: z.string(), amount: z.union([z.number(), z.string()]) })

/** Tax, or fees, on an amount that is given back. */
export const taxOfRequest = z.looseObject({ taxName: z.string(), taxAmount: money })

/** Body of `POST …/refund` (public facts, section 3.4, with the units of specification, section 9, rule 5). */
export const refundBody = z.looseObject({
  orderRefund: z.looseObject({
    purchaseOrderId: z.string().nullish(),
    orderLines: z.looseObject({
      orderLine: list(
        z.looseObject({
          lineNumber,
          isFullRefund: z.boolean().nullish(),
          orderLineStatuses: z.looseObject({ orderLineStatus: list(z.looseObject({ status: z.string().nullish() })) }).nullish(),
          refunds: z
            .looseObject({
              refund: list(
                z.looseObject({
                  refundId: z.string().nullish(),
                  refundComments: z.string().nullish(),
                  refundCharges: z.looseObject({
                    refundCharge: list(
                      z.looseObject({
                        refundReason: z.string(),
                        charge: z.looseObject({
                          chargeType: z.string().min(1),
                          chargeName: z.string(),
                          chargeAmount: money,
                          tax: taxOfRequest.nullish(),
                          taxAndOtherFees: taxOfRequest.nullish(),
                        }),
                      }),
                    ),
                  }),
                }),
              ),
            })
            .nullish(),
        }),
      ),
    }),
  }),
})

/** Checks a request body against its schema; throws one refusal that names every fault by its path. */
export const readBody = <T extends z.ZodType>(schema: T, body: unknown): z.infer<T> => {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Refusal(
    400,
    parsed.error.issues.map((issue) => ({
      code: 'INVALID_REQUEST_CONTENT.GMP_ORDER_API',
      field: issue.path.join('.') || 'data',
      description: issue.message,
      severity: 'ERROR',
      category: 'DATA',
    })),
  )
}
