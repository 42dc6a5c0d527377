import type { RequestedReport } from '../../domain/inventory/report-schedule.ts'
import type { SqlRunner } from '../db/database.ts'
import { markTable } from '../versioned/table-marks.ts'
import { type SellerMonth, toFirstDay } from './reconciliation-reports.ts'

markTable('tallyman.report_requests', { none: 'seller_id month request_id requested_at checked_at' })

/** Stores an accepted request. It replaces the one before. */
export const storeReportRequest = async (
  { prisma }: SqlRunner,
  { sellerId, month }: SellerMonth,
  { requestId, requestedAt }: Pick<RequestedReport, 'requestId' | 'requestedAt'>,
): Promise<void> => {
  const key = { sellerId, month: toFirstDay(month) }
  const request = { requestId, requestedAt, checkedAt: null }
  await prisma.reportRequest.upsert({
    where: { sellerId_month: key },
    create: { ...key, ...request },
    update: request,
  })
}

/** Claims the next reading of a request's progress; false: another process has read it since, or the request is settled. */
export const claimRequestCheck = async (
  { prisma }: SqlRunner,
  { sellerId, month }: SellerMonth,
  { requestId, checkedAt }: RequestedReport,
  at: Date,
): Promise<boolean> => {
  const { count } = await prisma.reportRequest.updateMany({
    where: { sellerId, month: toFirstDay(month), requestId, checkedAt },
    data: { checkedAt: at },
  })
  return count > 0
}

/** Makes the progress of an open request readable now; false: no such request is open. */
export const makeRequestCheckDue = async (sql: SqlRunner, sellerId: string, requestId: string): Promise<boolean> =>
  (await sql.execute(
    `UPDATE tallyman.report_requests SET checked_at = requested_at - interval '1 day' WHERE seller_id = $1 AND request_id = $2`,
    sellerId,
    requestId,
  )) > 0

/** Deletes a request that is settled. */
export const removeReportRequest = async (
  { prisma }: SqlRunner,
  { sellerId, month }: SellerMonth,
  requestId: string,
): Promise<void> => {
  await prisma.reportRequest.deleteMany({ where: { sellerId, month: toFirstDay(month), requestId } })
}
