import { randomUUID } from 'node:crypto'
import { giveBack, type HeldLeave, holding } from '../../clients/budget.ts'
import { MarketplaceFailure } from '../../clients/errors.ts'
import { faultPoint } from '../../fault-points.ts'
import { leaseForReading, readAttempts, recordIntent, recordOutcome, renewLease } from '../../store/command-attempts.ts'
import { lockCommand } from '../../store/command-steps.ts'
import { letEarlierGo, wasPutOff } from '../../store/command-turns.ts'
import type { Transaction } from '../../store/database.ts'
import { isDatabaseAway } from '../../store/faults.ts'
import { atOnce } from '../../store/together.ts'
import type { Later } from '../../store/transaction.ts'
import { storageFault } from '../../store/versions.ts'
import { leaseMs, type SendingDeadline, startDeadline } from './deadline.ts'
import { type AnyRun, clockOf, committing, fieldsOf, type Run } from './engine.ts'
import { judgeForgottenRequest, mayBeForgotten, unknownForMs } from './forgotten.ts'
import { look, type Sight } from './look.ts'
import { settleAnswer, settleFailure, settleUnsent } from './outcome.ts'
import { postponed, type Step, settle, stopFor, troubled } from './steps.ts'
import { mayBeProcessed, type Standing } from './subject.ts'

/** A sight that the request may go by; null: nothing was read, what is stored counts. */
type Readable<Thing> = Extract<Sight<Thing>, { kind: 'seen' | 'none' | 'unreadable' }> | null

/** `pending`: checks once more, stores the intent, sends, and stores the result. */
export const send = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { parts, command, client, subject, job } = run
  if (job.leave !== undefined) return sendWith(run, job.leave)
  const grant = await client.budget.take(subject.operation)
  if (!grant.granted) {
    return postponed(run, 'the rate budget is used up', grant.availableAt.getTime() - clockOf(parts).wallMs())
  }
  // Where one call an hour is allowed, a command that is not sent must not cost the hour.
  return holding(grant, async (leave) => {
    // Whoever waits asks again at a moment of its own: which of them comes first says nothing of what the marketplace wants first.
    const earlier = wasPutOff(command) ? await letEarlierGo(parts.database, command, job.underWay ?? []) : null
    if (earlier === null) return sendWith(run, leave)
    // It is handed on with the step.
    leave.spend()
    return { kind: 'instead', commandId: earlier.id, grant, delayMs: earlier.inMs }
  })
}

/** As {@link send}, with leave for the request. */
const sendWith = async <Thing, Request extends object>(run: Run<Thing, Request>, leave: HeldLeave): Promise<Step> => {
  const { parts, command, subject } = run
  const unknownMs = unknownForMs(run)
  if (unknownMs > 0) return postponed(run, 'a request of before the restore may still take effect', unknownMs)
  const sight = subject.readsFirst || command.attempts > 0 || mayBeForgotten(run) ? await readLeased(run) : null
  if (sight !== null && 'step' in sight) return sight.step
  faultPoint('command.before-intent')
  const deadline = startDeadline(parts)
  try {
    const correlationId = randomUUID()
    const prepared = await prepare(run, sight, correlationId)
    if ('step' in prepared) return prepared.step
    faultPoint('command.after-intent')
    return await sendPrepared(run, prepared, { correlationId, leave, deadline })
  } finally {
    deadline.end()
  }
}

