import { randomUUID } from 'node:crypto'
import type { MarketplaceClient, Observed, WireRequest } from '../../clients/client.ts'
import { MarketplaceFailure } from '../../clients/errors.ts'
import type { CommandContent, CommandKind } from '../../domain/command.ts'
import { type Evidence, judge, type OrderBaseline, takeBaseline } from '../../domain/evidence.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { checkBeforeSend } from '../../domain/units.ts'
import { faultPoint } from '../../fault-points.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import {
  commandBefore,
  moveCommand,
  readAttempts,
  readCommand,
  readLedgers,
  recordIntent,
  recordOutcome,
  recordReadBack,
  type StoredAttempt,
  type StoredCommand,
} from '../../store/commands.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { Prisma } from '../../store/generated/client.ts'
import { lockOrder, storeOrder } from '../../store/orders.ts'
import { type ConfiguredSeller, stopSeller } from '../../store/sellers.ts'
import { credentialsRefused, type SellerRegistry } from '../sellers.ts'
import { acknowledge } from './acknowledge.ts'
import { cancel } from './cancel.ts'
import type { CommandDefinition } from './definition.ts'
import { refund } from './refund.ts'
import { ship } from './ship.ts'

/** What the command engine needs. */
export interface CommandParts {
  readonly database: Database
  readonly sellers: SellerRegistry
  /** Names this process in leases. */
  readonly owner: string
  readonly requestTimeoutMs: number
  /** How long after an unanswered write its effect may still appear; longer than the longest request can live. */
  readonly settleTimeMs: number
  /** Told after a command has been settled: the next of its order may go. */
  readonly onSettled: (sellerId: string, purchaseOrderId: string) => Promise<void>
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

const definitions: { readonly [Kind in CommandKind]: CommandDefinition<Kind> } = { acknowledge, ship, cancel, refund }

const done: JobOutcome = { done: true }
const again = (delayMs: number, reason: string): JobOutcome => ({
  runAgainAt: new Date(Date.now() + Math.max(0, delayMs)),
  reason,
})
const jittered = (delayMs: number): number => delayMs * (0.75 + Math.random() / 2)

const wireRequest = (content: CommandContent, client: MarketplaceClient, purchaseOrderId: string): WireRequest => {
  const { prepare } = client.orders
  switch (content.kind) {
    case 'acknowledge':
      return acknowledge.request(prepare, purchaseOrderId, content.payload)
    case 'ship':
      return ship.request(prepare, purchaseOrderId, content.payload)
    case 'cancel':
      return cancel.request(prepare, purchaseOrderId, content.payload)
    case 'refund':
      return refund.request(prepare, purchaseOrderId, content.payload)
  }
}

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

const wordsOf = (failure: MarketplaceFailure): string => {
  const [fault] = failure.faults
  const words = [fault?.code, fault?.field, fault?.description].filter((word) => word !== null && word !== undefined).join(', ')
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
 * by any number of processes: the row of the order and the state of the command decide, never the job.
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
  const run = {
    parts,
    job,
    command,
    client: parts.sellers.client(command.sellerId),
    seller: parts.sellers.configured(command.sellerId),
    definition: definitions[command.content.kind],
  }
  const step = await (command.state === 'pending' ? send(run) : command.state === 'sending' ? takeOver(run) : verify(run))
  return finish(run, step)
}

interface Run {
  readonly parts: CommandParts
  /** As it was configured when the client was picked: settings that came in meanwhile must not be stopped for the old ones. */
  readonly seller: ConfiguredSeller
  readonly job: CommandJob
  readonly command: StoredCommand
  readonly client: MarketplaceClient
  readonly definition: Pick<CommandDefinition, 'operation' | 'readsOrderFirst' | 'goalReached'>
}

const fieldsOf = ({ command }: Run) => ({
  seller_id: command.sellerId,
  purchase_order_id: command.purchaseOrderId,
  command_id: command.id,
  kind: command.content.kind,
})

const finish = async (run: Run, step: Step): Promise<JobOutcome> => {
  const { parts, command, job } = run
  switch (step.kind) {
    case 'settled':
      parts.onOutcome?.(command.content.kind, step.outcome)
      job.log.info(fieldsOf(run), `command ${step.outcome}`)
      faultPoint('command.after-settle')
      await parts.onSettled(command.sellerId, command.purchaseOrderId)
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

/** Reads the order from the marketplace; a failure becomes a moment to try again. */
const readOrder = async (
  run: Run,
  correlationId: string,
): Promise<{ readonly observed: Observed<PurchaseOrder> | null } | { readonly later: Step }> => {
  try {
    return { observed: await run.client.orders.get(run.command.purchaseOrderId, { signal: run.job.signal, correlationId }) }
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.credentialsDead) return { later: await stopFor(run, error) }
    if (error.kind === 'throttled') {
      const delayMs = (error.retryAt?.getTime() ?? Date.now() + 5_000) - Date.now()
      return { later: { kind: 'later', delayMs, reason: 'the rate budget for reading the order is used up' } }
    }
    run.job.log.warn({ ...fieldsOf(run), correlation_id: correlationId, failure: error.kind }, 'the order cannot be read now')
    return { later: { kind: 'later', delayMs: jittered(5_000), reason: 'the order cannot be read now' } }
  }
}

const stopFor = async (run: Run, failure: MarketplaceFailure): Promise<Step> => {
  const reason = credentialsRefused(run.command.sellerId, failure.httpStatus)
  if (await stopSeller(run.parts.database, run.seller, reason)) run.job.log.warn(fieldsOf(run), reason)
  return { kind: 'gone' }
}

const parsedOrder = (observed: Observed<PurchaseOrder>): PurchaseOrder | null =>
  observed.record.ok ? observed.record.value : null

const storeObserved = async (transaction: Transaction, sellerId: string, observed: Observed<PurchaseOrder>): Promise<void> => {
  if (!observed.record.ok) return
  await storeOrder(transaction, {
    sellerId,
    order: observed.record.value,
    rawText: observed.record.rawText,
    observedAt: observed.observedAt,
  })
}

const settle = async (
  transaction: Transaction,
  command: StoredCommand,
  attempts: number,
  state: 'confirmed' | 'rejected' | 'held',
  reason: string | null,
  evidence: Evidence | null,
): Promise<Step> => {
  const expected = { state: command.state, attempts }
  const moved = await moveCommand(transaction, command, expected, {
    state,
    reason,
    evidence: evidence === null ? null : jsonOf(evidence),
  })
  if (!moved) return { kind: 'gone' }
  return state === 'held' ? { kind: 'held' } : { kind: 'settled', outcome: state }
}

/** `pending`: checks once more, stores the intent, sends, and stores what came of it. */
const send = async (run: Run): Promise<Step> => {
  const { parts, command, client, definition, job } = run
  const grant = await client.budget.take(definition.operation)
  if (!grant.granted) {
    return { kind: 'later', delayMs: grant.availableAt.getTime() - Date.now(), reason: 'the rate budget is used up' }
  }
  let observed: Observed<PurchaseOrder> | null = null
  if (definition.readsOrderFirst || command.attempts > 0) {
    const read = await readOrder(run, randomUUID())
    if ('later' in read) return read.later
    if (read.observed !== null && !read.observed.record.ok) {
      return { kind: 'later', delayMs: jittered(30_000), reason: `the order cannot be understood: ${read.observed.record.fault}` }
    }
    observed = read.observed
  }
  faultPoint('command.before-intent')
  const correlationId = randomUUID()
  const prepared = await parts.database.transaction(
    async (transaction): Promise<{ request: WireRequest; baseline: OrderBaseline } | { step: Step }> => {
      if (observed !== null) await storeObserved(transaction, command.sellerId, observed)
      const order = await lockOrder(transaction, command.sellerId, command.purchaseOrderId)
      if (order === null) {
        const reason = `order ${command.purchaseOrderId} is not stored`
        return { step: await settle(transaction, command, command.attempts, 'rejected', reason, null) }
      }
      const earlier = await judgeEarlierAttempts(transaction, command, order)
      if (earlier !== null) return { step: earlier }
      if (definition.goalReached(order)) {
        return {
          step: await settle(
            transaction,
            command,
            command.attempts,
            'confirmed',
            'the marketplace already stands there; nothing was sent',
            null,
          ),
        }
      }
      const faults = checkBeforeSend(await readLedgers(transaction, command.sellerId, order, command.id), command.content)
      if (faults.length > 0) {
        const reason = faults.map((fault) => fault.message).join('; ')
        return { step: await settle(transaction, command, command.attempts, 'rejected', reason, null) }
      }
      const request = wireRequest(command.content, client, command.purchaseOrderId)
      const baseline = takeBaseline(order)
      const stored = await recordIntent(transaction, command, {
        correlationId,
        request: jsonOf(request),
        baseline,
        owner: parts.owner,
        leaseMs: leaseMs(parts),
      })
      return stored ? { request, baseline } : { step: { kind: 'gone' } }
    },
  )
  if ('step' in prepared) return prepared.step
  faultPoint('command.after-intent')
  const sent: StoredCommand = { ...command, state: 'sending', attempts: command.attempts + 1 }
  try {
    // A process that was suspended for long must not send what others have long begun to read back.
    const signal = AbortSignal.any([job.signal, AbortSignal.timeout(leaseMs(parts) - leaseMarginMs)])
    const answer = await client.orders.send(prepared.request, { correlationId, grant, signal })
    faultPoint('command.after-send')
    return await settleAnswer(run, sent, prepared.baseline, answer)
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    faultPoint('command.after-send')
    return settleFailure(run, sent, error)
  }
}

// `dismissed`: a person decided that the attempt changed nothing.
const withoutEffect: ReadonlySet<string> = new Set(['not-sent', 'throttled', 'dismissed'])

/** Before anything is sent again: what did the attempts before really change? Null when the order shows that they changed nothing. */
const judgeEarlierAttempts = async (
  transaction: Transaction,
  command: StoredCommand,
  order: PurchaseOrder,
): Promise<Step | null> => {
  if (command.attempts === 0) return null
  const attempts = await readAttempts(transaction, command.id)
  const last = attempts.findLast((attempt) => !withoutEffect.has(attempt.outcome ?? ''))
  if (last === undefined) return null
  const evidence = judge(command.content, last.baseline, order)
  if (evidence.verdict === 'applied') {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'applied' })
    return settle(transaction, command, command.attempts, 'confirmed', 'an earlier attempt was applied after all', evidence)
  }
  if (evidence.verdict === 'unclear') {
    return settle(transaction, command, command.attempts, 'held', 'what an earlier attempt changed is unclear', evidence)
  }
  return null
}

