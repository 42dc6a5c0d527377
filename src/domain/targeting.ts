/** What both kinds of target have in common. */
interface Target {
  readonly id: string
  readonly name: string | null
  /** Names from the department down; null when the marketplace gives no path. */
  readonly taxonPath: readonly string[] | null
  /** Only enabled ones may be used in ad groups. */
  readonly isDisabled: boolean
  readonly raw: unknown
}

/** How many people a target reaches, as the advertising console shows it. */
export type ReachBand = 'LOW' | 'MID' | 'HIGH'

/** A contextual target (specification, "Contextual target"). */
export interface ContextualTarget extends Target {
  /** Tiers as `TIER_1` to `TIER_7`, `TIER 1` read as `TIER_1`; unknown ones kept as they came. */
  readonly reach: readonly string[]
  readonly reachBands: readonly ReachBand[]
}

/** A behavioral audience (specification, "Behavioral audience"); type and attribute in upper case, open sets. */
export interface BehavioralAudience extends Target {
  readonly audienceType: string
  readonly attribute: string | null
}
