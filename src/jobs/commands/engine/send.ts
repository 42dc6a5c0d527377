import { randomUUID } from 'node:crypto'
import { MarketplaceFailure } from '../../../clients/http/errors.ts'
import { giveBack, type HeldGrant, withGrant } from '../../../clients/rate-limit/budget.ts'
import {
  leaseForReading,
  readAttempts,
  recordIntent,
  recordOutcome,
  renewLease,
} from '../../../store/commands/command-attempts.ts'
import { lockCommand } from '../../../store/commands/command-steps.ts'
import { lockShadowMode, recordPrediction } from '../../../store/commands/predictions.ts'
import { swapWithEarlierCommand, wasPostponed } from '../../../store/commands/waiting-commands.ts'
import { runPipelined } from '../../../store/commit/query-batching.ts'
import type { Transaction } from '../../../store/db/database.ts'
import { isDatabaseUnavailable } from '../../../store/db/errors.ts'
import type { Later } from '../../../store/db/transaction.ts'
import { storageFault } from '../../../store/versioned/versions.ts'
import { faultPoint } from '../../../util/fault-points.ts'
import { leaseMs, type SendingDeadline, startDeadline } from './deadline.ts'
import { type AnyRun, commitInGroup, getClock, logFields, type Run } from './engine.ts'
import { settleAnswer, settleFailure, settleUnsent } from './outcome.ts'
import { type ReadResult, readSubject } from './read-subject.ts'
import { stopForHold } from './shipment-hold.ts'
import { postpone, retryLater, type Step, settle, stopFor } from './steps.ts'
import { mayBeProcessed, type Send, type SubjectState } from './subject.ts'
import { judgeUnrecordedRequest, mayHaveUnrecordedRequest, unsettledForMs } from './unrecorded-requests.ts'

/** A read result on which the request can be based; null: nothing was read, and the stored state counts. */
type Readable<Thing> = Extract<ReadResult<Thing>, { kind: 'found' | 'none' | 'unreadable' }> | null

/** `pending`: checks once more, stores the intent, sends, and stores the result. */
export const send = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { parts, command, client, subject, job } = run
  if (subject.send === null) return predict(run)
  const transmit = subject.send
  const grant = await client.budget.take(subject.operation)
  if (!grant.granted) {
    return postpone(run, 'the rate budget is used up', grant.availableAt.getTime() - getClock(parts).wallMs())
  }
  // If the limit is one call per hour, a command that is not sent must not use it up.
  return withGrant(grant, async (permit) => {
    // Waiting commands retry at different times, so the order of their retries is not the order in which they should be sent.
    const earlier = wasPostponed(command) ? await swapWithEarlierCommand(parts.database, command, job.inProgress ?? []) : null
    return earlier === null ? sendWith(run, transmit, permit) : { kind: 'behind', earlierId: earlier.id, delayMs: earlier.inMs }
  })
}

/** Reads the subject where the request must be based on a fresh read; null: the stored state counts. */
const readWhereNeeded = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
): Promise<Awaited<ReturnType<typeof readLeased<Thing, Request>>> | null> => {
  const { command, subject } = run
  return subject.readsFirst || command.attempts > 0 || mayHaveUnrecordedRequest(run) ? readLeased(run) : null
}

/**
 * `pending`, of a seller in shadow mode: everything happens that happens before a request is sent, and the request is stored as a prediction. It needs no
 * permit, because nothing is sent.
 */
const predict = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const result = await readWhereNeeded(run)
  if (result !== null && 'step' in result) return result.step
  const prepared = await prepare(run, result, randomUUID())
  return 'step' in prepared ? prepared.step : { kind: 'settled', outcome: 'predicted' }
}

/** As {@link send}, with a permit for the request. */
const sendWith = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  transmit: Send<Thing, Request>,
  permit: HeldGrant,
): Promise<Step> => {
  const { parts } = run
  const unknownMs = unsettledForMs(run)
  if (unknownMs > 0) return postpone(run, 'a request sent before the restore may still take effect', unknownMs)
  const result = await readWhereNeeded(run)
  if (result !== null && 'step' in result) return result.step
  faultPoint('command.before-intent')
  const deadline = startDeadline(parts)
  try {
    const correlationId = randomUUID()
    const prepared = await prepare(run, result, correlationId)
    if ('step' in prepared) return prepared.step
    faultPoint('command.after-intent')
    return await sendPrepared(run, prepared, { transmit, correlationId, permit, deadline })
  } finally {
    deadline.end()
  }
}

