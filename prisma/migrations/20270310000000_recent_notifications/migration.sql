-- Whether notifications of a seller arrive is asked with each poll of orders, if POLL_ORDERS_NOTIFIED is set.
CREATE INDEX notifications_recent ON tallyman.notifications (seller_id, resource, received_at);
