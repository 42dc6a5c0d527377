import { alarmWaiting, moveCommand, overdueCommands, readCommand } from '../../store/commands.ts'
import type { CommandParts } from './engine.ts'
import { alarmAfterMs, patienceMs } from './waits.ts'

/** The relay looks every few seconds: whatever is due for as long as this has been left by everybody. */
const shortestAlarmMs = 600_000
const mostAtOnce = 500

/** What one process remembers of the commands that it has found left alone. */
export interface OverdueWatch {
  /** For how long a command had been due when this process found it first, in milliseconds, by its id. */
  readonly firstOverdueMs: Map<string, number>
}

/** The memory of a process that has just started. */
export const createOverdueWatch = (): OverdueWatch => ({ firstOverdueMs: new Map() })

/** Notes what is overdue now, and answers for how long each command has been left since this process found it first. */
const leftSinceMs = (
  { firstOverdueMs }: OverdueWatch,
  overdue: readonly { readonly id: string; readonly overdueMs: number }[],
): ReadonlyMap<string, number> => {
  const before = new Map(firstOverdueMs)
  firstOverdueMs.clear()
  return new Map(
    overdue.map(({ id, overdueMs }) => {
      // One that is overdue for a shorter time than it was has been worked on meanwhile.
      const first = Math.min(before.get(id) ?? overdueMs, overdueMs)
      firstOverdueMs.set(id, first)
      return [id, overdueMs - first]
    }),
  )
}

/**
 * Commands that are due and that nobody works on, because no process serves their seller, say: an alarm, and in the end a person decides.
 * Answers how many there are. Commands of stopped sellers wait for their seller, which has an alarm of its own. None is held before this
 * process has seen it left alone for a while: after a downtime everything is overdue, and nobody has tried.
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
