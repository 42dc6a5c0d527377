import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { normalSku } from '../../domain/values/text.ts'
import type { ListPage } from '../../store/db/page.ts'
import { problems } from '../app.ts'
import { acceptsCsv, bigintAsText, buildCsv, csvSchema, csvType } from '../csv.ts'
import { cursorCodec, maxLimit, pageSchema, pagingSchema } from './paging.ts'

/** `true` or `false` in a query. */
export const flagSchema = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')

/** A whole number in a query. */
export const wholeNumberSchema = (min: number, max: number) => {
  const expected = `must be a whole number from ${min} to ${max}`
  return z.coerce.number(expected).int(expected).min(min, `must be at least ${min}`).max(max, `must be at most ${max}`)
}

/** A time in a query: a date (its beginning, in UTC), or date and time. */
export const timeSchema = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be an ISO 8601 date, or date and time with its offset')
  .transform((text) => new Date(text))

// Postgres has no year 0; an offset may lead into it.
const isStorable = (time: Date): boolean =>
  time.getTime() >= Date.parse('0001-01-01') && time.getTime() < Date.parse('+010000-01-01T00:00:00Z')
const storableSchema = timeSchema.refine(isStorable, 'must be in the years 1 to 9999')

/** A date and time with its offset, not a date: a day is not an instant. */
export const instantSchema = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 date and time with its offset, such as 2026-03-01T09:30:00Z' })
    .transform((text) => new Date(text))
    .refine(isStorable, 'must be in the years 1 to 9999')
    .optional()
    .meta({ description })

/** `…From` of a list: rows at or after this time. */
export const fromSchema = (what: string) =>
  storableSchema.optional().meta({ description: `${what} at or after this date, or date and time.` })

/** `…To` of a list: rows before this time. */
export const toSchema = (what: string) =>
  storableSchema.optional().meta({ description: `${what} before this date, or date and time.` })

/** A filter by an id, or by another exact text. */
export const textFilter = (description: string) => z.string().min(1, 'must not be empty').optional().meta({ description })

/** A text to search for, in the normal form of stored SKUs. */
export const searchFilter = (description: string) =>
  z.string().transform(normalSku).pipe(z.string().min(1, 'must not be empty')).optional().meta({ description })

/** A filter by a SKU, which is compared in its normal form. */
export const skuFilter = (description: string) =>
  z.string().min(1, 'must not be empty').transform(normalSku).optional().meta({ description })

interface ListQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

const buildFingerprint = ({ limit: _, cursor: __, ...filters }: ListQuery): string =>
  hash(
    'sha256',
    JSON.stringify(
      Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)),
      bigintAsText,
    ),
    'base64url',
  ).slice(0, 12)

/** A list: its parameters, its answers as JSON and CSV, and its cursors, which are valid only with the same filters. */
export const buildList = <Item extends z.ZodObject, const Filters extends z.ZodRawShape, Key>(
  name: string,
  item: Item,
  key: z.ZodType<Key>,
  filters: Filters,
) => {
  const cursors = cursorCodec(name, z.object({ of: z.string(), at: key }))
  return {
    querystring: z.object({ ...pagingSchema, ...filters }),
    response: {
      200: {
        description: 'A page as JSON, or with `Accept: text/csv` all matching rows as a table.',
        content: { 'application/json': { schema: pageSchema(item) }, [csvType]: { schema: csvSchema } },
      },
      ...problems(),
    },
    /** Answers as JSON or CSV, by the Accept header. @throws Problem when the cursor belongs to other filters */
    answer: async <Row extends z.input<Item>>(
      request: { readonly query: ListQuery; readonly headers: { readonly accept?: string | undefined } },
      reply: { type(contentType: string): unknown },
      read: (after: Key | null, limit: number) => Promise<ListPage<Row, Key>>,
    ): Promise<Readable | { items: Row[]; nextCursor: string | null }> => {
      const { query } = request
      const of = buildFingerprint(query)
      const after = cursors.decode(query.cursor, (cursor) => cursor.of === of)?.at ?? null
      if (!acceptsCsv(request.headers.accept)) {
        const page = await read(after, query.limit)
        reply.type('application/json')
        return { items: [...page.items], nextCursor: page.next === null ? null : cursors.encode({ of, at: page.next }) }
      }
      // Read the first page before the answer begins: until then a failure can set the status.
      const first = await read(after, maxLimit)
      let at = first.next
      reply.type(`${csvType}; charset=utf-8; header=present`)
      return buildCsv<Row>(item, {
        first: first.items,
        next: async () => {
          if (at === null) return null
          const page = await read(at, maxLimit)
          at = page.next
          return page.items
        },
      })
    },
  }
}
