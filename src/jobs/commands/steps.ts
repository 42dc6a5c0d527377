import type { Grant } from '../../clients/budget.ts'
import type { MarketplaceFailure } from '../../clients/errors.ts'
import { namesOfFaults } from '../../clients/errors.ts'
import type { Evidence } from '../../domain/evidence.ts'
import { alarmWaiting, moveCommand, postponeCommand } from '../../store/command-steps.ts'
import type { Transaction } from '../../store/database.ts'
import { storageFault } from '../../store/versions.ts'
import { stopRefused } from '../sellers.ts'
import { type AnyRun, committing, fieldsOf, type Run } from './engine.ts'
import { alarmAfterMs, backOffMs, fewestLooks, patienceMs } from './waits.ts'

/**
 * Result of a transaction, for after its commit. `gone`: another process has moved the command meanwhile. `instead`: another command goes first, with
 * the leave that this one has got, and this one is due again in so many ms.
 */
export type Step =
  | { readonly kind: 'settled'; readonly outcome: 'confirmed' | 'rejected' }
  | { readonly kind: 'held' }
  | { readonly kind: 'later'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'instead'; readonly commandId: string; readonly grant: Grant; readonly delayMs: number }

const mostFaultsTold = 5

/** Codes only: the marketplace's messages may contain data such as a buyer's name. They are stored in the attempt. */
export const codesOf = (faults: readonly unknown[]): string => namesOfFaults(faults.slice(0, mostFaultsTold)).join('; ')

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
  if (moved === null) return { kind: 'gone' }
  if (state === 'confirmed') await subject.confirmed?.(transaction)
  if (state === 'held') return { kind: 'held' }
  return { kind: 'settled', outcome: moved.state === 'confirmed' ? 'confirmed' : 'rejected' }
}

/** Postponed by the rate budget, and recorded in the database; not a fault. */
export const postponed = async ({ parts, command }: AnyRun, reason: string, delayMs: number): Promise<Step> => {
  await postponeCommand(parts.database, command, { delayMs: Math.max(0, delayMs), owner: parts.owner })
  return { kind: 'later', delayMs, reason }
}

/** Moves the command to the same or another unsettled state, to be run again. */
export const later = async (
  transaction: Transaction,
  { command }: AnyRun,
  state: 'pending' | 'verifying',
  reason: string,
  delayMs: number,
): Promise<Step> => {
  const moved = await moveCommand(transaction, command, { state, reason, nextActionInMs: delayMs })
  return moved === null ? { kind: 'gone' } : { kind: 'later', delayMs, reason }
}

/**
 * The next step is not possible now. It is retried with back-off, with an alarm if that continues, and finally held for an operator:
 * no command waits for ever.
 *
 * @param delayMs when the marketplace itself said how long to wait
 */
export const troubled = async <Thing, Request extends object>(
  transaction: Transaction,
  run: Run<Thing, Request>,
  state: 'pending' | 'verifying',
  reason: string,
  delayMs: number = backOffMs(run.parts, run.command.troubledLooks),
): Promise<Step> => {
  const { parts, command } = run
  const trouble = await moveCommand(transaction, command, { state, reason, nextActionInMs: delayMs, troubled: true })
  if (trouble === null) return { kind: 'gone' }
  const { sinceMs, looks } = trouble
  if (sinceMs >= patienceMs(parts, state) && looks >= fewestLooks) {
    const tries = `${looks} tries in a row since ${Math.round(sinceMs / 60_000)} minutes`
    return settle(transaction, { ...run, command: { ...command, state } }, 'held', `${reason} (${tries})`, null)
  }
  if (sinceMs >= alarmAfterMs(parts)) await alarmWaiting(transaction, command, reason)
  return { kind: 'later', delayMs, reason }
}

/**
 * A step that stores the marketplace's record. If Postgres cannot store it, the step continues without storing: the read record
 * itself is judged, not the stored one.
 */
export const storing = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  work: (transaction: Transaction, storable: boolean) => Promise<Step>,
): Promise<Step> => {
  const { job, subject } = run
  try {
    return await committing(run, 'results', (transaction) => work(transaction, true))
  } catch (error) {
    const fault = storageFault(error)
    if (fault === null) throw error
    job.log.warn({ ...fieldsOf(run), fault }, `what the marketplace shows of ${subject.name} cannot be stored`)
    return committing(run, 'results', (transaction) => work(transaction, false))
  }
}

/**
 * The marketplace refuses the seller's credentials: the seller is stopped, and with it the command. Where it is not stopped, the command is put off:
 * `otherwise` where that has happened already.
 */
export const stopFor = async <Thing, Request extends object>(
  run: Run<Thing, Request>,
  failure: MarketplaceFailure,
  state: 'pending' | 'verifying',
  otherwise?: Step,
): Promise<Step> => {
  const { parts, seller, job } = run
  const { stop, reason } = await stopRefused(parts, seller, failure.httpStatus)
  if (stop !== 'outdated') job.log.warn(fieldsOf(run), reason)
  if (stop === 'stopped') return { kind: 'gone' }
  if (otherwise !== undefined) return otherwise
  // Nothing was wrong with the command, and another process can run it.
  if (stop === 'elsewhere') return postponed(run, reason, backOffMs(parts, 0))
  return parts.database.transaction((transaction) => troubled(transaction, run, state, reason))
}
