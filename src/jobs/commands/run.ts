import { type Grant, holding } from '../../clients/budget.ts'
import { faultPoint } from '../../fault-points.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import { moveCommand } from '../../store/command-steps.ts'
import { readCommand, type StoredCommand } from '../../store/commands.ts'
import { handBack } from '../hand-back.ts'
import { type AnyRun, type CommandJob, type CommandParts, clockOf, fieldsOf, type Run } from './engine.ts'
import { orderSubject } from './order.ts'
import { takeOver } from './outcome.ts'
import { send } from './send.ts'
import { shippingSettingsSubject } from './shipping-settings.ts'
import type { Step } from './steps.ts'
import { verify } from './verify.ts'

const done: JobOutcome = { done: true }

const again = (parts: CommandParts, delayMs: number, reason: string): JobOutcome => ({
  runAgainAt: new Date(clockOf(parts).wallMs() + Math.max(0, delayMs)),
  reason,
})

/** The command as it stands, if there is anything to do for it now or later; null: it has ended, or others come first. */
export const readOpenCommand = async (
  { database }: Pick<CommandParts, 'database'>,
  commandId: string,
): Promise<StoredCommand | null> => {
  const command = await readCommand(database, commandId)
  if (command === null || command.before !== null) return null
  return command.state === 'confirmed' || command.state === 'rejected' || command.state === 'held' ? null : command
}

/** Whether nothing but a call is missing: when it is due says when there may be one. */
const waitsForCallOnly = ({ state, troubledSince }: StoredCommand): boolean => state === 'pending' && troubledSince === null

/**
 * Executes the next step of a command that was read a moment ago: sends it, or reads back its effect. Safe to be called at any time, any number of
 * times, by any number of processes: the lock of the subject and the state of the command decide, never the job.
 */
export const runAsRead = async (parts: CommandParts, command: StoredCommand, job: CommandJob): Promise<JobOutcome> => {
  const dueMs = waitsForCallOnly(command) && job.leave !== undefined ? 0 : command.nextActionAt.getTime()
  const waitMs = Math.max(dueMs, command.leasedUntil?.getTime() ?? 0) - command.databaseNow.getTime()
  if (waitMs > 0) return again(parts, waitMs, 'its next step is not due yet')
  const hold = async (reason: string): Promise<JobOutcome> => {
    await parts.database.transaction((transaction) => moveCommand(transaction, command, { state: 'held', reason }))
    return done
  }
  if (command.fault !== null) return hold(command.fault)
  if (!parts.sellers.worksFor(command.sellerId)) return handBack(parts, command.sellerId, job.starts)
  const client = parts.sellers.client(command.sellerId)
  const run = { parts, job, command, client, seller: parts.sellers.configured(command.sellerId) }
  const { sellerId, content, purchaseOrderId } = command
  if (content.kind === 'create-shipping-settings') {
    return advance({ ...run, subject: shippingSettingsSubject({ sellerId, payload: content.payload }, client) })
  }
  if (purchaseOrderId === null) throw new Error(`command ${command.id} names no purchase order`)
  const subject = orderSubject({ ...command, purchaseOrderId, content }, client)
  if (subject === null) return hold(`the marketplace of seller ${sellerId} has no command to ${content.kind} units of an order`)
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
      job.log.info(fieldsOf(run), `command ${step.outcome}`)
      faultPoint('command.after-settle')
      await parts.onSettled(command.sellerId, command.subject)
      return done
    case 'held':
      parts.onOutcome?.(command.content.kind, 'held')
      job.log.warn(fieldsOf(run), 'command held: an operator must confirm, reject or retry it')
      return done
    case 'later':
      return again(parts, step.delayMs, step.reason)
    case 'gone':
      return done
    case 'instead':
      await runInstead(run, step.commandId, step.grant)
      return again(parts, step.delayMs, 'a command that is wanted earlier goes first')
  }
}

/** Runs another command with the leave that this one has got, where it can still be sent. */
const runInstead = ({ parts, job }: AnyRun, commandId: string, grant: Grant): Promise<void> =>
  holding(grant, async (leave) => {
    const command = await readOpenCommand(parts, commandId)
    if (command === null || !command.sellerAtWork || command.state !== 'pending') return
    let hasEnded = false
    const log = job.logOf?.(commandId) ?? job.log
    job.underWay?.add(commandId)
    try {
      hasEnded = 'done' in (await runAsRead(parts, command, { ...job, log, leave }))
    } finally {
      job.underWay?.delete(commandId)
      if (!hasEnded) parts.onRunForAnother?.(commandId)
    }
  })
