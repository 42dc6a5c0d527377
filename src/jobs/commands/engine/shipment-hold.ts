import type { ShipmentHoldReason } from '../../../domain/sync/notification.ts'
import { lockCommand } from '../../../store/commands/command-steps.ts'
import { findShipmentHold } from '../../../store/notifications/shipment-holds.ts'
import type { Run } from './engine.ts'
import { retryLater, type Step, settle } from './steps.ts'

const announced: Readonly<Record<ShipmentHoldReason, string>> = {
  'intent-to-cancel': 'the marketplace has announced that the buyer wants to cancel the order',
  'fraud-cancel': 'the marketplace suspects fraud and has asked to block the shipment',
}

/**
 * The intent of a command was not written. A shipment that a notification holds waits until its order was read; then, if fraud is suspected, an operator
 * decides. Every other command has changed, or another process works on it.
 */
export const stopForHold = async <Thing, Request extends object>(run: Run<Thing, Request>): Promise<Step> => {
  const { parts, command, subject } = run
  if (command.content.kind !== 'ship') return { kind: 'superseded' }
  return parts.database.transaction(async (transaction): Promise<Step> => {
    const state = await subject.lock(transaction)
    if (!(await lockCommand(transaction, command.id, command))) return { kind: 'superseded' }
    const hold = await findShipmentHold(transaction, command)
    // Released meanwhile, so that it is due; or its seller rests, or another command goes first.
    if (hold === null) return { kind: 'superseded' }
    if (!hold.isRead) {
      return retryLater(transaction, run, 'pending', `${announced[hold.reason]}; nothing is sent until the order was read`)
    }
    // The order may have been read since the intent was prepared.
    const blocker = state.blocker(state.stored)
    if (blocker !== null) return settle(transaction, run, blocker.state, blocker.reason, null, blocker.quiet)
    return settle(transaction, run, 'held', `${announced[hold.reason]}; nothing was sent`, null)
  })
}
