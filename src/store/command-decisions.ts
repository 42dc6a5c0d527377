import type { CommandState } from '../domain/command.ts'
import { cutCommand, type DecidedParts, type DecisionFault, type LineDecision, takesUnits } from '../domain/decision.ts'
import { orderBaselineSchema } from '../domain/evidence.ts'
import { jsonOf } from '../domain/json.ts'
import { proofOf, raiseBaseline } from '../domain/proof.ts'
import { type Acting, recordAct } from './audit.ts'
import { readAttempts } from './command-attempts.ts'
import { lockCommand, moveCommand } from './command-steps.ts'
import { readCommand, type StoredCommand } from './commands.ts'
import type { Database, Transaction } from './database.ts'
import { lockShippingSettings } from './shipping-settings.ts'

/** What a person decides on a command: send it again, it was applied, or it was not applied and must not be. */
export type Decision = 'retry' | 'confirm' | 'reject'

/** A decision on the whole command or line by line, with who makes it and why. */
export type DecisionRequest = Acting & {
  readonly commandId: string
  readonly reason: string
} & ({ readonly decision: Decision } | { readonly lines: readonly LineDecision[] })

/** How a decision went. */
export type DecisionResult =
  | { readonly ok: true; readonly state: CommandState }
  | { readonly ok: false; readonly fault: 'not-found' }
  /** It is settled, or somebody is in the middle of sending it. */
  | { readonly ok: false; readonly fault: 'not-open'; readonly state: CommandState }
  | { readonly ok: false; readonly fault: 'wrong-lines'; readonly faults: readonly DecisionFault[] }

const decided = { retry: 'pending', confirm: 'confirmed', reject: 'rejected' } as const satisfies Record<Decision, CommandState>

/** Whether a person may decide it: whatever waits, for whatever reason. Only a request that may be leaving right now is left to its sender. */
const isOpen = ({ state, leasedUntil, databaseNow }: StoredCommand): boolean =>
  state === 'held' ||
  state === 'pending' ||
  state === 'verifying' ||
  (state === 'sending' && leasedUntil !== null && leasedUntil.getTime() <= databaseNow.getTime())

/**
 * Carries out what a person decided, and keeps who, when, why and on what evidence. Every command that is not settled is open to
 * decisions: a person can always decide, however long the daemon would go on waiting.
 */
export const decideCommand = async (database: Database, request: DecisionRequest): Promise<DecisionResult> =>
  database.transaction(async (transaction) => {
    const peek = await readCommand(transaction, request.commandId)
    if (peek === null) return { ok: false, fault: 'not-found' }
    // Locks are always taken in this order: the subject's, the command's row, the change counter.
    await lockSubject(transaction, peek)
    const command = await readCommand(transaction, request.commandId)
    if (command === null || !(await lockCommand(transaction, command.id, command)))
      return { ok: false, fault: 'not-open', state: command?.state ?? peek.state }
    if (!isOpen(command)) return { ok: false, fault: 'not-open', state: command.state }
    const outcome = 'lines' in request ? await byLine(transaction, command, request.lines) : wholly(request.decision)
    if (!outcome.ok) return { ok: false, fault: 'wrong-lines', faults: outcome.faults }
    await keepDecision(transaction, command, request)
    if (outcome.parts !== null) {
      await transaction.prisma.command.update({
        where: { id: command.id },
        data: { parts: jsonOf(outcome.parts) },
        select: { id: true },
      })
    }
    if (outcome.state === 'pending') {
      await transaction.prisma.commandAttempt.updateMany({
        where: { commandId: command.id, OR: [{ outcome: null }, { outcome: { not: 'not-sent' } }] },
        data: { outcome: 'dismissed' },
      })
    }
    const moved = await moveCommand(transaction, command, {
      state: outcome.state,
      reason: `${'lines' in request ? 'decided by line' : request.decision} by ${request.actor}: ${request.reason}`,
      quiet: true,
    })
    return { ok: true, state: moved?.state ?? outcome.state }
  })

type Outcome =
  | { readonly ok: true; readonly state: CommandState; readonly parts: DecidedParts | null }
  | { readonly ok: false; readonly faults: readonly DecisionFault[] }

const wholly = (decision: Decision): Outcome => ({ ok: true, state: decided[decision], parts: null })

const byLine = async (transaction: Transaction, command: StoredCommand, lines: readonly LineDecision[]): Promise<Outcome> => {
  const { content, parts } = command
  if (!takesUnits(content)) {
    const message = `a command of the kind ${content.kind} has no lines; confirm, reject or retry it`
    return { ok: false, faults: [{ path: 'lines', message }] }
  }
  const result = cutCommand(content, lines)
  if (!result.ok) return result
  const { applied, sendAgain } = result.cut
  const sent = (await readAttempts(transaction, command.id)).filter(({ outcome }) => outcome !== 'not-sent').at(-1)
  // Parts that are decided one after the other may go by the same attempt: each stands on top of those before it.
  const { statuses } = transaction.vocabularyOf(command.sellerId)
  const proof = proofOf(statuses, command.applied)
  const baseline = sent === undefined ? null : raiseBaseline(statuses, orderBaselineSchema.parse(sent.baseline), proof)
  const before = parts?.applied ?? []
  const all = applied === null ? before : [...before, { payload: applied.payload, baseline }]
  if (sendAgain !== null) return { ok: true, state: 'pending', parts: { applied: all, open: sendAgain.payload } }
  // What was applied counts, even where the rest was not.
  return { ok: true, state: all.length > 0 ? 'confirmed' : 'rejected', parts: { applied: all, open: null } }
}

const lockSubject = async (transaction: Transaction, { sellerId, purchaseOrderId }: StoredCommand): Promise<void> => {
  if (purchaseOrderId === null) return lockShippingSettings(transaction, sellerId)
  await transaction.query(
    `SELECT 1 AS locked FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = $2 FOR UPDATE`,
    sellerId,
    purchaseOrderId,
  )
}

const keepDecision = async (transaction: Transaction, command: StoredCommand, request: DecisionRequest): Promise<void> => {
  await transaction.execute(
    `INSERT INTO tallyman.command_decisions (command_id, decision, actor, reason, evidence, lines)
     SELECT id, $2, $3, $4, evidence, $5::jsonb FROM tallyman.commands WHERE id = $1`,
    command.id,
    'lines' in request ? 'by-line' : request.decision,
    request.actor,
    request.reason,
    'lines' in request ? JSON.stringify(request.lines) : null,
  )
  const { sellerId, id: subject, purchaseOrderId } = command
  const details = { decision: 'lines' in request ? 'by-line' : request.decision, purchaseOrderId }
  await recordAct(transaction, { by: request, action: 'command.decided', sellerId, subject, reason: request.reason, details })
}
