import type { MarketplaceClient, WireRequest } from '../../clients/client.ts'
import type { OrderCommandContent, OrderCommandKind } from '../../domain/command.ts'
import { judge, orderBaselineSchema, takeBaseline } from '../../domain/evidence.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { checkBeforeSend } from '../../domain/units.ts'
import { readLedgers } from '../../store/commands.ts'
import { lockOrder, storeOrder } from '../../store/orders.ts'
import { acknowledge } from './acknowledge.ts'
import { cancel } from './cancel.ts'
import type { CommandDefinition } from './definition.ts'
import { refund } from './refund.ts'
import { ship } from './ship.ts'
import type { CommandSubject } from './subject.ts'

const definitions: { readonly [Kind in OrderCommandKind]: CommandDefinition<Kind> } = { acknowledge, ship, cancel, refund }

const wireRequest = (content: OrderCommandContent, client: MarketplaceClient, purchaseOrderId: string): WireRequest => {
  const { prepare } = client.orders
  switch (content.kind) {
    case 'acknowledge':
      return acknowledge.request(prepare, purchaseOrderId, content.payload)
    case 'ship':
      return ship.request(prepare, purchaseOrderId, content.payload)
    case 'cancel':
      return cancel.request(prepare, purchaseOrderId, content.payload)
    case 'refund':
      return refund.request(prepare, purchaseOrderId, content.payload)
  }
}

/** A purchase order, as the subject of one command. */
export const orderSubject = (
  {
    id,
    sellerId,
    purchaseOrderId,
    content,
  }: {
    readonly id: string
    readonly sellerId: string
    readonly purchaseOrderId: string
    readonly content: OrderCommandContent
  },
  client: MarketplaceClient,
): CommandSubject<PurchaseOrder, WireRequest> => {
  const { operation, readsOrderFirst, goalReached } = definitions[content.kind]
  return {
    name: 'the order',
    operation,
    readsFirst: readsOrderFirst,
    absence: `order ${purchaseOrderId} is not stored`,
    read: (options) => client.orders.get(purchaseOrderId, options),
    isUnreadable: () => false,
    store: async (tx, observed) => {
      if (observed === null || !observed.record.ok) return
      const { value: order, rawText } = observed.record
      await storeOrder(tx, { sellerId, order, rawText, observedAt: observed.observedAt })
    },
    lock: (tx) => lockOrder(tx, sellerId, purchaseOrderId),
    obstacle: async (tx, order) => {
      if (order === null) return null
      if (goalReached(order)) return { state: 'confirmed', reason: 'the marketplace already stands there; nothing was sent' }
      const faults = checkBeforeSend(await readLedgers(tx, sellerId, order, id), content)
      return faults.length === 0 ? null : { state: 'rejected', reason: faults.map((fault) => fault.message).join('; ') }
    },
    baseline: (order) => (order === null ? {} : takeBaseline(order)),
    judge: (sent, order) => {
      const last = sent.at(-1)
      return last === undefined || order === null ? null : judge(content, orderBaselineSchema.parse(last.baseline), order)
    },
    mayBeDone: (failure) => failure.alreadyDone,
    prepare: () => wireRequest(content, client, purchaseOrderId),
    send: (request, options) => client.orders.send(request, options),
  }
}
