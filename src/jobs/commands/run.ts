import { randomUUID } from 'node:crypto'
import type { MarketplaceClient, Observed } from '../../clients/client.ts'
import { MarketplaceFailure } from '../../clients/errors.ts'
import type { CommandKind } from '../../domain/command.ts'
import type { Evidence } from '../../domain/evidence.ts'
import { faultPoint } from '../../fault-points.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import {
  commandBefore,
  moveCommand,
  readAttempts,
  readCommand,
  recordIntent,
  recordOutcome,
  recordReadBack,
  type StoredAttempt,
  type StoredCommand,
} from '../../store/commands.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { Prisma } from '../../store/generated/client.ts'
import { type ConfiguredSeller, stopSeller } from '../../store/sellers.ts'
import { storageFault } from '../../store/versions.ts'
import { credentialsRefused, type SellerRegistry } from '../sellers.ts'
import { orderSubject } from './order.ts'
import { shippingSettingsSubject } from './shipping-settings.ts'
import { type CommandSubject, neverProcessed, type SentRequest } from './subject.ts'

/** What the command engine needs. */
export interface CommandParts {
  readonly database: Database
  readonly sellers: SellerRegistry
  /** Names this process in leases. */
  readonly owner: string
  readonly requestTimeoutMs: number
  /** How long after an unanswered write its effect may still appear; longer than the longest request can live. */
  readonly settleTimeMs: number
  /** Told after a command has been settled: the next of its subject may go. */
  readonly onSettled: (sellerId: string, subject: string) => Promise<void>
  /** Counts how commands end, by kind. */
  readonly onOutcome?: (
    kind: CommandKind,
    outcome: 'confirmed' | 'rejected' | 'held' | 'unknown' | 'throttled' | 'not-sent',
  ) => void
}

/** The part of a job that the engine uses. */
export interface CommandJob {
  readonly signal: AbortSignal
  readonly log: {
    info(fields: object, message: string): void
    warn(fields: object, message: string): void
  }
}

/** After so many requests that provably changed nothing, a person should look at why. */
const mostAttempts = 6

const leaseMarginMs = 1_000
/** A sender has so long: for a token and the request, and to store what came of it. */
const leaseMs = ({ requestTimeoutMs }: CommandParts): number => 2 * requestTimeoutMs + 2 * leaseMarginMs

/** Moments of the read-backs, as parts of the settle time. The last one is at its end. */
const readBackMoments = [0.04, 0.15, 0.35, 0.65, 1]

const done: JobOutcome = { done: true }
const again = (delayMs: number, reason: string): JobOutcome => ({
  runAgainAt: new Date(Date.now() + Math.max(0, delayMs)),
  reason,
})
const jittered = (delayMs: number): number => delayMs * (0.75 + Math.random() / 2)

const jsonOf = (value: object): Prisma.InputJsonObject => JSON.parse(JSON.stringify(value)) as Prisma.InputJsonObject

const failureJson = (failure: MarketplaceFailure): Prisma.InputJsonObject =>
  jsonOf({
    kind: failure.kind,
    sent: failure.sent,
    httpStatus: failure.httpStatus,
    networkCode: failure.networkCode,
    alreadyDone: failure.alreadyDone,
    faults: failure.faults,
  })

const mostFaultsTold = 5

const wordsOf = (failure: MarketplaceFailure): string => {
  const words = failure.faults
    .slice(0, mostFaultsTold)
    .map(({ code, field, description }) => [code, field, description].filter((word) => word !== null).join(', '))
    .filter((said) => said !== '')
    .join('; ')
  return `the marketplace refused it (HTTP ${failure.httpStatus ?? 'none'}${words === '' ? '' : `: ${words}`})`
}

/** What happened inside a transaction, for after its commit. */
type Step =
  | { readonly kind: 'settled'; readonly outcome: 'confirmed' | 'rejected' }
  | { readonly kind: 'held' }
  | { readonly kind: 'later'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'gone' }

