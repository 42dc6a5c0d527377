/** Tables of subscriptions and of their deliveries. */
export const notificationSchema = `
CREATE TABLE IF NOT EXISTS subscriptions (
  number INTEGER PRIMARY KEY, subscription_id TEXT NOT NULL UNIQUE, seller_id TEXT NOT NULL, event_type TEXT NOT NULL, document TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, seller_id TEXT NOT NULL, subscription_id TEXT NOT NULL, event_type TEXT NOT NULL, event_id TEXT NOT NULL,
  body TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, planned INTEGER NOT NULL, forged INTEGER NOT NULL,
  http_status INTEGER, error TEXT
);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (due_at, id) WHERE state = 'waiting';
`
export const notificationTables = ['subscriptions', 'deliveries'] as const
