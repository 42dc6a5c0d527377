/** The parts of the daemon's HTTP answers that the demonstration uses. */
import { z } from 'zod'
import { type Daemon, Refused } from '../api-client/daemon.ts'
import type { OrderName } from './agenda.ts'
import type { DemoOrder } from './plan.ts'

const changeSchema = z.looseObject({
  seq: z.union([z.string(), z.number()]).transform(BigInt),
  sellerId: z.string(),
  purchaseOrderId: z.string().nullable(),
})

/** One change of the feed. */
export type FeedChange = z.infer<typeof changeSchema>

/** The changes after a number; waits for at most `waitSeconds`. */
export const readChanges = async (
  daemon: Daemon,
  after: bigint,
  { limit, waitSeconds }: { readonly limit: number; readonly waitSeconds: number },
): Promise<readonly FeedChange[]> => {
  const { items } = await daemon.get('/v1/changes', z.looseObject({ items: z.array(changeSchema) }), {
    query: { after: after.toString(), limit, wait: waitSeconds },
    timeoutMs: (waitSeconds + 30) * 1_000,
  })
  return items
}

/** The number of the last change. */
export const endOfFeed = async (daemon: Daemon): Promise<bigint> =>
  (await daemon.get('/v1/changes', z.looseObject({ nextCursor: z.string().transform(BigInt) }), { query: { after: 'now' } }))
    .nextCursor

const lineSchema = z.looseObject({
  lineNumber: z.string(),
  sku: z.string().nullable(),
  ordered: z.int(),
  acknowledged: z.int(),
  cancelled: z.int(),
  intentToCancel: z.boolean(),
  /** Null only directly after the line was created. */
  ledger: z.looseObject({ available: z.looseObject({ ship: z.int(), cancel: z.int(), refund: z.int() }) }).nullable(),
})
const orderSchema = z.looseObject({
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  orderDate: z.iso.datetime().nullable(),
  firstSeenAt: z.iso.datetime(),
  shipNodeType: z.string().nullable(),
  lines: z.array(lineSchema),
  commands: z.array(
    z.looseObject({ state: z.string(), event: z.looseObject({ source: z.string(), id: z.string() }).nullable() }),
  ),
})

/** An order with the units that can still be processed; null if it is not stored. */
export const readOrder = async (
  daemon: Daemon,
  { sellerId, purchaseOrderId }: OrderName,
): Promise<(DemoOrder & { readonly shipNodeType: string | null }) | null> => {
  try {
    const order = await daemon.get(`/v1/orders/${encodeURIComponent(purchaseOrderId)}`, orderSchema, { query: { sellerId } })
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
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  }
}