/**
 * Does the next step of a command: sends it, or reads back what became of it. Safe to be called at any time, any number of times,
 * by any number of processes: the lock of the subject and the state of the command decide, never the job.
 */
export const runCommand = async (parts: CommandParts, commandId: string, job: CommandJob): Promise<JobOutcome> => {
  const command = await readCommand(parts.database, commandId)
  if (command === null) return done
  if (command.state === 'confirmed' || command.state === 'rejected' || command.state === 'held') return done
  if ((await commandBefore(parts.database, command)) !== null) return done
  const free = Math.max(command.nextActionAt.getTime(), command.leasedUntil?.getTime() ?? 0)
  const waitMs = free - command.databaseNow.getTime()
  if (waitMs > 0) return again(waitMs, 'its next step is not due yet')
  if (!parts.sellers.has(command.sellerId)) return again(60_000, `seller ${command.sellerId} is not configured in this process`)
  const client = parts.sellers.client(command.sellerId)
  const run = { parts, job, command, client, seller: parts.sellers.configured(command.sellerId) }
  const { sellerId, content, purchaseOrderId } = command
  if (content.kind === 'create-shipping-settings') {
    return advance({ ...run, subject: shippingSettingsSubject({ sellerId, payload: content.payload }, client) })
  }
  if (purchaseOrderId === null) throw new Error(`command ${command.id} names no purchase order`)
  return advance({ ...run, subject: orderSubject({ id: command.id, sellerId, purchaseOrderId, content }, client) })
}

const advance = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<JobOutcome> => {
  const { state } = run.command
  const step = await (state === 'pending' ? send(run) : state === 'sending' ? takeOver(run) : verify(run))
  return finish(run, step)
}

interface AnyRun {
  readonly parts: CommandParts
  /** As it was configured when the client was picked: settings that came in meanwhile must not be stopped for the old ones. */
  readonly seller: ConfiguredSeller
  readonly job: CommandJob
  readonly command: StoredCommand
  readonly client: MarketplaceClient
}

interface Run<Thing, Request extends object> extends AnyRun {
  readonly subject: CommandSubject<Thing, Request>
}

const fieldsOf = ({ command }: Pick<AnyRun, 'command'>) => ({
  seller_id: command.sellerId,
  ...(command.purchaseOrderId === null ? {} : { purchase_order_id: command.purchaseOrderId }),
  command_id: command.id,
  kind: command.content.kind,
})

const finish = async (run: AnyRun, step: Step): Promise<JobOutcome> => {
  const { parts, command, job } = run
  switch (step.kind) {
    case 'settled':
      parts.onOutcome?.(command.content.kind, step.outcome)
      job.log.info(fieldsOf(run), `command ${step.outcome}`)
      faultPoint('command.after-settle')
      await parts.onSettled(command.sellerId, command.subject)
      return done
    case 'held':
      parts.onOutcome?.(command.content.kind, 'held')
      job.log.warn(fieldsOf(run), 'command held: a person must confirm, reject or retry it')
      return done
    case 'later':
      return again(step.delayMs, step.reason)
    case 'gone':
      return done
  }
}

/**
 * What the marketplace showed of the subject, asked for at a moment of its own clock; `misread`: why the answer makes no sense,
 * `unreadable`: it does not offer that.
 */
type Sight<Thing> =
  | { readonly observed: Observed<Thing> | null; readonly askedAt: Date }
  | { readonly misread: string }
  | { readonly unreadable: true }
  | { readonly later: Step }

