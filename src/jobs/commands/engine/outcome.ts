import type { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { Acceptance } from '../../../clients/http/order-commands.ts'
import type { Observed } from '../../../clients/http/record.ts'
import { toJson } from '../../../domain/values/json.ts'
import { type AttemptOutcome, readAttempts, recordOutcome } from '../../../store/commands/command-attempts.ts'
import { lockCommand } from '../../../store/commands/command-steps.ts'
import { runPipelined } from '../../../store/commit/query-batching.ts'
import type { Transaction } from '../../../store/db/database.ts'
import { faultPoint } from '../../../util/fault-points.ts'
import { type AnyRun, commitInGroup, getClock, logFields, type Run } from './engine.ts'
import { nextReadBackMs } from './retry-policy.ts'
import { commitWithRecord, formatCodes, reschedule, retryLater, type Step, settle, stopFor } from './steps.ts'
import { mayBeProcessed } from './subject.ts'

interface AttemptResult {
  readonly outcome: AttemptOutcome
  readonly httpStatus?: number | null
  readonly failure?: object
}

const failureJson = (failure: MarketplaceFailure): object => ({
  kind: failure.kind,
  sent: failure.sent,
  httpStatus: failure.httpStatus,
  networkCode: failure.networkCode,
  alreadyDone: failure.alreadyDone,
  faults: failure.faults,
})

const buildRefusal = (failure: MarketplaceFailure): string => {
  const codes = formatCodes(failure.faults)
  return `the marketplace refused it (HTTP ${failure.httpStatus ?? 'none'}${codes === '' ? '' : `: ${codes}`})`
}

/** Locks the command before its attempt is written, as everywhere. A late step writes nothing. */
const writeOutcome = async <Thing, Request extends object>(
  transaction: Transaction,
  { command }: Run<Thing, Request>,
  { failure, ...result }: AttemptResult,
  move: () => Promise<Step>,
): Promise<Step> => {
  if (!(await lockCommand(transaction, command.id, command))) return { kind: 'superseded' }
  const [, step] = await runPipelined(
    transaction,
    () =>
      recordOutcome(transaction, command.id, command.attempts, {
        ...result,
        ...(failure === undefined ? {} : { failure: toJson(failure) }),
      }),
    move,
  )
  return step
}

/**
 * The marketplace accepted the request: the subject is stored from the answer. Only an answer that shows the complete effect confirms the command;
 * otherwise the subject is read back.
 */
export const settleAnswer = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  baseline: object,
  answer: Observed<Thing> | Acceptance,
): Promise<Step> => {
  const { parts, subject } = run
  const { httpStatus } = answer
  if (answer.record === null) return commitVerifying(run, { outcome: 'accepted', httpStatus })
  const { record } = answer
  if (!record.ok) return commitVerifying(run, { outcome: 'accepted', httpStatus, failure: { kind: 'malformed-answer' } })
  faultPoint('command.before-settle')
  return commitWithRecord(run, async (transaction, storable) => {
    if (storable) await subject.store(transaction, answer, answer.observedAt)
    const evidence = subject.judge([{ baseline, outcome: 'accepted' }], record.value)
    if (evidence?.verdict === 'applied') {
      return writeOutcome(transaction, run, { outcome: 'applied', httpStatus }, () =>
        settle(transaction, run, 'confirmed', `the marketplace accepted it, and ${subject.name} shows it`, evidence),
      )
    }
    return writeOutcome(transaction, run, { outcome: 'accepted', httpStatus }, () =>
      reschedule(
        transaction,
        run,
        'verifying',
        `the marketplace accepted it, but ${subject.name} does not show all of it yet`,
        nextReadBackMs(parts, 0),
      ),
    )
  })
}

