import type { MarketplaceClient, ReadClient } from '../../../clients/http/client.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import type { CommandPayload, OrderCommands, SupportedCommand } from '../../../clients/http/order-commands.ts'
import type { DirectCommandContent, DirectCommandKind } from '../../../domain/commands/command.ts'
import { checkCorrection, findUncorrected, narrowToView } from '../../../domain/commands/correction.ts'
import { judge, takeBaseline, untouchedBaseline } from '../../../domain/commands/evidence.ts'
import { buildProof, parseBaseline, provenOrder, raiseBaseline } from '../../../domain/commands/proof.ts'
import { findCancelIntent } from '../../../domain/orders/cancel-intent.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import { countReturned, type ReturnedLine } from '../../../domain/orders/returned-units.ts'
import { buildLedgers, checkBeforeSend } from '../../../domain/orders/units.ts'
import { checkMoneyLeft } from '../../../domain/refunds/refund-money.ts'
import { computeProgress } from '../../../domain/sync/progress.ts'
import type { StatusWords, Vocabulary } from '../../../domain/values/vocabulary.ts'
import { type OrderWork, readOrderWork } from '../../../store/commands/command-ledgers.ts'
import type { StoredCommand } from '../../../store/commands/commands.ts'
import { runPipelined } from '../../../store/commit/query-batching.ts'
import { lockOrder, storeOrder } from '../../../store/orders/orders.ts'
import { readReturnedLines } from '../../../store/orders/returns.ts'
import type { ReadRow } from '../../../store/versioned/versions.ts'
import type { Blocker, CommandSubject, SubjectState } from '../engine/subject.ts'
import { definitions } from './definitions.ts'

/** A command, as the seller's marketplace sends it. */
interface BoundCommand {
  readonly operation: Operation
  /** For this state of the order; null: it is not known. */
  prepare(view: PurchaseOrder | null): object
}

const bindCommand = <Kind extends DirectCommandKind>(
  command: SupportedCommand<Kind, object> | undefined,
  purchaseOrderId: string,
  payload: CommandPayload<Kind>,
): BoundCommand | null =>
  command === undefined ? null : { operation: command.operation, prepare: () => command.request(purchaseOrderId, payload) }

const findCommand = (
  { commands }: OrderCommands,
  content: DirectCommandContent,
  purchaseOrderId: string,
  words: StatusWords,
): BoundCommand | null => {
  switch (content.kind) {
    case 'acknowledge':
      return bindCommand(commands.acknowledge, purchaseOrderId, content.payload)
    case 'ship':
      return bindCommand(commands.ship, purchaseOrderId, content.payload)
    case 'cancel':
      return bindCommand(commands.cancel, purchaseOrderId, content.payload)
    case 'refund':
      return bindCommand(commands.refund, purchaseOrderId, content.payload)
    case 'correct-shipment': {
      const { payload } = content
      const command = commands['correct-shipment']
      if (command === undefined) return null
      return {
        operation: command.operation,
        prepare: (view) => command.request(purchaseOrderId, view === null ? payload : narrowToView(words, payload, view)),
      }
    }
  }
}

/** A command on a purchase order. */
export type OrderCommand = Pick<StoredCommand, 'id' | 'sellerId' | 'applied' | 'eventId'> & {
  readonly purchaseOrderId: string
  readonly content: DirectCommandContent
}

const findBlocker = (
  { content, eventId }: OrderCommand,
  work: OrderWork,
  stored: PurchaseOrder,
  view: PurchaseOrder,
  { statuses: words, buyerCancelReason }: Vocabulary,
  returned: readonly ReturnedLine[],
): Blocker | null => {
  if (content.kind === 'correct-shipment')
    return checkCorrection(words, content.payload, raiseBaseline(words, takeBaseline(view), buildProof(words, work.confirmed)))
  if (definitions[content.kind].goalReached(view))
    return { state: 'confirmed', reason: 'the order is already in the requested state; nothing was sent' }
  const faults = checkBeforeSend(buildLedgers(countReturned(view, returned), work.ledgerCommands, work.shadowSince), content).map(
    (fault) => fault.message,
  )
  if (content.kind === 'refund') faults.push(...checkMoneyLeft(content.payload, stored, view))
  const cancelIntent = content.kind === 'ship' ? findCancelIntent(content.payload, view, buyerCancelReason) : null
  if (cancelIntent !== null) faults.push(cancelIntent)
  if (faults.length === 0) return null
  const reason = faults.join('; ')
  return content.kind === 'acknowledge' && eventId === null
    ? { state: 'rejected', reason, quiet: true }
    : { state: 'rejected', reason }
}

