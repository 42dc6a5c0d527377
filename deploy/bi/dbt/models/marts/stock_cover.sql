with sold as (
  select seller_id, sku, sum(units - cancelled) as units
  from {{ source('tallyman', 'sales_daily') }}
  where day > current_date - 30
  group by seller_id, sku
)

select
  stock.seller_id,
  stock.sku,
  stock.on_hand_units,
  coalesce(sold.units, 0) as sold_units,
  round(30.0 * stock.on_hand_units / nullif(sold.units, 0), 1) as days
from {{ source('tallyman', 'stock_now') }} as stock
left join sold on sold.seller_id = stock.seller_id and sold.sku = stock.sku
