import type { Cents } from '../core/money.ts'

/** Where returned units are; a unit passes through them from left to right (public facts, section 4.2). */
const returnStates = ['RETURN_INITIATED', 'RETURN_IN_TRANSIT', 'DELIVERED_AT_RETURN_CENTER', 'REFUND_ISSUED'] as const
export type ReturnState = (typeof returnStates)[number]

export interface ReturnStep {
  state: ReturnState
  quantity: number
  at: number
}

export interface ReturnedLine {
  readonly returnOrderLineNumber: number
  readonly purchaseOrderId: string
  readonly purchaseOrderLineNumber: string
  readonly sku: string
  readonly productName: string
  readonly reason: string
  /** Goods that are dealt with as an exception; their refund goes through the order (public facts, section 4.3). */
  readonly exceptionItemType?: string
  readonly quantity: number
  readonly unitPrice: Cents
  readonly unitTax: Cents
  refundedQuantity: number
  refundedAmount: Cents
  steps: ReturnStep[]
  /** How the money went or will go back, split by quantity. */
  channels: { name: string; quantity: number }[]
}

/** A return order as the sandbox keeps it; times are epoch milliseconds of the virtual clock. */
export interface ReturnOrder {
  readonly sellerId: string
  readonly returnOrderId: string
  readonly customerOrderId: string
  readonly customerEmail: string
  readonly customerName: string
  readonly wfs: boolean
  readonly createdAt: number
  readonly returnBy: number
  readonly currency: string
  readonly trackingNumber: string
  readonly lines: ReturnedLine[]
}

/** INITIATED, DELIVERED or COMPLETED: what the `status` filter compares with (public facts, section 4.2). */
export const statusGroup = (order: ReturnOrder): 'INITIATED' | 'DELIVERED' | 'COMPLETED' => {
  const ranks = order.lines.flatMap((line) => line.steps.map((step) => returnStates.indexOf(step.state)))
  const least = Math.min(...ranks)
  return least >= 3 ? 'COMPLETED' : least === 2 ? 'DELIVERED' : 'INITIATED'
}

/** Moves units of a returned line one state on; gives how many really moved. */
export const moveReturned = (line: ReturnedLine, from: ReturnState, to: ReturnState, quantity: number, at: number): number => {
  let moved = 0
  for (const step of line.steps) {
    if (step.state !== from || moved === quantity) continue
    const part = Math.min(step.quantity, quantity - moved)
    step.quantity -= part
    moved += part
  }
  if (moved > 0) {
    const like = line.steps.find((step) => step.state === to && step.at === at)
    if (like === undefined) line.steps.push({ state: to, quantity: moved, at })
    else like.quantity += moved
  }
  line.steps = line.steps.filter((step) => step.quantity > 0)
  return moved
}
