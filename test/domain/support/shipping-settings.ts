import fc from 'fast-check'
import { contiguousStates, regionNames } from '../../../src/domain/campaigns/shipping-settings.ts'
import { vocabulary } from '../../support/vocabulary.ts'

const { services: carrierServices } = vocabulary.settingsCarriers

/** Money as the ERP gives it. */
export const money = (amount: number | string, currency = 'USD') => ({ amount, currency })

/** A configuration: what is charged for these regions. */
export const configuration = (regions: readonly object[], overrides: object = {}) => ({
  regions,
  addressTypes: ['STREET'],
  shippingCharge: {
    rateModelType: 'PER_SHIPMENT_PRICING',
    perShippingCharge: { unitOfMeasure: 'LB', shippingAndHandling: money(4.99), chargePerItem: money('1.50') },
  },
  ...overrides,
})

/** A region by its code. */
export const region = (regionCode: string, more: object = {}) => ({
  regionCode,
  regionName: regionNames.get(regionCode),
  ...more,
})

/** Settings with one carrier that covers the 48 states and DC. */
export const settings = (overrides: object = {}) => ({
  accountConfigs: {
    shippingPriority: 'FASTEST',
    migrateFreeShippingOffers: true,
    carrierConfigs: [
      {
        carriers: [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }],
        configurations: [configuration([region('C')]), configuration([region('H')])],
      },
      {
        carriers: [{ carrierName: 'USPS', carrierService: 'USPS_PRIORITY_MAIL' }],
        configurations: [configuration([region('P')], { addressTypes: ['STREET', 'PO_BOX'] })],
      },
    ],
    ...overrides,
  },
})

const amounts = fc.oneof(
  fc.integer({ min: 0, max: 70_000 }).map((cents) => cents / 100),
  fc.integer({ min: 0, max: 70_000 }).map((cents) => (cents / 100).toFixed(2)),
  fc.constantFrom('700', 700, '700.000', 0),
)
const anyMoney = amounts.map((amount) => money(amount))
const charges = fc
  .record({ first: anyMoney, second: anyMoney, by: fc.constantFrom('chargePerItem', 'chargePerWeight') })
  .map(({ first, second, by }) => ({
    rateModelType: 'PER_SHIPMENT_PRICING',
    perShippingCharge: { unitOfMeasure: 'LB', shippingAndHandling: first, [by]: second },
  }))

/** All of region C, named as a whole, state by state, or by sub-regions. */
const mainland = fc.oneof(
  fc.constant(region('C')),
  fc.constant(region('C', { states: contiguousStates.map((stateCode) => ({ stateCode })) })),
  fc.integer({ min: 1, max: contiguousStates.length - 1 }).map((cut) =>
    region('C', {
      subRegions: [contiguousStates.slice(0, cut), contiguousStates.slice(cut)].map((states) => ({
        states: states.map((stateCode) => ({ stateCode })),
      })),
    }),
  ),
)

/** Settings that the marketplace takes: some carriers, each with regions of its own, the first of them with all of region C. */
export const validSettings = fc
  .shuffledSubarray([...carrierServices.keys()], { minLength: 1 })
  .chain((names) =>
    fc.record({
      shippingPriority: fc.constantFrom('FASTEST', 'COST_SAVINGS'),
      migrateFreeShippingOffers: fc.option(fc.boolean(), { nil: undefined }),
      carrierConfigs: fc.tuple(
        ...names.map((carrierName, index) =>
          fc.record({
            carriers: fc
              .shuffledSubarray([...(carrierServices.get(carrierName) ?? [])], { minLength: 1, maxLength: 2 })
              .map((services) => services.map((carrierService) => ({ carrierName, carrierService }))),
            configurations: fc
              .tuple(mainland, fc.shuffledSubarray(['H', 'P']), fc.boolean(), charges, charges)
              .map(([whole, others, together, one, two]) => {
                const rest = others.map((code) => region(code))
                const first = index === 0 || rest.length === 0 ? [whole] : []
                const groups = together ? [[...first, ...rest]] : [first, rest]
                return groups
                  .filter((regions) => regions.length > 0)
                  .map((regions, at) => configuration(regions, { shippingCharge: at === 0 ? one : two }))
              }),
          }),
        ),
      ),
    }),
  )
  .map(({ migrateFreeShippingOffers, ...accountConfigs }) => ({
    accountConfigs: { ...accountConfigs, ...(migrateFreeShippingOffers === undefined ? {} : { migrateFreeShippingOffers }) },
  }))