/** Reads the subject from the marketplace; a failure becomes a moment to try again. */
const look = async <Thing, Request extends object>(run: Run<Thing, Request>, correlationId: string): Promise<Sight<Thing>> => {
  const { subject, job, client } = run
  const askedAt = client.clock().now()
  try {
    const observed = await subject.read({ signal: job.signal, correlationId })
    if (observed?.record.ok === false) return { misread: observed.record.fault }
    return { observed, askedAt }
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.credentialsDead) return { later: await stopFor(run, error) }
    if (error.kind === 'throttled') {
      const delayMs = (error.retryAt?.getTime() ?? Date.now() + 5_000) - Date.now()
      return { later: { kind: 'later', delayMs, reason: `the rate budget for reading ${subject.name} is used up` } }
    }
    const fields = { ...fieldsOf(run), correlation_id: correlationId, failure: error.kind, http_status: error.httpStatus }
    if (subject.isUnreadable(error)) {
      job.log.warn(fields, `the marketplace does not let ${subject.name} be read`)
      return { unreadable: true }
    }
    const reason = `${subject.name} cannot be read now`
    job.log.warn(fields, reason)
    if (error.kind === 'malformed') return { misread: error.message }
    return { later: { kind: 'later', delayMs: jittered(5_000), reason } }
  }
}

/**
 * A step that stores what the marketplace showed. Where Postgres cannot hold that, the step is done without storing it: it is evidence
 * all the same.
 */
const storing = async <Thing, Request extends object>(
  { parts, job, subject, ...run }: Run<Thing, Request>,
  work: (transaction: Transaction, storable: boolean) => Promise<Step>,
): Promise<Step> => {
  try {
    return await parts.database.transaction((transaction) => work(transaction, true))
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    job.log.warn({ ...fieldsOf(run), fault }, `what the marketplace shows of ${subject.name} cannot be stored`)
    return parts.database.transaction((transaction) => work(transaction, false))
  }
}

const stopFor = async (run: AnyRun, failure: MarketplaceFailure): Promise<Step> => {
  const reason = credentialsRefused(run.command.sellerId, failure.httpStatus)
  if (await stopSeller(run.parts.database, run.seller, reason)) run.job.log.warn(fieldsOf(run), reason)
  return { kind: 'gone' }
}

const settle = async <Thing, Request extends object>(
  transaction: Transaction,
  { command, subject }: Run<Thing, Request>,
  state: 'confirmed' | 'rejected' | 'held',
  reason: string | null,
  evidence: Evidence | null,
): Promise<Step> => {
  const expected = { state: command.state, attempts: command.attempts }
  const moved = await moveCommand(transaction, command, expected, {
    state,
    reason,
    evidence: evidence === null ? null : jsonOf(evidence),
  })
  if (!moved) return { kind: 'gone' }
  if (state === 'confirmed') await subject.confirmed?.(transaction)
  return state === 'held' ? { kind: 'held' } : { kind: 'settled', outcome: state }
}

/** Moves the command on to the same or another unsettled state, to be looked at again. */
const later = async (
  transaction: Transaction,
  command: StoredCommand,
  state: 'pending' | 'verifying',
  reason: string,
  delayMs: number,
): Promise<Step> => {
  const expected = { state: command.state, attempts: command.attempts }
  const moved = await moveCommand(transaction, command, expected, { state, reason, nextActionInMs: delayMs })
  return moved ? { kind: 'later', delayMs, reason } : { kind: 'gone' }
}

