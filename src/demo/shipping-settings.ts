import { type DemoEvent, demoSource } from './plan.ts'

const dollars = (amount: string) => ({ amount, currency: 'USD' })

const region = (regionCode: string, regionName: string, handling: string, perPound: string) => ({
  regions: [{ regionCode, regionName }],
  addressTypes: ['STREET'],
  shippingCharge: {
    rateModelType: 'PER_SHIPMENT_PRICING',
    perShippingCharge: {
      unitOfMeasure: 'LB',
      shippingAndHandling: dollars(handling),
      chargePerWeight: dollars(perPound),
    },
  },
})

/**
 * The demonstration ERP's shipping charges, with a priority where the marketplace's form has one. The event id is constant, so there is one command
 * only.
 */
export const buildShippingSettingsEvent = (hasPriority: boolean): DemoEvent => ({
  specversion: '1.0',
  source: demoSource,
  id: 'demo-shipping-settings',
  type: 'erp.shipping-settings.defined',
  subject: 'shipping-settings',
  datacontenttype: 'application/json',
  data: {
    simplifiedShippingSettings: {
      accountConfigs: {
        ...(hasPriority ? { shippingPriority: 'FASTEST' } : {}),
        migrateFreeShippingOffers: false,
        carrierConfigs: [
          {
            carriers: [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }],
            configurations: [region('C', '48 State', '4.95', '0.35'), region('H', 'AK and HI', '14.95', '1.10')],
          },
          {
            carriers: [{ carrierName: 'USPS', carrierService: 'USPS_PRIORITY_MAIL' }],
            configurations: [region('C', '48 State', '7.95', '0.55'), region('P', 'US Protectorates', '19.95', '1.60')],
          },
        ],
      },
    },
  },
})