/** The intent is stored: sends the request while the lease is held, and stores the result. */
const sendPrepared = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  { request, baseline }: { readonly request: Request; readonly baseline: object },
  {
    transmit,
    deadline,
    permit,
    correlationId,
  }: {
    readonly transmit: Send<Thing, Request>
    readonly correlationId: string
    readonly permit: HeldGrant
    readonly deadline: SendingDeadline
  },
): Promise<Step> => {
  const { command, job } = run
  // The lease belongs to this process: the lease of another process would have expired.
  const own = { state: 'sending', attempts: command.attempts + 1, leasedUntil: null } as const
  const sent: Run<Thing, Request> = { ...run, command: { ...command, ...own } }
  deadline.keep((forMs) => renew(sent, 'sending', forMs))
  // A process that was suspended too long must not send a request that other processes already read back.
  if (deadline.passed()) return settleUnsent(sent)
  try {
    const signal = AbortSignal.any([job.signal, deadline.signal])
    const maySend = (): boolean => !deadline.passed()
    permit.spend()
    const answer = await transmit(request, { correlationId, grant: permit.grant, signal, maySend })
    faultPoint('command.after-send')
    return await settleAnswer(sent, baseline, answer)
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.sent === 'never') await giveBack(permit.grant)
    faultPoint('command.after-send')
    return settleFailure(sent, error)
  }
}

/** Renews the lease for a time from now; false: not renewed, and the earlier lease counts. */
const renew = async (run: AnyRun, state: 'pending' | 'sending', forMs: number): Promise<boolean> => {
  const { parts, command, job } = run
  try {
    const { id, attempts } = command
    return await renewLease(parts.database, { id, state, attempts, owner: parts.owner, leaseMs: forMs })
  } catch (error) {
    // An unavailable Postgres is logged once, not for each command.
    if (!isDatabaseUnavailable(error))
      job.log.warn({ ...logFields(run), err: error }, 'the lease of a command could not be renewed; it is tried again')
    return false
  }
}

/** As {@link readBefore}, under a lease: a second process would use up a call of the rate limit in vain. */
const readLeased = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
): ReturnType<typeof readBefore<Thing, Request>> => {
  const { parts, command } = run
  const deadline = startDeadline(parts)
  try {
    const isLeased = await leaseForReading(parts.database, command, { owner: parts.owner, leaseMs: leaseMs(parts) })
    if (!isLeased) return { step: { kind: 'superseded' } }
    deadline.keep((forMs) => renew(run, 'pending', forMs))
    return await readBefore(run)
  } finally {
    deadline.end()
  }
}

/** Reads the subject right before sending. If it is missing or cannot be read, the command waits. */
const readBefore = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
): Promise<Exclude<Readable<Thing>, null> | { readonly step: Step }> => {
  const { parts, subject } = run
  const result = await readSubject(run, randomUUID())
  const retry = async (reason: string, delayMs?: number) => ({
    step: await parts.database.transaction((transaction) => retryLater(transaction, run, 'pending', reason, delayMs)),
  })
  switch (result.kind) {
    case 'found':
    case 'unreadable':
      return result
    case 'none':
      return subject.absence === null
        ? result
        : retry(`the marketplace reports that it does not have ${subject.name}, so nothing is sent`)
    case 'failed':
      return retry(`${result.reason}; nothing is sent until it can be`, result.delayMs ?? undefined)
    case 'throttled':
      return { step: await postpone(run, result.reason, result.delayMs) }
    case 'refused-credentials':
      return { step: await stopFor(run, result.failure, 'pending') }
  }
}

type Prepared<Request> = { readonly request: Request; readonly baseline: object } | { readonly step: Step }

/** As {@link Prepared}, before the commit: the intent counts if its statement wrote it. */
type Preparing<Request> =
  | { readonly request: Request; readonly baseline: object; readonly intent: Later<boolean> }
  | { readonly step: Step }

/** Judges the subject, checks the rules, and stores the intent (in shadow mode: the prediction), all under the subject's lock. */
const prepare = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  result: Readable<Thing>,
  correlationId: string,
): Promise<Prepared<Request>> => {
  const { parts, job, subject } = run
  try {
    const work = (transaction: Transaction) => prepareIn(transaction, run, result, correlationId)
    // A prediction locks its seller before the order, which a group has locked already.
    const preparing = await (run.live === null ? parts.database.transaction(work) : commitInGroup(run, 'intents', work))
    return 'step' in preparing || (await preparing.intent.onceCommitted()) ? preparing : { step: await stopForHold(run) }
  } catch (error) {
    const fault = storageFault(error)
    if (result === null || fault === null) throw error
    const reason = `what the marketplace shows of ${subject.name} cannot be stored, so nothing is sent: ${fault}`
    job.log.warn(logFields(run), reason)
    return { step: await parts.database.transaction((transaction) => retryLater(transaction, run, 'pending', reason)) }
  }
}