/** The marketplace said yes: the order is stored from the answer at once. */
const settleAnswer = async (
  run: Run,
  command: StoredCommand,
  baseline: OrderBaseline,
  answer: Observed<PurchaseOrder>,
): Promise<Step> => {
  const order = parsedOrder(answer)
  const { parts } = run
  if (order === null || order.purchaseOrderId !== command.purchaseOrderId) {
    return toVerifying(run, command, {
      outcome: 'accepted',
      httpStatus: answer.httpStatus,
      failure: jsonOf({ kind: 'malformed-answer' }),
    })
  }
  faultPoint('command.before-settle')
  return parts.database.transaction(async (transaction) => {
    await storeObserved(transaction, command.sellerId, answer)
    const evidence = judge(command.content, baseline, order)
    if (evidence.verdict === 'not-applied') {
      await recordOutcome(transaction, command.id, command.attempts, { outcome: 'accepted', httpStatus: answer.httpStatus })
      const expected = { state: command.state, attempts: command.attempts }
      const reason = 'the marketplace accepted it, but the order does not show it yet'
      const delayMs = nextReadBackMs(0, parts.settleTimeMs)
      const moved = await moveCommand(transaction, command, expected, { state: 'verifying', reason, nextActionInMs: delayMs })
      return moved ? { kind: 'later', delayMs, reason } : { kind: 'gone' }
    }
    await recordOutcome(transaction, command.id, command.attempts, { outcome: 'applied', httpStatus: answer.httpStatus })
    return settle(transaction, command, command.attempts, 'confirmed', null, evidence)
  })
}