/** The marketplace refused the request, or did not answer. */
export const settleFailure = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  failure: MarketplaceFailure,
): Promise<Step> => {
  const { parts, job, command, subject } = run
  const { kind } = command.content
  const details = { httpStatus: failure.httpStatus, failure: failureJson(failure) }
  const fields = {
    ...logFields(run),
    correlation_id: failure.correlationId,
    failure: failure.kind,
    http_status: failure.httpStatus,
  }
  if (failure.kind === 'unknown' || failure.kind === 'malformed') {
    parts.onOutcome?.(kind, 'unknown')
    job.log.warn(fields, `the outcome is unknown; reading ${subject.name} back`)
    return commitVerifying(run, { outcome: 'unknown', ...details })
  }
  if (failure.kind === 'throttled' || failure.kind === 'unavailable' || failure.credentialsDead) {
    const throttled = failure.kind === 'throttled'
    parts.onOutcome?.(kind, throttled ? 'throttled' : 'not-sent')
    const reason = throttled
      ? failure.sent === 'never'
        ? 'the request did not permit, nothing was done'
        : 'the marketplace asked to wait'
      : `the marketplace did not take the request, nothing was done: ${failure.message}`
    job.log.warn(fields, reason)
    const delayMs = findWait(run, failure)
    const step = await commitUnsent(run, { outcome: throttled ? 'throttled' : 'not-sent', ...details }, reason, delayMs)
    return failure.credentialsDead ? stopFor(run, failure, 'pending', step) : step
  }
  job.log.warn(fields, 'the marketplace refused the command')
  faultPoint('command.before-settle')
  return commitInGroup(run, 'results', async (transaction) => {
    const before = mayBeProcessed(await readAttempts(transaction, command.id)).filter(
      ({ attempt }) => attempt !== command.attempts,
    )
    // After "already done", or a refusal after an attempt whose effect may be late, the subject decides, not the message.
    if (subject.mayBeDone(failure) || before.length > 0)
      return moveToVerifying(transaction, run, { outcome: 'refused', ...details })
    return writeOutcome(transaction, run, { outcome: 'refused', ...details }, () =>
      settle(transaction, run, 'rejected', buildRefusal(failure), null),
    )
  })
}

/** The delay that the marketplace requests; none after an expired token, once: the next attempt gets a new one. */
const findWait = ({ parts, command }: AnyRun, failure: MarketplaceFailure): number | undefined => {
  if (failure.retryAt !== null) return Math.max(0, failure.retryAt.getTime() - getClock(parts).wallMs())
  return failure.staleToken && command.troubledLooks === 0 ? 0 : undefined
}

/** The deadline passed before the request was sent: other processes may read back by now, unless this one still holds the lease. */
export const settleUnsent = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  run.job.log.warn(logFields(run), 'the deadline of this command passed before its request was sent')
  const reason = 'its deadline passed before its request was sent'
  return commitUnsent(run, { outcome: 'not-sent', failure: { kind: 'too-late' } }, reason, 0)
}

const commitUnsent = <Thing, Request extends object>(
  run: Run<Thing, Request>,
  result: AttemptResult,
  reason: string,
  delayMs: number | undefined,
): Promise<Step> =>
  commitInGroup(run, 'results', (transaction) =>
    writeOutcome(transaction, run, result, () => retryLater(transaction, run, 'pending', reason, delayMs)),
  )

const commitVerifying = async <Thing, Request extends object>(run: Run<Thing, Request>, result: AttemptResult): Promise<Step> => {
  faultPoint('command.before-settle')
  return commitInGroup(run, 'results', (transaction) => moveToVerifying(transaction, run, result))
}

const moveToVerifying = <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  result: AttemptResult,
): Promise<Step> => {
  const refused = result.outcome === 'refused'
  // An answer that does not show the subject.
  const accepted = result.outcome === 'accepted' && result.failure === undefined
  const known = refused ? 'refused' : accepted ? 'accepted' : 'outcome unknown'
  const reason = `${known}; reading ${run.subject.name} back`
  return writeOutcome(transaction, run, result, () =>
    reschedule(transaction, run, 'verifying', reason, refused || accepted ? 0 : nextReadBackMs(run.parts, 0)),
  )
}

/** `sending` with an expired lease: its process has ended, and the request may have been sent. */
export const takeOver = <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  run.job.log.warn(logFields(run), `the sending of this command was interrupted; reading ${run.subject.name} back`)
  return commitVerifying(run, { outcome: 'unknown', failure: { kind: 'interrupted' } })
}