/** The known state of the order under its lock: the stored one, and what our other commands prove. */
const readState = (
  command: OrderCommand,
  stored: PurchaseOrder | null,
  work: OrderWork,
  vocabulary: Vocabulary,
  returned: readonly ReturnedLine[],
): SubjectState<PurchaseOrder> => {
  const words = vocabulary.statuses
  const proof = buildProof(words, work.confirmed)
  return {
    stored,
    lag: (read) => {
      const lagging = [
        stored === null ? [] : computeProgress(stored, read).lagging,
        computeProgress(provenOrder(proof), read).lagging,
        command.content.kind === 'correct-shipment'
          ? (findUncorrected(words, command.content.payload, work.confirmed, read) ?? [])
          : [],
      ]
      return [...new Set(lagging.flat())].join('; ') || null
    },
    blocker: (view) => (stored === null || view === null ? null : findBlocker(command, work, stored, view, vocabulary, returned)),
    baseline: (view) => (view === null ? {} : raiseBaseline(words, takeBaseline(view), proof)),
    originalBaseline: (view) => (view === null ? {} : raiseBaseline(words, untouchedBaseline(words, view), proof)),
  }
}

/** A purchase order as the subject of one command; null: its marketplace does not support the command. */
export const orderSubject = (
  command: OrderCommand,
  client: ReadClient,
  live: MarketplaceClient | null,
): CommandSubject<PurchaseOrder, object> | null => {
  const { id, sellerId, purchaseOrderId, content } = command
  const marketplace = client.of(client.orderCommands)
  const { statuses } = client.vocabulary
  const bound = findCommand(marketplace, content, purchaseOrderId, statuses)
  if (bound === null) return null
  // The part of this command that an operator marked as applied must not be mistaken for what is sent now.
  const decided = buildProof(statuses, command.applied)
  // The row that an answer replaces is then known when the answer is stored.
  let lastRead: ReadRow<PurchaseOrder> | null = null
  return {
    name: 'the order',
    operation: bound.operation,
    readsFirst: definitions[content.kind].readsOrderFirst,
    absence: `order ${purchaseOrderId} is not stored`,
    read: (options) => marketplace.get(purchaseOrderId, options),
    isUnreadable: () => false,
    store: async (tx, observed) => {
      if (observed === null || !observed.record.ok) return
      await storeOrder(tx, sellerId, observed.observedAt, observed.record, lastRead)
    },
    lock: async (tx) => {
      const [read, [work, returned]] = await runPipelined(
        tx,
        () => lockOrder(tx, sellerId, purchaseOrderId),
        () =>
          runPipelined(
            tx,
            () => readOrderWork(tx, sellerId, purchaseOrderId, id),
            // Only refunds concern units that are returned.
            async () => (content.kind === 'refund' ? readReturnedLines(tx, sellerId, purchaseOrderId) : []),
          ),
      )
      lastRead = read
      return readState(command, read?.value ?? null, work, client.vocabulary, returned)
    },
    judge: (sent, order) => {
      const last = sent.at(-1)
      if (last === undefined || order === null) return null
      const baseline = parseBaseline(statuses, last.baseline, decided)
      return judge(statuses, content, baseline, order, last.outcome === 'accepted')
    },
    // The words that refuse a number which was replaced before are not published, so each refusal of a correction is read back.
    mayBeDone: (failure) => failure.alreadyDone || content.kind === 'correct-shipment',
    prepare: (view) => bound.prepare(view),
    send: live === null ? null : (request, options) => live.writer(live.orderWrites).send(request, options),
  }
}
