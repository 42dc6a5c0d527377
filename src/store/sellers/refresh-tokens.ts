import type { SqlRunner } from '../db/database.ts'

/** The row of a seller's refresh token: the seller, and the fingerprint of the configured token that it replaces. */
export interface RefreshTokenKey {
  readonly sellerId: string
  readonly configuredFingerprint: string
}

/** The refresh token of a seller under the lease of one process. */
export interface LeasedRefreshToken {
  /** Null: the configured one has not been replaced. */
  readonly encryptedToken: Uint8Array | null
  readonly version: number
}

/** Takes the lease of a seller's refresh token; null: another one holds it. It ends by itself after `leaseMs`. */
export const leaseRefreshToken = async (
  sql: SqlRunner,
  { sellerId, configuredFingerprint }: RefreshTokenKey,
  lease: { readonly id: string; readonly leaseMs: number },
): Promise<LeasedRefreshToken | null> => {
  const [row] = await sql.query<{ encryptedToken: Uint8Array | null; version: number }>(
    `INSERT INTO tallyman.refresh_tokens AS t (seller_id, configured_fingerprint, lease_id, lease_until, used_at)
     VALUES ($1, $2, $3, now() + $4::float8 * interval '1 millisecond', now())
     ON CONFLICT (seller_id, configured_fingerprint) DO UPDATE
     SET lease_id = excluded.lease_id, lease_until = excluded.lease_until, used_at = excluded.used_at
     WHERE t.lease_until IS NULL OR t.lease_until <= now()
     RETURNING t.encrypted_token AS "encryptedToken", t.version`,
    sellerId,
    configuredFingerprint,
    lease.id,
    lease.leaseMs,
  )
  return row ?? null
}

/** Returns a lease. */
export const releaseRefreshToken = async (
  sql: SqlRunner,
  { sellerId, configuredFingerprint }: RefreshTokenKey,
  leaseId: string,
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.refresh_tokens SET lease_id = NULL, lease_until = NULL
     WHERE seller_id = $1 AND configured_fingerprint = $2 AND lease_id = $3`,
    sellerId,
    configuredFingerprint,
    leaseId,
  )
}

/** Stores the replacement of the version that was used; false: a newer one is stored, which remains. */
export const storeRefreshToken = async (
  sql: SqlRunner,
  { sellerId, configuredFingerprint }: RefreshTokenKey,
  replacement: { readonly encryptedToken: Uint8Array; readonly replacedVersion: number },
): Promise<boolean> =>
  (await sql.execute(
    `UPDATE tallyman.refresh_tokens SET encrypted_token = $3, version = version + 1, stored_at = now()
     WHERE seller_id = $1 AND configured_fingerprint = $2 AND version = $4`,
    sellerId,
    configuredFingerprint,
    replacement.encryptedToken,
    replacement.replacedVersion,
  )) > 0

/** A refresh token that was not used for this time has expired: it is valid for a year at the most (public facts, section 1.1). */
const unusedForDays = 400

/** Deletes the rows of configured tokens that are no longer in use. */
export const deleteUnusedRefreshTokens = async (sql: SqlRunner): Promise<void> => {
  await sql.execute(`DELETE FROM tallyman.refresh_tokens WHERE used_at < now() - interval '${unusedForDays} days'`)
}
