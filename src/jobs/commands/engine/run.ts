import { isSettled } from '../../../domain/commands/command.ts'
import type { JobOutcome } from '../../../queues/jobs.ts'
import { moveCommand } from '../../../store/commands/command-steps.ts'
import { readCommand, type StoredCommand } from '../../../store/commands/commands.ts'
import { faultPoint } from '../../../util/fault-points.ts'
import { requeue } from '../../dispatch/requeue.ts'
import { orderSubject } from '../kinds/order.ts'
import { refundReturnSubject } from '../kinds/refund-return.ts'
import { shippingSettingsSubject } from '../kinds/shipping-settings.ts'
import { type AnyRun, type CommandJob, type CommandParts, getClock, logFields, logHeld, type Run } from './engine.ts'
import { takeOver } from './outcome.ts'
import { send } from './send.ts'
import type { Step } from './steps.ts'
import { verify } from './verify.ts'

const done: JobOutcome = { done: true }

/** How long a command waits for this process to learn that its seller went live; the change is notified. */
const modeWaitMs = 1_000

const again = (parts: CommandParts, delayMs: number, reason: string): JobOutcome => ({
  runAgainAt: new Date(getClock(parts).wallMs() + Math.max(0, delayMs)),
  reason,
})

/** The command, if it has a next step now or later; null: it has ended, or an earlier one comes first. */
export const readOpenCommand = async (
  { database }: Pick<CommandParts, 'database'>,
  commandId: string,
): Promise<StoredCommand | null> => {
  const command = await readCommand(database, commandId)
  if (command === null || command.before !== null) return null
  return isSettled(command.state) || command.state === 'held' ? null : command
}

/**
 * Executes the next step of a command that was just read: sends it, or reads back its effect. Safe to be called at any time, any number of times, by
 * any number of processes: the lock of the subject and the state of the command decide, never the job.
 */
export const runAsRead = async (parts: CommandParts, command: StoredCommand, job: CommandJob): Promise<JobOutcome> => {
  const waitMs = Math.max(command.nextActionAt.getTime(), command.leasedUntil?.getTime() ?? 0) - command.databaseNow.getTime()
  if (waitMs > 0) return again(parts, waitMs, 'its next step is not due yet')
  const hold = async (reason: string): Promise<JobOutcome> => {
    const moved = await parts.database.transaction((transaction) => moveCommand(transaction, command, { state: 'held', reason }))
    if (moved !== null) logHeld(job.log, { command })
    return done
  }
  if (command.fault !== null) return hold(command.fault)
  if (!parts.sellers.worksFor(command.sellerId)) return requeue(parts, command.sellerId, job.starts)
  const client = parts.sellers.client(command.sellerId)
  // The stored mode decides. A process that has not learned yet that the seller went live has no client that can write.
  const live = command.isSellerLive ? parts.sellers.liveClient(command.sellerId) : null
  if (command.isSellerLive && live === null)
    return again(parts, modeWaitMs, 'this process has not learned yet that the seller is live')
  const run = { parts, job, command, client, live, seller: parts.sellers.configured(command.sellerId) }
  const { sellerId, content, purchaseOrderId } = command
  if (content.kind === 'create-shipping-settings') {
    return advance({ ...run, subject: shippingSettingsSubject({ sellerId, payload: content.payload }, client, live) })
  }
  if (purchaseOrderId === null) throw new Error(`command ${command.id} names no purchase order`)
  if (content.kind === 'refund-return') {
    const subject = refundReturnSubject({ ...command, purchaseOrderId, payload: content.payload }, client, live)
    return subject === null
      ? hold(`the marketplace of seller ${sellerId} has no refund through a return`)
      : advance({ ...run, subject })
  }
  const subject = orderSubject({ ...command, purchaseOrderId, content }, client, live)
  if (subject === null) return hold(`the marketplace of seller ${sellerId} has no command of the kind ${content.kind}`)
  return advance({ ...run, subject })
}

const advance = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<JobOutcome> => {
  const { state } = run.command
  const step = await (state === 'pending' ? send(run) : state === 'sending' ? takeOver(run) : verify(run))
  return finish(run, step)
}

const finish = async (run: AnyRun, step: Step): Promise<JobOutcome> => {
  const { parts, command, job } = run
  switch (step.kind) {
    case 'settled':
      parts.onOutcome?.(command.content.kind, step.outcome)
      job.log.info(logFields(run), `command ${step.outcome}`)
      faultPoint('command.after-settle')
      await parts.onSettled(command.sellerId, command.subject)
      return done
    case 'held':
      parts.onOutcome?.(command.content.kind, 'held')
      logHeld(job.log, run)
      return done
    case 'later':
      return again(parts, step.delayMs, step.reason)
    case 'superseded':
      return done
    case 'behind':
      parts.onEarlierDue?.(step.earlierId)
      return again(parts, step.delayMs, 'a command with an earlier deadline goes first')
  }
}
