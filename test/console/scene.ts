import { randomUUID } from 'node:crypto'
import { buildDispatch, cloudEvent, reportedParcel } from '../support/events.ts'
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

/** Orders that the sandbox has and the daemon knows. */
export const knowOrders = async (stage: ConsoleStage, purchaseOrderIds: readonly string[]): Promise<void> => {
  for (const id of purchaseOrderIds) {
    await eventually(async () => {
      const { status } = await stage.call('GET', `/v1/orders/${id}`)
      if (status === 200) return
      // A sync that was running already may have read before the order was there: it is asked for again.
      const asked = await stage.call('POST', '/v1/syncs/orders/run')
      throw new Error(`order ${id} is not known: ${status}; the sync was asked for: ${asked.status}`)
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
  const event = buildDispatch({ sellerId, purchaseOrderId }, `ship-${parcel}`, reportedParcel(parcel, { sku, quantity: 1 }))
  const answer = await stage.call('POST', '/v1/events', cloudEvent(event))
  if (answer.status !== 202) throw new Error(await answer.text())
}

/** A shipment of both units of an order, of which nobody knows what the only request has done; before it nothing was shipped. Its id. */
export const holdShipment = async (stage: ConsoleStage, purchaseOrderId: string, parcel: string): Promise<string> => {
  const id = randomUUID()
  const { client } = stage
  await client.query(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, reason, evidence)
     VALUES ($1, $2, $3, 'ship', 'held', $4, 'what an earlier attempt changed is unclear', $5)`,
    [
      id,
      sellerId,
      purchaseOrderId,
      {
        parcels: [
          {
            carrier: 'UPS',
            trackingNumber: parcel,
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
            explanation: `1 of 2 units appeared under tracking number ${parcel}, 1 shipped in all: a part only, or refunded since`,
          },
        ],
      },
    ],
  )
  await client.query(
    `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity) VALUES ($1, '1', $2, $3, 2)`,
    [id, sellerId, purchaseOrderId],
  )
  const units = { acknowledged: 2, shipped: 0, cancelled: 0, refunded: 0 }
  await client.query(
    `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, started_at, finished_at, outcome,
       http_status)
     VALUES ($1, 1, 'corr-1', $2, $3, now() - interval '1 hour', now() - interval '1 hour', 'unknown', 504)`,
    [
      id,
      { operation: 'shipOrderLines', path: `/v3/orders/${purchaseOrderId}/shipping`, body: {} },
      {
        purchaseOrderId,
        lines: [{ lineNumber: '1', ordered: 2, units, statuses: [], refundedAmount: '0', refundReasons: [] }],
      },
    ],
  )
  return id
}

/** Sets the scene: an order that is shipped in part, and one with a held command. */
export const setScene = async (stage: ConsoleStage): Promise<Scene> => {
  const shippedOrder = await placeOrder(stage, 'KETTLE', 2)
  const heldOrder = await placeOrder(stage, 'TOASTER', 2)
  await dispatchUnit(stage, shippedOrder, 'KETTLE', trackingNumber)
  const heldCommand = await holdShipment(stage, heldOrder, '1ZHELD')
  await eventually(async () => {
    const answer = await stage.call('GET', `/v1/orders?trackingNumber=${trackingNumber}`)
    if (!(await answer.text()).includes(shippedOrder)) throw new Error('the parcel is not known')
  })
  await stage.client.query(
    `INSERT INTO tallyman.drift (seller_id, operation, kind, path, value, example, count)
     VALUES ($1, 'orders.list', 'value', 'orderLines.orderLine[].orderLineStatuses.orderLineStatus[].status', 'OnHold', 'OnHold', 3)`,
    [sellerId],
  )
  return { shippedOrder, heldOrder, heldCommand }
}

/** Adds what needs a person: a refund of more than was paid, which is rejected with an alarm, and a record that is not understood. */
export const addTrouble = async (stage: ConsoleStage, { shippedOrder }: Pick<Scene, 'shippedOrder'>): Promise<void> => {
  const line = { lineNumber: '1', quantity: 1, reason: 'DamagedItem', amount: '999999.00', currency: 'USD' }
  const data = { sellerId, purchaseOrderId: shippedOrder, lines: [line] }
  await stage.client.query(
    `INSERT INTO tallyman.erp_event (source, id, type, data) VALUES ('urn:erp', 'credit-too-much', $1, $2)`,
    ['erp.credit.issued', JSON.stringify(data)],
  )
  await stage.client.query(
    `INSERT INTO tallyman.quarantined_records (seller_id, resource, record_key, raw_hash, raw_text, fault, observed_at)
     VALUES ($1, 'returns', 'R-7', '\\x07', '{"returnOrderId": "R-7"}', 'returnOrderLines: is missing', now())`,
    [sellerId],
  )
  await eventually(async () => {
    const answer = await stage.call('GET', '/v1/alarms?kind=event-rejected')
    if (!(await answer.text()).includes('event-rejected')) throw new Error('there is no alarm of the rejected event')
  })
}
