import { z } from 'zod'
import { formatAmount } from '../../domain/values/money.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { count, print, printJson, printMessage, printTable } from '../output/terminal.ts'

const unitFields = { ordered: z.int(), acknowledged: z.int(), shipped: z.int(), cancelled: z.int(), refunded: z.int() }

const summarySchema = z.looseObject({
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  orderDate: z.string().nullable(),
  estimatedShipDate: z.string().nullable(),
  totalAmount: z.string().nullable(),
  currency: z.string().nullable(),
  open: z.boolean(),
})

const orderSchema = summarySchema.extend({
  lines: z.array(
    z.looseObject({
      ...unitFields,
      lineNumber: z.string(),
      sku: z.string().nullable(),
      shipments: z.array(
        z.looseObject({
          carrier: z.string().nullable(),
          trackingNumber: z.string().nullable(),
          shippedAt: z.string().nullable(),
          quantity: z.int(),
          shownQuantity: z.int(),
        }),
      ),
    }),
  ),
  commands: z.array(z.looseObject({ id: z.string(), kind: z.string(), state: z.string(), reason: z.string().nullish() })),
  at: z.string().optional(),
  version: z.int().optional(),
  validFrom: z.string().optional(),
  validTo: z.string().nullish(),
})

/** Filters of `tallyman orders list`; null: any. */
export interface OrderFilter {
  readonly q: string | null
  readonly sellerId: string | null
  readonly sku: string | null
  readonly trackingNumber: string | null
  readonly open: boolean | null
  readonly late: boolean | null
  readonly limit: number
}

/** `tallyman orders list`. */
export const listOrders = async ({ terminal, daemon }: CliContext, { limit, ...filters }: OrderFilter): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/orders', summarySchema, limit, { ...filters, sort: '-orderDate' })
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'order' },
      { heading: 'seller' },
      { heading: 'ordered' },
      { heading: 'ship by' },
      { heading: 'total', align: 'right' },
      { heading: 'open' },
    ],
    items.map((order) => [
      order.purchaseOrderId,
      order.sellerId,
      order.orderDate ?? '',
      order.estimatedShipDate ?? '',
      order.totalAmount === null ? '' : formatAmount(order.totalAmount, order.currency),
      order.open ? 'open' : '',
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

const describePast = ({ at, version, validFrom, validTo }: z.output<typeof orderSchema>): string =>
  `as it was known at ${at}: version ${version} of the kept ones, valid from ${validFrom} ${validTo == null ? 'until now' : `to ${validTo}`}`

/** `tallyman orders show`: units and parcels of an order, and its commands, now or at a time; the buyer only with `--json`. */
export const showOrder = async (
  { terminal, daemon }: CliContext,
  {
    purchaseOrderId,
    sellerId,
    at,
  }: { readonly purchaseOrderId: string; readonly sellerId: string | null; readonly at: string | null },
): Promise<void> => {
  const path = `/v1/orders/${encodeURIComponent(purchaseOrderId)}`
  const order = await daemon.get(path, orderSchema, { query: { sellerId, at } })
  if (terminal.json) return printJson(terminal, order)
  if (order.at !== undefined) print(terminal, describePast(order))
  const state = order.open ? 'open' : 'closed'
  print(terminal, `order ${order.purchaseOrderId} of seller ${order.sellerId}, ${state}: ${count(order.lines.length, 'line')}`)
  printTable(
    terminal,
    [
      { heading: 'line' },
      { heading: 'SKU' },
      ...(['ordered', 'acknowledged', 'shipped', 'cancelled', 'refunded'] as const).map(
        (heading) => ({ heading, align: 'right' }) as const,
      ),
      { heading: 'tracking numbers' },
    ],
    order.lines.map((line) => [
      line.lineNumber,
      line.sku ?? '',
      ...[line.ordered, line.acknowledged, line.shipped, line.cancelled, line.refunded].map(String),
      line.shipments
        .flatMap(({ carrier, trackingNumber }) => (trackingNumber === null ? [] : `${carrier ?? ''} ${trackingNumber}`.trim()))
        .join(', '),
    ]),
  )
  const parcels = order.lines.flatMap(({ lineNumber, shipments }) =>
    shipments.map((shipment) => [
      lineNumber,
      shipment.carrier ?? '',
      shipment.trackingNumber ?? '',
      shipment.shippedAt ?? '',
      String(shipment.quantity),
      String(shipment.shownQuantity),
    ]),
  )
  if (parcels.length > 0) {
    print(terminal, '')
    printTable(
      terminal,
      [
        { heading: 'line' },
        { heading: 'carrier' },
        { heading: 'tracking number' },
        { heading: 'shipped at' },
        { heading: 'units', align: 'right' },
        { heading: order.at === undefined ? 'shown now' : 'shown then', align: 'right' },
      ],
      parcels,
    )
  }
  if (order.commands.length === 0) return
  print(terminal, '')
  printTable(
    terminal,
    [{ heading: 'command' }, { heading: 'kind' }, { heading: 'state' }, { heading: 'reason' }],
    order.commands.map(({ id, kind, state: its, reason }) => [id, kind, its, reason ?? '']),
  )
}
