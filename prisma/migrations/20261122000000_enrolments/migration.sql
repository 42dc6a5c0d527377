-- Whether a seller is enrolled in the programme that a resource belongs to, as the marketplace last said.
CREATE TABLE tallyman.enrolments (
  seller_id  text           NOT NULL,
  resource   text           NOT NULL,
  enrolled   boolean        NOT NULL,
  detail     text,
  checked_at timestamptz(3) NOT NULL DEFAULT now(),
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (seller_id, resource)
);