/** The intent is stored: sends the request while the lease is held, and stores the result. */
const sendPrepared = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  { request, baseline }: { readonly request: Request; readonly baseline: object },
  {
    deadline,
    leave,
    correlationId,
  }: {
    readonly correlationId: string
    readonly leave: HeldLeave
    readonly deadline: SendingDeadline
  },
): Promise<Step> => {
  const { command, subject, job } = run
  // Its lease is ours: nobody else's, that would have to be over.
  const own = { state: 'sending', attempts: command.attempts + 1, leasedUntil: null } as const
  const sent: Run<Thing, Request> = { ...run, command: { ...command, ...own } }
  deadline.keep((forMs) => renew(sent, 'sending', forMs))
  // A process that was suspended for long must not send what others are already reading back.
  if (deadline.passed()) return settleUnsent(sent)
  try {
    const signal = AbortSignal.any([job.signal, deadline.signal])
    const mayLeave = (): boolean => !deadline.passed()
    leave.spend()
    const answer = await subject.send(request, { correlationId, grant: leave.grant, signal, mayLeave })
    faultPoint('command.after-send')
    return await settleAnswer(sent, baseline, answer)
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.sent === 'never') await giveBack(leave.grant)
    faultPoint('command.after-send')
    return settleFailure(sent, error)
  }
}

/** Holds the lease for so long from now on; false: not renewed, and what was held before counts. */
const renew = async (run: AnyRun, state: 'pending' | 'sending', forMs: number): Promise<boolean> => {
  const { parts, command, job } = run
  try {
    const { id, attempts } = command
    return await renewLease(parts.database, { id, state, attempts, owner: parts.owner, leaseMs: forMs })
  } catch (error) {
    // That Postgres is away is said once, and not for each command.
    if (!isDatabaseAway(error)) job.log.warn({ ...fieldsOf(run), err: error }, 'the lease of a command could not be renewed')
    return false
  }
}

/** As {@link readBefore}, while no other process looks at the command: it has a call for it, and the call of another one would be spent in vain. */
const readLeased = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
): ReturnType<typeof readBefore<Thing, Request>> => {
  const { parts, command } = run
  const deadline = startDeadline(parts)
  try {
    const isLeased = await leaseForReading(parts.database, command, { owner: parts.owner, leaseMs: leaseMs(parts) })
    if (!isLeased) return { step: { kind: 'gone' } }
    deadline.keep((forMs) => renew(run, 'pending', forMs))
    return await readBefore(run)
  } finally {
    deadline.end()
  }
}

/** Reads the subject right before sending: if it is missing, unreadable or inconsistent, the command waits. */
const readBefore = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
): Promise<Exclude<Readable<Thing>, null> | { readonly step: Step }> => {
  const { parts, subject } = run
  const sight = await look(run, randomUUID())
  const inTrouble = async (reason: string, delayMs?: number) => ({
    step: await parts.database.transaction((transaction) => troubled(transaction, run, 'pending', reason, delayMs)),
  })
  switch (sight.kind) {
    case 'seen':
    case 'unreadable':
      return sight
    case 'none':
      return subject.absence === null
        ? sight
        : inTrouble(`the marketplace reports that it does not have ${subject.name}, so nothing is sent`)
    case 'trouble':
      return inTrouble(`${sight.reason}; nothing is sent before it can be`, sight.delayMs ?? undefined)
    case 'wait':
      return { step: await postponed(run, sight.reason, sight.delayMs) }
    case 'refused-credentials':
      return { step: await stopFor(run, sight.failure, 'pending') }
  }
}

type Prepared<Request> = { readonly request: Request; readonly baseline: object } | { readonly step: Step }

/** As {@link Prepared}, before the commit: the intent was sent, and counts if it was written. */
type Sent<Request> =
  | { readonly request: Request; readonly baseline: object; readonly intent: Later<boolean> }
  | { readonly step: Step }

/** Judges the read subject, checks the rules, and stores the intent: all under the subject's lock. */
const prepare = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  sight: Readable<Thing>,
  correlationId: string,
): Promise<Prepared<Request>> => {
  const { parts, job, subject } = run
  try {
    const sent = await committing(run, 'intents', (transaction) => prepareIn(transaction, run, sight, correlationId))
    return 'step' in sent || (await sent.intent.onceCommitted()) ? sent : { step: { kind: 'gone' } }
  } catch (error) {
    const fault = storageFault(error)
    if (sight === null || fault === null) throw error
    const reason = `what the marketplace shows of ${subject.name} cannot be stored, so nothing is sent: ${fault}`
    job.log.warn(fieldsOf(run), reason)
    return { step: await parts.database.transaction((transaction) => troubled(transaction, run, 'pending', reason)) }
  }
}