/** `pending`: checks once more, stores the intent, sends, and stores what came of it. */
const send = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { parts, command, client, subject, job } = run
  const grant = await client.budget.take(subject.operation)
  if (!grant.granted) {
    return { kind: 'later', delayMs: grant.availableAt.getTime() - Date.now(), reason: 'the rate budget is used up' }
  }
  let sight: Exclude<Sight<Thing>, { later: Step }> | null = null
  if (subject.readsFirst || command.attempts > 0) {
    const seen = await look(run, randomUUID())
    if ('later' in seen) return seen.later
    if ('misread' in seen) {
      return { kind: 'later', delayMs: jittered(30_000), reason: `${subject.name} cannot be understood: ${seen.misread}` }
    }
    sight = seen
  }
  faultPoint('command.before-intent')
  const correlationId = randomUUID()
  const prepare = async (transaction: Transaction): Promise<{ request: Request; baseline: object } | { step: Step }> => {
    if (sight !== null && 'observed' in sight) await subject.store(transaction, sight.observed, sight.askedAt)
    const stored = await subject.lock(transaction)
    if (stored === null && subject.absence !== null) {
      return { step: await settle(transaction, run, 'rejected', subject.absence, null) }
    }
    const earlier = await judgeEarlierAttempts(transaction, run, stored, sight !== null && 'unreadable' in sight)
    if (earlier !== null) return { step: earlier }
    const obstacle = await subject.obstacle(transaction, stored)
    if (obstacle !== null) return { step: await settle(transaction, run, obstacle.state, obstacle.reason, null) }
    const request = subject.prepare()
    const baseline = subject.baseline(stored)
    const written = await recordIntent(transaction, command, {
      correlationId,
      request: jsonOf(request),
      baseline,
      owner: parts.owner,
      leaseMs: leaseMs(parts),
    })
    return written ? { request, baseline } : { step: { kind: 'gone' } }
  }
  const prepared = await parts.database.transaction(prepare).catch((error: unknown): { step: Step } => {
    if (sight === null || storageFault(error) === null) throw error
    const reason = `${subject.name} cannot be stored, so nothing is sent`
    job.log.warn(fieldsOf(run), reason)
    return { step: { kind: 'later', delayMs: jittered(30_000), reason } }
  })
  if ('step' in prepared) return prepared.step
  faultPoint('command.after-intent')
  const sent: Run<Thing, Request> = { ...run, command: { ...command, state: 'sending', attempts: command.attempts + 1 } }
  try {
    // A process that was suspended for long must not send what others have long begun to read back.
    const signal = AbortSignal.any([job.signal, AbortSignal.timeout(leaseMs(parts) - leaseMarginMs)])
    const answer = await subject.send(prepared.request, { correlationId, grant, signal })
    faultPoint('command.after-send')
    return await settleAnswer(sent, prepared.baseline, answer)
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    faultPoint('command.after-send')
    return settleFailure(sent, error)
  }
}

/**
 * Before anything is sent again: what did the attempts before really change? Null when the subject shows that they changed nothing, or
 * when a person says so and the subject does not show the opposite.
 */
const judgeEarlierAttempts = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  stored: Thing | null,
  unreadable: boolean,
): Promise<Step | null> => {
  const { command, subject } = run
  if (command.attempts === 0) return null
  const attempts = (await readAttempts(transaction, command.id)).filter(({ outcome }) => !neverProcessed.has(outcome ?? ''))
  const last = attempts.at(-1)
  if (last === undefined) return null
  const evidence = unreadable ? null : subject.judge(attempts, stored)
  if (evidence?.verdict === 'applied') {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'applied' })
    return settle(transaction, run, 'confirmed', 'an earlier attempt was applied after all', evidence)
  }
  if (last.outcome !== 'dismissed' && (evidence === null || evidence.verdict === 'unclear')) {
    return settle(transaction, run, 'held', 'what an earlier attempt changed is unclear', evidence)
  }
  return null
}

/** The marketplace said yes: the subject is stored from the answer at once. */
const settleAnswer = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  baseline: object,
  answer: Observed<Thing>,
): Promise<Step> => {
  const { parts, command, subject } = run
  const { record } = answer
  if (!record.ok) {
    return toVerifying(run, {
      outcome: 'accepted',
      httpStatus: answer.httpStatus,
      failure: jsonOf({ kind: 'malformed-answer' }),
    })
  }
  faultPoint('command.before-settle')
  return storing(run, async (transaction, storable) => {
    if (storable) await subject.store(transaction, answer, answer.observedAt)
    const evidence = subject.judge([{ baseline, outcome: 'accepted' }], record.value)
    if (evidence?.verdict === 'not-applied') {
      await recordOutcome(transaction, command.id, command.attempts, { outcome: 'accepted', httpStatus: answer.httpStatus })
      const reason = `the marketplace accepted it, but ${subject.name} does not show it yet`
      return later(transaction, command, 'verifying', reason, nextReadBackMs(0, parts.settleTimeMs))
    }
    await recordOutcome(transaction, command.id, command.attempts, { outcome: 'applied', httpStatus: answer.httpStatus })
    // It said yes: what differs all the same, a person should know.
    const reason = evidence?.verdict === 'unclear' ? (evidence.explanation ?? null) : null
    return settle(transaction, run, 'confirmed', reason, evidence)
  })
}

