import { readQuery } from '../calls/query.ts'
import { operations } from '../calls/registry.ts'
import { Refusal } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { createRandom } from '../core/random.ts'
import { quietPlan } from '../faults/faults.ts'
import { announceReport } from '../fulfillment/report-requests.ts'
import { bookShipped } from '../fulfillment/stock-moves.ts'
import { announceOrder, announceReturn } from '../notifications/announce.ts'
import { acknowledge } from '../rules/acknowledge.ts'
import { cancelUnits } from '../rules/cancel.ts'
import { chargeParts, type EffectDraft, type Line, type Order } from '../rules/model.ts'
import { countRemaining, type OwnRefund, refundByMarketplace } from '../rules/refund.ts'
import { putUnits, takeUnits, unitsIn } from '../rules/units.ts'
import type { Due, DueEvent } from '../store/due-events.ts'
import type { World } from '../world.ts'
import { byItself, changeOrder } from './change.ts'
import { creditReturns, moveReturn, openReturn, refundReturn, returnableUnits } from './returns.ts'
import { scheduleAfterShipping } from './schedule.ts'

const batchSize = 500

/** Lets everything happen that is due by the virtual now. Every request waits for it, so no reader ever sees the past come late. */
export interface Life {
  catchUp(): Promise<void>
  /** Lets these things happen now, all or none. */
  happen(events: readonly DueEvent[]): void
  /** Lets signals and other requests be heard in the middle of long work. */
  breathe(): Promise<void>
  /** From now on waiting callers are rejected: the file is about to be closed. */
  stop(): void
}

export const createLife = (world: World, log: Log): Life => {
  let running: Promise<void> | null = null
  let stopped = false
  const never = new Promise<void>(() => {})
  const breathe = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    if (stopped) await never
  }
  const run = async (): Promise<void> => {
    for (;;) {
      const batch = world.dueEvents.due(world.clock.now(), batchSize)
      if (batch.length === 0) return
      world.database.transaction(() => {
        for (const due of batch) settle(world, due, log)
      })
      // A large leap of the clock is worked off in pieces.
      await breathe()
    }
  }
  return {
    breathe,
    happen(events) {
      if (events.length === 0) return
      const now = world.clock.now()
      world.database.transaction(() => {
        for (const event of events) happen(world, event, now, log)
      })
    },
    stop() {
      stopped = true
    },
    catchUp() {
      if (stopped) return never
      if (running !== null) return running
      if (world.dueEvents.due(world.clock.now(), 1).length === 0) return Promise.resolve()
      running = run().finally(() => {
        running = null
      })
      return running
    },
  }
}

const settle = (world: World, { id, dueAt, event }: Due, log: Log): void => {
  world.dueEvents.remove(id)
  happen(world, event, dueAt, log)
}

const happen = (world: World, event: DueEvent, dueAt: number, log: Log): void => {
  switch (event.kind) {
    case 'return-step':
      moveReturn(world, event.sellerId, event.returnOrderId, event.returnOrderLineNumber, event.from, event.quantity, dueAt)
      return
    case 'return-refund':
      refundReturn(world, event.sellerId, event.returnOrderId, event.returnOrderLineNumber, event.quantity, dueAt)
      return
    case 'report-ready':
      announceReport(world, event.sellerId, event.requestId, dueAt)
      return
    case 'late-write':
      lateWrite(world, event, dueAt, log)
      return
    default: {
      const order = world.orders.find(event.sellerId, event.purchaseOrderId)
      if (order !== null) befall(world, order, event, dueAt)
    }
  }
}

type OrderEvent = Exclude<DueEvent, { kind: 'return-step' | 'return-refund' | 'report-ready' | 'late-write' }>

const befall = (world: World, order: Order, event: OrderEvent, at: number): void => {
  switch (event.kind) {
    case 'marketplace-ship':
      marketplaceShip(world, order, at)
      return
    case 'auto-cancel':
      autoCancel(world, order, at)
      return
    case 'fraud-cancel':
      fraudCancel(world, order, event.cancels, at)
      return
    default: {
      const line = order.lines.find((candidate) => candidate.lineNumber === event.lineNumber)
      if (line !== undefined) befallLine(world, order, line, event, at)
    }
  }
}

const befallLine = (
  world: World,
  order: Order,
  line: Line,
  event: Extract<OrderEvent, { lineNumber: string }>,
  at: number,
): void => {
  switch (event.kind) {
    case 'intent-to-cancel':
      askToCancel(world, order, line, at)
      return
    case 'buyer-cancel':
      buyerCancel(world, order, line, event.quantity, at)
      return
    case 'deliver':
      deliver(world, order, line, event.trackingNumber, at)
      return
    case 'own-refund':
      refundByItself(world, order, line, event, at)
      return
    case 'open-return': {
      const quantity = Math.min(event.quantity, returnableUnits(world, order, line))
      if (quantity === 0) return
      const opened = openReturn(world, order, [{ lineNumber: line.lineNumber, quantity, reason: event.reason }], at, true)
      announceReturn(world, opened, 'RETURN_CREATED', at)
    }
  }
}

/** The buyer asks to cancel a line; the seller decides. */
export const askToCancel = (world: World, order: Order, line: Line, at: number): void => {
  if (unitsIn(line, 'Created', 'Acknowledged') === 0) return
  line.intentToCancelAt = at
  changeOrder(world, order, at, byItself('buyer'), () => [])
  announceOrder(world, order, 'INTENT_TO_CANCEL', at, [line])
}

