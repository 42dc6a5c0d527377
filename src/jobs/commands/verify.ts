import { randomUUID } from 'node:crypto'
import type { Evidence } from '../../domain/evidence.ts'
import { readAttempts, recordOutcome, recordReadBack, type StoredAttempt } from '../../store/command-attempts.ts'
import { lockCommand } from '../../store/command-steps.ts'
import type { Transaction } from '../../store/database.ts'
import type { AnyRun, Run } from './engine.ts'
import { look, type Sight } from './look.ts'
import { codesOf, later, postponed, type Step, settle, stopFor, storing, troubled } from './steps.ts'
import { mayBeProcessed, type Standing, withoutEffect } from './subject.ts'
import { fewestClearReads, fewestLooks, mostAttempts, nextReadBackMs } from './waits.ts'

/** `verifying`: reads the subject back and compares it with its state before the request. */
export const verify = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { command, subject } = run
  const correlationId = randomUUID()
  const sight = await look(run, correlationId)
  if (sight.kind === 'wait') return postponed(run, sight.reason, sight.delayMs)
  if (sight.kind === 'refused-credentials') return stopFor(run, sight.failure, 'verifying')
  return storing(run, async (transaction, storable) => {
    if (storable && sight.kind === 'seen') await subject.store(transaction, sight.seen.observed, sight.askedAt)
    if (storable && sight.kind === 'none') await subject.store(transaction, null, sight.askedAt)
    const standing = await subject.lock(transaction)
    if (!(await lockCommand(transaction, command.id, command))) return { kind: 'gone' }
    const attempts = await readAttempts(transaction, command.id)
    const last = attempts.at(-1)
    if (last === undefined) return { kind: 'gone' }
    const told = tell(run, attempts, standing, sight)
    await recordReadBack(transaction, command.id, last.attempt, {
      at: command.databaseNow.toISOString(),
      correlationId,
      verdict: 'evidence' in told ? told.evidence.verdict : 'unreadable',
      ...('trouble' in told ? { reason: told.trouble } : {}),
    })
    if (sight.kind === 'unreadable') return concludeUnread(transaction, run, attempts, last)
    if ('trouble' in told) return troubled(transaction, run, 'verifying', told.trouble, told.delayMs)
    return conclude(transaction, run, attempts, last, told.evidence)
  })
}

type Told = { readonly evidence: Evidence } | { readonly trouble: string; readonly delayMs?: number }

/**
 * The state just read decides; the known state proves as well, and a stale view is no evidence against a request.
 */
const tell = <Thing, Request extends object>(
  { subject }: Run<Thing, Request>,
  attempts: readonly StoredAttempt[],
  standing: Standing<Thing>,
  sight: Sight<Thing>,
): Told => {
  const known = standing.stored === null ? null : subject.judge(attempts, standing.stored)
  if (known?.verdict === 'applied') return { evidence: known }
  switch (sight.kind) {
    case 'seen': {
      const evidence = subject.judge(attempts, sight.seen.value)
      if (evidence?.verdict === 'applied') return { evidence }
      const lag = standing.lag(sight.seen.value)
      if (lag !== null) return { trouble: `what the marketplace shows of ${subject.name} is behind what is known: ${lag}` }
      return evidence === null ? { trouble: `${subject.name} does not show the effect` } : { evidence }
    }
    case 'none': {
      const evidence = subject.absence === null ? subject.judge(attempts, null) : null
      return evidence === null ? { trouble: `the marketplace reports that it does not have ${subject.name}` } : { evidence }
    }
    case 'trouble':
      return { trouble: sight.reason, ...(sight.delayMs === null ? {} : { delayMs: sight.delayMs }) }
    case 'unreadable':
    case 'wait':
    case 'refused-credentials':
      return { trouble: `${subject.name} cannot be read back` }
  }
}

/**
 * An effect that cannot be read back is never assumed: only if every request was refused, the refusal is final. A single answer does not
 * prove that a marketplace offers no such read: after several such answers the command is held for an operator.
 */
const concludeUnread = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  attempts: readonly StoredAttempt[],
  last: StoredAttempt,
): Promise<Step> => {
  if (allRefused(attempts)) return settle(transaction, run, 'rejected', `the marketplace refused it${saidOf(last)}`, null)
  const { parts, command, subject } = run
  const reason = `the marketplace does not let ${subject.name} be read back`
  if (elapsedSince(run, last) < parts.settleTimeMs || command.troubledLooks + 1 < fewestLooks)
    return troubled(transaction, run, 'verifying', reason)
  return settle(transaction, run, 'held', reason, null)
}

/** How long the outcome of an attempt has been known, or unknown, in milliseconds. */
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
    const refused = last.outcome === 'refused' ? `the marketplace refused it${saidOf(last)}: ` : ''
    const reason = `${refused}${evidence.explanation ?? 'it cannot be applied'}`
    return settle(transaction, run, 'rejected', reason, evidence, command.eventId === null ? true : undefined)
  }
  // Evidence against a request counts only after its effect must be visible, and only if it was seen more than once.
  if (elapsedMs < parts.settleTimeMs || last.clearReads + 1 < fewestClearReads) {
    const reason = `${subject.name} does not show the effect yet; reading it back again`
    return later(transaction, run, 'verifying', reason, nextReadBackMs(parts, elapsedMs))
  }
  const refused = allRefused(attempts)
  if (refused && verdict === 'not-applied') {
    const reason = `the marketplace refused it${saidOf(last)}, and ${subject.name} shows that nothing was applied`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  if (refused && !evidence.lines.some((line) => line.maybeOurs)) {
    const reason = `the marketplace refused it${saidOf(last)}, and what ${subject.name} shows was done by others`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  if (verdict === 'not-applied' && last.outcome === 'refused') {
    const reason = `the marketplace refused it${saidOf(last)}, and ${subject.name} shows that nothing was applied`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  const unanswered = mayBeProcessed(attempts).length
  if (verdict === 'not-applied' && last.outcome === 'unknown' && unanswered < mostAttempts) {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'not-applied' })
    return later(transaction, run, 'pending', `${subject.name} shows that nothing was applied; sending again`, 0)
  }
  const reasons = {
    unclear: `${subject.name} as read back does not show whether it was applied`,
    'not-applied':
      last.outcome === 'accepted'
        ? `the marketplace accepted it, but ${subject.name} never showed it`
        : `${unanswered} requests went unanswered and changed nothing`,
  }
  const told = toldBy(evidence)
  return settle(transaction, run, 'held', told === '' ? reasons[verdict] : `${reasons[verdict]}: ${told}`, evidence)
}

const toldBy = ({ explanation, lines }: Evidence): string =>
  explanation ?? lines.map((line) => `line ${line.lineNumber}: ${line.explanation}`).join('; ')

const allRefused = (attempts: readonly StoredAttempt[]): boolean =>
  attempts.every(({ outcome }) => withoutEffect.has(outcome ?? ''))

/** The codes of a refusal, in brackets; empty if it had none. Its message is stored in the attempt only. */
const saidOf = (attempt: StoredAttempt): string => {
  const faults = attempt.failure?.['faults']
  const codes = Array.isArray(faults) ? codesOf(faults) : ''
  return codes === '' ? '' : ` (${codes})`
}
