-- A comment on every table and column of the warehouse that had none.
COMMENT ON TABLE warehouse.behavioral_audiences IS 'A behavioral audience of display advertising.';
COMMENT ON TABLE warehouse.campaign_status_changes IS 'A change of the status of a campaign.';
COMMENT ON TABLE warehouse.campaigns IS 'A watched advertising campaign.';
COMMENT ON TABLE warehouse.changes IS 'A change of the feed; numbers ascend without gaps.';
COMMENT ON TABLE warehouse.contextual_targets IS 'A contextual target of display advertising.';
COMMENT ON TABLE warehouse.inventory_discrepancies IS 'A difference between report and log, or between two months, with its value.';
COMMENT ON TABLE warehouse.inventory_log_entries IS 'A movement of the inventory log.';
COMMENT ON TABLE warehouse.order_line_statuses IS 'A status that the marketplace gives to units of a line, with its parcel.';
COMMENT ON TABLE warehouse.order_lines IS 'A line of an order, with its units by what became of them.';
COMMENT ON TABLE warehouse.orders IS 'A purchase order, as it was last read.';
COMMENT ON TABLE warehouse.reconciliation_reports IS 'The reconciliation report of a month, as it was last imported.';
COMMENT ON TABLE warehouse.reconciliation_rows IS 'What the reconciliation report of a month says of a SKU.';
COMMENT ON TABLE warehouse.replenishment_recommendations IS 'A version of the recommendation for a SKU.';
COMMENT ON TABLE warehouse.return_line_refund_channels IS 'A way in which units of a returned line are refunded.';
COMMENT ON TABLE warehouse.return_line_tracking_statuses IS 'A tracking status of units of a returned line.';
COMMENT ON TABLE warehouse.return_lines IS 'A line of a return.';
COMMENT ON TABLE warehouse.returns IS 'A return order.';
COMMENT ON TABLE warehouse.sales_channels IS 'A sales channel.';
COMMENT ON TABLE warehouse.settlement_lines IS 'A row of a settlement report.';
COMMENT ON TABLE warehouse.taxonomy_nodes IS 'A node of the advertising taxonomy.';

COMMENT ON COLUMN warehouse.behavioral_audiences.id IS 'The id of the audience at the marketplace.';
COMMENT ON COLUMN warehouse.behavioral_audiences.audience_type IS 'In upper case: RETAIL, BRAND, CUSTOM, PERSONA, DEMOGRAPHIC, or an unknown type.';
COMMENT ON COLUMN warehouse.behavioral_audiences.name IS 'Name of the audience.';

COMMENT ON COLUMN warehouse.campaign_status_changes.campaign_id IS 'The campaign.';
COMMENT ON COLUMN warehouse.campaign_status_changes.to_status IS 'The new status.';
COMMENT ON COLUMN warehouse.campaign_status_changes.raw IS 'The campaign with the new status, as received.';

COMMENT ON COLUMN warehouse.campaigns.campaign_id IS 'The id of the campaign at the marketplace.';
COMMENT ON COLUMN warehouse.campaigns.name IS 'Name of the campaign.';
COMMENT ON COLUMN warehouse.campaigns.start_date IS 'First day of the campaign.';
COMMENT ON COLUMN warehouse.campaigns.daily_budget IS 'Maximum spend of a day; null: no limit is set.';
COMMENT ON COLUMN warehouse.campaigns.total_budget IS 'Maximum spend of the campaign; null: no limit is set.';
COMMENT ON COLUMN warehouse.campaigns.target_roas IS 'The wanted return on ad spend; null: none is set.';
COMMENT ON COLUMN warehouse.campaigns.created_date IS 'Day on which the campaign was created.';

COMMENT ON COLUMN warehouse.changes.seq IS 'Number of the change, ascending without gaps.';
COMMENT ON COLUMN warehouse.changes.type IS 'Type of the change, such as order.created.';
COMMENT ON COLUMN warehouse.changes.purchase_order_id IS 'The purchase order that changed; null: the change concerns none.';
COMMENT ON COLUMN warehouse.changes.line_number IS 'The order line that changed; null: the change concerns none.';
COMMENT ON COLUMN warehouse.changes.return_order_id IS 'The return that changed; null: the change concerns none.';
COMMENT ON COLUMN warehouse.changes.command_id IS 'The command that changed; null: the change concerns none.';
COMMENT ON COLUMN warehouse.changes.data IS 'What changed, by the type of the change.';
COMMENT ON COLUMN warehouse.changes.occurred_at IS 'When the change was stored.';

