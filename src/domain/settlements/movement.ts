/** What a row of a settlement report moves money for. */
export const settlementMovements = ['sale', 'refund', 'seller-refund', 'reserve', 'summary', 'other'] as const
/** One of {@link settlementMovements}. `seller-refund`: the seller issued it. `summary`: the paid total. `other`: fees and adjustments. */
export type SettlementMovement = (typeof settlementMovements)[number]

/** Which part of the money of a movement a row is. */
export const settlementComponents = [
  'price',
  'shipping',
  'tax',
  'tax-withheld',
  'commission',
  'discount',
  'fee',
  'reserve',
  'summary',
  'unknown',
] as const
/** One of {@link settlementComponents}. `unknown`: money under a name that is not known. */
export type SettlementComponent = (typeof settlementComponents)[number]
