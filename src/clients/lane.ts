/** Lanes of what is read, in their order: what is new, then the past and what is read again, then what is read as a whole. */
export const syncLanes = ['poll', 'backfill', 'snapshot'] as const

/** Which syncs go first where there is not room for all. */
export type SyncLane = (typeof syncLanes)[number]

/** Lanes of calls, in their order: commands with what they read go before all that is read by itself. */
export const callLanes = ['command', ...syncLanes] as const

/** Which calls go first where there is not budget for all. */
export type CallLane = (typeof callLanes)[number]
