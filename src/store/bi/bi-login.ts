import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { type ClientBase, escapeIdentifier, escapeLiteral } from 'pg'
import { SteadyClient } from '../../util/net/postgres-client.ts'

/** A login for BI. */
export interface BiLogin {
  readonly name: string
  /** Its password, if it was created now; null: it existed and keeps its own. */
  readonly password: string | null
  /** The sellers whose rows it sees; null: all. */
  readonly sellerIds: readonly string[] | null
}

/** Whether a login for BI may have this name. Roles of Postgres and of Tallyman may not become one. */
export const isBiLoginName = (name: string): boolean => /^(?!pg_|tallyman)[a-z_][a-z0-9_]{0,62}$/.test(name)

/** What a new login may not be, because it would see buyers' data. */
export class UnsuitableLogin extends Error {
  override readonly name = 'UnsuitableLogin'
}

/** The verifier of a password (SCRAM-SHA-256, RFC 5802), so that the password itself is never sent and cannot be in a log of Postgres. */
const buildVerifier = (password: string): string => {
  const salt = randomBytes(16)
  const iterations = 4_096
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const sign = (text: string): Buffer => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(sign('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${sign('Server Key').toString('base64')}`
}

/** An idle transaction keeps Postgres from removing dead rows. Settings of a role do not apply to its members, so the login gets it. */
const idleTimeout = '10min'

/** Statements that give a login that exists its rights. Its sellers are set before it is a member, so that it never sees others. */
const buildRights = (name: string, sellerIds: readonly string[] | null): readonly string[] => {
  const role = escapeIdentifier(name)
  const bind =
    sellerIds === null
      ? []
      : [
          `DELETE FROM tallyman.seller_roles WHERE role = ${escapeLiteral(name)}`,
          `INSERT INTO tallyman.seller_roles (role, seller_id) VALUES ${sellerIds
            .map((sellerId) => `(${escapeLiteral(name)}, ${escapeLiteral(sellerId)})`)
            .join(', ')}`,
        ]
  return [
    ...bind,
    `GRANT tallyman_bi TO ${role}`,
    `ALTER ROLE ${role} SET idle_in_transaction_session_timeout = ${escapeLiteral(idleTimeout)}`,
  ]
}

/** The login as a script for an administrator, who sets its password. */
export const biLoginScript = (name: string, sellerIds: readonly string[] | null): string =>
  [
    `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${escapeLiteral(name)}) THEN CREATE ROLE ${escapeIdentifier(name)} LOGIN; END IF;
END $$`,
    ...buildRights(name, sellerIds),
  ]
    .map((statement) => `${statement};\n`)
    .join('')
    .concat(`-- Set its password in psql: \\password ${name}\n`)

const readSellerIds = async (client: ClientBase, name: string): Promise<readonly string[] | null> => {
  const { rows } = await client.query<{ sellers: string[] | null }>('SELECT tallyman.sellers_of($1::name) AS sellers', [name])
  return rows[0]?.sellers?.toSorted() ?? null
}

const assertKnown = async (client: ClientBase, sellerIds: readonly string[]): Promise<void> => {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM unnest($1::text[]) AS id WHERE NOT EXISTS (SELECT FROM tallyman.sellers WHERE seller_id = id)',
    [sellerIds],
  )
  if (rows.length > 0) throw new UnsuitableLogin(`unknown seller ${rows.map(({ id }) => id).join(', ')}`)
}

/** A login that is created has a new password; one that exists keeps its own. All or nothing. */
const writeLogin = async (client: ClientBase, name: string, sellerIds: readonly string[] | null): Promise<BiLogin> => {
  if (sellerIds !== null) await assertKnown(client, sellerIds)
  const { rows } = await client.query<{ may_log_in: boolean; sees_all: boolean }>(
    `SELECT rolcanlogin AS may_log_in, rolsuper OR pg_has_role(oid, 'tallyman_daemon', 'MEMBER') OR EXISTS (
         SELECT FROM pg_class WHERE relnamespace = 'warehouse'::regnamespace AND pg_has_role(r.oid, relowner, 'MEMBER')) AS sees_all
     FROM pg_roles r WHERE rolname = $1`,
    [name],
  )
  const [existing] = rows
  if (existing?.sees_all === true)
    throw new UnsuitableLogin(`${name} sees buyers' data: it is a superuser, an owner of tables or the daemon`)
  if (existing?.may_log_in === false) throw new UnsuitableLogin(`${name} is a role that may not log in`)
  const password = existing === undefined ? randomBytes(18).toString('base64url') : null
  if (password !== null)
    await client.query(`CREATE ROLE ${escapeIdentifier(name)} LOGIN PASSWORD ${escapeLiteral(buildVerifier(password))}`)
  for (const statement of buildRights(name, sellerIds)) await client.query(statement)
  return { name, password, sellerIds: await readSellerIds(client, name) }
}

/**
 * Creates a login for BI, or renews the rights of one.
 * @param sellerIds the sellers whose rows it sees; null: all, or those that it is restricted to already
 * @throws UnsuitableLogin when the login would see buyers' data or cannot log in, or a seller is unknown
 */
export const addBiLogin = async (url: string, name: string, sellerIds: readonly string[] | null): Promise<BiLogin> => {
  const client = new SteadyClient({ connectionString: url, application_name: 'tallyman grants' })
  await client.connect()
  try {
    await client.query('BEGIN')
    const login = await writeLogin(client, name, sellerIds)
    await client.query('COMMIT')
    return login
  } finally {
    // Rolls back what was not committed.
    await client.end()
  }
}
