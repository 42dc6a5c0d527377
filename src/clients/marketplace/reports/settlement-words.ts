import type { SettlementComponent, SettlementMovement } from '../../../domain/settlements/movement.ts'
import type { ReimbursedUnits } from '../../../domain/settlements/reimbursements.ts'

// The words of settlement reports (public facts, section 13, and published copies of reports of the live service). All are compared without case.

const lowerCase = (words: readonly string[]): ReadonlySet<string> => new Set(words.map((word) => word.toLowerCase()))

const movements: ReadonlyMap<string, SettlementMovement> = new Map([
  ['sale', 'sale'],
  ['refund', 'refund'],
  ['paymentsummary', 'summary'],
  ['reserve', 'reserve'],
  ['release reserve', 'reserve'],
])

/** Description of a refund that the seller has issued. */
const sellerRefund = 'seller triggered refund'

const components: ReadonlyMap<string, SettlementComponent> = new Map([
  ['product price', 'price'],
  ['shipping', 'shipping'],
  ['shipping price', 'shipping'],
  ['product tax', 'tax'],
  ['shipping tax', 'tax'],
  ['product tax withheld', 'tax-withheld'],
  ['shipping tax withheld', 'tax-withheld'],
  ['commission on product', 'commission'],
  ['promo code', 'discount'],
  ['extra savings', 'discount'],
  ['total walmart funded savings', 'discount'],
])

const feeTypes = lowerCase([
  'Commission on Shipping',
  'Fee/Reimbursement',
  'WFS Fee/Reimbursement',
  'WFS Inventory Fee/Reimbursement',
  'Other tax (Fees)',
  'SEM Marketing Fee',
  'Review Accelerator Fee',
  'Ocean freight and related services',
])

/** Descriptions of fees whose rows have no type of amount. */
const feeDescriptions = lowerCase([
  'WFS Charge',
  'WFS Fulfillment fee',
  'WFS StorageFee',
  'WFS Refund',
  'WFS Return Shipping fee',
  'WFS Return Processing Fee',
  'WFS InventoryTransferFee',
  'WFS RC_InventoryDisposalFee',
  'WFS LostInventory',
  'WFS FoundInventory',
  'WFS DamageInWarehouse',
  'WMSC Logistics Services',
  'Walmart Shipping Label Service Charge',
  'Walmart Product Advertising',
  'SEM Marketing',
  'Review Accelerator',
  'Business initiated discrete partner credit',
  'Misc Invoices',
])

/** Descriptions of reimbursements. */
const reimbursements: ReadonlyMap<string, ReimbursedUnits> = new Map([
  ['wfs lostinventory', 'lost'],
  ['wfs damageinwarehouse', 'damaged'],
  ['wfs refund', 'returned'],
  ['wfs foundinventory', 'found'],
])

/** Some texts are within quotation marks, with spaces. */
const normalize = (text: string | null): string => (text ?? '').replaceAll('"', '').trim().toLowerCase()

/** The words of a row. */
interface RowWords {
  readonly transactionType: string
  readonly description: string | null
  readonly amountType: string | null
}

const findMovement = ({ transactionType, description }: RowWords): SettlementMovement => {
  const movement = movements.get(normalize(transactionType)) ?? 'other'
  return movement === 'refund' && normalize(description) === sellerRefund ? 'seller-refund' : movement
}

const findComponent = (movement: SettlementMovement, { description, amountType }: RowWords): SettlementComponent => {
  if (movement === 'summary' || movement === 'reserve') return movement
  const type = normalize(amountType)
  if (type === '') return feeDescriptions.has(normalize(description)) ? 'fee' : 'unknown'
  return components.get(type) ?? (feeTypes.has(type) ? 'fee' : 'unknown')
}

/** What a row moves money for, which part of it the row is, and which units it reimburses (null: none). */
export const classifyRow = (
  words: RowWords,
): {
  readonly movement: SettlementMovement
  readonly component: SettlementComponent
  readonly reimburses: ReimbursedUnits | null
} => {
  const movement = findMovement(words)
  const reimburses = movement === 'other' ? (reimbursements.get(normalize(words.description)) ?? null) : null
  return { movement, component: findComponent(movement, words), reimburses }
}

/** The rate of a commission as a fraction, from `15`, `15%` or `0.15`; null: the row states none. */
export const parseRate = (text: string | null): string | null => {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,6})?)\s*(%?)$/.exec(normalize(text)) ?? []
  if (digits === undefined) return null
  const rate = Number(digits)
  if (percent === '' && rate < 1) return digits
  return rate > 100 ? null : String(Number((rate / 100).toFixed(8)))
}
