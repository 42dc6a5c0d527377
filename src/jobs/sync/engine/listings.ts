import type { CallOptions } from '../../../clients/http/call-options.ts'
import type { Endpoint } from '../../../clients/http/endpoint.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import type { Page, ParsedRecord } from '../../../clients/http/record.ts'
import { rawHash } from '../../../store/versioned/versions.ts'
import { CursorLoop } from '../recovery/errors.ts'
import type { PagedStream, StreamContext, TransactionHook } from './stream.ts'
import { type SnapshotPage, snapshot } from './streams.ts'

/** Maximum rows of a page: the documented default (specification, Limits). A larger page might be truncated unnoticed. */
const maxRows = 100

/** Declaration of a listing that is read by position, from its start to its end. */
export interface Listing<Part, T> {
  readonly endpoint: Endpoint<Part | null>
  readonly operation: Operation
  /** Parts of the listing that need a query each; null is the whole listing. */
  readonly parts: readonly (string | null)[]
  readonly list: (
    listing: Part,
    part: string | null,
    range: { readonly startIndex: number; readonly count: number },
    options: CallOptions,
  ) => Promise<SnapshotPage<T>>
  /** Prepares what the transaction that stores a page writes besides its records; undefined: nothing. */
  readonly inSameTransaction?: (context: StreamContext, page: Page<T>) => Promise<TransactionHook | undefined>
}

const short = (text: string): string => rawHash(text).slice(0, 16)
const digest = ({ records }: Page<unknown>): string => short(records.map((record) => record.rawText).join('\n'))
const buildName = ({ key, rawText }: ParsedRecord<unknown>): string => short(key ?? rawText)

// A cursor is the position where the page ended, a digest of the page, and the name of its last row. The next page begins with that row again. If it does
// not, earlier rows were removed meanwhile and later ones have moved up. A host that ignores the position returns the same page again.
const cursorAfter = (page: Page<unknown>): string | null => {
  const last = page.records.at(-1)
  return page.nextCursor === null || last === undefined ? null : `${page.nextCursor}:${digest(page)}:${buildName(last)}`
}

/** The only stream of a listing: each run reads it completely, as a snapshot of each part. */
export const listing = <Part, T>({ endpoint, list, inSameTransaction, ...stream }: Listing<Part, T>): PagedStream<T> => {
  const read = async (
    context: StreamContext,
    part: string | null,
    startIndex: number,
    options: CallOptions,
  ): Promise<SnapshotPage<T>> => {
    const { client, settings } = context
    const source = client.of(endpoint)
    if (source === null) throw new Error(`${stream.operation.name} is not configured for this seller`)
    const page = await list(source, part, { startIndex, count: Math.min(settings.pageSize, maxRows) }, options)
    return {
      ...page,
      nextCursor: cursorAfter(page),
      // The engine plans windows by the marketplace's clock; the display host has another clock.
      marketplaceNow: client.clock().now(),
      inSameTransaction: await inSameTransaction?.(context, page),
    }
  }
  return snapshot({
    ...stream,
    page: async (context, part, cursor, options) => {
      if (cursor === null) return read(context, part, 0, options)
      const [end, before, last] = cursor.split(':')
      const startIndex = Number(end) - 1
      const page = await read(context, part, startIndex, options)
      if (page.records.length > 0 && digest(page) === before)
        throw new CursorLoop(`the listing returns the same page again at position ${startIndex}; it seems to ignore startIndex`)
      const again = page.records.findIndex((record) => buildName(record) === last)
      return again === -1 ? { ...page, moved: true } : { ...page, records: page.records.toSpliced(again, 1) }
    },
  })
}
