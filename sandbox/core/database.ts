import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { inventorySchema } from '../fulfillment/schema.ts'
import { notificationSchema } from '../notifications/schema.ts'
import { settlementSchema } from '../settlements/schema.ts'

/** Another sandbox holds the data directory. */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse'
}

export type Row = Record<string, SQLOutputValue>

/** The sandbox's file, one connection, statements kept prepared. All calls are synchronous, so one call is never interleaved with another. */
export interface Database {
  all(sql: string, ...values: readonly SQLInputValue[]): Row[]
  get(sql: string, ...values: readonly SQLInputValue[]): Row | undefined
  /** The number of rows changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number
  /** All or nothing; inside another transaction it simply belongs to it. */
  transaction<T>(work: () => T): T
  close(): void
}

const schema = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sellers (
  seller_id TEXT PRIMARY KEY, client_id TEXT NOT NULL UNIQUE, client_secret TEXT NOT NULL, revoked INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS apps (client_id TEXT PRIMARY KEY, client_secret TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refresh_tokens (
  token TEXT PRIMARY KEY, client_id TEXT NOT NULL, seller_id TEXT NOT NULL, state TEXT NOT NULL, rotates INTEGER NOT NULL, number INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, seller_id TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tokens_expiry ON tokens (expires_at);
CREATE TABLE IF NOT EXISTS orders (
  id INTEGER PRIMARY KEY, seller_id TEXT NOT NULL, purchase_order_id TEXT NOT NULL, customer_order_id TEXT NOT NULL,
  ship_node_type TEXT NOT NULL, created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL, ship_by INTEGER NOT NULL,
  states INTEGER NOT NULL, document TEXT NOT NULL, UNIQUE (seller_id, purchase_order_id)
);
CREATE INDEX IF NOT EXISTS orders_created ON orders (seller_id, ship_node_type, created_at, id, states);
CREATE INDEX IF NOT EXISTS orders_modified ON orders (seller_id, ship_node_type, modified_at, created_at, id, states);
CREATE INDEX IF NOT EXISTS orders_released ON orders (seller_id, ship_node_type, created_at, id) WHERE states & 1;
CREATE INDEX IF NOT EXISTS orders_customer ON orders (seller_id, customer_order_id);
CREATE TABLE IF NOT EXISTS order_skus (seller_id TEXT NOT NULL, sku TEXT NOT NULL, order_id INTEGER NOT NULL,
  PRIMARY KEY (seller_id, sku, order_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS returns (
  id INTEGER PRIMARY KEY, seller_id TEXT NOT NULL, return_order_id TEXT NOT NULL, customer_order_id TEXT NOT NULL,
  purchase_order_id TEXT NOT NULL, return_type TEXT NOT NULL, state TEXT NOT NULL, wfs INTEGER NOT NULL, created_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL, document TEXT NOT NULL, UNIQUE (seller_id, return_order_id)
);
CREATE INDEX IF NOT EXISTS returns_created ON returns (seller_id, created_at, id);
CREATE INDEX IF NOT EXISTS returns_modified ON returns (seller_id, modified_at, id);
CREATE INDEX IF NOT EXISTS returns_customer ON returns (seller_id, customer_order_id);
CREATE INDEX IF NOT EXISTS returns_purchase_order ON returns (seller_id, purchase_order_id);
CREATE TABLE IF NOT EXISTS due_events (id INTEGER PRIMARY KEY, due_at INTEGER NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS due_events_due ON due_events (due_at, id);
CREATE TABLE IF NOT EXISTS effects (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, seller_id TEXT NOT NULL, purchase_order_id TEXT NOT NULL,
  line_number TEXT NOT NULL, kind TEXT NOT NULL, quantity INTEGER NOT NULL, from_state TEXT, amount INTEGER, currency TEXT,
  tracking_number TEXT, actor TEXT NOT NULL, correlation_id TEXT, request_id TEXT
);
CREATE INDEX IF NOT EXISTS effects_order ON effects (seller_id, purchase_order_id, id);
CREATE TABLE IF NOT EXISTS campaigns (seller_id TEXT NOT NULL, campaign_id TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (seller_id, campaign_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shipping_settings (seller_id TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seller_traits (seller_id TEXT PRIMARY KEY, traits TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fault_draws (key TEXT PRIMARY KEY, drawn INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dead_cursors (cursor TEXT PRIMARY KEY, details TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hidden_records (kind TEXT NOT NULL, inner_id INTEGER NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY (kind, inner_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pasts (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, inner_id INTEGER NOT NULL, until INTEGER NOT NULL, modified_at INTEGER NOT NULL,
  state, document TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS pasts_record ON pasts (kind, inner_id, until);
CREATE INDEX IF NOT EXISTS pasts_until ON pasts (until);
CREATE TABLE IF NOT EXISTS triggers (
  id INTEGER PRIMARY KEY, seller_id TEXT NOT NULL, purchase_order_id TEXT NOT NULL, operation TEXT NOT NULL, side TEXT NOT NULL,
  calls_left INTEGER NOT NULL, event TEXT NOT NULL
);
`

/** Columns that came later than their table; a file that was laid out before has the table without them. */
const addedColumns = [
  ['tokens', 'issued_at', 'INTEGER NOT NULL DEFAULT 0'],
  ['sellers', 'delegated', 'INTEGER NOT NULL DEFAULT 0'],
] as const

const addColumns = (file: DatabaseSync): void => {
  for (const [table, column, definition] of addedColumns) {
    const known = file.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column)
    if (known === undefined) file.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`)
  }
}

/** Opens (and when new, lays out) the file in `dataDir`. Throws `DataDirectoryInUse` when another sandbox has it open. */
export const openDatabase = (dataDir: string): Database => {
  const place = join(dataDir, 'sandbox.sqlite')
  // For their owner's eyes alone, also those of an earlier version; what SQLite puts beside its file gets the same mode.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(dataDir, 0o700)
  closeSync(openSync(place, 'a', 0o600))
  chmodSync(place, 0o600)
  const file = new DatabaseSync(place)
  try {
    // One owner only: the virtual clock and the rate buckets live in this process. The kernel frees the lock when the process dies, however it dies.
    file.exec('PRAGMA busy_timeout = 2000; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;')
    // In WAL mode NORMAL keeps every committed transaction when the process is killed; only a power cut may lose the last ones.
    file.exec('PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000; PRAGMA temp_store = MEMORY;')
    file.exec(schema)
    file.exec(inventorySchema)
    file.exec(notificationSchema)
    file.exec(settlementSchema)
    addColumns(file)
  } catch (error) {
    file.close()
    if (error instanceof Error && /locked|busy/i.test(error.message)) {
      throw new DataDirectoryInUse(
        `another sandbox is using ${dataDir}; if \`npm start\` is running, its sandbox is at the address that it printed; otherwise set another DATA_DIR`,
        { cause: error },
      )
    }
    throw error
  }
  return wrap(file)
}

const wrap = (file: DatabaseSync): Database => {
  const statements = new Map<string, StatementSync>()
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = file.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  let depth = 0
  return {
    all: (sql, ...values) => prepared(sql).all(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    transaction(work) {
      if (depth > 0) return work()
      file.exec('BEGIN IMMEDIATE')
      depth += 1
      try {
        const result = work()
        file.exec('COMMIT')
        return result
      } catch (error) {
        file.exec('ROLLBACK')
        throw error
      } finally {
        depth -= 1
      }
    },
    close: () => file.close(),
  }
}

/** A text column; throws when the row has none, which would be a fault of the sandbox itself. */
export const toText = (row: Row, column: string): string => {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} holds no text`)
  return value
}

/** A whole-number column; throws when the row has none. */
export const toInteger = (row: Row, column: string): number => {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`column ${column} holds no number`)
  return value
}

/** A text column that may be NULL. */
export const nullableText = (row: Row, column: string): string | null => (row[column] === null ? null : toText(row, column))

/** A whole-number column that may be NULL. */
export const nullableWhole = (row: Row, column: string): number | null => (row[column] === null ? null : toInteger(row, column))
