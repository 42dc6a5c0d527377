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

/** How a requested report ends: it is made; it fails; it is never ready; it is gone before it can be downloaded. */
export const requestEndings = ['ready', 'error', 'stuck', 'expired'] as const

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
  /** Reports that are requested from now on, in virtual time (public facts, section 13: 15 to 45 minutes). */
  requests: z
    .strictObject({
      readyAfterMs: z.number().int().min(0).max(31_622_400_000).default(1_200_000),
      ending: z.enum(requestEndings).default('ready'),
      /** Whether the file is a ZIP archive of the CSV; both are in use, and which one is not published. */
      archive: z.boolean().default(false),
    })
    .prefault({}),
})
export type ReportSettings = z.infer<typeof reportSettings>

const key = 'report'

export const readReportSettings = ({ meta }: World): ReportSettings => meta.read(key, reportSettings)

export const keepReportSettings = ({ meta }: World, settings: ReportSettings): void => {
  meta.keep(key, settings)
}
