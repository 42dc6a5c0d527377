/** The tables of the inventory simulation; `place`, `in_log` and `in_report` are explained in `model.ts`. */
export const inventorySchema = `
CREATE TABLE IF NOT EXISTS inventory_lives (
  seller_id TEXT PRIMARY KEY, began_at INTEGER NOT NULL, lived_until INTEGER NOT NULL, seen_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inventory_items (
  id INTEGER PRIMARY KEY, seller_id TEXT NOT NULL, sku TEXT NOT NULL, gtin TEXT NOT NULL, product_name TEXT NOT NULL,
  opening_units INTEGER NOT NULL, stock INTEGER NOT NULL, entries INTEGER NOT NULL, pace REAL NOT NULL, first_at INTEGER NOT NULL,
  UNIQUE (seller_id, sku)
);
CREATE INDEX IF NOT EXISTS inventory_items_gtin ON inventory_items (seller_id, gtin);
CREATE INDEX IF NOT EXISTS inventory_items_living ON inventory_items (seller_id, sku) WHERE pace > 0;
CREATE TABLE IF NOT EXISTS inventory_movements (
  id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL, entry_id TEXT NOT NULL, at INTEGER NOT NULL, appears_at INTEGER NOT NULL,
  units INTEGER NOT NULL, type TEXT NOT NULL, location TEXT NOT NULL, reason_code TEXT NOT NULL, reason_text TEXT NOT NULL,
  fc_name TEXT NOT NULL, shipment_id TEXT, place TEXT NOT NULL, in_log INTEGER NOT NULL, in_report INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS inventory_movements_item ON inventory_movements (item_id, at);
CREATE TABLE IF NOT EXISTS inventory_discrepancies (
  id INTEGER PRIMARY KEY AUTOINCREMENT, item_id INTEGER NOT NULL, month TEXT NOT NULL, kind TEXT NOT NULL, cell TEXT, units INTEGER NOT NULL,
  movement_id INTEGER NOT NULL, entry_id TEXT, done TEXT NOT NULL
);
`

/** What a reset of the sandbox empties. */
export const inventoryTables = ['inventory_lives', 'inventory_items', 'inventory_movements', 'inventory_discrepancies'] as const
