/** What a process does at once, and how often it looks: for the daemon, and for what simulates it. Times in milliseconds. */

/**
 * Slots for commands, also for those that the process which made them due runs without a job. A run mostly waits for answers. Of these slots a seller
 * alone has half; see `createSlots`.
 */
export const commandsAtOnce = 512
/** Commands that a process has made due, and that wait in it for a slot: some hundred bytes each. */
export const commandsWaitingHere = 10_000
/** Slots for events. */
export const eventsAtOnce = 16
/**
 * Syncs at once in a process, those without a job among them: so many that logs and reports of some sellers, whose runs last as long as their turn,
 * do not keep the orders of all waiting, and that polls of many ask together.
 */
export const syncSlots = 48
/** Syncs of the queue; polls without a job come beside them, and share the slots. */
export const queuedSyncsAtOnce = 24
/** How often due work is derived from Postgres without being asked. */
export const relayIntervalMs = 5_000
/** Due commands, and waiting events, that one derivation enqueues; the others follow. Each seller has its share of them. */
export const mostCommands = 2_000
export const mostEvents = 500
