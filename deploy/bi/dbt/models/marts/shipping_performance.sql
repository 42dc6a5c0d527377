select
  seller_id,
  date_trunc('week', day)::date as week,
  ship_node_type,
  sum(units) as units,
  sum(shipped) as shipped,
  sum(late) as late,
  sum(overdue) as overdue,
  round(1.0 * sum(on_time) / nullif(sum(on_time + late), 0), 4) as on_time_share
from {{ source('tallyman', 'fulfilment_daily') }}
where day is not null
group by seller_id, date_trunc('week', day)::date, ship_node_type
