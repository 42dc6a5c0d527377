import { type Query, readWord } from '../calls/query.ts'
import { contentNotFound, Refusal } from '../core/errors.ts'

const component = 'GMP_INVENTORY_API'
const gtin = /^\d{14}$/

const refusal = (code: string, field: string, description: string): Refusal =>
  new Refusal(400, [{ code: `${code}.${component}`, field, description, severity: 'ERROR', category: 'REQUEST' }], 'flat')

/** 400 for a parameter whose value will not do. */
export const refuseValue = (field: string, description: string): Refusal => refusal('INVALID_REQUEST_PARAM', field, description)

/** A parameter that must be there. */
export const required = (query: Query, name: string): string => {
  const value = query.get(name)
  if (value === null) throw refusal('MISSING_REQUEST_PARAM', name, `Required parameter ${name} is missing`)
  return value
}

/** One of the given values, case-insensitive; `null` if absent. */
export const wordParameter = <T extends string>(query: Query, name: string, words: readonly T[]): T | null =>
  readWord(query, name, words, refuseValue, (word) => word.toLowerCase())

/** A single GTIN of 14 digits. */
export const gtinParameter = (value: string): string => {
  if (!gtin.test(value)) throw refuseValue('gtin', 'gtin must be one GTIN of 14 digits')
  return value
}

/** 404 for an item that the seller has not sent to the fulfilment service. */
export const noSuchItem = (): Refusal => contentNotFound('No such item in the fulfillment service', component, 'flat')
