select
  seller_id,
  sku,
  date_trunc('month', day)::date as month,
  currency,
  sum(units) as units,
  sum(net) as net,
  round(1.0 * sum(cancelled) / nullif(sum(units), 0), 4) as cancelled_share,
  round(1.0 * sum(refunded) / nullif(sum(units), 0), 4) as refunded_share
from {{ source('tallyman', 'sales_daily') }}
where day is not null and sku is not null
group by seller_id, sku, date_trunc('month', day)::date, currency
