/** The table of errors that were planted in settlement reports. */
export const settlementSchema = `
CREATE TABLE IF NOT EXISTS settlement_errors (
  seller_id TEXT NOT NULL, purchase_order_id TEXT NOT NULL, line_number TEXT NOT NULL, kind TEXT NOT NULL, sku TEXT NOT NULL,
  amount INTEGER NOT NULL, difference INTEGER NOT NULL, PRIMARY KEY (seller_id, purchase_order_id, line_number)
) WITHOUT ROWID;
`
