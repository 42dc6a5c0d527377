select
  seller_id,
  currency,
  'payout' as source,
  count(*) as records,
  sum(open_amount) as amount
from {{ source('tallyman', 'order_payouts') }}
where state = 'pending'
group by seller_id, currency

union all

select
  seller_id,
  currency,
  source,
  count(*) as records,
  -sum(value) as amount
from {{ source('tallyman', 'differences') }}
where state = 'open' and value < 0
group by seller_id, currency, source
