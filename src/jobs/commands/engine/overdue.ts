import { alarmWaiting, moveCommand } from '../../../store/commands/command-steps.ts'
import { findOverdueCommands, readCommand, type StoredCommand } from '../../../store/commands/commands.ts'
import { type CommandLog, type CommandParts, logHeld } from './engine.ts'
import { alarmAfterMs, maxRetryMs } from './retry-policy.ts'

/** The relay runs every few seconds: a command that has been due for this long is handled by no process. */
const minAlarmMs = 600_000
const maxAtOnce = 500

/** The commands that one process has found unhandled. */
export interface OverdueWatch {
  /** For how long a command had been due when this process found it first, in milliseconds, by its id. */
  readonly firstOverdueMs: Map<string, number>
}

/** The initial state of a process. */
export const createOverdueWatch = (): OverdueWatch => ({ firstOverdueMs: new Map() })

/** Records the overdue commands, and returns for how long each has been unhandled since this process first found it. */
const findUnhandledMs = (
  { firstOverdueMs }: OverdueWatch,
  overdue: readonly { readonly id: string; readonly overdueMs: number }[],
): ReadonlyMap<string, number> => {
  const before = new Map(firstOverdueMs)
  firstOverdueMs.clear()
  return new Map(
    overdue.map(({ id, overdueMs }) => {
      // A command that is overdue for a shorter time than before has been handled meanwhile.
      const first = Math.min(before.get(id) ?? overdueMs, overdueMs)
      firstOverdueMs.set(id, first)
      return [id, overdueMs - first]
    }),
  )
}

/**
 * Raises an alarm for due commands that no process handles, for example because their seller is assigned to none, and finally holds them. Returns their
 * number. Commands of stopped sellers are left out: a stopped seller has its own alarm. No command is held before this process has seen it unhandled
 * for a while, since after a downtime every command is overdue. Each held command is logged. @throws errors of Postgres
 */
export const reviewOverdueCommands = async (
  parts: Pick<CommandParts, 'database' | 'settleTimeMs'> & { readonly log: Pick<CommandLog, 'warn'> },
  watch: OverdueWatch,
): Promise<number> => {
  const { database } = parts
  const alarmMs = Math.max(alarmAfterMs(parts), minAlarmMs)
  const overdue = await findOverdueCommands(database, alarmMs, maxAtOnce)
  const unhandledMs = findUnhandledMs(watch, overdue)
  for (const { id, overdueMs } of overdue) {
    const held = await database.transaction(async (transaction): Promise<StoredCommand | null> => {
      const command = await readCommand(transaction, id)
      if (command === null) return null
      const minutes = Math.round(overdueMs / 60_000)
      const reason = `it has been due for ${minutes} minutes and no process works on it: is seller ${command.sellerId} configured in one?`
      const maxMs = Math.max(maxRetryMs(parts, command.state === 'pending' ? 'pending' : 'verifying'), alarmMs)
      if (overdueMs >= maxMs && (unhandledMs.get(id) ?? 0) >= alarmMs)
        return (await moveCommand(transaction, command, { state: 'held', reason })) === null ? null : command
      await alarmWaiting(transaction, command, reason, 'process')
      return null
    })
    if (held !== null) logHeld(parts.log, { command: held })
  }
  return overdue.length
}
