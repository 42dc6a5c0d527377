import { alarmWaiting, moveCommand } from '../../store/command-steps.ts'
import { overdueCommands, readCommand } from '../../store/commands.ts'
import type { CommandParts } from './engine.ts'
import { alarmAfterMs, patienceMs } from './waits.ts'

/** The relay runs every few seconds: a command that is due for this long is handled by no process. */
const shortestAlarmMs = 600_000
const mostAtOnce = 500

/** The commands that one process has found unhandled. */
export interface OverdueWatch {
  /** For how long a command had been due when this process found it first, in milliseconds, by its id. */
  readonly firstOverdueMs: Map<string, number>
}

/** The initial state of a process. */
export const createOverdueWatch = (): OverdueWatch => ({ firstOverdueMs: new Map() })

/** Records the overdue commands, and returns for how long each has been unhandled since this process first found it. */
const leftSinceMs = (
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
 * Commands that are due and that no process handles, for example because none serves their seller: an alarm, and finally they are held.
 * Returns their number. Commands of stopped sellers wait for their seller, which has its own alarm. None is held before this
 * process has seen it unhandled for a while: after a downtime everything is overdue without any attempt.
 */
export const reviewOverdueCommands = async (
  parts: Pick<CommandParts, 'database' | 'settleTimeMs'>,
  watch: OverdueWatch,
): Promise<number> => {
  const { database } = parts
  const alarmMs = Math.max(alarmAfterMs(parts), shortestAlarmMs)
  const overdue = await overdueCommands(database, alarmMs, mostAtOnce)
  const left = leftSinceMs(watch, overdue)
  for (const { id, overdueMs } of overdue) {
    await database.transaction(async (transaction) => {
      const command = await readCommand(transaction, id)
      if (command === null) return
      const minutes = Math.round(overdueMs / 60_000)
      const reason = `it has been due for ${minutes} minutes and no process works on it: is seller ${command.sellerId} configured in one?`
      const longestMs = Math.max(patienceMs(parts, command.state === 'pending' ? 'pending' : 'verifying'), alarmMs)
      if (overdueMs >= longestMs && (left.get(id) ?? 0) >= alarmMs)
        await moveCommand(transaction, command, { state: 'held', reason })
      else await alarmWaiting(transaction, command, reason)
    })
  }
  return overdue.length
}
