import type { SqlRunner, Transaction } from '../db/database.ts'

/** A seller with the fingerprint of its credentials. */
export interface SellerCredentials {
  readonly sellerId: string
  readonly credentialsFingerprint: string
}

/** A process counts as running for this time after its last heartbeat, which it sends every 15 seconds. */
export const processTimeoutMs = 60_000

/** SQL: joins the running processes `p` that have the credentials `c`. */
const joinRunning = `JOIN tallyman.seller_processes p ON p.process = c.process AND c.seller_id = ANY (p.seller_ids)
       AND p.said_at > now() - interval '${processTimeoutMs} milliseconds'`

const listSellerIds = (marks: readonly SellerCredentials[]): string[] => marks.map(({ sellerId }) => sellerId)
const listFingerprints = (marks: readonly SellerCredentials[]): string[] =>
  marks.map(({ credentialsFingerprint }) => credentialsFingerprint)

/** Stores whether the marketplace accepts these credentials of a process. Unchanged rows are not written. */
const store = async (
  sql: SqlRunner,
  process: string,
  marks: readonly SellerCredentials[],
  isAccepted: boolean,
): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.seller_credentials AS c (process, seller_id, credentials_fingerprint, is_accepted)
     SELECT p.process, t.seller_id, t.fingerprint, $4 FROM tallyman.seller_processes p,
       unnest($2::text[], $3::text[]) AS t(seller_id, fingerprint) WHERE p.process = $1 ORDER BY t.seller_id
     ON CONFLICT (process, seller_id) DO UPDATE
     SET credentials_fingerprint = excluded.credentials_fingerprint, is_accepted = excluded.is_accepted, changed_at = now()
     WHERE (c.credentials_fingerprint, c.is_accepted) IS DISTINCT FROM (excluded.credentials_fingerprint, excluded.is_accepted)`,
    process,
    listSellerIds(marks),
    listFingerprints(marks),
    isAccepted,
  )
}

/** Stores that the marketplace has granted a process tokens for these credentials. */
export const recordAccepted = (sql: SqlRunner, process: string, marks: readonly SellerCredentials[]): Promise<void> =>
  store(sql, process, marks, true)

/** Stores that the marketplace has rejected these credentials of a process. */
export const recordRejected = (sql: SqlRunner, process: string, mark: SellerCredentials): Promise<void> =>
  store(sql, process, [mark], false)

/** Deletes the rejections of a process, and what is stored for credentials other than its new ones (`marks`). */
export const deleteOutdatedCredentials = async (
  transaction: Transaction,
  process: string,
  marks: readonly SellerCredentials[],
): Promise<void> => {
  await transaction.execute(
    `DELETE FROM tallyman.seller_credentials c WHERE c.process = $1 AND NOT (c.is_accepted AND EXISTS (
       SELECT FROM unnest($2::text[], $3::text[]) AS t(seller_id, fingerprint)
       WHERE t.seller_id = c.seller_id AND t.fingerprint = c.credentials_fingerprint))`,
    process,
    listSellerIds(marks),
    listFingerprints(marks),
  )
}

/** Deletes the rejections of a seller, so that every process tries its credentials again. */
export const deleteRejections = async (transaction: Transaction, sellerId: string): Promise<void> => {
  await transaction.execute('DELETE FROM tallyman.seller_credentials WHERE seller_id = $1 AND NOT is_accepted', sellerId)
}

/** Those of these sellers for which another running process has got a token with other credentials. */
export const findAcceptedByOthers = async (
  sql: SqlRunner,
  process: string | null,
  marks: readonly SellerCredentials[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ seller_id: string }>(
    `SELECT DISTINCT t.seller_id FROM unnest($2::text[], $3::text[]) AS t(seller_id, fingerprint)
     JOIN tallyman.seller_credentials c ON c.seller_id = t.seller_id AND c.credentials_fingerprint <> t.fingerprint AND c.is_accepted
     ${joinRunning}
     WHERE c.process IS DISTINCT FROM $1::text`,
    process,
    listSellerIds(marks),
    listFingerprints(marks),
  )
  return new Set(rows.map((row) => row.seller_id))
}

/** Active sellers whose credentials the marketplace rejects for running processes, with those processes. */
export const findRejectedCredentials = async (
  sql: SqlRunner,
): Promise<readonly { readonly sellerId: string; readonly processes: readonly string[] }[]> =>
  sql.query(
    `SELECT c.seller_id AS "sellerId", array_agg(c.process ORDER BY c.process) AS processes FROM tallyman.seller_credentials c
     ${joinRunning}
     JOIN tallyman.sellers s ON s.seller_id = c.seller_id AND s.state = 'active'
     WHERE NOT c.is_accepted GROUP BY 1 ORDER BY 1`,
  )
