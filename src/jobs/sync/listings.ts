import type { CallOptions } from '../../clients/call-options.ts'
import type { Endpoint } from '../../clients/endpoint.ts'
import type { Operation } from '../../clients/operation.ts'
import type { Page, ParsedRecord } from '../../clients/record.ts'
import { rawHash } from '../../store/versions.ts'
import { PagingAstray } from './faults.ts'
import type { PagedStream, StreamContext } from './stream.ts'
import { type SnapshotPage, snapshot } from './streams.ts'

/** Most rows of a page: the documented default (specification, Limits); a larger page might be cut short unnoticed. */
const mostRows = 100

/** A listing that is read by position, from its start to its end. */
export interface Listing<Part, T> {
  readonly endpoint: Endpoint<Part | null>
  readonly operation: Operation
  /** Shares of the listing that need a query each; null is one that covers all. */
  readonly parts: readonly (string | null)[]
  readonly list: (
    listing: Part,
    part: string | null,
    range: { readonly startIndex: number; readonly count: number },
    options: CallOptions,
  ) => Promise<Page<T>>
}

const short = (text: string): string => rawHash(text).slice(0, 16)
const digest = ({ records }: Page<unknown>): string => short(records.map((record) => record.rawText).join('\n'))
const nameOf = ({ key, rawText }: ParsedRecord<unknown>): string => short(key ?? rawText)

// A cursor is where the page ended, with a digest of it and the name of its last row. The next page begins with that row again: when
// it does not come, rows before it have gone meanwhile and others have slipped into their places. A host that ignores the position
// gives the same page again.
const cursorAfter = (page: Page<unknown>): string | null => {
  const last = page.records.at(-1)
  return page.nextCursor === null || last === undefined ? null : `${page.nextCursor}:${digest(page)}:${nameOf(last)}`
}

/** The only stream of a listing: each run reads all of it, as a snapshot of each part. */
export const listing = <Part, T>({ endpoint, list, ...stream }: Listing<Part, T>): PagedStream<T> => {
  const read = async (
    { client, settings }: StreamContext,
    part: string | null,
    startIndex: number,
    options: CallOptions,
  ): Promise<SnapshotPage<T>> => {
    const asked = client.of(endpoint)
    if (asked === null) throw new Error('display advertising is off: set DISPLAY_URL and what belongs to it')
    const page = await list(asked, part, { startIndex, count: Math.min(settings.pageSize, mostRows) }, options)
    return {
      ...page,
      nextCursor: cursorAfter(page),
      // The engine compares clocks by which windows are planned; that of the display host is another one.
      marketplaceNow: client.clock().now(),
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
        throw new PagingAstray(`the listing gives the same page at position ${startIndex} again, as if it ignored startIndex`)
      const again = page.records.findIndex((record) => nameOf(record) === last)
      return again === -1 ? { ...page, moved: true } : { ...page, records: page.records.toSpliced(again, 1) }
    },
  })
}
