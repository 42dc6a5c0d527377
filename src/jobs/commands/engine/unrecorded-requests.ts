import type { Transaction } from '../../../store/db/database.ts'
import { type AnyRun, getClock, type Run } from './engine.ts'
import { retryLater, type Step, settle } from './steps.ts'
import type { SubjectState } from './subject.ts'

/**
 * Whether a request of this command may have been sent without a stored record: after a restore the records of the last requests are lost, whether of
 * this command or of an earlier one of the same event.
 */
export const mayHaveUnrecordedRequest = ({ parts, command, live }: AnyRun): boolean =>
  live !== null && parts.afterRestore !== undefined && command.attempts === 0

/** How long the effect of such a request may still appear, in milliseconds; 0 or less: its effect is visible by now. */
export const unsettledForMs = (run: AnyRun): number => {
  const { parts } = run
  return parts.afterRestore === undefined || !mayHaveUnrecordedRequest(run)
    ? 0
    : parts.afterRestore.readsFromMs - getClock(parts).monotonicMs()
}

/**
 * Before the first request of a command that may have an unrecorded request: judges whether the subject shows its effect already. Every effect that our
 * confirmed commands do not explain may be ours. Null: the subject shows no such effect, and the command may be sent.
 */
export const judgeUnrecordedRequest = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  state: SubjectState<Thing>,
  view: Thing | null,
  unreadable: boolean,
): Promise<Step | null> => {
  const { command, subject } = run
  if (!mayHaveUnrecordedRequest(run)) return null
  if (unreadable) {
    const reason = `the command may have been sent before the restore, and the marketplace does not let ${subject.name} be read; nothing is sent`
    return retryLater(transaction, run, 'pending', reason)
  }
  const evidence = subject.judge([{ baseline: state.originalBaseline(view), outcome: null }], view)
  if (evidence === null) return null
  if (evidence.verdict === 'applied') {
    const reason = `${subject.name} shows it already: it was sent before the database was restored`
    return settle(transaction, run, 'confirmed', reason, evidence)
  }
  if (evidence.ruledOut === true) {
    const reason = evidence.explanation ?? 'it can no longer be applied'
    return settle(transaction, run, 'rejected', reason, evidence, command.eventId === null ? true : undefined)
  }
  if (evidence.verdict === 'unclear') {
    const reason = `${subject.name} shows a part of it, which may have been sent before the database was restored`
    return settle(transaction, run, 'held', reason, evidence)
  }
  return null
}
