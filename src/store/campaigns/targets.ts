import type { BehavioralAudience, ContextualTarget } from '../../domain/campaigns/targeting.ts'
import { type ListedStore, listedStore } from '../versioned/listed-records.ts'
import { markTable } from '../versioned/table-marks.ts'

markTable('warehouse.usable_targets', {
  none: 'seller_id tactic id name taxon_path reach reach_bands audience_type attribute first_seen_at changed_at',
})

const listed = (names: readonly string[] | null): string[] | null => (names === null ? null : [...names])

/** Contextual targets, in `warehouse.contextual_targets`; changes are recorded as `target.…` with the tactic `contextual`. */
export const contextualTargetStore: ListedStore<ContextualTarget> = listedStore({
  name: 'contextual_targets',
  personalData: {
    none: 'seller_id id name taxon_path reach reach_bands is_disabled raw_hash raw observed_at missing_since first_seen_at changed_at',
  },
  resource: 'contextual-targets',
  key: { column: 'id', type: 'bigint' },
  columns: ['name text', 'taxon_path text[]', 'reach text[]', 'reach_bands text[]', 'is_disabled boolean'],
  row: (target: ContextualTarget) => ({
    name: target.name,
    taxon_path: target.taxonPath,
    reach: target.reach,
    reach_bands: target.reachBands,
    is_disabled: target.isDisabled,
  }),
  identity: {
    of: ({ id }) => ({ tactic: 'contextual' as const, id }),
    sql: `jsonb_build_object('tactic', 'contextual', 'id', id::text)`,
  },
  state: {
    of: ({ name, taxonPath, reach, reachBands, isDisabled }) => ({
      name,
      taxonPath: listed(taxonPath),
      reach: [...reach],
      reachBands: [...reachBands],
      isDisabled,
    }),
    sql: `jsonb_build_object('name', name, 'taxonPath', taxon_path, 'reach', reach, 'reachBands', reach_bands, 'isDisabled', is_disabled)`,
  },
  change: (what, data) => ({ type: `target.${what}`, data }),
  loaded: (data) => ({ type: 'target.loaded', data: { tactic: 'contextual', ...data } }),
})

/** Behavioral audiences, in `warehouse.behavioral_audiences`; changes are recorded as `target.…` with the tactic `behavioral`. */
export const behavioralAudienceStore: ListedStore<BehavioralAudience> = listedStore({
  name: 'behavioral_audiences',
  personalData: {
    none: `seller_id id name audience_type attribute taxon_path is_disabled raw_hash raw observed_at missing_since first_seen_at changed_at`,
  },
  resource: 'behavioral-audiences',
  key: { column: 'id', type: 'bigint' },
  columns: ['name text', 'audience_type text', 'attribute text', 'taxon_path text[]', 'is_disabled boolean'],
  row: (audience: BehavioralAudience) => ({
    name: audience.name,
    audience_type: audience.audienceType,
    attribute: audience.attribute,
    taxon_path: audience.taxonPath,
    is_disabled: audience.isDisabled,
  }),
  // As `audiencePart` of the domain.
  part: `CASE audience_type WHEN 'CUSTOM' THEN audience_type ELSE audience_type || '/' || attribute END`,
  identity: {
    of: ({ id }) => ({ tactic: 'behavioral' as const, id }),
    sql: `jsonb_build_object('tactic', 'behavioral', 'id', id::text)`,
  },
  state: {
    of: ({ name, taxonPath, audienceType, attribute, isDisabled }) => ({
      name,
      taxonPath: listed(taxonPath),
      audienceType,
      attribute,
      isDisabled,
    }),
    sql: `jsonb_build_object('name', name, 'taxonPath', taxon_path, 'audienceType', audience_type, 'attribute', attribute, 'isDisabled', is_disabled)`,
  },
  change: (what, data) => ({ type: `target.${what}`, data }),
  loaded: (data) => ({ type: 'target.loaded', data: { tactic: 'behavioral', ...data } }),
})