COMMENT ON COLUMN warehouse.claims.value IS 'Value of the units at unit_price; null: no price is known.';
COMMENT ON COLUMN warehouse.claims.state_changed_at IS 'When the state changed last.';

COMMENT ON COLUMN warehouse.contextual_targets.id IS 'The id of the target at the marketplace.';
COMMENT ON COLUMN warehouse.contextual_targets.name IS 'Name of the target.';

COMMENT ON COLUMN warehouse.current_replenishment_recommendations.suggested_quantity IS 'Units that the marketplace suggests to send; null: it suggests nothing.';
COMMENT ON COLUMN warehouse.current_replenishment_recommendations.max_quantity IS 'Maximum of units that it accepts; null: it states none.';
COMMENT ON COLUMN warehouse.current_replenishment_recommendations.valid_from IS 'Since when the recommendation is in this version.';

COMMENT ON COLUMN warehouse.inbound_shipment_lines.sent_units IS 'Units that the ERP has sent.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.state IS 'open: less was received, and the log is not read up to expected_by; short: it is; complete: as many as sent; over: more; unknown-sku: nothing was received, and no record has the SKU.';
COMMENT ON COLUMN warehouse.inbound_shipment_lines.shipped_at IS 'When they were sent, as the event states.';

COMMENT ON COLUMN warehouse.inventory_discrepancies.kind IS 'balance, carry-over, row, sold, returned, lost, found, damaged or other: what differs.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.expected_units IS 'What it should be: beginning and movements (balance), ending of the month before and the log since (carry-over), ending of the row that is gone (row), or units of the kind by the log.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.difference IS 'report_units minus expected_units.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.value IS 'The differing units at that price, without a sign.';
COMMENT ON COLUMN warehouse.inventory_discrepancies.log_entries IS 'Number of entries of the log that may be extra.';

COMMENT ON COLUMN warehouse.inventory_log_entries.entry_id IS 'Identifies the entry within the log of the SKU.';
COMMENT ON COLUMN warehouse.inventory_log_entries.transaction_time IS 'When the units moved.';
COMMENT ON COLUMN warehouse.inventory_log_entries.transaction_location IS 'Where they moved, such as Inventory; null: the log does not state it.';
COMMENT ON COLUMN warehouse.inventory_log_entries.transaction_reason_code IS 'Code of the reason; null: the log does not state it.';
COMMENT ON COLUMN warehouse.inventory_log_entries.transaction_reason_description IS 'Text of the reason; null: the log does not state it.';
COMMENT ON COLUMN warehouse.inventory_log_entries.transaction_type IS 'Type of the movement; null: the log does not state it.';
COMMENT ON COLUMN warehouse.inventory_log_entries.shipment_id IS 'The inbound shipment of a receipt; null: the log names none.';

COMMENT ON COLUMN warehouse.inventory_log_freshness.read_up_to IS 'Up to when the log of the SKU is stored; null: it was never read.';
COMMENT ON COLUMN warehouse.inventory_log_freshness.read_at IS 'When it was last read; null: never.';
COMMENT ON COLUMN warehouse.inventory_log_freshness.age IS 'Time since read_up_to.';
COMMENT ON COLUMN warehouse.inventory_log_freshness.fault IS 'Why it could not be read last; null: it could.';

COMMENT ON COLUMN warehouse.order_line_statuses.position IS 'Position within the statuses of the line, from 0.';
COMMENT ON COLUMN warehouse.order_line_statuses.status IS 'Status as the marketplace names it, such as Shipped.';
COMMENT ON COLUMN warehouse.order_line_statuses.quantity IS 'Units of the line with this status.';
COMMENT ON COLUMN warehouse.order_line_statuses.cancellation_reason IS 'Reason of a cancellation; null: none is stated.';

