select
  seller_id,
  date_trunc('week', day)::date as week,
  currency,
  sum(units) as units,
  sum(gross) as gross,
  sum(discount) as discount,
  sum(net) as net,
  sum(cancelled) as cancelled,
  sum(refunded) as refunded
from {{ source('tallyman', 'sales_daily') }}
where day is not null
group by seller_id, date_trunc('week', day)::date, currency
