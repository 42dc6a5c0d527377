interface Service {
  readonly name: string
  /** Whether it ends at street addresses only, not in post office boxes or at military addresses. */
  readonly streetOnly: boolean
}

const street = (name: string): Service => ({ name, streetOnly: true })
const mailbox = (name: string): Service => ({ name, streetOnly: false })

/** Carriers with their services (public facts, section 7.5). Their coverage is not published; this is what such services reach. */
export const servicesByCarrier: ReadonlyMap<string, readonly Service[]> = new Map([
  [
    'Fedex',
    [
      street('FEDEX_HOME_DELIVERY'),
      street('FEDEX_EXPRESS'),
      street('FEDEX_2DAY_EXPRESS'),
      street('FEDEX_OVERNIGHT'),
      mailbox('FEDEX_GROUND_ECONOMY'),
    ],
  ],
  [
    'UPS',
    [street('UPS_GROUND'), street('UPS_3DAY_SELECT'), street('UPS_2DAY_AIR'), street('UPS_NEXTDAY_AIR'), mailbox('UPS_SUREPOST')],
  ],
  ['USPS', [mailbox('USPS_GROUND'), mailbox('USPS_PRIORITY_MAIL'), mailbox('USPS_PRIORITY_MAIL_EXPRESS')]],
])

/** Shipping methods of the second form (public facts, section 15). */
export const shippingMethods: ReadonlySet<string> = new Set(['VALUE', 'STANDARD', 'EXPEDITED', 'RUSH'])

/** Region names by code (specification, region table; `A` from public facts, section 7.5). */
export const regions: ReadonlyMap<string, string> = new Map([
  ['C', '48 State'],
  ['H', 'AK and HI'],
  ['P', 'US Protectorates'],
  ['A', 'APO/FPO'],
])

/** Address types (public facts, section 7.5). */
export const addressTypes: readonly string[] = ['STREET', 'PO_BOX', 'MILITARY']
/** What no service for streets alone reaches. */
export const beyondStreets: ReadonlySet<string> = new Set(['PO_BOX', 'MILITARY', 'A'])

/** The 48 contiguous states and the District of Columbia. */
export const mainland: readonly string[] =
  'AL AZ AR CA CO CT DE DC FL GA ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY'.split(
    ' ',
  )