COMMENT ON COLUMN warehouse.order_lines.line_index IS 'Position within the order, from 0.';
COMMENT ON COLUMN warehouse.order_lines.ordered IS 'Ordered units.';
COMMENT ON COLUMN warehouse.order_lines.acknowledged IS 'Units that were acknowledged, with those that were shipped later.';
COMMENT ON COLUMN warehouse.order_lines.shipped IS 'Units that were shipped, with those that were refunded later.';
COMMENT ON COLUMN warehouse.order_lines.cancelled IS 'Units that were cancelled.';
COMMENT ON COLUMN warehouse.order_lines.refunded IS 'Units that were refunded.';
COMMENT ON COLUMN warehouse.order_lines.refunded_amount IS 'Refunded money with taxes and fees, never negative.';
COMMENT ON COLUMN warehouse.order_lines.refund_reasons IS 'The reasons of the refunds as the marketplace shows them: an array of texts.';
COMMENT ON COLUMN warehouse.order_lines.intent_to_cancel IS 'The buyer has requested to cancel the line.';
COMMENT ON COLUMN warehouse.order_lines.status_date IS 'When the line got its status, as the marketplace shows it; null: it shows no time.';

COMMENT ON COLUMN warehouse.order_money.order_date IS 'Time of the order.';
COMMENT ON COLUMN warehouse.order_money.ordered IS 'Ordered units.';
COMMENT ON COLUMN warehouse.order_money.shipped IS 'Units that were shipped, with those that were refunded later.';
COMMENT ON COLUMN warehouse.order_money.cancelled IS 'Units that were cancelled.';
COMMENT ON COLUMN warehouse.order_money.refunded IS 'Units that were refunded.';
COMMENT ON COLUMN warehouse.order_money.price IS 'Prices of all ordered units, less discounts, without taxes.';
COMMENT ON COLUMN warehouse.order_money.shipping IS 'All other charges, such as shipping, without taxes.';
COMMENT ON COLUMN warehouse.order_money.tax IS 'Taxes and fees on these charges.';
COMMENT ON COLUMN warehouse.order_money.paid IS 'Prices and other charges of sales that settlement reports have paid.';
COMMENT ON COLUMN warehouse.order_money.net_tax IS 'Taxes of sales, less what the marketplace withheld.';
COMMENT ON COLUMN warehouse.order_money.commission IS 'Commissions, less those given back with refunds; negative: to the marketplace.';
COMMENT ON COLUMN warehouse.order_money.fees IS 'Fees and adjustments, also under names that are not known; negative: to the marketplace.';
COMMENT ON COLUMN warehouse.order_money.refunds IS 'Refunds, without the commission given back; negative: to the buyer.';
COMMENT ON COLUMN warehouse.order_money.other IS 'Discounts, reserves and other money.';
COMMENT ON COLUMN warehouse.order_money.payout IS 'The sum of all rows of reports: paid + net_tax + commission + fees + refunds + other.';
COMMENT ON COLUMN warehouse.order_money.open_amount IS 'Price and other charges of shipped units, less paid; never negative.';
COMMENT ON COLUMN warehouse.order_money.report_rows IS 'Number of rows of reports.';
COMMENT ON COLUMN warehouse.order_money.last_posted_on IS 'Day on which the newest row was posted; null: there are none.';

COMMENT ON COLUMN warehouse.orders.customer_order_id IS 'The buyer''s order at the marketplace, which may have several purchase orders.';
COMMENT ON COLUMN warehouse.orders.order_date IS 'Time of the order; null: the marketplace shows none.';
COMMENT ON COLUMN warehouse.orders.order_type IS 'Type of the order, as the marketplace names it.';
COMMENT ON COLUMN warehouse.orders.ship_node_type IS 'Who ships the order: the seller, a third party or the marketplace, as the marketplace names it.';
COMMENT ON COLUMN warehouse.orders.estimated_ship_date IS 'When the order should be shipped; null: the marketplace shows no time.';
COMMENT ON COLUMN warehouse.orders.estimated_delivery_date IS 'When the order should be delivered; null: the marketplace shows no time.';
COMMENT ON COLUMN warehouse.orders.customer_name IS 'Name of the buyer.';
COMMENT ON COLUMN warehouse.orders.customer_email IS 'E-mail address of the buyer.';
COMMENT ON COLUMN warehouse.orders.customer_phone IS 'Telephone number of the buyer.';
COMMENT ON COLUMN warehouse.orders.shipping_address IS 'Postal address to ship to.';
COMMENT ON COLUMN warehouse.orders.total_amount IS 'Total of the order, as the marketplace shows it.';

