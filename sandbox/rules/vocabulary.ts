/** Values that write requests may carry (public facts, sections 3.2 to 3.4). */
export const methodCodes: ReadonlySet<string> = new Set(['Standard', 'Express', 'OneDay', 'Freight', 'WhiteGlove', 'Value'])

const carrierNames = `UPS, USPS, FedEx, Airborne, OnTrac, DHL Ecommerce - US, DHL, LS, UDS, UPSMI, FDX, PILOT, ESTES, SAIA, FDS Express,
Seko Worldwide, HIT Delivery, FEDEXSP, RL Carriers, Metropolitan Warehouse & Delivery, China Post, YunExpress, Yellow Freight Sys,
AIT Worldwide Logistics, Chukou1, Sendle, Landmark Global, Sunyou, Yanwen, 4PX, GLS, OSM Worldwide, FIRST MILE, AM Trucking, CEVA, India Post,
SF Express, CNE, TForce Freight, AxleHire, LSO, Royal Mail, ABF Freight System, WanB, Roadrunner Freight, Meyer Distribution, AAA Cooper,
Canada Post, Southeastern Freight Lines, Japan Post, Correos de Mexico, XPO Logistics, JD Logistics, YDH, JCEX, Flyt, Deutsche Post,
Better Trucks, Asendia, SFC, UBI, ePost Global, YF Logistics, RXO, Estes Express, Shypmax, WIN.IT America, PITT OHIO, PostNord Sweden, Equick,
Whistl, Tusou, Shiprocket, USPS First Class Mail, DTDC, PTS, ShipGlobal, Western Post`

/** Carrier names in lower case; any other carrier goes as `otherCarrier` with its own tracking address. */
export const carriers: ReadonlySet<string> = new Set(carrierNames.split(/,\s*/).map((name) => name.toLowerCase()))

export const cancellationReasons: ReadonlySet<string> = new Set([
  'CUSTOMER_REQUESTED_SELLER_TO_CANCEL',
  'SELLER_CANCEL_PRICING_ERROR',
  'SELLER_CANCEL_OUT_OF_STOCK',
  'SELLER_CANCEL_FRAUD_STOP_SHIPMENT',
  'SELLER_CANCEL_ADDRESS_NOT_SERVICEABLE',
])

/** The only reason that is tied to a line whose buyer asked to cancel. */
export const buyerAskedReason = 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL'

/** The published samples spell one reason in two ways (`IncorrectItemReceived`, `INCORRECT_ITEM_RECEIVED`): letters decide. */
const plain = (reason: string): string => reason.toLowerCase().replace(/[^a-z]/g, '')

const refundReasons: ReadonlySet<string> = new Set(
  [
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
  ].map(plain),
)

export const isRefundReason = (reason: string): boolean => refundReasons.has(plain(reason))
