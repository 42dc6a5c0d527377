{# Fails for rows that are equal in all these columns: more than one row of the grain. #}
{% test unique_rows(model, columns) %}
select {{ columns | join(', ') }}
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}
