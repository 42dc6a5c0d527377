/** The tables of what was planted in settlement reports: errors, and reimbursements. */
export const settlementSchema = `
CREATE TABLE IF NOT EXISTS settlement_errors (
  seller_id TEXT NOT NULL, purchase_order_id TEXT NOT NULL, line_number TEXT NOT NULL, kind TEXT NOT NULL, sku TEXT NOT NULL,
  amount INTEGER NOT NULL, difference INTEGER NOT NULL, PRIMARY KEY (seller_id, purchase_order_id, line_number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reimbursements (
  id INTEGER PRIMARY KEY AUTOINCREMENT, seller_id TEXT NOT NULL, at INTEGER NOT NULL, reimburses TEXT NOT NULL, sku TEXT, units INTEGER,
  amount INTEGER NOT NULL
);
`
