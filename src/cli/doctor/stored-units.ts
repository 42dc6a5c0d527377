import { z } from 'zod'
import type { Daemon } from '../../api-client/daemon.ts'
import { Refused } from '../../api-client/failures.ts'
import type { CountedLine, OrderCommand } from './compare-units.ts'

const lineSchema = z.looseObject({
  lineNumber: z.string(),
  ordered: z.int(),
  acknowledged: z.int(),
  shipped: z.int(),
  cancelled: z.int(),
  refunded: z.int(),
})
const orderSchema = z.looseObject({ sellerId: z.string(), purchaseOrderId: z.string(), lines: z.array(lineSchema) })
const orderWithCommandsSchema = orderSchema.extend({
  commands: z.array(z.looseObject({ id: z.string(), kind: z.string(), state: z.string() })),
})

const toCountedLines = (order: z.infer<typeof orderSchema>): CountedLine[] =>
  order.lines.map(({ lineNumber, ordered, acknowledged, shipped, cancelled, refunded }) => ({
    sellerId: order.sellerId,
    purchaseOrderId: order.purchaseOrderId,
    lineNumber,
    units: { ordered, acknowledged, shipped, cancelled, refunded },
  }))

/** Every line of every order in the database. */
export const readStoredLines = async function* (daemon: Daemon): AsyncGenerator<CountedLine, void, undefined> {
  for await (const order of daemon.list('/v1/orders', orderSchema, { pageSize: 1_000 })) yield* toCountedLines(order)
}

/** The stored lines and commands of an order; both empty when it is not stored. */
export const readStoredOrder = async (
  daemon: Daemon,
  { sellerId, purchaseOrderId }: { readonly sellerId: string; readonly purchaseOrderId: string },
): Promise<{ readonly lines: readonly CountedLine[]; readonly commands: readonly OrderCommand[] }> => {
  try {
    const order = await daemon.get(`/v1/orders/${encodeURIComponent(purchaseOrderId)}`, orderWithCommandsSchema, {
      query: { sellerId },
    })
    return { lines: toCountedLines(order), commands: order.commands.map(({ id, kind, state }) => ({ id, kind, state })) }
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return { lines: [], commands: [] }
    throw error
  }
}
