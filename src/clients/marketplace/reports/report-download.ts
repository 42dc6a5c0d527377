import type { Body } from '../../http/body.ts'
import type { FileAnswer } from '../../http/call.ts'
import { headerText } from '../../http/classify.ts'
import type { MarketplaceClock } from '../../http/clock.ts'
import { findFileName, parseStamp } from './content-disposition.ts'

/** A report in download. Times are on the marketplace's clock. */
export interface ReportDownload {
  readonly fileName: string | null
  /** When the report was generated, by its file name; null if the name has no timestamp. */
  readonly generatedAt: Date | null
  /** When it was requested. */
  readonly observedAt: Date
  readonly answeredAt: Date
  readonly correlationId: string
  /** The CSV file in UTF-8, in chunks. Read it to its end or cancel it. It throws a `MarketplaceFailure` if it does not arrive completely. */
  readonly body: Body
}

/** A report from the answer that contains its file. A file without a name of its own has that of its path. */
export const buildDownload = (file: FileAnswer, clock: MarketplaceClock, path: string | null = null): ReportDownload => {
  const named = findFileName(headerText(file.headers, 'content-disposition'))
  const fileName = named ?? path?.split('/').at(-1) ?? null
  return {
    fileName: fileName === '' ? null : fileName,
    generatedAt: parseStamp(fileName),
    observedAt: clock.at(file.sentMs),
    answeredAt: clock.at(file.answeredMs),
    correlationId: file.correlationId,
    body: file.body,
  }
}
