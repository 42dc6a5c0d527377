import { randomUUID } from 'node:crypto'
import type { Evidence } from '../../../domain/commands/evidence.ts'
import { readAttempts, recordOutcome, recordReadBack, type StoredAttempt } from '../../../store/commands/command-attempts.ts'
import { lockCommand } from '../../../store/commands/command-steps.ts'
import type { Transaction } from '../../../store/db/database.ts'
import type { AnyRun, Run } from './engine.ts'
import { type ReadResult, readSubject } from './read-subject.ts'
import { maxAttempts, minClearReads, minFailures, nextReadBackMs } from './retry-policy.ts'
import { commitWithRecord, formatCodes, postpone, reschedule, retryLater, type Step, settle, stopFor } from './steps.ts'
import { mayBeProcessed, type SubjectState, withoutEffect } from './subject.ts'

/** `verifying`: reads the subject back and compares it with its state before the request. */
export const verify = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { command, subject } = run
  const correlationId = randomUUID()
  const result = await readSubject(run, correlationId)
  if (result.kind === 'throttled') return postpone(run, result.reason, result.delayMs)
  if (result.kind === 'refused-credentials') return stopFor(run, result.failure, 'verifying')
  return commitWithRecord(run, async (transaction, storable) => {
    if (storable && result.kind === 'found') await subject.store(transaction, result.found.observed, result.requestedAt)
    if (storable && result.kind === 'none') await subject.store(transaction, null, result.requestedAt)
    const state = await subject.lock(transaction)
    if (!(await lockCommand(transaction, command.id, command))) return { kind: 'superseded' }
    const attempts = await readAttempts(transaction, command.id)
    const last = attempts.at(-1)
    if (last === undefined) return { kind: 'superseded' }
    const judged = judgeResult(run, attempts, state, result)
    await recordReadBack(transaction, command.id, last.attempt, {
      at: command.databaseNow.toISOString(),
      correlationId,
      verdict: 'evidence' in judged ? judged.evidence.verdict : 'unreadable',
      ...('problem' in judged ? { reason: judged.problem } : {}),
    })
    if (result.kind === 'unreadable') return concludeUnread(transaction, run, attempts, last)
    if ('problem' in judged) return retryLater(transaction, run, 'verifying', judged.problem, judged.delayMs)
    return conclude(transaction, run, attempts, last, judged.evidence)
  })
}

/** Evidence, or the problem that prevents a judgement. */
type Judged = { readonly evidence: Evidence } | { readonly problem: string; readonly delayMs?: number }

/** Judges by the state just read. The stored state may prove the effect too, and a stale read is no evidence against a request. */
const judgeResult = <Thing, Request extends object>(
  { subject }: Run<Thing, Request>,
  attempts: readonly StoredAttempt[],
  state: SubjectState<Thing>,
  result: ReadResult<Thing>,
): Judged => {
  const known = state.stored === null ? null : subject.judge(attempts, state.stored)
  if (known?.verdict === 'applied') return { evidence: known }
  switch (result.kind) {
    case 'found': {
      const evidence = subject.judge(attempts, result.found.value)
      if (evidence?.verdict === 'applied') return { evidence }
      const lag = state.lag(result.found.value)
      if (lag !== null) return { problem: `what the marketplace shows of ${subject.name} is behind what is known: ${lag}` }
      return evidence === null ? { problem: `${subject.name} does not show the effect` } : { evidence }
    }
    case 'none': {
      const evidence = subject.absence === null ? subject.judge(attempts, null) : null
      return evidence === null ? { problem: `the marketplace reports that it does not have ${subject.name}` } : { evidence }
    }
    case 'failed':
      return { problem: result.reason, ...(result.delayMs === null ? {} : { delayMs: result.delayMs }) }
    case 'unreadable':
    case 'throttled':
    case 'refused-credentials':
      return { problem: `${subject.name} cannot be read back` }
  }
}

/**
 * An effect that cannot be read back is never assumed: the refusal is final only if every request was refused. A single answer does not prove that the
 * marketplace does not offer this read: after several such answers the command is held for an operator.
 */