const prepareIn = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  result: Readable<Thing>,
  correlationId: string,
): Promise<Preparing<Request>> => {
  const { parts, command, subject } = run
  if (run.live === null && !(await lockShadowMode(transaction, command.sellerId))) return { step: { kind: 'superseded' } }
  if (result?.kind === 'found') await subject.store(transaction, result.found.observed, result.requestedAt)
  if (result?.kind === 'none') await subject.store(transaction, null, result.requestedAt)
  const [state, isAsRead] = await runPipelined(
    transaction,
    () => subject.lock(transaction),
    () => lockCommand(transaction, command.id, command),
  )
  // An operator may have decided on the command since it was read: its request is then obsolete.
  if (!isAsRead) return { step: { kind: 'superseded' } }
  if (state.stored === null && subject.absence !== null) {
    return { step: await settle(transaction, run, 'rejected', subject.absence, null) }
  }
  const lag = result?.kind === 'found' ? state.lag(result.found.value) : null
  if (lag !== null) {
    const reason = `what the marketplace shows of ${subject.name} is behind what is known (${lag}), so nothing is sent`
    return { step: await retryLater(transaction, run, 'pending', reason) }
  }
  const view = result?.kind === 'found' ? result.found.value : state.stored
  const earlier = await judgeEarlierAttempts(transaction, run, state, view, result?.kind === 'unreadable')
  if (earlier !== null) return { step: earlier }
  const unrecorded = await judgeUnrecordedRequest(transaction, run, state, view, result?.kind === 'unreadable')
  if (unrecorded !== null) return { step: unrecorded }
  const blocker = state.blocker(view)
  // In shadow mode the present system may have reached the goal first: that is no reason not to predict it.
  if (blocker !== null && (run.live !== null || blocker.state === 'rejected')) {
    return { step: await settle(transaction, run, blocker.state, blocker.reason, null, blocker.quiet) }
  }
  const request = subject.prepare(view)
  const baseline = state.baseline(view)
  const made = { correlationId, request, baseline }
  const intent =
    run.live === null
      ? await recordPrediction(transaction, command, made)
      : await recordIntent(transaction, command, { ...made, owner: parts.owner, leaseMs: leaseMs(parts) })
  return { request, baseline, intent }
}

/**
 * Judges the effect of the earlier attempts before another request. Null: the subject shows that they changed nothing, or an operator or the marketplace
 * states so and the subject does not contradict.
 */
const judgeEarlierAttempts = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  state: SubjectState<Thing>,
  view: Thing | null,
  unreadable: boolean,
): Promise<Step | null> => {
  const { command, subject } = run
  if (command.attempts === 0) return null
  const attempts = await readAttempts(transaction, command.id)
  const processed = mayBeProcessed(attempts)
  const last = processed.at(-1)
  const judged = last === undefined ? attempts : processed
  const evidence = unreadable ? null : subject.judge(judged, view)
  // A state that a list has shown meanwhile counts as much as the one just read.
  const applied = [evidence, state.stored === null ? null : subject.judge(judged, state.stored)].find(
    (found) => found?.verdict === 'applied',
  )
  if (applied !== undefined && applied !== null) {
    await recordOutcome(transaction, command.id, judged.at(-1)?.attempt ?? command.attempts, { outcome: 'applied' })
    return settle(transaction, run, 'confirmed', 'an earlier attempt was applied after all', applied)
  }
  if (last !== undefined && evidence?.ruledOut === true) {
    return settle(transaction, run, 'rejected', evidence.explanation ?? 'it can no longer be applied', evidence)
  }
  const isStated = last === undefined || last.outcome === 'dismissed'
  if (isStated) {
    // Only an operator's decision by line covers effects that the order shows under our marks.
    if (command.parts !== null || !evidence?.lines.some(({ underOurMark }) => underOurMark)) return null
    const statement =
      last === undefined
        ? 'the marketplace reports that it did not process the request'
        : 'an operator stated that nothing was applied'
    const reason = `${statement}, but ${subject.name} shows a part of it under our marks; decide on each line`
    return settle(transaction, run, 'held', reason, evidence)
  }
  if (evidence === null)
    return retryLater(
      transaction,
      run,
      'pending',
      `the marketplace does not let ${subject.name} be read, so nothing is sent again`,
    )
  if (evidence.verdict === 'unclear') {
    return settle(transaction, run, 'held', 'what an earlier attempt changed is unclear', evidence)
  }
  return null
}
