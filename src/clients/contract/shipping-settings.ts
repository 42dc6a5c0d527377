import { z } from 'zod'
import { lenient, numberLike, text } from './lenient.ts'

/** Money of a charge; `amount` is a number on the wire, text is forgiven. */
const wireMoney = z.looseObject({ amount: numberLike, currency: z.string().min(1) })

const wireStates = lenient(z.array(z.looseObject({ stateCode: text })))

const wireShippingCharge = z.looseObject({
  rateModelType: lenient(text),
  perShippingCharge: z.looseObject({
    unitOfMeasure: lenient(text),
    shippingAndHandling: wireMoney.nullish(),
    chargePerItem: wireMoney.nullish(),
    chargePerWeight: wireMoney.nullish(),
  }),
})

/**
 * Account-level shipping settings as the marketplace reports them (specification, "the service"; public facts, section 7.5): the object
 * under `simplifiedShippingSettings`. A charge is an object in published examples and a list in a published schema.
 */
export const wireShippingSettings = z.looseObject({
  accountConfigs: z.looseObject({
    shippingPriority: lenient(text),
    migrateFreeShippingOffers: lenient(z.boolean()),
    carrierConfigs: z.array(
      z.looseObject({
        carriers: z.array(z.looseObject({ carrierName: text, carrierService: text })),
        configurations: z.array(
          z.looseObject({
            regions: z.array(
              z.looseObject({
                regionCode: text,
                regionName: lenient(text),
                states: wireStates,
                subRegions: lenient(z.array(z.looseObject({ states: wireStates }))),
              }),
            ),
            addressTypes: z.array(text),
            shippingCharge: z.union([wireShippingCharge, z.array(wireShippingCharge).length(1)]),
          }),
        ),
      }),
    ),
  }),
})

/** Settings as they stand on the wire. */
export type WireShippingSettings = z.infer<typeof wireShippingSettings>
