/** What a process does at once, and how often it looks for due work. Times in milliseconds. */

/** Slots for commands. A run mostly waits for answers. Of these slots a seller alone has half; see `createSlots`. */
export const commandsAtOnce = 512
/** Slots for events. */
export const eventsAtOnce = 16
/** Slots for polls: so many that some sellers whose marketplace answers slowly do not keep the orders of all waiting. */
export const pollsAtOnce = 48
/** Slots for what reads the past, or everything again. */
export const backfillsAtOnce = 24
/** Slots for reads of records that notifications name. */
export const notifiedReadsAtOnce = 32
/** How often due work is derived from Postgres without being asked. */
export const relayIntervalMs = 5_000
/** Due commands, and waiting events, that one derivation enqueues; the others follow. Each seller has its share of them. */
export const maxCommands = 2_000
export const maxEvents = 500
/** Records that notifications name, and of which one derivation adds the lost jobs. */
export const maxNotified = 500
/** Back-off of a job whose row is due: it failed because Postgres was unavailable, and running it again costs little. In milliseconds. */
export const dueJobBackoff = { firstMs: 500, longestMs: 10_000 }
