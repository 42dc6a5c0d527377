import type { LossKind } from './claims.ts'
import { type MovementKind, movementKinds } from './log-reasons.ts'
import { type DiscrepancyKind, directions, type UnitsByKind } from './reconciliation.ts'
import { type UncertainReason, type UncertainUnits, uncertainReasons } from './shortages.ts'

/** What a claim is worth. */
interface ClaimWorth {
  /** Units that can be claimed. */
  readonly units: number
  /** Decimal text; null: no price is known. */
  readonly unitPrice: string | null
  readonly value: string | null
  readonly currency: string | null
}

/** The numbers of a claim for an inbound shipment. Times are ISO 8601. */
export interface InboundNumbers extends ClaimWorth {
  readonly shipmentId: string
  readonly sentUnits: number
  readonly receivedUnits: number
  readonly shippedAt: string
  /** As the ERP states; null: it does not. */
  readonly deliveredAt: string | null
  /** The first receipt of the shipment; null: none. */
  readonly firstReceivedAt: string | null
  readonly logReadUpTo: string | null
}

/** The numbers of a claim for units of a month, for its arithmetic in words. */
export interface ClaimNumbers extends ClaimWorth {
  /** `YYYY-MM`. */
  readonly month: string
  readonly sku: string
  readonly kind: LossKind
  /** Units of the kind before found units were deducted. */
  readonly grossUnits: number
  readonly uncertain: UncertainUnits
  /** Units that later months found. */
  readonly foundLater: number
  /** The month's row of the report, its units without their signs; null: it has none. */
  readonly row: { readonly beginning: number; readonly ending: number; readonly units: UnitsByKind } | null
  /** Open differences of the month. */
  readonly differences: readonly {
    readonly kind: DiscrepancyKind
    readonly reportUnits: number
    readonly expectedUnits: number
  }[]
}

const unitText = (units: number): string => (Math.abs(units) === 1 ? `${units} unit` : `${units} units`)

const names: Readonly<Record<MovementKind, string>> = {
  sold: 'sold',
  returned: 'returned',
  lost: 'lost',
  found: 'found',
  damaged: 'damaged',
  other: 'other adjustments',
}

const describeRow = ({ month, row }: ClaimNumbers): string => {
  if (row === null) return `The report of ${month} has no row of this SKU.`
  const moved = movementKinds.filter((kind) => row.units[kind] !== 0)
  const change = moved.reduce((sum, kind) => sum + directions[kind] * row.units[kind], 0)
  const movements = moved.map(
    (kind) => `${directions[kind] * row.units[kind] < 0 ? '-' : '+'} ${Math.abs(row.units[kind])} ${names[kind]}`,
  )
  const sum = [`${row.beginning} at the beginning`, ...movements].join(' ')
  return `The report of ${month}: ${sum} = ${row.beginning + change}. It states ${row.ending} at the end.`
}

const describeDifference = ({ kind, reportUnits, expectedUnits }: ClaimNumbers['differences'][number]): string => {
  switch (kind) {
    case 'balance':
      return `The report states ${unitText(reportUnits)} at the end; its beginning and its movements make ${expectedUnits}.`
    case 'carry-over':
      return `The report begins with ${unitText(reportUnits)}; the months before end with ${expectedUnits}.`
    case 'row':
      return `A former report had a row of this SKU that ended with ${unitText(expectedUnits)}; it is gone.`
    default:
      return `The report counts ${unitText(reportUnits)} (${names[kind]}); the inventory log has ${expectedUnits}.`
  }
}

const gross: Readonly<Record<LossKind, string>> = {
  lost: 'stated as lost by the report',
  damaged: 'stated as damaged by the report',
  missing: 'missing without a movement that explains them',
  returned: 'returned by the log and not counted by the report',
}

const reasons: Readonly<Record<UncertainReason, string>> = {
  'log-copy': 'the log may have a copy of an entry',
  'older-report': 'the report is older than entries of the log that it does not count; it is read again',
  'cut-off': 'the report counts them in one month, the log in the next one or the one before',
  'other-month': 'another month makes them good',
  'no-row': 'the report has no row',
  'incomplete-month': 'the report does not count the whole month yet',
}

/** A price with at least two decimals, and without zeros after them. */
const priceText = (price: string): string => price.replace(/(\.\d\d\d*?)0+$/, '$1')

const describeWorth = ({ units, unitPrice, value, currency }: ClaimWorth): string =>
  unitPrice === null || value === null
    ? `Claimed: ${unitText(units)}. No price of the SKU is known.`
    : `Claimed: ${unitText(units)} at ${priceText(unitPrice)} ${currency ?? ''} each, the last known price = ${value} ${currency ?? ''}.`

/** The arithmetic of a claim for an inbound shipment. */
export const explainInbound = (numbers: InboundNumbers): readonly string[] => {
  const { shipmentId, sentUnits, receivedUnits, shippedAt, deliveredAt, firstReceivedAt, logReadUpTo } = numbers
  const missing = sentUnits - receivedUnits
  return [
    `${unitText(sentUnits)} ${sentUnits === 1 ? 'was' : 'were'} sent with the inbound shipment ${shipmentId} at ${shippedAt}.`,
    deliveredAt === null
      ? `The delivery is counted from the first receipt of the shipment in the inventory log, ${firstReceivedAt ?? 'which is gone'}.`
      : `The shipment was delivered at ${deliveredAt}, as the sender states.`,
    `The inventory log, read up to ${logReadUpTo ?? 'no time'}, has ${receivedUnits} received with this shipment.`,
    `${sentUnits} - ${receivedUnits} = ${missing}: ${unitText(missing)} ${missing === 1 ? 'was' : 'were'} not received.`,
    describeWorth(numbers),
  ]
}

/** The arithmetic of a claim for units of a month, one sentence or two for each step. */
export const explainClaim = (numbers: ClaimNumbers): readonly string[] => {
  const { kind, units, grossUnits, uncertain, foundLater, differences } = numbers
  const found = grossUnits - units
  return [
    describeRow(numbers),
    ...differences.map(describeDifference),
    `${unitText(grossUnits)} ${grossUnits === 1 ? 'is' : 'are'} ${gross[kind]}.`,
    ...(found > 0
      ? [`${unitText(found)} of them came back later or in the same month: ${grossUnits} - ${found} = ${units}.`]
      : []),
    ...(foundLater > 0 && kind !== 'damaged'
      ? [
          `${unitText(foundLater)} ${foundLater === 1 ? 'was' : 'were'} found in later months; found units settle the latest losses first.`,
        ]
      : []),
    ...uncertainReasons.flatMap((reason) => {
      const of = uncertain[reason] ?? 0
      return of === 0 ? [] : [`Not claimed: ${unitText(of)}, because ${reasons[reason]}.`]
    }),
    describeWorth(numbers),
  ]
}