COMMENT ON COLUMN warehouse.reconciliation_current_rows.covered_until IS 'Pacific midnight up to which movements are counted.';

COMMENT ON COLUMN warehouse.reconciliation_reports.fault IS 'Why the report could not be imported; null: it could.';
COMMENT ON COLUMN warehouse.reconciliation_reports.file_name IS 'Name of the file; null: the marketplace gave none.';
COMMENT ON COLUMN warehouse.reconciliation_reports.retrieved_at IS 'When the file was retrieved.';
COMMENT ON COLUMN warehouse.reconciliation_reports.imported_at IS 'When its rows were stored; null: they were not.';
COMMENT ON COLUMN warehouse.reconciliation_reports.byte_count IS 'Size of the file in bytes.';
COMMENT ON COLUMN warehouse.reconciliation_reports.row_count IS 'Number of rows.';
COMMENT ON COLUMN warehouse.reconciliation_reports.correlation_id IS 'Correlation id of the request that retrieved the file.';
COMMENT ON COLUMN warehouse.reconciliation_reports.line_count IS 'Number of lines of the file; null: imported by a version that did not count them.';
COMMENT ON COLUMN warehouse.reconciliation_reports.unread_count IS 'Number of rows that could not be read and are in quarantine.';
COMMENT ON COLUMN warehouse.reconciliation_reports.skipped_lines IS 'Numbers of other lines by reason: header, blank, total, text, continued.';

COMMENT ON COLUMN warehouse.replenishment_recommendations.max_quantity IS 'Maximum of units that the marketplace accepts; null: it states none.';

COMMENT ON COLUMN warehouse.return_line_refund_channels.refund_channel_name IS 'The way of the refund, as the marketplace names it.';
COMMENT ON COLUMN warehouse.return_line_refund_channels.quantity IS 'Units that are refunded in this way; null: it states none.';

COMMENT ON COLUMN warehouse.return_line_tracking_statuses.status IS 'Tracking status, as the marketplace names it.';
COMMENT ON COLUMN warehouse.return_line_tracking_statuses.status_time IS 'When the units got the status.';
COMMENT ON COLUMN warehouse.return_line_tracking_statuses.current_refund_status IS 'State of their refund, as the marketplace names it.';
COMMENT ON COLUMN warehouse.return_line_tracking_statuses.quantity IS 'Units with the status; null: it states none.';

COMMENT ON COLUMN warehouse.return_lines.return_order_line_number IS 'The line of the return, as the marketplace numbers it.';
COMMENT ON COLUMN warehouse.return_lines.purchase_order_id IS 'The purchase order of the returned units; null: the return names none.';
COMMENT ON COLUMN warehouse.return_lines.purchase_order_line_number IS 'Its line: line_number of warehouse.order_lines; null: the return names none.';
COMMENT ON COLUMN warehouse.return_lines.sales_order_line_number IS 'The line of the buyer''s order; null: the return names none.';
COMMENT ON COLUMN warehouse.return_lines.quantity IS 'Units of the return.';
COMMENT ON COLUMN warehouse.return_lines.refunded_quantity IS 'Units that are refunded; null: the return does not state them.';
COMMENT ON COLUMN warehouse.return_lines.return_reason IS 'Reason of the return, as the marketplace names it.';
COMMENT ON COLUMN warehouse.return_lines.status IS 'State of the line, as the marketplace names it.';
COMMENT ON COLUMN warehouse.return_lines.exception_item_type IS 'Kind of goods that can be refunded by their order only, such as HAZMAT; null: other goods.';