const concludeUnread = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  attempts: readonly StoredAttempt[],
  last: StoredAttempt,
): Promise<Step> => {
  if (allRefused(attempts)) return settle(transaction, run, 'rejected', `the marketplace refused it${formatRefusal(last)}`, null)
  const { parts, command, subject } = run
  const reason = `the marketplace does not let ${subject.name} be read back`
  if (elapsedSince(run, last) < parts.settleTimeMs || command.troubledLooks + 1 < minFailures)
    return retryLater(transaction, run, 'verifying', reason)
  return settle(transaction, run, 'held', reason, null)
}

/** Time since the outcome of an attempt was stored, or since it began, in milliseconds. */
const elapsedSince = ({ command }: AnyRun, last: StoredAttempt): number =>
  command.databaseNow.getTime() - (last.finishedAt ?? last.startedAt).getTime()

const conclude = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  attempts: readonly StoredAttempt[],
  last: StoredAttempt,
  evidence: Evidence,
): Promise<Step> => {
  const { parts, command, subject } = run
  const { verdict } = evidence
  const elapsedMs = elapsedSince(run, last)
  if (verdict === 'applied') {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'applied' })
    return settle(transaction, run, 'confirmed', `confirmed by reading ${subject.name} back`, evidence)
  }
  if (evidence.ruledOut === true) {
    const refused = last.outcome === 'refused' ? `the marketplace refused it${formatRefusal(last)}: ` : ''
    const reason = `${refused}${evidence.explanation ?? 'it cannot be applied'}`
    return settle(transaction, run, 'rejected', reason, evidence, command.eventId === null ? true : undefined)
  }
  // Evidence against a request counts only after the settle time, and only if it was found more than once.
  if (elapsedMs < parts.settleTimeMs || last.clearReads + 1 < minClearReads) {
    const reason = `${subject.name} does not show the effect yet; reading it back again`
    return reschedule(transaction, run, 'verifying', reason, nextReadBackMs(parts, elapsedMs))
  }
  const refused = allRefused(attempts)
  if (refused && verdict === 'not-applied') {
    const reason = `the marketplace refused it${formatRefusal(last)}, and ${subject.name} shows that nothing was applied`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  if (refused && !evidence.lines.some((line) => line.maybeOurs)) {
    const reason = `the marketplace refused it${formatRefusal(last)}, and what ${subject.name} shows was done by others`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  if (verdict === 'not-applied' && last.outcome === 'refused') {
    const reason = `the marketplace refused it${formatRefusal(last)}, and ${subject.name} shows that nothing was applied`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  const unanswered = mayBeProcessed(attempts).length
  if (verdict === 'not-applied' && last.outcome === 'unknown' && unanswered < maxAttempts) {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'not-applied' })
    return reschedule(transaction, run, 'pending', `${subject.name} shows that nothing was applied; sending again`, 0)
  }
  const reasons = {
    unclear: `${subject.name} as read back does not show whether it was applied`,
    'not-applied':
      last.outcome === 'accepted'
        ? `the marketplace accepted it, but ${subject.name} never showed it`
        : `${unanswered} requests went unanswered and changed nothing`,
  }
  const details = formatEvidence(evidence)
  return settle(transaction, run, 'held', details === '' ? reasons[verdict] : `${reasons[verdict]}: ${details}`, evidence)
}

const formatEvidence = ({ explanation, lines }: Evidence): string =>
  explanation ?? lines.map((line) => `line ${line.lineNumber}: ${line.explanation}`).join('; ')

const allRefused = (attempts: readonly StoredAttempt[]): boolean =>
  attempts.every(({ outcome }) => withoutEffect.has(outcome ?? ''))

/** The error codes of a refusal, in brackets; empty if it had none. Its message is stored in the attempt only. */
const formatRefusal = (attempt: StoredAttempt): string => {
  const faults = attempt.failure?.['faults']
  const codes = Array.isArray(faults) ? formatCodes(faults) : ''
  return codes === '' ? '' : ` (${codes})`
}