/** The buyer cancels units outright; gives how many could still be cancelled. */
export const buyerCancel = (world: World, order: Order, line: Line, quantity: number, at: number): number => {
  const units = Math.min(quantity, unitsIn(line, 'Created', 'Acknowledged'))
  if (units > 0) changeOrder(world, order, at, byItself('buyer'), () => cancelUnits(line, units, 'CUSTOMER_CANCELLED', at))
  return units
}

/**
 * The marketplace refunds by itself: units, or money only, as far as something is shipped and left to be refunded; gives what it did.
 * Units count towards the open returns of the line.
 */
export const refundByItself = (world: World, order: Order, line: Line, asked: OwnRefund, at: number): EffectDraft[] => {
  const quantity = Math.min(asked.quantity, unitsIn(line, 'Shipped', 'Delivered'))
  const shipped = unitsIn(line, 'Shipped', 'Delivered', 'Refund') > 0
  const left = chargeParts.some((part) => countRemaining(line, 'PRODUCT', part) > 0)
  if (!shipped || (quantity === 0 && (asked.money === null || !left))) return []
  const effects = changeOrder(world, order, at, byItself('marketplace'), () => [
    refundByMarketplace(order, line, { ...asked, quantity }, at),
  ])
  creditReturns(world, order, effects, at)
  return effects
}

const autoCancel = (world: World, order: Order, at: number): void => {
  const open = order.lines.filter((line) => unitsIn(line, 'Created', 'Acknowledged') > 0)
  if (open.length === 0) return
  changeOrder(world, order, at, byItself('marketplace'), () =>
    open.flatMap((line) => cancelUnits(line, unitsIn(line, 'Created', 'Acknowledged'), 'AUTO_CANCELLED_NOT_SHIPPED', at)),
  )
  announceOrder(world, order, 'PO_LINE_AUTOCANCELLED', at, open)
}

/** The marketplace suspects fraud: the seller must not ship. Gives how many units were cancelled. */
export const fraudCancel = (world: World, order: Order, cancels: boolean, at: number): number => {
  const open = order.lines.filter((line) => unitsIn(line, 'Created', 'Acknowledged') > 0)
  const effects =
    cancels && open.length > 0
      ? changeOrder(world, order, at, byItself('marketplace'), () =>
          open.flatMap((line) => cancelUnits(line, unitsIn(line, 'Created', 'Acknowledged'), 'CANCELLED_FOR_FRAUD', at)),
        )
      : []
  announceOrder(world, order, 'FRAUD_CANCEL', at)
  return effects.reduce((sum, { quantity }) => sum + quantity, 0)
}

const deliver = (world: World, order: Order, line: Line, trackingNumber: string, at: number): void => {
  const arriving = line.entries.filter((entry) => entry.state === 'Shipped' && entry.parcel?.trackingNumber === trackingNumber)
  if (arriving.length === 0) return
  changeOrder(world, order, at, byItself('carrier'), () => {
    let quantity = 0
    for (const entry of arriving) {
      entry.state = 'Delivered'
      quantity += entry.quantity
    }
    line.statusDate = at
    return [{ lineNumber: line.lineNumber, kind: 'delivered', quantity, from: 'Shipped', trackingNumber }]
  })
}

/** Marketplace-fulfilled orders need no seller. */
const marketplaceShip = (world: World, order: Order, at: number): void => {
  const random = createRandom(world.settings.seed, 'marketplace-ship', order.purchaseOrderId)
  const trackingNumber = `MP${random.whole(100_000_000, 999_999_999)}`
  const effects = changeOrder(world, order, at, byItself('marketplace'), () => {
    const created = order.lines.some((line) => unitsIn(line, 'Created') > 0)
    const drafts: EffectDraft[] = created ? acknowledge(order, at) : []
    for (const line of order.lines) {
      const quantity = unitsIn(line, 'Acknowledged')
      if (quantity === 0) continue
      takeUnits(line, quantity, 'Acknowledged')
      const parcel = {
        shippedAt: at,
        carrier: 'FedEx',
        otherCarrier: null,
        methodCode: order.methodCode,
        trackingNumber,
        trackingUrl: null,
      }
      putUnits(line, { state: 'Shipped', quantity, parcel })
      line.statusDate = at
      drafts.push({ lineNumber: line.lineNumber, kind: 'shipped', quantity, from: 'Acknowledged', trackingNumber })
    }
    return drafts
  })
  bookShipped(world, order, effects, at)
  scheduleAfterShipping(world, order, effects, at)
}

/** A write that was never answered takes effect after all; what it would have been refused for, it is refused for now. */
const lateWrite = (world: World, event: Extract<DueEvent, { kind: 'late-write' }>, at: number, log: Log): void => {
  const { sellerId, purchaseOrderId, body, correlationId, requestId } = event
  const operation = operations.find(({ name }) => name === event.operation)
  if (operation === undefined) return
  const call = {
    ...{ operation: operation.name, sellerId, purchaseOrderId, body, correlationId, requestId },
    ...{ params: event.params ?? {}, query: readQuery(''), headers: {} },
  }
  try {
    void operation.perform(world, call, quietPlan(), at)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log('info', 'late write refused', {
      operation: event.operation,
      purchase_order_id: event.purchaseOrderId,
      reason: error.message,
    })
  }
}
