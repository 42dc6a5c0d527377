import type { ReasonMap } from '../domain/log-reasons.ts'
import type { Database } from '../store/database.ts'
import { reviewDiscrepancies } from '../store/discrepancies.ts'
import { monthsOfReasons, recordReasons } from '../store/log-reasons.ts'

const pairsAtOnce = 1_000

/** Takes over what a seller's settings say about reasons of the inventory log, and judges again what means something else now. */
export const takeReasons = async (database: Database, sellerId: string, reasons: ReasonMap): Promise<void> => {
  const changed = await recordReasons(database, sellerId, reasons)
  if (changed.length === 0) return
  const months = await monthsOfReasons(database, sellerId, changed)
  for (let at = 0; at < months.length; at += pairsAtOnce) {
    const pairs = months.slice(at, at + pairsAtOnce)
    await database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
  }
}