/** The marketplace said no, or nothing. */
const settleFailure = async (run: Run, command: StoredCommand, failure: MarketplaceFailure): Promise<Step> => {
  const { parts, job } = run
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
    job.log.warn(fields, 'the outcome is unknown; reading the order back')
    return toVerifying(run, command, { outcome: 'unknown', ...details })
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
      const expected = { state: command.state, attempts: command.attempts }
      const moved = await moveCommand(transaction, command, expected, { state: 'pending', reason, nextActionInMs: delayMs })
      return moved ? { kind: 'later', delayMs, reason } : { kind: 'gone' }
    })
    return failure.credentialsDead ? stopFor(run, failure) : step
  }
  job.log.warn(fields, 'the marketplace refused the command')
  // "Already done", or a refusal after an attempt whose effect may have come late: the order tells, not the words.
  if (failure.alreadyDone || command.attempts > 1) return toVerifying(run, command, { outcome: 'refused', ...details })
  faultPoint('command.before-settle')
  return parts.database.transaction(async (transaction) => {
    await recordOutcome(transaction, command.id, command.attempts, { outcome: 'refused', ...details })
    return settle(transaction, command, command.attempts, 'rejected', wordsOf(failure), null)
  })
}

const toVerifying = async (run: Run, command: StoredCommand, result: Parameters<typeof recordOutcome>[3]): Promise<Step> => {
  faultPoint('command.before-settle')
  const delayMs = result.outcome === 'refused' ? 0 : nextReadBackMs(0, run.parts.settleTimeMs)
  const reason = result.outcome === 'refused' ? 'refused; reading the order back' : 'outcome unknown; reading the order back'
  return run.parts.database.transaction(async (transaction) => {
    await recordOutcome(transaction, command.id, command.attempts, result)
    const expected = { state: command.state, attempts: command.attempts }
    const moved = await moveCommand(transaction, command, expected, { state: 'verifying', reason, nextActionInMs: delayMs })
    return moved ? { kind: 'later', delayMs, reason } : { kind: 'gone' }
  })
}

