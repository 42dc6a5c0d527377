import { z } from 'zod'
import type { World } from '../world.ts'

/** The report's columns by our own names, with the headings that the sandbox gives them. The specification shows neither names nor order. */
export const publishedHeadings = {
  gtin: 'GTIN',
  sku: 'SKU',
  itemName: 'Item Name',
  beginning: 'Beginning Quantity',
  ending: 'Ending Quantity',
  sold: 'Units Sold',
  returned: 'Units Returned',
  lost: 'Units Lost',
  found: 'Units Found',
  damaged: 'Units Damaged',
  other: 'Other Adjustments',
} as const
export type Column = keyof typeof publishedHeadings

const columns = [
  'gtin',
  'sku',
  'itemName',
  'beginning',
  'ending',
  'sold',
  'returned',
  'lost',
  'found',
  'damaged',
  'other',
] as const satisfies readonly Column[]

/** Body of `PUT /_sandbox/report`: what the file looks like; what is left out is as at the start. */
export const reportSettings = z.strictObject({
  /** Which columns, in which order. */
  columns: z
    .array(z.enum(columns))
    .min(1)
    .default([...columns]),
  /** Other headings for some of them. */
  headings: z.partialRecord(z.enum(columns), z.string()).default({}),
  letterCase: z.enum(['asWritten', 'upper', 'lower']).default('asWritten'),
  /** Further columns at the end, with one value for all rows. */
  additional: z.array(z.strictObject({ heading: z.string(), value: z.string() })).default([]),
  /** SKUs that have no row. */
  omitSkus: z.array(z.string()).default([]),
  /** Outgoing units are negative numbers. */
  negativeOutflows: z.boolean().default(false),
  byteOrderMark: z.boolean().default(false),
  lineBreak: z.enum(['\n', '\r\n']).default('\n'),
  contentType: z.enum(['text/csv', 'application/octet-stream']).default('text/csv'),
  /** Two spellings are in use: the right one, and one that no strict parser reads (public facts, section 7.2). */
  disposition: z.enum(['attachment;', 'attachment:']).default('attachment;'),
})
export type ReportSettings = z.infer<typeof reportSettings>

const key = 'report'

export const reportSettingsOf = ({ meta }: World): ReportSettings => meta.read(key, reportSettings)

export const keepReportSettings = ({ meta }: World, settings: ReportSettings): void => {
  meta.keep(key, settings)
}
