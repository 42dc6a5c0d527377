import { z } from 'zod'

/**
 * A field that nothing depends on: absent, null or of a surprising type, the record is read all the same (its raw JSON keeps what came).
 * Fields that money or units depend on are not lenient: a surprise there sends the record to quarantine.
 */
export const lenient = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined)

/** A number, or a string that holds one; read with `decimalText` or `wholeNumber`. */
export const numberLike = z.union([z.number(), z.string()])

/** An identifier; a number where a string is promised is forgiven. */
export const identifier = z.union([z.string().min(1), z.number()])

/** Text; a number where a string is promised is forgiven. */
export const text = z.union([z.string(), z.number()])

/** A moment: epoch milliseconds or ISO 8601 text; read with `moment`. */
export const momentLike = z.union([z.number(), z.string()])