COMMENT ON COLUMN warehouse.returns.customer_order_id IS 'The buyer''s order at the marketplace.';
COMMENT ON COLUMN warehouse.returns.return_type IS 'Type of the return, as the marketplace names it.';
COMMENT ON COLUMN warehouse.returns.refund_mode IS 'When the return is refunded, as the marketplace names it.';
COMMENT ON COLUMN warehouse.returns.return_order_date IS 'When the return was created.';
COMMENT ON COLUMN warehouse.returns.return_by_date IS 'When the units should be back.';
COMMENT ON COLUMN warehouse.returns.total_refund_amount IS 'Refunded money of the return, never negative.';

COMMENT ON COLUMN warehouse.sales_channels.order_channel_id IS 'The id of the channel at the marketplace.';
COMMENT ON COLUMN warehouse.sales_channels.order_channel_name IS 'Name of the channel.';
COMMENT ON COLUMN warehouse.sales_channels.box_catalog_type IS 'Type of the boxes in which orders of the channel are shipped.';
COMMENT ON COLUMN warehouse.sales_channels.shipping_methods IS 'Shipping methods of the channel.';
COMMENT ON COLUMN warehouse.sales_channels.partner_name IS 'Name of the seller in the channel.';
COMMENT ON COLUMN warehouse.sales_channels.mart_id IS 'The id of the marketplace''s site.';
COMMENT ON COLUMN warehouse.sales_channels.created_date IS 'When the channel was created.';
COMMENT ON COLUMN warehouse.sales_channels.return_line1 IS 'The seller''s address for returns: first line.';
COMMENT ON COLUMN warehouse.sales_channels.return_line2 IS 'Second line of the address for returns.';
COMMENT ON COLUMN warehouse.sales_channels.return_line3 IS 'Third line of the address for returns.';
COMMENT ON COLUMN warehouse.sales_channels.return_city IS 'City of the address for returns.';
COMMENT ON COLUMN warehouse.sales_channels.return_state IS 'State of the address for returns.';
COMMENT ON COLUMN warehouse.sales_channels.return_country IS 'Country of the address for returns.';
COMMENT ON COLUMN warehouse.sales_channels.return_zip IS 'Postal code of the address for returns.';
COMMENT ON COLUMN warehouse.sales_channels.return_address_type IS 'Type of the address for returns.';

COMMENT ON COLUMN warehouse.settlement_differences.line_number IS 'The order line; null: the difference concerns no line.';
COMMENT ON COLUMN warehouse.settlement_differences.sku IS 'The SKU; null: the difference has none.';

COMMENT ON COLUMN warehouse.settlement_lines.row_number IS 'Position in the report, from 1. Nothing else identifies a row within its report.';
COMMENT ON COLUMN warehouse.settlement_lines.transaction_type IS 'Type of the transaction, as the report names it.';
COMMENT ON COLUMN warehouse.settlement_lines.description IS 'Description of the transaction.';
COMMENT ON COLUMN warehouse.settlement_lines.reason IS 'Reason of the transaction.';
COMMENT ON COLUMN warehouse.settlement_lines.transaction_key IS 'Key of the transaction; several rows may have the same.';
COMMENT ON COLUMN warehouse.settlement_lines.posted_on IS 'Day on which the transaction was posted.';
COMMENT ON COLUMN warehouse.settlement_lines.period_start IS 'First day of the period of the report.';
COMMENT ON COLUMN warehouse.settlement_lines.period_end IS 'Last day of the period of the report.';
COMMENT ON COLUMN warehouse.settlement_lines.amount_type IS 'What the amount is, as the report names it, such as Product Price.';
COMMENT ON COLUMN warehouse.settlement_lines.quantity IS 'Units of the row.';
COMMENT ON COLUMN warehouse.settlement_lines.purchase_order_id IS 'The purchase order; null: the row names none.';
COMMENT ON COLUMN warehouse.settlement_lines.purchase_order_line IS 'Its line as the report numbers it, which may differ from line_number of warehouse.order_lines.';
COMMENT ON COLUMN warehouse.settlement_lines.customer_order_id IS 'The buyer''s order at the marketplace; null: the row names none.';
COMMENT ON COLUMN warehouse.settlement_lines.customer_order_line IS 'The line of the buyer''s order.';
COMMENT ON COLUMN warehouse.settlement_lines.fulfillment_type IS 'Who has shipped the order, as the report names it.';
COMMENT ON COLUMN warehouse.settlement_lines.shipping_method IS 'The shipping method.';
COMMENT ON COLUMN warehouse.settlement_lines.contract_category IS 'Category of the item in the seller''s contract, which sets the commission.';
COMMENT ON COLUMN warehouse.settlement_lines.product_type IS 'Type of the item.';
COMMENT ON COLUMN warehouse.settlement_lines.product_tax_code IS 'Tax code of the item.';