/** The marketplace said no, or nothing. */
const settleFailure = async <Thing, Request extends object>(
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
    const backOffMs = jittered(Math.min(1_000 * 2 ** Math.min(command.attempts, 8), 300_000))
    const delayMs = failure.retryAt === null ? backOffMs : Math.max(0, failure.retryAt.getTime() - Date.now())
    const reason = throttled ? 'the marketplace asked to wait' : 'the marketplace could not be reached; nothing was sent'
    job.log.warn(fields, reason)
    const step = await parts.database.transaction(async (transaction): Promise<Step> => {
      await recordOutcome(transaction, command.id, command.attempts, {
        outcome: throttled ? 'throttled' : 'not-sent',
        ...details,
      })
      return later(transaction, command, 'pending', reason, delayMs)
    })
    return failure.credentialsDead ? stopFor(run, failure) : step
  }
  job.log.warn(fields, 'the marketplace refused the command')
  // "Already done", or a refusal after an attempt whose effect may have come late: the subject tells, not the words.
  if (subject.mayBeDone(failure) || command.attempts > 1) return toVerifying(run, { outcome: 'refused', ...details })
  faultPoint('command.before-settle')
  return parts.database.transaction(async (transaction) => {
    await recordOutcome(transaction, command.id, command.attempts, { outcome: 'refused', ...details })
    return settle(transaction, run, 'rejected', wordsOf(failure), null)
  })
}

const toVerifying = async <Thing, Request extends object>(
  { parts, command, subject }: Run<Thing, Request>,
  result: Parameters<typeof recordOutcome>[3],
): Promise<Step> => {
  faultPoint('command.before-settle')
  const refused = result.outcome === 'refused'
  const reason = `${refused ? 'refused' : 'outcome unknown'}; reading ${subject.name} back`
  return parts.database.transaction(async (transaction) => {
    await recordOutcome(transaction, command.id, command.attempts, result)
    return later(transaction, command, 'verifying', reason, refused ? 0 : nextReadBackMs(0, parts.settleTimeMs))
  })
}

/** `sending` with a lease that has run out: whoever sent it is gone, and the request may have left. */
const takeOver = <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  run.job.log.warn(fieldsOf(run), `the sending of this command was interrupted; reading ${run.subject.name} back`)
  return toVerifying(run, { outcome: 'unknown', failure: jsonOf({ kind: 'interrupted' }) })
}

const nextReadBackMs = (elapsedMs: number, settleTimeMs: number): number => {
  const next = readBackMoments.map((part) => part * settleTimeMs).find((momentMs) => momentMs > elapsedMs + 1)
  // Past the last moment only a read that failed is repeated.
  return next === undefined ? jittered(Math.min(settleTimeMs / 4, 30_000)) : next - elapsedMs
}

/** `verifying`: reads the subject back and compares it with how it stood before the request. */
const verify = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { command, subject } = run
  const correlationId = randomUUID()
  const sight = await look(run, correlationId)
  if ('later' in sight) return sight.later
  return storing(run, async (transaction, storable) => {
    if (storable && 'observed' in sight) await subject.store(transaction, sight.observed, sight.askedAt)
    await subject.lock(transaction)
    const attempts = await readAttempts(transaction, command.id)
    const last = attempts.at(-1)
    if (last === undefined) return { kind: 'gone' }
    const elapsedMs = command.databaseNow.getTime() - (last.finishedAt ?? last.startedAt).getTime()
    const evidence = 'observed' in sight ? judgeSight(run, attempts, sight.observed) : null
    await recordReadBack(transaction, command.id, last.attempt, {
      at: command.databaseNow.toISOString(),
      correlationId,
      verdict: evidence?.verdict ?? 'unreadable',
    })
    if ('unreadable' in sight) return concludeUnread(transaction, run, attempts, last)
    return conclude(transaction, run, last, evidence, elapsedMs)
  })
}

