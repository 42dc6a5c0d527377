import { type Cents, computeShare } from '../core/money.ts'
import type { Charge, Line } from '../rules/model.ts'

/**
 * The same goods in the legacy order model: one line for each unit, each acknowledged, shipped and refunded on its own
 * (specification, section 9, rule 7). The lines are numbered on from the first one's number; the charges of a line add up to what they were.
 */
export const oneLinePerUnit = (lines: readonly Line[]): Line[] => {
  if (lines.every((line) => line.ordered === 1)) return [...lines]
  const first = Number(lines[0]?.lineNumber ?? '1')
  return lines
    .flatMap((line) => Array.from({ length: line.ordered }, (_, unit) => buildUnit(line, unit)))
    .map((line, index) => ({ ...line, lineNumber: String(first + index) }))
}

const buildUnit = (line: Line, unit: number): Line => {
  const part = (total: Cents): Cents => computeShare(total, unit + 1, line.ordered) - computeShare(total, unit, line.ordered)
  const charges: Charge[] = line.charges.map((charge) => ({
    ...charge,
    amount: part(charge.amount),
    tax: charge.tax === null ? null : { ...charge.tax, amount: part(charge.tax.amount) },
    ...(charge.fees == null ? {} : { fees: { ...charge.fees, amount: part(charge.fees.amount) } }),
  }))
  return { ...line, ordered: 1, charges, entries: line.entries.map((entry) => ({ ...entry, quantity: 1 })), refunds: [] }
}
