-- Reimbursements in settlement reports pay claims.
ALTER TABLE warehouse.settlement_lines ADD COLUMN reimburses text;
COMMENT ON COLUMN warehouse.settlement_lines.reimburses IS 'What the row pays for: lost, damaged or returned units, or units that were found again (taken back); null: no reimbursement.';
UPDATE warehouse.settlement_lines SET reimburses = CASE lower(btrim(replace(description, '"', '')))
  WHEN 'wfs lostinventory' THEN 'lost'
  WHEN 'wfs damageinwarehouse' THEN 'damaged'
  WHEN 'wfs refund' THEN 'returned'
  WHEN 'wfs foundinventory' THEN 'found' END,
  component = CASE WHEN component = 'unknown' AND coalesce(btrim(replace(amount_type, '"', '')), '') = '' THEN 'fee' ELSE component END
WHERE lower(btrim(replace(description, '"', ''))) IN ('wfs lostinventory', 'wfs damageinwarehouse', 'wfs refund', 'wfs foundinventory')
  AND movement = 'other';
CREATE INDEX settlement_lines_reimbursements ON warehouse.settlement_lines (seller_id, report_date, row_number) WHERE reimburses IS NOT NULL;

CREATE TABLE warehouse.claim_payments (
  seller_id       text           NOT NULL,
  line_key        text           NOT NULL,
  claim_id        bigint,
  problem         text           CHECK (problem IN ('no-sku', 'no-claim', 'several-claims', 'too-many-units')),
  reimburses      text           NOT NULL,
  sku             text,
  amount          numeric        NOT NULL,
  currency        text,
  units           integer,
  report_date     date           NOT NULL,
  transaction_key text,
  first_seen_at   timestamptz(3) NOT NULL DEFAULT now(),
  changed_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (seller_id, line_key),
  CHECK ((claim_id IS NULL) = (problem IS NOT NULL))
);
CREATE INDEX claim_payments_by_claim ON warehouse.claim_payments (claim_id) WHERE claim_id IS NOT NULL;
COMMENT ON TABLE warehouse.claim_payments IS 'A row of a settlement report that reimburses units at the fulfilment service, with the claim that it pays.';
COMMENT ON COLUMN warehouse.claim_payments.seller_id IS 'The seller.';
COMMENT ON COLUMN warehouse.claim_payments.line_key IS 'The row: line_key of warehouse.settlement_lines.';
COMMENT ON COLUMN warehouse.claim_payments.claim_id IS 'The only claim that the row can pay: id of warehouse.claims; null: it is not known which.';
COMMENT ON COLUMN warehouse.claim_payments.problem IS 'Why no claim is known: no-sku, no-claim, several-claims, or too-many-units (more than any claim has left).';
COMMENT ON COLUMN warehouse.claim_payments.reimburses IS 'lost, damaged or returned units, or units that were found again.';
COMMENT ON COLUMN warehouse.claim_payments.sku IS 'The SKU that the row names.';
COMMENT ON COLUMN warehouse.claim_payments.amount IS 'Negative: taken back.';
COMMENT ON COLUMN warehouse.claim_payments.currency IS 'Currency of the amount.';
COMMENT ON COLUMN warehouse.claim_payments.units IS 'Units of the row, without a sign; null: the row states none.';
COMMENT ON COLUMN warehouse.claim_payments.report_date IS 'The report.';
COMMENT ON COLUMN warehouse.claim_payments.transaction_key IS 'The transaction, as the row names it.';
COMMENT ON COLUMN warehouse.claim_payments.first_seen_at IS 'When the row was compared with claims first.';
COMMENT ON COLUMN warehouse.claim_payments.changed_at IS 'When the claim or the problem changed last.';

ALTER TABLE warehouse.claims ADD COLUMN reported_amount numeric, ADD COLUMN reported_units bigint;
COMMENT ON COLUMN warehouse.claims.reported_amount IS 'What rows of settlement reports have paid (warehouse.claim_payments); null: no row has.';
COMMENT ON COLUMN warehouse.claims.reported_units IS 'Units that these rows state; null: no row has paid.';
COMMENT ON COLUMN warehouse.claims.paid_amount IS 'What was paid, as a person or reports say, in the currency of the value.';
COMMENT ON COLUMN warehouse.claims.state IS 'open; filed, refused: set by a person; paid-in-part, paid: by a person or a settlement report; expired: not filed by the deadline; withdrawn: nothing is missing any more.';
COMMENT ON COLUMN warehouse.claims.state_by IS 'Who set the state; report: a report, the log or the deadline.';