/** `sending` with a lease that has run out: whoever sent it is gone, and the request may have left. */
const takeOver = (run: Run): Promise<Step> => {
  run.job.log.warn(fieldsOf(run), 'the sending of this command was interrupted; reading the order back')
  return toVerifying(run, run.command, { outcome: 'unknown', failure: jsonOf({ kind: 'interrupted' }) })
}

const nextReadBackMs = (elapsedMs: number, settleTimeMs: number): number => {
  const next = readBackMoments.map((part) => part * settleTimeMs).find((momentMs) => momentMs > elapsedMs + 1)
  // Past the last moment only a read that failed is repeated.
  return next === undefined ? jittered(Math.min(settleTimeMs / 4, 30_000)) : next - elapsedMs
}

/** `verifying`: reads the order back and compares it with how it stood before the request. */
const verify = async (run: Run): Promise<Step> => {
  const { parts, command } = run
  const correlationId = randomUUID()
  const read = await readOrder(run, correlationId)
  if ('later' in read) return read.later
  const { observed } = read
  return parts.database.transaction(async (transaction) => {
    if (observed !== null) await storeObserved(transaction, command.sellerId, observed)
    await lockOrder(transaction, command.sellerId, command.purchaseOrderId)
    const last = (await readAttempts(transaction, command.id)).at(-1)
    if (last === undefined) return { kind: 'gone' }
    const elapsedMs = command.databaseNow.getTime() - (last.finishedAt ?? last.startedAt).getTime()
    const order = observed === null ? null : parsedOrder(observed)
    const evidence = order === null ? null : judge(command.content, last.baseline, order)
    await recordReadBack(transaction, command.id, last.attempt, {
      at: command.databaseNow.toISOString(),
      correlationId,
      verdict: evidence?.verdict ?? 'unreadable',
    })
    return conclude(transaction, run, last, evidence, elapsedMs)
  })
}

const conclude = async (
  transaction: Transaction,
  run: Run,
  last: StoredAttempt,
  evidence: Evidence | null,
  elapsedMs: number,
): Promise<Step> => {
  const { parts, command } = run
  const settled = elapsedMs >= parts.settleTimeMs
  const verdict = evidence?.verdict ?? 'unclear'
  if (verdict === 'applied') {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'applied' })
    return settle(transaction, command, command.attempts, 'confirmed', 'confirmed by reading the order back', evidence)
  }
  if (verdict === 'not-applied' && last.outcome === 'refused' && (command.attempts === 1 || settled)) {
    return settle(transaction, command, command.attempts, 'rejected', refusalOf(last), evidence)
  }
  if (!settled) {
    const delayMs = nextReadBackMs(elapsedMs, parts.settleTimeMs)
    const reason = 'the order does not show the effect yet; reading it back again'
    const expected = { state: command.state, attempts: command.attempts }
    const moved = await moveCommand(transaction, command, expected, { state: 'verifying', reason, nextActionInMs: delayMs })
    return moved ? { kind: 'later', delayMs, reason } : { kind: 'gone' }
  }
  if (verdict === 'not-applied' && last.outcome === 'unknown' && command.attempts < mostAttempts) {
    await recordOutcome(transaction, command.id, last.attempt, { outcome: 'not-applied' })
    const expected = { state: command.state, attempts: command.attempts }
    const reason = 'the order shows that nothing was applied; sending again'
    const moved = await moveCommand(transaction, command, expected, { state: 'pending', reason })
    return moved ? { kind: 'later', delayMs: 0, reason } : { kind: 'gone' }
  }
  const reasons = {
    unclear: evidence === null ? 'the order cannot be read back' : 'the order read back does not tell whether it was applied',
    'not-applied':
      last.outcome === 'accepted'
        ? 'the marketplace accepted it, but the order never showed it'
        : `${command.attempts} requests went unanswered and changed nothing`,
  }
  return settle(transaction, command, command.attempts, 'held', reasons[verdict], evidence)
}

const refusalOf = (attempt: StoredAttempt): string => {
  const faults = attempt.failure?.['faults']
  const words = Array.isArray(faults)
    ? faults.map((fault) => (typeof fault === 'object' && fault !== null && !Array.isArray(fault) ? fault['description'] : null))
    : []
  const said = words.filter((word): word is string => typeof word === 'string').join('; ')
  return `the marketplace refused it${said === '' ? '' : ` (${said})`}, and the order shows that nothing was applied`
}
