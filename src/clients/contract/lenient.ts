import { z } from 'zod'
import { isObject } from '../../domain/values/values.ts'

/**
 * An optional field that no rule needs. If it is absent, null or of an unexpected type, the record is read without it (the raw JSON keeps the value). Fields of
 * money and units are not lenient: an unexpected value sends the record to quarantine.
 */
export const lenient = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined)

/** A number, or a string with one; parse it with `decimalText` or `wholeNumber`. */
export const numberLike = z.union([z.number(), z.string()])

/** An identifier. A number is accepted in place of the documented string. */
export const identifier = z.union([z.string().min(1), z.number()])

/** Text. A number is accepted in place of the documented string. */
export const text = z.union([z.string(), z.number()])

/** A timestamp: epoch milliseconds or ISO 8601 text; parse it with `parseTimestamp`. */
export const timestampLike = z.union([z.number(), z.string()])

/** A list of objects. A single object counts as a list of one, as in answers that were converted from XML. */
export const buildList = <T extends z.ZodType>(element: T) =>
  z.preprocess((value) => (isObject(value) ? [value] : value), z.array(element))