COMMENT ON COLUMN warehouse.shipping_settings.shipping_priority IS 'What the shipping settings give priority to, as the marketplace names it.';
COMMENT ON COLUMN warehouse.shipping_settings.migrate_free_shipping_offers IS 'Whether offers with free shipping are migrated.';

COMMENT ON COLUMN warehouse.sku_money.month IS 'First day of the month of the orders (UTC).';
COMMENT ON COLUMN warehouse.sku_money.orders IS 'Number of purchase orders.';

COMMENT ON COLUMN warehouse.stock_differences.difference IS 'counted_units minus balance_units.';

COMMENT ON COLUMN warehouse.stock_on_hand.item_name IS 'Name of the item.';
COMMENT ON COLUMN warehouse.stock_on_hand.offer_id IS 'The id of the offer at the marketplace.';
COMMENT ON COLUMN warehouse.stock_on_hand.brand IS 'Brand of the item.';
COMMENT ON COLUMN warehouse.stock_on_hand.item_condition IS 'Condition of the item, such as new.';
COMMENT ON COLUMN warehouse.stock_on_hand.publishing_status IS 'Whether the item is published, as the marketplace names it.';
COMMENT ON COLUMN warehouse.stock_on_hand.lifecycle IS 'Lifecycle of the item, as the marketplace names it.';
COMMENT ON COLUMN warehouse.stock_on_hand.stock_status IS 'In stock or out of stock, as the marketplace names it.';
COMMENT ON COLUMN warehouse.stock_on_hand.on_hand_units IS 'Available, reserved and unavailable units.';
COMMENT ON COLUMN warehouse.stock_on_hand.age_91_to_180_units IS 'Units that arrived 91 to 180 days ago.';
COMMENT ON COLUMN warehouse.stock_on_hand.age_181_to_270_units IS 'Units that arrived 181 to 270 days ago.';
COMMENT ON COLUMN warehouse.stock_on_hand.age_271_to_365_units IS 'Units that arrived 271 to 365 days ago.';
COMMENT ON COLUMN warehouse.stock_on_hand.age_over_365_units IS 'Units that arrived more than 365 days ago.';
COMMENT ON COLUMN warehouse.stock_on_hand.first_in_stock_on IS 'Day on which the item was first in stock.';
COMMENT ON COLUMN warehouse.stock_on_hand.days_of_supply IS 'Days for which the stock lasts, as the marketplace expects.';
COMMENT ON COLUMN warehouse.stock_on_hand.out_of_stock_on IS 'Day on which the stock ends, as the marketplace expects.';
COMMENT ON COLUMN warehouse.stock_on_hand.sales_forecast_weeks_5_to_8 IS 'Sales that it expects in weeks 5 to 8.';
COMMENT ON COLUMN warehouse.stock_on_hand.sales_forecast_weeks_9_to_12 IS 'Sales that it expects in weeks 9 to 12.';
COMMENT ON COLUMN warehouse.stock_on_hand.sell_through_rate IS 'Sold units in relation to the stock, as the marketplace computes it.';
COMMENT ON COLUMN warehouse.stock_on_hand.suggested_units IS 'Units that the marketplace suggests to send.';
COMMENT ON COLUMN warehouse.stock_on_hand.surplus_units IS 'Units that it considers too many.';

COMMENT ON COLUMN warehouse.taxonomy_nodes.name IS 'Name of the node.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.item_count IS 'Number of items below the node; null: the marketplace states none.';

COMMENT ON COLUMN warehouse.usable_targets.tactic IS 'contextual: warehouse.contextual_targets; behavioral: warehouse.behavioral_audiences.';
COMMENT ON COLUMN warehouse.usable_targets.id IS 'The id at the marketplace, unique within the tactic.';
COMMENT ON COLUMN warehouse.usable_targets.name IS 'Name of the target or audience.';

