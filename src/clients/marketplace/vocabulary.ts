import { calendar } from '../../domain/values/calendar.ts'
import { statusWords, type Vocabulary } from '../../domain/values/vocabulary.ts'

/** The terms of this marketplace by the specification. A profile may differ. */
export const vocabulary: Vocabulary = {
  // A month or a day of reports begins at midnight Pacific time: the specification names "7 am PST" and "midnight of the previous day" (its notes on the report's
  // refresh), which is read as Pacific local time with daylight saving. Campaigns also start then (public facts, 8.4).
  calendar: calendar('America/Los_Angeles'),
  // Public facts 2.6; a delivered unit was shipped, and a refunded one too.
  statuses: statusWords(
    {
      created: ['Created'],
      acknowledged: ['Acknowledged'],
      shipped: ['Shipped', 'Delivered'],
      cancelled: ['Cancelled', 'Canceled'],
      refunded: ['Refund', 'Refunded'],
    },
    ['Delivered'],
  ),
  // Orders that the marketplace fulfils are acknowledged by it and never released (public facts 2.4).
  shipNodes: {
    seller: 'SellerFulfilled',
    marketplace: 'WFSFulfilled',
    all: ['SellerFulfilled', 'WFSFulfilled', '3PLFulfilled'],
  },
  productCharge: 'PRODUCT',
  // Public facts 3.3.
  cancelReasons: [
    'CUSTOMER_REQUESTED_SELLER_TO_CANCEL',
    'SELLER_CANCEL_PRICING_ERROR',
    'SELLER_CANCEL_OUT_OF_STOCK',
    'SELLER_CANCEL_FRAUD_STOP_SHIPMENT',
    'SELLER_CANCEL_ADDRESS_NOT_SERVICEABLE',
  ],
  buyerCancelReason: 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL',
  // Public facts 3.4.
  refundReasons: [
    'BillingError',
    'TaxExemptCustomer',
    'ItemNotAsAdvertised',
    'IncorrectItemReceived',
    'CancelledYetShipped',
    'ItemNotReceivedByCustomer',
    'IncorrectShippingPrice',
    'DamagedItem',
    'DefectiveItem',
    'CustomerChangedMind',
    'CustomerReceivedItemLate',
    'Missing Parts / Instructions',
    'Finance -> Goodwill',
    'Finance -> Rollback',
    'Buyer canceled',
    'Customer returned item',
    'General adjustment',
    'Merchandise not received',
    'Quality -> Missing Parts / Instructions',
    'Shipping & Delivery -> Damaged',
    'Shipping & Delivery -> Shipping Price Discrepancy',
    'Others',
  ],
  carriers: null,
  settingsForm: { hasPriority: true, methods: [] },
  settingsCarriers: {
    // Public facts, section 7.5.
    services: new Map([
      ['Fedex', ['FEDEX_HOME_DELIVERY', 'FEDEX_EXPRESS', 'FEDEX_2DAY_EXPRESS', 'FEDEX_OVERNIGHT', 'FEDEX_GROUND_ECONOMY']],
      ['UPS', ['UPS_GROUND', 'UPS_3DAY_SELECT', 'UPS_2DAY_AIR', 'UPS_NEXTDAY_AIR', 'UPS_SUREPOST']],
      ['USPS', ['USPS_GROUND', 'USPS_PRIORITY_MAIL', 'USPS_PRIORITY_MAIL_EXPRESS']],
    ]),
    // The coverage of each service is not published. All other services of these carriers are known to deliver only to street addresses.
    mailboxServices: new Set([
      'FEDEX_GROUND_ECONOMY',
      'UPS_SUREPOST',
      'USPS_GROUND',
      'USPS_PRIORITY_MAIL',
      'USPS_PRIORITY_MAIL_EXPRESS',
    ]),
  },
  // The specification has no refund through a return.
  returns: null,
  // Within four hours of its release (public facts, section 9.2), which is not before the order date.
  acknowledgeWithinHours: 4,
  // Four calendar days after the estimated ship date (public facts, section 9.2).
  cancelsAfterDays: 4,
}