const prepareIn = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  sight: Readable<Thing>,
  correlationId: string,
): Promise<Sent<Request>> => {
  const { parts, command, subject } = run
  if (sight?.kind === 'seen') await subject.store(transaction, sight.seen.observed, sight.askedAt)
  if (sight?.kind === 'none') await subject.store(transaction, null, sight.askedAt)
  const [standing, isAsRead] = await atOnce(
    transaction,
    () => subject.lock(transaction),
    () => lockCommand(transaction, command.id, command),
  )
  // An operator may have decided on it since it was read: the prepared request is then obsolete.
  if (!isAsRead) return { step: { kind: 'gone' } }
  if (standing.stored === null && subject.absence !== null) {
    return { step: await settle(transaction, run, 'rejected', subject.absence, null) }
  }
  const lag = sight?.kind === 'seen' ? standing.lag(sight.seen.value) : null
  if (lag !== null) {
    const reason = `what the marketplace shows of ${subject.name} is behind what is known (${lag}), so nothing is sent`
    return { step: await troubled(transaction, run, 'pending', reason) }
  }
  const view = sight?.kind === 'seen' ? sight.seen.value : standing.stored
  const earlier = await judgeEarlierAttempts(transaction, run, standing, view, sight?.kind === 'unreadable')
  if (earlier !== null) return { step: earlier }
  const forgotten = await judgeForgottenRequest(transaction, run, standing, view, sight?.kind === 'unreadable')
  if (forgotten !== null) return { step: forgotten }
  const obstacle = standing.obstacle(view)
  if (obstacle !== null) {
    return { step: await settle(transaction, run, obstacle.state, obstacle.reason, null, obstacle.quiet) }
  }
  const request = subject.prepare()
  const baseline = standing.baseline(view)
  const intent = await recordIntent(transaction, command, {
    correlationId,
    request,
    baseline,
    owner: parts.owner,
    leaseMs: leaseMs(parts),
  })
  return { request, baseline, intent }
}

/**
 * Before anything is sent again: the effect of the former attempts. Null if the subject shows that they changed nothing, or
 * if an operator or the marketplace states so and the subject does not contradict.
 */
const judgeEarlierAttempts = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  standing: Standing<Thing>,
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
  // The state that a list has shown meanwhile counts as much as the one just read.
  const applied = [evidence, standing.stored === null ? null : subject.judge(judged, standing.stored)].find(
    (told) => told?.verdict === 'applied',
  )
  if (applied !== undefined && applied !== null) {
    await recordOutcome(transaction, command.id, judged.at(-1)?.attempt ?? command.attempts, { outcome: 'applied' })
    return settle(transaction, run, 'confirmed', 'an earlier attempt was applied after all', applied)
  }
  if (last !== undefined && evidence?.ruledOut === true) {
    return settle(transaction, run, 'rejected', evidence.explanation ?? 'it cannot be applied any more', evidence)
  }
  const believed = last === undefined || last.outcome === 'dismissed'
  if (believed) {
    // Only an operator's decision line by line covers effects that the order shows with our marks.
    if (command.parts !== null || !evidence?.lines.some(({ underOurMark }) => underOurMark)) return null
    const who =
      last === undefined
        ? 'the marketplace reports that it did not process the request'
        : 'an operator stated that nothing was applied'
    const reason = `${who}, but ${subject.name} shows a part of it under our marks; decide it line by line`
    return settle(transaction, run, 'held', reason, evidence)
  }
  if (evidence === null)
    return troubled(transaction, run, 'pending', `the marketplace does not let ${subject.name} be read, so nothing is sent again`)
  if (evidence.verdict === 'unclear') {
    return settle(transaction, run, 'held', 'what an earlier attempt changed is unclear', evidence)
  }
  return null
}
