-- Display advertising: taxonomy nodes, contextual targets and behavioral audiences.

CREATE TABLE warehouse.taxonomy_nodes (
  seller_id     text           NOT NULL,
  node_key      text           NOT NULL,
  level         integer        NOT NULL,
  path          text[]         NOT NULL,
  parent_path   text[]         NOT NULL,
  name          text           NOT NULL,
  item_count    integer,
  attributes    jsonb,
  raw_hash      bytea          NOT NULL,
  raw           jsonb          NOT NULL,
  observed_at   timestamptz(3) NOT NULL,
  missing_since timestamptz(3),
  first_seen_at timestamptz(3) NOT NULL,
  changed_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, node_key)
);
CREATE INDEX taxonomy_nodes_by_parent ON warehouse.taxonomy_nodes (seller_id, level, parent_path);
COMMENT ON COLUMN warehouse.taxonomy_nodes.node_key IS 'Level and path in one text: 3 | Home | Kitchen | Pans. A vertical bar within a name stands as \|.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.level IS '1 department, 2 category, 3 subcategory.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.path IS 'Names from the department down to the node itself.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.parent_path IS 'Path without its last name; empty for a department.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.attributes IS 'Counts of items by the values of one attribute: {type, values: [{value, count}]}.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.observed_at IS 'On the display host''s clock: an older observation never overwrites a newer one.';
COMMENT ON COLUMN warehouse.taxonomy_nodes.missing_since IS 'Since then a complete listing does not show the node; null while it does.';

CREATE TABLE warehouse.contextual_targets (
  seller_id     text           NOT NULL,
  id            bigint         NOT NULL,
  name          text,
  taxon_path    text[],
  reach         text[]         NOT NULL,
  reach_bands   text[]         NOT NULL,
  is_disabled   boolean,
  raw_hash      bytea          NOT NULL,
  raw           jsonb          NOT NULL,
  observed_at   timestamptz(3) NOT NULL,
  missing_since timestamptz(3),
  first_seen_at timestamptz(3) NOT NULL,
  changed_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, id)
);
COMMENT ON COLUMN warehouse.contextual_targets.taxon_path IS 'Names from the department down.';
COMMENT ON COLUMN warehouse.contextual_targets.reach IS 'TIER_1 to TIER_7; unknown tiers as they came.';
COMMENT ON COLUMN warehouse.contextual_targets.reach_bands IS 'The tiers as the advertising console shows them: LOW, MID, HIGH.';
COMMENT ON COLUMN warehouse.contextual_targets.is_disabled IS 'Only targets with false may be used in ad groups; null when the marketplace does not say.';
COMMENT ON COLUMN warehouse.contextual_targets.observed_at IS 'On the display host''s clock: an older observation never overwrites a newer one.';
COMMENT ON COLUMN warehouse.contextual_targets.missing_since IS 'Since then a complete listing does not show the target; null while it does.';

CREATE TABLE warehouse.behavioral_audiences (
  seller_id     text           NOT NULL,
  id            bigint         NOT NULL,
  name          text,
  audience_type text,
  attribute     text,
  taxon_path    text[],
  is_disabled   boolean,
  raw_hash      bytea          NOT NULL,
  raw           jsonb          NOT NULL,
  observed_at   timestamptz(3) NOT NULL,
  missing_since timestamptz(3),
  first_seen_at timestamptz(3) NOT NULL,
  changed_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (seller_id, id)
);
CREATE INDEX behavioral_audiences_by_kind ON warehouse.behavioral_audiences (seller_id, audience_type, attribute);
COMMENT ON COLUMN warehouse.behavioral_audiences.audience_type IS 'Upper case: RETAIL, BRAND, CUSTOM, PERSONA, DEMOGRAPHIC, or whatever comes.';
COMMENT ON COLUMN warehouse.behavioral_audiences.attribute IS 'Upper case, such as HISTORICAL; null when the marketplace names none.';
COMMENT ON COLUMN warehouse.behavioral_audiences.taxon_path IS 'Names from the department down; only audiences of the type RETAIL have one.';
COMMENT ON COLUMN warehouse.behavioral_audiences.is_disabled IS 'Only audiences with false may be used in ad groups; null when the marketplace does not say.';
COMMENT ON COLUMN warehouse.behavioral_audiences.observed_at IS 'On the display host''s clock: an older observation never overwrites a newer one.';
COMMENT ON COLUMN warehouse.behavioral_audiences.missing_since IS 'Since then a complete listing of its type and attribute does not show the audience; null while it does.';

CREATE VIEW warehouse.usable_targets AS
SELECT seller_id, 'contextual' AS tactic, id, name, taxon_path, reach, reach_bands, NULL::text AS audience_type, NULL::text AS attribute,
  first_seen_at, changed_at
FROM warehouse.contextual_targets WHERE is_disabled IS FALSE AND missing_since IS NULL
UNION ALL
SELECT seller_id, 'behavioral' AS tactic, id, name, taxon_path, NULL::text[] AS reach, NULL::text[] AS reach_bands, audience_type, attribute,
  first_seen_at, changed_at
FROM warehouse.behavioral_audiences WHERE is_disabled IS FALSE AND missing_since IS NULL;
COMMENT ON VIEW warehouse.usable_targets IS 'Targets and audiences that may be used in ad groups now: neither disabled nor gone from the listings.';
