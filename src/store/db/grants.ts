import type { ClientBase } from 'pg'
import { SteadyClient } from '../../util/net/postgres-client.ts'
import { markedColumns } from '../privacy/personal-data.ts'

/** The roles of the database in Postgres. None may log in: logins become members of them. */
export const roles = ['tallyman_daemon', 'tallyman_erp', 'tallyman_bi'] as const

/** One of {@link roles}. */
export type Role = (typeof roles)[number]

/** The columns of an event that an ERP may write, and those of events and commands that it may read. */
const erpWrites = 'source, id, type, data'
const erpReads = {
  'tallyman.erp_event': 'source, id, sequence, type, seller_id, status, problem, received_at, processed_at, due_at, waits_for',
  'tallyman.commands':
    'id, sequence, seller_id, purchase_order_id, kind, state, event_source, event_id, reason, attempts, created_at, updated_at, settled_at',
} as const

/** Columns of `tallyman` that views of `warehouse` read. The views have the rights of the reader. */
const behindViews = {
  'tallyman.bi_settings': 'time_zone',
  'tallyman.inventory_skus': 'seller_id, sku, gtin, product_name, log_read_up_to, log_read_at, log_fault',
} as const

const boundTables = `n.nspname = 'warehouse' OR (n.nspname = 'tallyman' AND c.relname IN ('inventory_skus', 'erp_event', 'commands'))`

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')

const biReads = async (): Promise<readonly string[]> => {
  const byTable = new Map<string, string[]>()
  for (const { table, column, mark } of await markedColumns()) {
    if (table.startsWith('warehouse.') && mark !== 'buyer') byTable.set(table, [...(byTable.get(table) ?? []), column])
  }
  return [...byTable].map(([table, columns]) => `GRANT SELECT (${quoted(columns)}) ON ${table} TO tallyman_bi`)
}

/**
 * Statements that grant a role its rights, after revoking those of other versions. The daemon may create objects in the schema of the queues, because
 * BullMQ creates a sequence when jobs are first added to a queue in bulk, and may truncate their tables, which `queues/backend/postgres-maintenance.ts` does
 * when vacuum cannot remove dead rows.
 */
const readGrants = async (role: Role): Promise<readonly string[]> => {
  const revoke = `REVOKE ALL ON ALL TABLES IN SCHEMA warehouse, tallyman FROM ${role}`
  switch (role) {
    case 'tallyman_daemon':
      return [
        revoke,
        `GRANT USAGE ON SCHEMA warehouse, tallyman TO ${role}`,
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA warehouse, tallyman TO ${role}`,
        `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA warehouse, tallyman TO ${role}`,
        `DO $$ BEGIN
  IF to_regclass('_prisma_migrations') IS NOT NULL THEN GRANT SELECT ON _prisma_migrations TO ${role}; END IF;
  IF to_regnamespace('bullmq') IS NOT NULL THEN
    GRANT USAGE, CREATE ON SCHEMA bullmq TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA bullmq TO ${role};
    GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA bullmq TO ${role};
  END IF;
END $$`,
      ]
    case 'tallyman_erp':
      return [
        revoke,
        `GRANT USAGE ON SCHEMA tallyman TO ${role}`,
        `GRANT INSERT (${erpWrites}) ON tallyman.erp_event TO ${role}`,
        ...Object.entries(erpReads).map(([table, columns]) => `GRANT SELECT (${columns}) ON ${table} TO ${role}`),
      ]
    case 'tallyman_bi':
      return [
        revoke,
        `GRANT USAGE ON SCHEMA warehouse TO ${role}`,
        ...(await biReads()),
        ...Object.entries(behindViews).map(([table, columns]) => `GRANT SELECT (${columns}) ON ${table} TO ${role}`),
      ]
  }
}

const readGrantsForRoles = async (some: readonly Role[]): Promise<readonly string[]> =>
  (await Promise.all(some.map(readGrants))).flat()

/**
 * Restricts logins to their sellers (`tallyman.seller_roles`) by row-level security. It does not apply to the owner of the tables and superusers, and
 * the policy of `tallyman_daemon` is a constant, so neither is slowed down. A statement evaluates the list of sellers once. The policies of `erp_event`
 * and `commands` come from their migration.
 */
const bindLogins = `DO $$
DECLARE
  bound record;
BEGIN
  FOR bound IN
    SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind = 'v' AS is_view, c.relrowsecurity AS is_bound
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE (${boundTables}) AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
      AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'seller_id' AND NOT a.attisdropped)
  LOOP
    IF bound.is_view THEN
      EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', bound.name);
      CONTINUE;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = bound.name::regclass AND polname = 'of_sellers') THEN
      EXECUTE format('CREATE POLICY of_sellers ON %s USING ((SELECT tallyman.sellers_of(current_user)) IS NULL
        OR seller_id = ANY ((SELECT tallyman.sellers_of(current_user))::text[]))', bound.name);
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'tallyman_daemon')
      AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = bound.name::regclass AND polname = 'of_the_daemon') THEN
      EXECUTE format('CREATE POLICY of_the_daemon ON %s TO tallyman_daemon USING (true) WITH CHECK (true)', bound.name);
    END IF;
    IF NOT bound.is_bound THEN EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', bound.name); END IF;
  END LOOP;
END $$`

// Roles belong to the whole cluster: another database may create the same role at the same time.
const makeRole = (role: Role): string => `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$`

/** All grants as an idempotent script, for a login with the rights: the tables' owner, or a superuser. */
export const grantsScript = async (): Promise<string> =>
  [...roles.map(makeRole), ...(await readGrantsForRoles(roles)), bindLogins].map((statement) => `${statement};`).join('\n')

/** The result of {@link applyGrants}. */
export interface Granted {
  readonly granted: readonly Role[]
  /** They do not exist, and this login may not create them. */
  readonly missing: readonly Role[]
}

/** Whether Postgres denied the operation to this login (42501). */
export const isDenied = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '42501'

const existing = async (client: ClientBase): Promise<readonly Role[]> => {
  const { rows } = await client.query<{ rolname: string }>('SELECT rolname FROM pg_roles WHERE rolname = ANY($1)', [roles])
  return roles.filter((role) => rows.some(({ rolname }) => rolname === role))
}

/**
 * Creates the roles that this login may create, then grants all existing roles their rights in one transaction. Row-level security is enabled in any
 * case.
 */
export const applyGrants = async (client: ClientBase): Promise<Granted> => {
  for (const role of roles) {
    try {
      await client.query(makeRole(role))
    } catch (error) {
      if (!isDenied(error)) throw error
    }
  }
  const granted = await existing(client)
  const rights = await readGrantsForRoles(granted)
  await client.query('BEGIN')
  try {
    for (const statement of [...rights, bindLogins]) await client.query(statement)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
  return { granted, missing: roles.filter((role) => !granted.includes(role)) }
}

/** {@link applyGrants} on a connection of its own. */
export const grant = async (url: string): Promise<Granted> => {
  const client = new SteadyClient({ connectionString: url, application_name: 'tallyman grants' })
  await client.connect()
  try {
    return await applyGrants(client)
  } finally {
    await client.end()
  }
}
