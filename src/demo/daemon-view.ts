/** The parts of the daemon's HTTP answers that the demonstration uses. */
import type { Change } from 'tallyman/types'
import { type TallymanClient, unwrap } from '../client/client.ts'
import type { OrderName } from './agenda.ts'
import type { DemoOrder } from './plan.ts'

/** The changes after a number; waits for at most `waitSeconds`. */
export const readChanges = async (
  client: TallymanClient,
  after: bigint,
  { limit, waitSeconds }: { readonly limit: number; readonly waitSeconds: number },
): Promise<readonly Change[]> =>
  unwrap(await client.GET('/v1/changes', { params: { query: { after: after.toString(), limit, wait: waitSeconds } } })).items

/** The number of the last change. */
export const endOfFeed = async (client: TallymanClient): Promise<bigint> =>
  BigInt(unwrap(await client.GET('/v1/changes', { params: { query: { after: 'now' } } })).nextCursor)

/** An order with the units that can still be processed; null if it is not stored. */
export const readOrder = async (
  client: TallymanClient,
  { sellerId, purchaseOrderId }: OrderName,
): Promise<(DemoOrder & { readonly shipNodeType: string | null }) | null> => {
  const answer = await client.GET('/v1/orders/{purchaseOrderId}', { params: { path: { purchaseOrderId }, query: { sellerId } } })
  if (answer.response.status === 404) return null
  const order = unwrap(answer)
  return {
    sellerId,
    purchaseOrderId,
    orderDate: new Date(order.orderDate ?? order.firstSeenAt),
    shipNodeType: order.shipNodeType,
    lines: order.lines.map((line) => ({
      lineNumber: line.lineNumber,
      sku: line.sku,
      ordered: line.ordered,
      acknowledged: line.acknowledged,
      cancelled: line.cancelled,
      intentToCancel: line.intentToCancel,
      shippable: line.ledger?.available.ship ?? 0,
      cancellable: line.ledger?.available.cancel ?? 0,
      refundable: line.ledger?.available.refund ?? 0,
    })),
    commands: order.commands.map(({ state, event }) => ({
      eventSource: event?.source ?? null,
      eventId: event?.id ?? null,
      state,
    })),
  }
}
