import type { MarketplaceClient } from '../../clients/client.ts'
import type { Operation } from '../../clients/operation.ts'
import type { CarriedCommand, OrderCommands, PayloadOf } from '../../clients/order-commands.ts'
import type { OrderCommandContent, OrderCommandKind } from '../../domain/command.ts'
import { judge, orderBaselineSchema, takeBaseline, untouchedBaseline } from '../../domain/evidence.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { progressOf } from '../../domain/progress.ts'
import { proofOf, provenOrder, raiseBaseline } from '../../domain/proof.ts'
import { checkMoneyLeft } from '../../domain/refund-money.ts'
import { checkBeforeSend, ledgersOf } from '../../domain/units.ts'
import type { StatusWords } from '../../domain/vocabulary.ts'
import { type OrderWork, readOrderWork } from '../../store/command-ledgers.ts'
import type { StoredCommand } from '../../store/commands.ts'
import { lockOrder, storeOrder } from '../../store/orders.ts'
import { atOnce } from '../../store/together.ts'
import type { ReadRow } from '../../store/versions.ts'
import { acknowledge } from './acknowledge.ts'
import { cancel } from './cancel.ts'
import type { CommandDefinition } from './definition.ts'
import { refund } from './refund.ts'
import { ship } from './ship.ts'
import type { CommandSubject, Obstacle, Standing } from './subject.ts'

const definitions: { readonly [Kind in OrderCommandKind]: CommandDefinition<Kind> } = { acknowledge, ship, cancel, refund }

/** Whether the order is read before a command of this kind is sent. */
export const readsOrderFirst = (kind: OrderCommandKind): boolean => definitions[kind].readsOrderFirst

/** How the marketplace of a seller carries a command. */
interface Carried {
  readonly operation: Operation
  prepare(): object
}

const bound = <Kind extends OrderCommandKind>(
  command: CarriedCommand<Kind, object> | undefined,
  purchaseOrderId: string,
  payload: PayloadOf<Kind>,
): Carried | null =>
  command === undefined ? null : { operation: command.operation, prepare: () => command.request(purchaseOrderId, payload) }

const carriedBy = ({ commands }: OrderCommands, content: OrderCommandContent, purchaseOrderId: string): Carried | null => {
  switch (content.kind) {
    case 'acknowledge':
      return bound(commands.acknowledge, purchaseOrderId, content.payload)
    case 'ship':
      return bound(commands.ship, purchaseOrderId, content.payload)
    case 'cancel':
      return bound(commands.cancel, purchaseOrderId, content.payload)
    case 'refund':
      return bound(commands.refund, purchaseOrderId, content.payload)
  }
}

/** A command on a purchase order. */
export type OrderCommand = Pick<StoredCommand, 'id' | 'sellerId' | 'applied' | 'eventId'> & {
  readonly purchaseOrderId: string
  readonly content: OrderCommandContent
}

const obstacleOf = (
  { content, eventId }: OrderCommand,
  work: OrderWork,
  stored: PurchaseOrder,
  view: PurchaseOrder,
): Obstacle | null => {
  if (definitions[content.kind].goalReached(view))
    return { state: 'confirmed', reason: 'the order is already in the requested state; nothing was sent' }
  const faults = checkBeforeSend(ledgersOf(view, work.ledgerCommands), content).map((fault) => fault.message)
  if (content.kind === 'refund') faults.push(...checkMoneyLeft(content.payload, stored, view))
  if (faults.length === 0) return null
  const reason = faults.join('; ')
  return content.kind === 'acknowledge' && eventId === null
    ? { state: 'rejected', reason, quiet: true }
    : { state: 'rejected', reason }
}

/** The known state of the order under its lock: the stored one, and what our other commands prove. */
const standingOf = (
  command: OrderCommand,
  stored: PurchaseOrder | null,
  work: OrderWork,
  words: StatusWords,
): Standing<PurchaseOrder> => {
  const proof = proofOf(words, work.confirmed)
  return {
    stored,
    lag: (read) => {
      const lagging = [stored === null ? [] : progressOf(stored, read).lagging, progressOf(provenOrder(proof), read).lagging]
      return [...new Set(lagging.flat())].join('; ') || null
    },
    obstacle: (view) => (stored === null || view === null ? null : obstacleOf(command, work, stored, view)),
    baseline: (view) => (view === null ? {} : raiseBaseline(words, takeBaseline(view), proof)),
    untouched: (view) => (view === null ? {} : raiseBaseline(words, untouchedBaseline(words, view), proof)),
  }
}

/** A purchase order, as the subject of one command; null: its marketplace carries no such command. */
export const orderSubject = (command: OrderCommand, client: MarketplaceClient): CommandSubject<PurchaseOrder, object> | null => {
  const { id, sellerId, purchaseOrderId, content } = command
  const marketplace = client.of(client.orderCommands)
  const carried = carriedBy(marketplace, content, purchaseOrderId)
  if (carried === null) return null
  // The part of this command that an operator marked as applied must not be mistaken for what is sent now.
  const { statuses } = client.vocabulary
  const decided = proofOf(statuses, command.applied)
  // The answer is stored a moment after: what it replaces is then known.
  let lastRead: ReadRow<PurchaseOrder> | null = null
  return {
    name: 'the order',
    operation: carried.operation,
    readsFirst: readsOrderFirst(content.kind),
    absence: `order ${purchaseOrderId} is not stored`,
    read: (options) => marketplace.get(purchaseOrderId, options),
    isUnreadable: () => false,
    store: async (tx, observed) => {
      if (observed === null || !observed.record.ok) return
      await storeOrder(tx, sellerId, observed.observedAt, observed.record, lastRead)
    },
    lock: async (tx) => {
      const [read, work] = await atOnce(
        tx,
        () => lockOrder(tx, sellerId, purchaseOrderId),
        () => readOrderWork(tx, sellerId, purchaseOrderId, id),
      )
      lastRead = read
      return standingOf(command, read?.value ?? null, work, statuses)
    },
    judge: (sent, order) => {
      const last = sent.at(-1)
      if (last === undefined || order === null) return null
      const baseline = raiseBaseline(statuses, orderBaselineSchema.parse(last.baseline), decided)
      return judge(statuses, content, baseline, order, last.outcome === 'accepted')
    },
    mayBeDone: (failure) => failure.alreadyDone,
    prepare: () => carried.prepare(),
    send: (request, options) => marketplace.send(request, options),
  }
}
