/** Lanes of syncs, in order of priority: new records, then backfills and repeated reads, then snapshots. */
export const syncLanes = ['poll', 'backfill', 'snapshot'] as const

/** The priority of a sync if not all can run. */
export type SyncLane = (typeof syncLanes)[number]

/** Lanes of calls, in order of priority: commands and their reads come before syncs. */
export const callLanes = ['command', ...syncLanes] as const

/** The priority of a call if the rate limit does not allow all. */
export type CallLane = (typeof callLanes)[number]
