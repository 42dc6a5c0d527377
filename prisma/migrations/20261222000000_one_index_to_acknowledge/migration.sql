-- Deadlines are counted in one way, by `order_lines_to_acknowledge`: a line that is shipped needs no acknowledgement.
DROP INDEX warehouse.order_lines_unacknowledged;