COMMENT ON COLUMN tallyman.quarantined_records.skipped IS 'The window that was skipped because its pages cannot be read; null: a record.';
COMMENT ON COLUMN tallyman.quarantined_records.retry_at IS 'When the skipped window is requested again; null: it is not.';
COMMENT ON COLUMN tallyman.retention_passes.started_at IS 'When the current pass began; null: there is none. It removes what is older than cutoff, page by page up to next_page.';
COMMENT ON COLUMN tallyman.watched_campaigns.removed_at IS 'Since when the campaign is no longer read; null: it is read.';

-- Columns that mean the same in several tables and views, and columns of views that are those of their table.
DO $$
DECLARE
  missing record;
BEGIN
  FOR missing IN
    SELECT c.relname, a.attname, coalesce(own.comment, meant.comment) AS comment
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN (VALUES
      ('current_replenishment_recommendations', 'replenishment_recommendations'), ('reconciliation_current_rows', 'reconciliation_rows'),
      ('sku_money', 'order_money'), ('usable_targets', 'contextual_targets'), ('usable_targets', 'behavioral_audiences')
    ) AS derived(view, source) ON derived.view = c.relname
    LEFT JOIN LATERAL (
      SELECT col_description(s.attrelid, s.attnum) AS comment FROM pg_attribute s
      WHERE s.attrelid = to_regclass('warehouse.' || derived.source) AND s.attname = a.attname
    ) own ON true
    LEFT JOIN (VALUES
      ('id', 'Identifies the row.'),
      ('seller_id', 'The seller.'),
      ('sku', 'The SKU; null: the record has none.'),
      ('gtin', 'GTIN of the item; null: not known.'),
      ('upc', 'UPC of the item; null: not known.'),
      ('item_id', 'The id of the item at the marketplace; null: not known.'),
      ('product_name', 'Name of the item.'),
      ('unit_of_measure', 'Unit in which the item is counted.'),
      ('purchase_order_id', 'The purchase order: the part of a buyer''s order that the seller fulfils.'),
      ('line_number', 'The order line, as the marketplace numbers it.'),
      ('return_order_id', 'The return.'),
      ('return_order_line_number', 'The line of the return: return_order_line_number of warehouse.return_lines.'),
      ('position', 'Position within the line, from 0.'),
      ('currency', 'Currency of the money in the row.'),
      ('carrier', 'The carrier.'),
      ('method_code', 'The shipping method.'),
      ('tracking_number', 'Tracking number of the parcel.'),
      ('tracking_url', 'URL of the parcel at the carrier.'),
      ('shipped_at', 'When it was shipped; null: the marketplace shows no time.'),
      ('month', 'First day of the month.'),
      ('beginning_quantity', 'Units at the beginning of the month, as the report states it.'),
      ('ending_quantity', 'Units at the end of the month, or up to when the report counts.'),
      ('sold', 'Sold units.'),
      ('returned', 'Units that buyers returned.'),
      ('lost', 'Units that were lost.'),
      ('found', 'Units that were found again.'),
      ('damaged', 'Units that were damaged.'),
      ('other_adjustments', 'Units of other adjustments, with their sign.'),
      ('state', 'open or resolved.'),
      ('raw', 'The record of the marketplace, as received.'),
      ('raw_hash', 'SHA-1 of the received record: an unchanged record is not written again.'),
      ('observed_at', 'When the marketplace returned this version, on its clock.'),
      ('missing_since', 'Since when the marketplace no longer lists the record; null: it does.'),
      ('first_seen_at', 'When the row was first stored.'),
      ('changed_at', 'When the row changed last.'),
      ('resolved_at', 'When it was resolved; null: it is open.')
    ) AS meant(name, comment) ON meant.name = a.attname
    WHERE c.relnamespace = 'warehouse'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
      AND col_description(c.oid, a.attnum) IS NULL AND coalesce(own.comment, meant.comment) IS NOT NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN warehouse.%I.%I IS %L', missing.relname, missing.attname, missing.comment);
  END LOOP;
END $$;
COMMENT ON COLUMN warehouse.current_replenishment_recommendations.raw IS 'The recommendation as received.';
