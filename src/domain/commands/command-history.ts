import type { CommandState } from './command.ts'

/** A command as its rows describe it now, as far as {@link findPastState} reads it. */
export interface CommandTimes {
  readonly state: CommandState
  readonly createdAt: Date
  readonly settledAt: Date | null
  readonly attempts: readonly { readonly startedAt: Date; readonly finishedAt: Date | null; readonly outcome: string | null }[]
}

/** A state that the change feed has recorded for a command, with its reason. */
export interface RecordedState {
  readonly state: CommandState
  readonly reason: string | null
  readonly at: Date
}

/**
 * The state of a command at a time after its creation: the last one that the change feed had recorded by then. The feed does not record that a command
 * whose request was not sent is pending again. Without a recorded state (the feed is kept for a shorter time) it is derived from the attempts, which
 * cannot distinguish a held command from one whose order is read back.
 *
 * @param recorded the states of the command, oldest first
 */
export const findPastState = (command: CommandTimes, recorded: readonly RecordedState[], at: Date): RecordedState => {
  const last = recorded.findLast((one) => one.at <= at)
  if (last !== undefined && last.state !== 'sending') return last
  const { state, settledAt } = command
  if (last === undefined && settledAt !== null && settledAt <= at) return { state, reason: null, at: settledAt }
  const attempt = command.attempts.findLast(({ startedAt }) => startedAt <= at)
  const { finishedAt = null, outcome = null, startedAt = command.createdAt } = attempt ?? {}
  const isFinished = finishedAt !== null && finishedAt <= at
  if (isFinished && outcome === 'not-sent') return { state: 'pending', reason: null, at: finishedAt }
  if (last !== undefined) return last
  if (attempt === undefined) return { state: 'pending', reason: null, at: command.createdAt }
  return isFinished ? { state: 'verifying', reason: null, at: finishedAt } : { state: 'sending', reason: null, at: startedAt }
}
