import type { SqlRunner, Transaction } from './database.ts'

/** A seller, with what tells its credentials from others. */
export interface CredentialsMark {
  readonly sellerId: string
  readonly credentialsFingerprint: string
}

/** A process that says every 15 seconds that it is there counts as there for so long. */
export const thereForMs = 60_000

/** SQL: the processes `p` that are there and have the credentials `c`. */
const thoseThere = `JOIN tallyman.seller_processes p ON p.process = c.process AND c.seller_id = ANY (p.seller_ids)
       AND p.said_at > now() - interval '${thereForMs} milliseconds'`

const sellerIdsOf = (marks: readonly CredentialsMark[]): string[] => marks.map(({ sellerId }) => sellerId)
const fingerprintsOf = (marks: readonly CredentialsMark[]): string[] =>
  marks.map(({ credentialsFingerprint }) => credentialsFingerprint)

/** Writes down what the marketplace says to a process of these credentials. What stands there already is not written. */
const note = async (sql: SqlRunner, process: string, marks: readonly CredentialsMark[], isAccepted: boolean): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.seller_credentials AS c (process, seller_id, credentials_fingerprint, is_accepted)
     SELECT p.process, t.seller_id, t.fingerprint, $4 FROM tallyman.seller_processes p,
       unnest($2::text[], $3::text[]) AS t(seller_id, fingerprint) WHERE p.process = $1 ORDER BY t.seller_id
     ON CONFLICT (process, seller_id) DO UPDATE
     SET credentials_fingerprint = excluded.credentials_fingerprint, is_accepted = excluded.is_accepted, changed_at = now()
     WHERE (c.credentials_fingerprint, c.is_accepted) IS DISTINCT FROM (excluded.credentials_fingerprint, excluded.is_accepted)`,
    process,
    sellerIdsOf(marks),
    fingerprintsOf(marks),
    isAccepted,
  )
}

/** The marketplace has granted a process tokens by these credentials. */
export const noteAccepted = (sql: SqlRunner, process: string, marks: readonly CredentialsMark[]): Promise<void> =>
  note(sql, process, marks, true)

/** The marketplace refuses these credentials to a process. */
export const noteRefused = (sql: SqlRunner, process: string, mark: CredentialsMark): Promise<void> =>
  note(sql, process, [mark], false)

/** A process has these credentials from now on: what it was told of others, and every refusal, says nothing any more. */
export const forgetCredentials = async (
  transaction: Transaction,
  process: string,
  marks: readonly CredentialsMark[],
): Promise<void> => {
  await transaction.execute(
    `DELETE FROM tallyman.seller_credentials c WHERE c.process = $1 AND NOT (c.is_accepted AND EXISTS (
       SELECT FROM unnest($2::text[], $3::text[]) AS t(seller_id, fingerprint)
       WHERE t.seller_id = c.seller_id AND t.fingerprint = c.credentials_fingerprint))`,
    process,
    sellerIdsOf(marks),
    fingerprintsOf(marks),
  )
}

/** Refusals of a seller do not count any more: its credentials are tried again everywhere. */
export const forgetRefusals = async (transaction: Transaction, sellerId: string): Promise<void> => {
  await transaction.execute('DELETE FROM tallyman.seller_credentials WHERE seller_id = $1 AND NOT is_accepted', sellerId)
}

/** Those of these sellers for which another process that is there has been granted a token by other credentials. */
export const acceptedElsewhere = async (
  sql: SqlRunner,
  process: string | null,
  marks: readonly CredentialsMark[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ seller_id: string }>(
    `SELECT DISTINCT t.seller_id FROM unnest($2::text[], $3::text[]) AS t(seller_id, fingerprint)
     JOIN tallyman.seller_credentials c ON c.seller_id = t.seller_id AND c.credentials_fingerprint <> t.fingerprint AND c.is_accepted
     ${thoseThere}
     WHERE c.process IS DISTINCT FROM $1::text`,
    process,
    sellerIdsOf(marks),
    fingerprintsOf(marks),
  )
  return new Set(rows.map((row) => row.seller_id))
}

/** Active sellers whose credentials the marketplace refuses to processes that are there, and which ones. */
export const refusedToProcesses = async (
  sql: SqlRunner,
): Promise<readonly { readonly sellerId: string; readonly processes: readonly string[] }[]> =>
  sql.query(
    `SELECT c.seller_id AS "sellerId", array_agg(c.process ORDER BY c.process) AS processes FROM tallyman.seller_credentials c
     ${thoseThere}
     JOIN tallyman.sellers s ON s.seller_id = c.seller_id AND s.state = 'active'
     WHERE NOT c.is_accepted GROUP BY 1 ORDER BY 1`,
  )
