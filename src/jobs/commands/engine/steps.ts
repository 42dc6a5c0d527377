import type { MarketplaceFailure } from '../../../clients/http/errors.ts'
import { listFaultCodes } from '../../../clients/http/errors.ts'
import type { Evidence } from '../../../domain/commands/evidence.ts'
import { alarmWaiting, moveCommand, postponeCommand } from '../../../store/commands/command-steps.ts'
import type { Transaction } from '../../../store/db/database.ts'
import { storageFault } from '../../../store/versioned/versions.ts'
import { stopRefused } from '../../sellers/stop-refused.ts'
import { type AnyRun, commitInGroup, logFields, type Run } from './engine.ts'
import { alarmAfterMs, backOffMs, maxRetryMs, minFailures } from './retry-policy.ts'

/**
 * Result of a transaction, for after its commit. `superseded`: another process has moved the command meanwhile. `behind`: another command of the seller has
 * an earlier deadline and goes first; this one is due again in `delayMs`.
 */
export type Step =
  | { readonly kind: 'settled'; readonly outcome: 'confirmed' | 'rejected' | 'predicted' }
  | { readonly kind: 'held' }
  | { readonly kind: 'later'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'behind'; readonly earlierId: string; readonly delayMs: number }

const maxReportedFaults = 5

/** Codes only: the marketplace's messages may contain data such as a buyer's name. They are stored in the attempt. */
export const formatCodes = (faults: readonly unknown[]): string => listFaultCodes(faults.slice(0, maxReportedFaults)).join('; ')

/** Settles a command, or holds it for an operator. */
export const settle = async <Thing, Request extends object>(
  transaction: Transaction,
  { command, subject }: Run<Thing, Request>,
  state: 'confirmed' | 'rejected' | 'held',
  reason: string,
  evidence: Evidence | null,
  quiet?: true,
): Promise<Step> => {
  const moved = await moveCommand(transaction, command, {
    state,
    reason,
    evidence,
    ...(quiet === true ? { quiet } : {}),
  })
  if (moved === null) return { kind: 'superseded' }
  if (state === 'confirmed') await subject.confirmed?.(transaction)
  if (state === 'held') return { kind: 'held' }
  return { kind: 'settled', outcome: moved.state === 'confirmed' ? 'confirmed' : 'rejected' }
}

/** Postpones the command because of the rate budget, and stores that; not an error. */
export const postpone = async ({ parts, command }: AnyRun, reason: string, delayMs: number): Promise<Step> => {
  await postponeCommand(parts.database, command, { delayMs: Math.max(0, delayMs), owner: parts.owner })
  return { kind: 'later', delayMs, reason }
}

/** Moves the command to the same or another unsettled state, and schedules its next step. */
export const reschedule = async (
  transaction: Transaction,
  { command }: AnyRun,
  state: 'pending' | 'verifying',
  reason: string,
  delayMs: number,
): Promise<Step> => {
  const moved = await moveCommand(transaction, command, { state, reason, nextActionInMs: delayMs })
  return moved === null ? { kind: 'superseded' } : { kind: 'later', delayMs, reason }
}

/**
 * Retries a step that is not possible now, with back-off. If it keeps failing, an alarm is raised, and finally the command is held for an operator: no
 * command waits for ever.
 *
 * @param delayMs the delay that the marketplace requested
 */
export const retryLater = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  state: 'pending' | 'verifying',
  reason: string,
  delayMs: number = backOffMs(run.parts, run.command.troubledLooks),
): Promise<Step> => {
  const { parts, command } = run
  const failing = await moveCommand(transaction, command, { state, reason, nextActionInMs: delayMs, troubled: true })
  if (failing === null) return { kind: 'superseded' }
  const { sinceMs, tries: looks } = failing
  if (sinceMs >= maxRetryMs(parts, state) && looks >= minFailures) {
    const tries = `${looks} tries in a row since ${Math.round(sinceMs / 60_000)} minutes`
    return settle(transaction, { ...run, command: { ...command, state } }, 'held', `${reason} (${tries})`, null)
  }
  if (sinceMs >= alarmAfterMs(parts)) await alarmWaiting(transaction, command, reason, 'step')
  return { kind: 'later', delayMs, reason }
}

/**
 * Commits a step that stores the marketplace's record. If Postgres cannot store the record, the step continues without storing it: the read record is
 * judged, not the stored one.
 */
export const commitWithRecord = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  work: (transaction: Transaction, storable: boolean) => Promise<Step>,
): Promise<Step> => {
  const { job, subject } = run
  try {
    return await commitInGroup(run, 'results', (transaction) => work(transaction, true))
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    job.log.warn({ ...logFields(run), fault }, `what the marketplace shows of ${subject.name} cannot be stored`)
    return commitInGroup(run, 'results', (transaction) => work(transaction, false))
  }
}

/**
 * The marketplace refuses the seller's credentials: the seller is stopped, and with it the command. If it is not stopped, the command is retried;
 * `otherwise`: the step that has already rescheduled it.
 */
export const stopFor = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  failure: MarketplaceFailure,
  state: 'pending' | 'verifying',
  otherwise?: Step,
): Promise<Step> => {
  const { parts, seller, job } = run
  const { stop, reason } = await stopRefused(parts, seller, failure.httpStatus)
  if (stop !== 'outdated') job.log.warn(logFields(run), reason)
  if (stop === 'stopped') return { kind: 'superseded' }
  if (otherwise !== undefined) return otherwise
  // The command is valid, and another process can run it.
  if (stop === 'other-process') return postpone(run, reason, backOffMs(parts, 0))
  return parts.database.transaction((transaction) => retryLater(transaction, run, state, reason))
}
