/** The columns of the reconciliation report that count units (specification, "Inventory reconciliation report"). */
export const cells = ['sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const
export type Cell = (typeof cells)[number]

/**
 * Where the report counts a movement. `unexplained` units change what a month ends with and stand in no column; `carry` units
 * change what a month begins with and not what the month before ended with. Both exist only as planted discrepancies.
 */
export type Place = Cell | 'unexplained' | 'carry'

/** Kind of movement, in the marketplace's terms (public facts, section 7.1). */
export interface Wording {
  readonly type: string
  readonly reasonCode: string
  readonly reasonText: string
}

export const sold: Wording = { type: 'Ship', reasonCode: 'SIP', reasonText: 'Shipped to Customer' }
export const returnedWording: Wording = { type: 'Return', reasonCode: 'RTN', reasonText: 'Customer Return' }
export const received: Wording = { type: 'Receipt', reasonCode: 'RCV', reasonText: 'Received from Shipment' }
export const lost: Wording = { type: 'Adjustment', reasonCode: 'LOS', reasonText: 'Lost in Warehouse' }
export const found: Wording = { type: 'Adjustment', reasonCode: 'FND', reasonText: 'Found in Warehouse' }
export const damaged: Wording = { type: 'Adjustment', reasonCode: 'DMG', reasonText: 'Damaged in Warehouse' }
export const corrected: Wording = { type: 'Adjustment', reasonCode: 'ADJ', reasonText: 'Inventory Correction' }

/** The usual wording of the units that a column counts; receipts and corrections share one. */
export const wording: Readonly<Record<Cell, Wording>> = {
  sold: sold,
  returned: returnedWording,
  lost: lost,
  found: found,
  damaged: damaged,
  other: corrected,
}

/** Whether units of a column leave the stock; those of `other` carry their own sign. */
export const isOutflow = (cell: Cell): boolean => cell === 'sold' || cell === 'lost' || cell === 'damaged'

/** The column that counts a movement: by its type, an adjustment by its reason. */
export const buildCell = ({ type, reasonCode, reasonText }: Wording): Cell => {
  if (type === 'Ship') return 'sold'
  if (type === 'Return') return 'returned'
  if (type !== 'Adjustment') return 'other'
  const reason = `${reasonCode} ${reasonText}`
  // What was found again had been lost, and may say so.
  if (/\b(fnd|found)\b/i.test(reason)) return 'found'
  if (/\b(dmg|damaged?)\b/i.test(reason)) return 'damaged'
  return /\b(los|lost|missing)\b/i.test(reason) ? 'lost' : 'other'
}

/** Sellable stock is at `Inventory`; units at `Salvage` are in the log and in no report. */
export type StockLocation = 'Inventory' | 'Salvage'

/** A change of stock to be written down; times are epoch milliseconds of the virtual clock. */
export interface Movement extends Wording {
  readonly at: number
  /** When the log begins to show it, and reports made from then on count it; never before `at`. */
  readonly appearsAt: number
  readonly units: number
  readonly location: StockLocation
  readonly fcName: string
  readonly shipmentId: string | null
  /** Given with the movement; default: the next number of the item. */
  readonly entryId: string | null
  readonly place: Place
  readonly inLog: boolean
  readonly inReport: boolean
}

/** One SKU of a seller in the fulfilment service. */
export interface Item {
  readonly id: number
  readonly sellerId: string
  readonly sku: string
  /** 14 digits. */
  readonly gtin: string
  readonly productName: string
  /** Sellable units before the first movement. */
  readonly openingUnits: number
  /** Sellable units after every movement written down so far, those of today's later hours included. */
  stock: number
  /** Entries numbered so far. */
  entries: number
  /** Average daily sales of a simulated item; 0 for a static one. */
  readonly pace: number
  /** The moment of the first movement, or from which the opening units lie there. */
  firstAt: number
}

export type NewItem = Omit<Item, 'id' | 'stock' | 'entries'>

/** A movement of sellable stock as it usually is: in the log and in the report at once. */
export const moved = (wording: Wording, units: number, at: number, more: Partial<Movement> = {}): Movement => ({
  ...wording,
  units,
  at,
  appearsAt: at,
  location: 'Inventory',
  fcName: 'KY1',
  shipmentId: null,
  entryId: null,
  place: buildCell(wording),
  inLog: true,
  inReport: (more.location ?? 'Inventory') === 'Inventory',
  ...more,
})
