import { raiseAlarm, resolveAlarm } from './alarms.ts'
import type { Database } from './database.ts'

/** A seller as configured; the fingerprint changes with anything that could make refused credentials work again. */
export interface ConfiguredSeller {
  readonly sellerId: string
  readonly credentialsFingerprint: string
}

/** Records the configured sellers. One that stood stopped is taken up again when its fingerprint has changed. */
export const recordSellers = async (database: Database, sellers: readonly ConfiguredSeller[]): Promise<void> => {
  await database.transaction(async (transaction) => {
    for (const seller of [...sellers].sort((a, b) => (a.sellerId < b.sellerId ? -1 : 1))) {
      const revived = await transaction.query<{ revived: boolean }>(
        `INSERT INTO tallyman.sellers AS s (seller_id, state, credentials_fingerprint) VALUES ($1, 'active', $2)
         ON CONFLICT (seller_id) DO UPDATE SET state = 'active', stopped_reason = NULL, stopped_at = NULL,
           credentials_fingerprint = excluded.credentials_fingerprint, updated_at = now()
         WHERE s.credentials_fingerprint IS DISTINCT FROM excluded.credentials_fingerprint
         RETURNING (xmax <> 0) AS revived`,
        seller.sellerId,
        seller.credentialsFingerprint,
      )
      if (revived[0]?.revived === true) {
        await resolveAlarm(transaction, { sellerId: seller.sellerId, kind: 'credentials-refused', subject: 'credentials' })
      }
    }
  })
}

/** Stops a seller whose credentials the marketplace refuses, with an alarm. Does nothing when its settings have changed since. */
export const stopSeller = async (database: Database, seller: ConfiguredSeller, reason: string): Promise<boolean> =>
  database.transaction(async (transaction) => {
    const stopped = await transaction.execute(
      `UPDATE tallyman.sellers SET state = 'stopped', stopped_reason = $3, stopped_at = now(), updated_at = now()
       WHERE seller_id = $1 AND state = 'active' AND credentials_fingerprint = $2`,
      seller.sellerId,
      seller.credentialsFingerprint,
      reason,
    )
    if (stopped === 0) return false
    await raiseAlarm(transaction, { sellerId: seller.sellerId, kind: 'credentials-refused', subject: 'credentials' }, reason)
    transaction.tell({ sellerId: seller.sellerId, type: 'seller.stopped', data: { reason } })
    return true
  })

/** Sellers that are stopped now. */
export const stoppedSellers = async (database: Database): Promise<ReadonlySet<string>> => {
  const rows = await database.query<{ seller_id: string }>(`SELECT seller_id FROM tallyman.sellers WHERE state = 'stopped'`)
  return new Set(rows.map((row) => row.seller_id))
}
