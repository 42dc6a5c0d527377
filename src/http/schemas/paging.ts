import { z } from 'zod'
import { unstorable } from '../../domain/values/text.ts'
import { Problem } from '../problems.ts'

const defaultLimit = 100
/** Longest page. */
export const maxLimit = 1_000

/** `limit` of every list. */
export const limitSchema = z.coerce
  .number('must be a whole number from 1 to 1000')
  .int('must be a whole number from 1 to 1000')
  .min(1, 'must be at least 1')
  .max(maxLimit, `must be at most ${maxLimit}`)
  .default(defaultLimit)
  .meta({ description: `Length of the page, 1 to ${maxLimit}.` })

/** `limit` and `cursor` of every list. */
export const pagingSchema = {
  limit: limitSchema,
  cursor: z.string().min(1, 'must not be empty').optional().meta({ description: '`nextCursor` of the previous page; opaque.' }),
}

/** Answer of a list. */
export const pageSchema = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().meta({ description: 'Cursor of the next page; null on the last one.' }),
  })

/** Encodes and decodes the cursors of a list. */
export interface CursorCodec<Key> {
  encode(key: Key | null): string | null
  /** @throws Problem when the text is not a cursor of this list, or is not accepted */
  decode(cursor: string | undefined, accepts?: (key: Key) => boolean): Key | null
}

/** Cursors of one list; `list` distinguishes them from those of other lists. */
export const cursorCodec = <Key>(list: string, schema: z.ZodType<Key>): CursorCodec<Key> => ({
  encode: (key) => {
    if (key === null) return null
    const text = JSON.stringify([list, key], (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
    return Buffer.from(text).toString('base64url')
  },
  decode: (cursor, accepts = () => true) => {
    if (cursor === undefined) return null
    const decoded = decodeJson(cursor)
    const parsed = z.tuple([z.literal(list), schema]).safeParse(decoded)
    if (parsed.success && isStorable(decoded)) {
      if (accepts(parsed.data[1])) return parsed.data[1]
      throw new Problem('invalid-cursor', {
        errors: [
          {
            path: 'query.cursor',
            message: 'belongs to other filters; send the filters of the previous page, or begin without a cursor',
          },
        ],
      })
    }
    throw new Problem('invalid-cursor', { errors: [{ path: 'query.cursor', message: 'is not a cursor of this list' }] })
  },
})

/** A bigint that a cursor encodes as text, within the range of Postgres' bigint. */
export const bigintKey: z.ZodType<bigint> = z
  .string()
  .regex(/^\d{1,18}$/, 'must be a whole number of at most 18 digits')
  .transform(BigInt)

/** Whether Postgres can search for all text of a cursor. */
const isStorable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isStorable)
    : typeof value !== 'string' || unstorable(value) === null

const decodeJson = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    // Not JSON, so not one of our cursors: the caller reports it.
    return undefined
  }
}
