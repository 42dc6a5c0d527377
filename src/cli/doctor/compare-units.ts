/**
 * Compares the actual effects at the marketplace (reported by the sandbox) with the database, unit by unit. Pure.
 */

/** The compared counts, in the order of the table. */
export const unitFields = ['ordered', 'acknowledged', 'shipped', 'cancelled', 'refunded'] as const

/** Units of one order line, cumulative: a refunded unit is also shipped, a shipped one also acknowledged; a cancelled one is neither. */
export type Units = Readonly<Record<(typeof unitFields)[number], number>>

/** One order line on one side. */
export interface CountedLine {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly units: Units
}

/** A line on which the two sides differ; null: that side does not have the line. */
export interface LineDifference {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly marketplace: Units | null
  readonly database: Units | null
}

/** Result of a comparison. `units` counts the ordered units of all lines, each line once. */
export interface Comparison {
  readonly lines: number
  readonly units: number
  readonly differences: readonly LineDifference[]
}

/** The identity of an order over all sellers, as one text. */
export const orderKey = (line: { readonly sellerId: string; readonly purchaseOrderId: string }): string =>
  `${line.sellerId} ${line.purchaseOrderId}`

const lineKey = (line: CountedLine): string => `${orderKey(line)} ${line.lineNumber}`

const agree = (left: Units, right: Units): boolean => unitFields.every((field) => left[field] === right[field])

/**
 * Compares every line of both sides, so that it also finds an effect without an order and an order without effects.
 */
export const compareUnits = (marketplace: Iterable<CountedLine>, database: Iterable<CountedLine>): Comparison => {
  const unmatched = new Map<string, CountedLine>()
  for (const line of marketplace) unmatched.set(lineKey(line), line)
  const differences: LineDifference[] = []
  let lines = 0
  let units = 0
  const differ = (line: CountedLine, one: Units | null, other: Units | null): void => {
    const { sellerId, purchaseOrderId, lineNumber } = line
    differences.push({ sellerId, purchaseOrderId, lineNumber, marketplace: one, database: other })
  }
  for (const line of database) {
    const key = lineKey(line)
    const real = unmatched.get(key)
    unmatched.delete(key)
    lines += 1
    units += line.units.ordered
    if (real === undefined) differ(line, null, line.units)
    else if (!agree(real.units, line.units)) differ(line, real.units, line.units)
  }
  for (const line of unmatched.values()) {
    lines += 1
    units += line.units.ordered
    differ(line, line.units, null)
  }
  return { lines, units, differences }
}

/** The state of a command, as far as it explains a difference. */
export interface OrderCommand {
  readonly id: string
  readonly kind: string
  readonly state: string
}

/** Why a difference is not an error: an operator must decide on a command, or a command is in progress. */
export interface Explanation {
  readonly verdict: 'held' | 'in progress'
  readonly command: OrderCommand
}

/** The explanation of a difference on an order; null: none. A held command explains it before one in progress, because it blocks those behind it. */
export const explain = (commands: readonly OrderCommand[]): Explanation | null => {
  const held = commands.find((command) => command.state === 'held')
  if (held !== undefined) return { verdict: 'held', command: held }
  const open = commands.find((command) => ['pending', 'sending', 'verifying'].includes(command.state))
  return open === undefined ? null : { verdict: 'in progress', command: open }
}
