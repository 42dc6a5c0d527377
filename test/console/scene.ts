import { randomUUID } from 'node:crypto'
import { cloudEvent, dispatchOf, toldParcel } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { type ConsoleStage, sellerId } from './support.ts'

/** The parcel of the shipped order. */
export const trackingNumber = '1Z999AA10123456784'

/** What is there to be seen. */
export interface Scene {
  /** Two kettles, of which one was shipped. */
  readonly shippedOrder: string
  /** Two toasters. */
  readonly heldOrder: string
  /** The shipment of both toasters, of which one was seen. */
  readonly heldCommand: string
}

const read = async (stage: ConsoleStage): Promise<void> => {
  const answer = await stage.call('POST', '/v1/syncs/orders/run')
  if (answer.status !== 202) throw new Error(await answer.text())
}

/** Orders that the sandbox has and the daemon knows. */
export const knowOrders = async (stage: ConsoleStage, purchaseOrderIds: readonly string[]): Promise<void> => {
  await read(stage)
  for (const id of purchaseOrderIds) {
    await eventually(async () => {
      const { status } = await stage.call('GET', `/v1/orders/${id}`)
      if (status !== 200) throw new Error(`order ${id} is not known: ${status}`)
    })
  }
}

/** Places an order at the sandbox and lets the daemon read it; its id. */
export const placeOrder = async (stage: ConsoleStage, sku: string, quantity: number): Promise<string> => {
  const purchaseOrderId = await stage.sandbox.place({ lines: [{ sku, quantity }] })
  await knowOrders(stage, [purchaseOrderId])
  return purchaseOrderId
}

/** Tells that one unit has left, in a parcel of its own. */
export const dispatchUnit = async (stage: ConsoleStage, purchaseOrderId: string, sku: string, parcel: string): Promise<void> => {
  const event = dispatchOf({ sellerId, purchaseOrderId }, `ship-${parcel}`, toldParcel(parcel, { sku, quantity: 1 }))
  const answer = await stage.call('POST', '/v1/events', cloudEvent(event))
  if (answer.status !== 202) throw new Error(await answer.text())
}

/** Sets the scene: an order that is shipped in part, and one with a held command. */
export const setScene = async (stage: ConsoleStage): Promise<Scene> => {
  const shippedOrder = await placeOrder(stage, 'KETTLE', 2)
  const heldOrder = await placeOrder(stage, 'TOASTER', 2)
  const heldCommand = randomUUID()
  await dispatchUnit(stage, shippedOrder, 'KETTLE', trackingNumber)
  await stage.client.query(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, reason, evidence)
     VALUES ($1, $2, $3, 'ship', 'held', $4, 'what an earlier attempt changed is unclear', $5)`,
    [
      heldCommand,
      sellerId,
      heldOrder,
      {
        parcels: [
          {
            carrier: 'UPS',
            trackingNumber: '1ZHELD',
            trackingUrl: null,
            method: null,
            shippedAt: '2026-11-20T10:00:00Z',
            lines: [{ lineNumber: '1', quantity: 2 }],
          },
        ],
      },
      {
        verdict: 'unclear',
        lines: [
          {
            lineNumber: '1',
            finding: 'unclear',
            explanation: '1 of 2 units appeared under tracking number 1ZHELD, 1 shipped in all: a part only, or refunded since',
          },
        ],
      },
    ],
  )
  await stage.client.query(
    `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity) VALUES ($1, '1', $2, $3, 2)`,
    [heldCommand, sellerId, heldOrder],
  )
  await stage.client.query(
    `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, finished_at, outcome, http_status)
     VALUES ($1, 1, 'corr-1', $2, $3, now(), 'unknown', 504)`,
    [
      heldCommand,
      { operation: 'shipOrderLines', path: `/v3/orders/${heldOrder}/shipping`, body: {} },
      {
        purchaseOrderId: heldOrder,
        lines: [
          {
            lineNumber: '1',
            ordered: 2,
            units: { acknowledged: 2, shipped: 0, cancelled: 0, refunded: 0 },
            statuses: [],
            refundedAmount: '0',
            refundReasons: [],
          },
        ],
      },
    ],
  )
  await eventually(async () => {
    const answer = await stage.call('GET', `/v1/orders?trackingNumber=${trackingNumber}`)
    if (!(await answer.text()).includes(shippedOrder)) throw new Error('the parcel is not known')
  })
  return { shippedOrder, heldOrder, heldCommand }
}
