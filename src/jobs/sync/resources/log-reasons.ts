import type { ReasonMap } from '../../../domain/inventory/log-reasons.ts'
import type { Database } from '../../../store/db/database.ts'
import { reviewDiscrepancies } from '../../../store/inventory/discrepancies.ts'
import { findMonthsOfReasons, recordReasons } from '../../../store/inventory/log-reasons.ts'

const pairsAtOnce = 1_000

/** Stores the reasons of the inventory log from a seller's settings, and reviews the discrepancies that they change. */
export const takeReasons = async (database: Database, sellerId: string, reasons: ReasonMap): Promise<void> => {
  const changed = await recordReasons(database, sellerId, reasons)
  if (changed.length === 0) return
  const months = await findMonthsOfReasons(database, sellerId, changed)
  for (let at = 0; at < months.length; at += pairsAtOnce) {
    const pairs = months.slice(at, at + pairsAtOnce)
    await database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
  }
}
