import { z } from 'zod'
import { buildList, lenient, numberLike, text } from './lenient.ts'

/** Money of a charge. `amount` is a number on the wire; text is accepted. */
const wireMoney = z.looseObject({ amount: numberLike, currency: z.string().min(1) })

const wireStates = lenient(buildList(z.looseObject({ stateCode: text })))

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
 * Account-level shipping settings (specification, "the service"; public facts, section 7.5): the object under `simplifiedShippingSettings`. A charge is an object
 * in published examples and a list in a published schema.
 */
export const wireShippingSettings = z.looseObject({
  accountConfigs: z.looseObject({
    shippingPriority: lenient(text),
    migrateFreeShippingOffers: lenient(z.boolean()),
    carrierConfigs: buildList(
      z.looseObject({
        shippingMethod: lenient(text),
        carriers: buildList(z.looseObject({ carrierName: text, carrierService: text })),
        configurations: buildList(
          z.looseObject({
            regions: buildList(
              z.looseObject({
                regionCode: text,
                regionName: lenient(text),
                states: wireStates,
                subRegions: lenient(buildList(z.looseObject({ states: wireStates }))),
              }),
            ),
            addressTypes: z.union([z.array(text), text.transform((one) => [one])]),
            shippingCharge: z.union([wireShippingCharge, z.array(wireShippingCharge).length(1)]),
          }),
        ),
      }),
    ),
  }),
})

/** Settings on the wire. */
export type WireShippingSettings = z.infer<typeof wireShippingSettings>
