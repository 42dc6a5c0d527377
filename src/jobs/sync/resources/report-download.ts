import { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { ReportDownload } from '../../../clients/marketplace/reports/report-download.ts'
import {
  beginReport,
  completeReport,
  findReport,
  removeReport,
  type SellerMonth,
  type StoredReport,
} from '../../../store/inventory/reconciliation-reports.ts'
import { ReportFileRemoved, writeReportFile } from '../../../store/inventory/report-files.ts'
import type { StreamContext, TransactionHook } from '../engine/stream.ts'

/**
 * Stores the file of a report while it arrives; null: another process has read a later one meanwhile. `inSameTransaction` runs when the file is complete.
 *
 * @throws MarketplaceFailure if it does not arrive completely
 */
export const storeDownload = async (
  { database }: StreamContext,
  key: SellerMonth,
  { fileName, observedAt, correlationId, body }: ReportDownload,
  generatedAt: Date,
  inSameTransaction: TransactionHook = async () => undefined,
): Promise<StoredReport | null> => {
  try {
    const id = await beginReport(database, { ...key, fileName, generatedAt, retrievedAt: observedAt, correlationId })
    try {
      const byteCount = await writeReportFile(database, id, body)
      await database.transaction(async (tx) => {
        await completeReport(tx, id, byteCount)
        await inSameTransaction(tx)
      })
    } catch (error) {
      if (error instanceof ReportFileRemoved) return null
      // After any other error the import of the next report removes this incomplete one.
      if (error instanceof MarketplaceFailure) await removeReport(database, id)
      throw error
    }
    return await findReport(database, id)
  } finally {
    await body.return()
  }
}
