import type { MarketplaceFailure } from '../../clients/errors.ts'
import type { Observed } from '../../clients/record.ts'
import { jsonOf } from '../../domain/json.ts'
import { faultPoint } from '../../fault-points.ts'
import { type AttemptOutcome, readAttempts, recordOutcome } from '../../store/command-attempts.ts'
import { lockCommand } from '../../store/command-steps.ts'
import type { Transaction } from '../../store/database.ts'
import { atOnce } from '../../store/together.ts'
import { type AnyRun, clockOf, committing, fieldsOf, type Run } from './engine.ts'
import { codesOf, later, type Step, settle, stopFor, storing, troubled } from './steps.ts'
import { mayBeProcessed } from './subject.ts'
import { nextReadBackMs } from './waits.ts'

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

const refusalOf = (failure: MarketplaceFailure): string => {
  const codes = codesOf(failure.faults)
  return `the marketplace refused it (HTTP ${failure.httpStatus ?? 'none'}${codes === '' ? '' : `: ${codes}`})`
}

/** The command is locked before its attempt is written, as everywhere; a late step writes nothing. */
const writing = async <Thing, Request extends object>(
  transaction: Transaction,
  { command }: Run<Thing, Request>,
  { failure, ...result }: AttemptResult,
  move: () => Promise<Step>,
): Promise<Step> => {
  if (!(await lockCommand(transaction, command.id, command))) return { kind: 'gone' }
  const [, step] = await atOnce(
    transaction,
    () =>
      recordOutcome(transaction, command.id, command.attempts, {
        ...result,
        ...(failure === undefined ? {} : { failure: jsonOf(failure) }),
      }),
    move,
  )
  return step
}

/**
 * The marketplace accepted the request: the subject is stored from the answer at once. Only an answer that shows the complete effect
 * confirms the command; otherwise it is read back.
 */
export const settleAnswer = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  baseline: object,
  answer: Observed<Thing>,
): Promise<Step> => {
  const { parts, subject } = run
  const { record, httpStatus } = answer
  if (!record.ok) return toVerifying(run, { outcome: 'accepted', httpStatus, failure: { kind: 'malformed-answer' } })
  faultPoint('command.before-settle')
  return storing(run, async (transaction, storable) => {
    if (storable) await subject.store(transaction, answer, answer.observedAt)
    const evidence = subject.judge([{ baseline, outcome: 'accepted' }], record.value)
    if (evidence?.verdict === 'applied') {
      return writing(transaction, run, { outcome: 'applied', httpStatus }, () =>
        settle(transaction, run, 'confirmed', `the marketplace accepted it, and ${subject.name} shows it`, evidence),
      )
    }
    return writing(transaction, run, { outcome: 'accepted', httpStatus }, () =>
      later(
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
    ...fieldsOf(run),
    correlation_id: failure.correlationId,
    failure: failure.kind,
    http_status: failure.httpStatus,
  }
  if (failure.kind === 'unknown' || failure.kind === 'malformed') {
    parts.onOutcome?.(kind, 'unknown')
    job.log.warn(fields, `the outcome is unknown; reading ${subject.name} back`)
    return toVerifying(run, { outcome: 'unknown', ...details })
  }
  if (failure.kind === 'throttled' || failure.kind === 'unavailable' || failure.credentialsDead) {
    const throttled = failure.kind === 'throttled'
    parts.onOutcome?.(kind, throttled ? 'throttled' : 'not-sent')
    const reason = throttled
      ? failure.sent === 'never'
        ? 'the request did not leave, nothing was done'
        : 'the marketplace asked to wait'
      : `the marketplace did not take the request, nothing was done: ${failure.message}`
    job.log.warn(fields, reason)
    const delayMs = waitOf(run, failure)
    const step = await unsent(run, { outcome: throttled ? 'throttled' : 'not-sent', ...details }, reason, delayMs)
    return failure.credentialsDead ? stopFor(run, failure, 'pending', step) : step
  }
  job.log.warn(fields, 'the marketplace refused the command')
  faultPoint('command.before-settle')
  return committing(run, 'results', async (transaction) => {
    const before = mayBeProcessed(await readAttempts(transaction, command.id)).filter(
      ({ attempt }) => attempt !== command.attempts,
    )
    // "Already done", or a refusal after an attempt whose effect may be late: the subject decides, not the message.
    if (subject.mayBeDone(failure) || before.length > 0) return verifying(transaction, run, { outcome: 'refused', ...details })
    return writing(transaction, run, { outcome: 'refused', ...details }, () =>
      settle(transaction, run, 'rejected', refusalOf(failure), null),
    )
  })
}

/** The delay that the marketplace requests; none after an expired token, once: the next attempt gets a new one. */
const waitOf = ({ parts, command }: AnyRun, failure: MarketplaceFailure): number | undefined => {
  if (failure.retryAt !== null) return Math.max(0, failure.retryAt.getTime() - clockOf(parts).wallMs())
  return failure.staleToken && command.troubledLooks === 0 ? 0 : undefined
}

/** The deadline passed before anything was sent: others may be reading back by now, unless we still hold the lease. */
export const settleUnsent = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  run.job.log.warn(fieldsOf(run), 'the deadline of this command passed before its request was sent')
  const reason = 'its deadline passed before its request was sent'
  return unsent(run, { outcome: 'not-sent', failure: { kind: 'too-late' } }, reason, 0)
}

const unsent = <Thing, Request extends object>(
  run: Run<Thing, Request>,
  result: AttemptResult,
  reason: string,
  delayMs: number | undefined,
): Promise<Step> =>
  committing(run, 'results', (transaction) =>
    writing(transaction, run, result, () => troubled(transaction, run, 'pending', reason, delayMs)),
  )

const toVerifying = async <Thing, Request extends object>(run: Run<Thing, Request>, result: AttemptResult): Promise<Step> => {
  faultPoint('command.before-settle')
  return committing(run, 'results', (transaction) => verifying(transaction, run, result))
}

const verifying = <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  result: AttemptResult,
): Promise<Step> => {
  const refused = result.outcome === 'refused'
  const reason = `${refused ? 'refused' : 'outcome unknown'}; reading ${run.subject.name} back`
  return writing(transaction, run, result, () =>
    later(transaction, run, 'verifying', reason, refused ? 0 : nextReadBackMs(run.parts, 0)),
  )
}

/** `sending` with an expired lease: its sender is gone, and the request may have been sent. */
export const takeOver = <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  run.job.log.warn(fieldsOf(run), `the sending of this command was interrupted; reading ${run.subject.name} back`)
  return toVerifying(run, { outcome: 'unknown', failure: { kind: 'interrupted' } })
}