const judgeSight = <Thing, Request extends object>(
  { subject }: Run<Thing, Request>,
  sent: readonly SentRequest[],
  observed: Observed<Thing> | null,
): Evidence | null => {
  if (observed === null) return subject.judge(sent, null)
  return observed.record.ok ? subject.judge(sent, observed.record.value) : null
}

/** Outcomes of requests that changed nothing. `dismissed`: a person says so. */
const withoutEffect: ReadonlySet<string> = new Set([...neverProcessed, 'refused', 'dismissed'])

/** What cannot be read back is never guessed: only when every request was refused, the refusal stands. */
const concludeUnread = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  attempts: readonly StoredAttempt[],
  last: StoredAttempt,
): Promise<Step> => {
  const open = attempts.some(({ outcome }) => !withoutEffect.has(outcome ?? ''))
  if (!open) return settle(transaction, run, 'rejected', `the marketplace refused it${saidOf(last)}`, null)
  return settle(transaction, run, 'held', `the marketplace does not let ${run.subject.name} be read back`, null)
}

const conclude = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  last: StoredAttempt,
  evidence: Evidence | null,
  elapsedMs: number,
): Promise<Step> => {
  const { parts, command, subject } = run
  const settled = elapsedMs >= parts.settleTimeMs
  const verdict = evidence?.verdict ?? 'unclear'
  if (verdict === 'applied') {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'applied' })
    return settle(transaction, run, 'confirmed', `confirmed by reading ${subject.name} back`, evidence)
  }
  if (evidence?.ruledOut === true) {
    const refused = last.outcome === 'refused' ? `the marketplace refused it${saidOf(last)}: ` : ''
    return settle(transaction, run, 'rejected', `${refused}${evidence.explanation ?? 'it cannot be applied'}`, evidence)
  }
  if (verdict === 'not-applied' && last.outcome === 'refused' && (command.attempts === 1 || settled)) {
    const reason = `the marketplace refused it${saidOf(last)}, and ${subject.name} shows that nothing was applied`
    return settle(transaction, run, 'rejected', reason, evidence)
  }
  // A read that tells nothing may make sense next time, and a person is the last resort.
  if (!settled || (evidence === null && elapsedMs < 2 * parts.settleTimeMs)) {
    const reason = `${subject.name} does not show the effect yet; reading it back again`
    return later(transaction, command, 'verifying', reason, nextReadBackMs(elapsedMs, parts.settleTimeMs))
  }
  if (verdict === 'not-applied' && last.outcome === 'unknown' && command.attempts < mostAttempts) {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'not-applied' })
    return later(transaction, command, 'pending', `${subject.name} shows that nothing was applied; sending again`, 0)
  }
  const reasons = {
    unclear:
      evidence === null
        ? `${subject.name} cannot be read back`
        : `${subject.name} read back does not tell whether it was applied`,
    'not-applied':
      last.outcome === 'accepted'
        ? `the marketplace accepted it, but ${subject.name} never showed it`
        : `${command.attempts} requests went unanswered and changed nothing`,
  }
  return settle(transaction, run, 'held', reasons[verdict], evidence)
}

/** What the marketplace said when it refused, in brackets; empty when it said nothing. */
const saidOf = (attempt: StoredAttempt): string => {
  const faults = attempt.failure?.['faults']
  const words = Array.isArray(faults)
    ? faults.map((fault) => (typeof fault === 'object' && fault !== null && !Array.isArray(fault) ? fault['description'] : null))
    : []
  const said = words.filter((word): word is string => typeof word === 'string').join('; ')
  return said === '' ? '' : ` (${said})`
}
