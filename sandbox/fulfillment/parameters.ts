import { contentNotFound, Refusal } from '../core/errors.ts'
import type { Query } from '../operations/query.ts'

const COMPONENT = 'GMP_INVENTORY_API'
const GTIN = /^\d{14}$/

function refusal(code: string, field: string, description: string): Refusal {
  return new Refusal(400, [{ code: `${code}.${COMPONENT}`, field, description, severity: 'ERROR', category: 'REQUEST' }], 'flat')
}

/** 400 for a parameter whose value will not do. */
export function refuseValue(field: string, description: string): Refusal {
  return refusal('INVALID_REQUEST_PARAM', field, description)
}

/** A parameter that must be there. */
export function required(query: Query, name: string): string {
  const value = query.get(name)
  if (value === null) throw refusal('MISSING_REQUEST_PARAM', name, `Required parameter ${name} is missing`)
  return value
}

/** A whole number between the bounds. */
export function wholeParameter(query: Query, name: string, fallback: number, low: number, high: number): number {
  const value = query.get(name)
  if (value === null) return fallback
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1
  if (number < low || number > high) throw refuseValue(name, `${name} must be a whole number from ${low} to ${high}`)
  return number
}

/** One of the given words, whatever their case; `null` when it is not given. */
export function wordParameter<T extends string>(query: Query, name: string, words: readonly T[]): T | null {
  const value = query.get(name)?.toLowerCase()
  if (value === undefined) return null
  const word = words.find((candidate) => candidate.toLowerCase() === value)
  if (word === undefined) throw refuseValue(name, `${name} must be one of ${words.join(', ')}`)
  return word
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) === true
}

/** A single GTIN of 14 digits. */
export function gtinParameter(value: string): string {
  if (!GTIN.test(value)) throw refuseValue('gtin', 'gtin must be one GTIN of 14 digits')
  return value
}

/** 404 for an item that the seller has not sent to the fulfilment service. */
export function noSuchItem(): Refusal {
  return new Refusal(404, contentNotFound('No such item in the fulfillment service', COMPONENT).faults, 'flat')
}
