import { alarmWaiting, moveCommand, overdueCommands, readCommand } from '../../store/commands.ts'
import type { CommandParts } from './engine.ts'
import { alarmAfterMs, patienceMs } from './waits.ts'

/** The relay looks every few seconds: whatever is due for as long as this has been left by everybody. */
const shortestAlarmMs = 600_000
const mostAtOnce = 500

/**
 * Commands that are due and that nobody works on, because no process serves their seller, say: an alarm, and in the end a person decides.
 * Answers how many there are. Commands of stopped sellers wait for their seller, which has an alarm of its own.
 */
export const reviewOverdueCommands = async (parts: Pick<CommandParts, 'database' | 'settleTimeMs'>): Promise<number> => {
  const { database } = parts
  const alarmMs = Math.max(alarmAfterMs(parts), shortestAlarmMs)
  const overdue = await overdueCommands(database, alarmMs, mostAtOnce)
  for (const { id, overdueMs } of overdue) {
    await database.transaction(async (transaction) => {
      const command = await readCommand(transaction, id)
      if (command === null) return
      const minutes = Math.round(overdueMs / 60_000)
      const reason = `it has been due for ${minutes} minutes and no process works on it: is seller ${command.sellerId} configured in one?`
      const longestMs = Math.max(patienceMs(parts, command.state === 'pending' ? 'pending' : 'verifying'), alarmMs)
      if (overdueMs >= longestMs && command.state !== 'sending')
        await moveCommand(transaction, command, { state: 'held', reason })
      else await alarmWaiting(transaction, command, reason)
    })
  }
  return overdue.length
}
