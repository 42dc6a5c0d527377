import type { CommandState } from '../../domain/commands/command.ts'
import {
  cutCommand,
  type DecidedParts,
  type DecisionFault,
  type LineDecision,
  takesUnits,
} from '../../domain/commands/decision.ts'
import { buildProof, parseBaseline } from '../../domain/commands/proof.ts'
import { toJson } from '../../domain/values/json.ts'
import { lockShippingSettings } from '../campaigns/shipping-settings.ts'
import type { Database, Transaction } from '../db/database.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { readAttempts } from './command-attempts.ts'
import { lockCommand, moveCommand } from './command-steps.ts'
import { readCommand, type StoredCommand } from './commands.ts'

/** A person's decision on a command: send it again, it was applied, or it was not applied and must not be. */
export type Decision = 'retry' | 'confirm' | 'reject'

/** A decision on a whole command or by line, with its actor and reason. */
export type DecisionRequest = Actor & {
  readonly commandId: string
  readonly reason: string
} & ({ readonly decision: Decision } | { readonly lines: readonly LineDecision[] })

/** The result of a decision. */
export type DecisionResult =
  | { readonly ok: true; readonly state: CommandState }
  | { readonly ok: false; readonly fault: 'not-found' }
  /** It is settled, or is being sent. */
  | { readonly ok: false; readonly fault: 'not-open'; readonly state: CommandState }
  | { readonly ok: false; readonly fault: 'wrong-lines'; readonly faults: readonly DecisionFault[] }

const decided = { retry: 'pending', confirm: 'confirmed', reject: 'rejected' } as const satisfies Record<Decision, CommandState>

/** Whether a person may decide it: every command that waits. A request that may be being sent is left to its sender. */
const isOpen = ({ state, leasedUntil, databaseNow }: StoredCommand): boolean =>
  state === 'held' ||
  state === 'pending' ||
  state === 'verifying' ||
  (state === 'sending' && leasedUntil !== null && leasedUntil.getTime() <= databaseNow.getTime())

/**
 * Applies a person's decision, and stores its actor, time, reason and evidence. A person may decide every command that is not settled and not being
 * sent, so that no command waits without end.
 */
export const decideCommand = async (database: Database, request: DecisionRequest): Promise<DecisionResult> =>
  database.transaction(async (transaction) => {
    const peek = await readCommand(transaction, request.commandId)
    if (peek === null) return { ok: false, fault: 'not-found' }
    // Locks are always acquired in this order: the subject, the command's row.
    await lockSubject(transaction, peek)
    const command = await readCommand(transaction, request.commandId)
    if (command === null || !(await lockCommand(transaction, command.id, command)))
      return { ok: false, fault: 'not-open', state: command?.state ?? peek.state }
    if (!isOpen(command)) return { ok: false, fault: 'not-open', state: command.state }
    const outcome = 'lines' in request ? await decideLines(transaction, command, request.lines) : decideWhole(request.decision)
    if (!outcome.ok) return { ok: false, fault: 'wrong-lines', faults: outcome.faults }
    await storeDecision(transaction, command, request)
    if (outcome.parts !== null) {
      await transaction.prisma.command.update({
        where: { id: command.id },
        data: { parts: toJson(outcome.parts) },
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

const decideWhole = (decision: Decision): Outcome => ({ ok: true, state: decided[decision], parts: null })

const decideLines = async (
  transaction: Transaction,
  command: StoredCommand,
  lines: readonly LineDecision[],
): Promise<Outcome> => {
  const { content, parts } = command
  if (!takesUnits(content)) {
    const message = `a command of the kind ${content.kind} has no lines; confirm, reject or retry it`
    return { ok: false, faults: [{ path: 'lines', message }] }
  }
  const result = cutCommand(content, lines)
  if (!result.ok) return result
  const { applied, sendAgain } = result.cut
  const sent = (await readAttempts(transaction, command.id)).filter(({ outcome }) => outcome !== 'not-sent').at(-1)
  // Successive decisions may refer to the same attempt, so the baseline includes the parts that were decided earlier.
  const { statuses } = transaction.findVocabulary(command.sellerId)
  const proof = buildProof(statuses, command.applied)
  const baseline = sent === undefined ? null : parseBaseline(statuses, sent.baseline, proof)
  const earlier = parts?.applied ?? []
  const all = applied === null ? earlier : [...earlier, { payload: applied.payload, baseline }]
  if (sendAgain !== null) return { ok: true, state: 'pending', parts: { applied: all, open: sendAgain.payload } }
  // Applied parts count, even if the rest was rejected.
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

const storeDecision = async (transaction: Transaction, command: StoredCommand, request: DecisionRequest): Promise<void> => {
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
