import { refuseContent } from '../core/errors.ts'
import type { QuantityField } from '../settings.ts'

/** The units that one status entry of a request names. Throws a refusal: a quantity is neither left out nor defaulted to 1. */
export const readQuantity = (entry: Readonly<Record<string, unknown>>, field: QuantityField, lineNumber: string): number => {
  const path = `orderLines.orderLine.orderLineStatuses.orderLineStatus.${field}`
  const given = entry[field]
  if (typeof given !== 'object' || given === null || !('amount' in given)) {
    throw refuseContent(`${field} with amount is required in line number ${lineNumber}`, path)
  }
  const amount = typeof given.amount === 'number' || typeof given.amount === 'string' ? String(given.amount) : ''
  if (!/^[1-9]\d{0,8}$/.test(amount))
    throw refuseContent(`${field}.amount must be a whole number above 0 in line number ${lineNumber}`, path)
  return Number(amount)
}
