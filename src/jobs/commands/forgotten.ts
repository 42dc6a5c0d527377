import type { Transaction } from '../../store/database.ts'
import { type AnyRun, clockOf, type Run } from './engine.ts'
import { type Step, settle, troubled } from './steps.ts'
import type { Standing } from './subject.ts'

/**
 * Whether a request of this command may have been sent of which nothing is stored: it stood in the lost part of a database that was restored,
 * in this command or in an earlier one of the same event.
 */
export const mayBeForgotten = ({ parts, command }: AnyRun): boolean => parts.afterRestore !== undefined && command.attempts === 0

/** How long the effect of such a request may still appear, in milliseconds; 0 or less: whatever it did is visible. */
export const unknownForMs = (run: AnyRun): number => {
  const { parts } = run
  return parts.afterRestore === undefined || !mayBeForgotten(run)
    ? 0
    : parts.afterRestore.readsFromMs - clockOf(parts).monotonicMs()
}

/**
 * Before the first request of a command whose former request may be forgotten: does the subject show it already? Everything that our confirmed
 * commands do not account for may be ours, so that only a subject that shows nothing of it lets it be sent (null).
 */
export const judgeForgottenRequest = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  standing: Standing<Thing>,
  view: Thing | null,
  unreadable: boolean,
): Promise<Step | null> => {
  const { command, subject } = run
  if (!mayBeForgotten(run)) return null
  if (unreadable) {
    const reason = `the marketplace does not let ${subject.name} be read, which may have been sent before the restore; nothing is sent`
    return troubled(transaction, run, 'pending', reason)
  }
  const evidence = subject.judge([{ baseline: standing.untouched(view), outcome: null }], view)
  if (evidence === null) return null
  if (evidence.verdict === 'applied') {
    const reason = `${subject.name} shows it already: it was sent before the database was restored`
    return settle(transaction, run, 'confirmed', reason, evidence)
  }
  if (evidence.ruledOut === true) {
    const reason = evidence.explanation ?? 'it cannot be applied any more'
    return settle(transaction, run, 'rejected', reason, evidence, command.eventId === null ? true : undefined)
  }
  if (evidence.verdict === 'unclear') {
    const reason = `${subject.name} shows a part of it, which may have been sent before the database was restored`
    return settle(transaction, run, 'held', reason, evidence)
  }
  return null
}
