import { z } from 'zod'
import { findRule } from '../../../sandbox/faults/records.ts'
import type { TestSandbox } from '../../support/sandbox.ts'

/** The seller whose orders are hidden. */
export const sellerId = 'sandbox-seller'
const minuteMs = 60_000
const dayMs = 86_400_000
/** New orders come this often. */
const tickMs = 10 * minuteMs
/** Of all orders; the others come while we look. */
const pastShare = 0.4
/** Kinds of orders, with their share of the seller's. */
const nodeShares = { SellerFulfilled: 0.6, WFSFulfilled: 0.3, '3PLFulfilled': 0.1 } as const
const faultSeed = 1

/** What of an order no list shows. */
export type Hidden = 'shown' | 'for a while' | 'for ever'
/** What can name an order besides the lists. */
export type Naming = 'event' | 'return' | 'inventory log'

/** An order, and when others than the lists have named it. */
export interface HiddenOrder {
  readonly id: string
  readonly cameMs: number
  readonly hidden: Hidden
  readonly node: keyof typeof nodeShares
  readonly namings: { readonly by: Naming; readonly atMs: number }[]
}

/** Something that happens at the marketplace or at the seller's. */
export interface Happening {
  readonly atMs: number
  happen(): Promise<void>
}

/** How many there are, and what part of them is hidden. */
export interface HidingPlan {
  readonly orders: number
  readonly forEver: number
  /** Another share, that no list shows for so long; recent orders are read again by creation date as often. */
  readonly forAWhile: number
  readonly whileMs: number
  /** New ones come for so long. */
  readonly arrivalMs: number
  readonly pollOrdersMs: number
}

/** What a world is made of. */
export interface HidingWorldParts {
  readonly plan: HidingPlan
  readonly sandbox: TestSandbox
  readonly nowMs: () => number
  /** An event of the ERP names an order. */
  readonly nameByEvent: (id: string) => Promise<void>
  /** The seller's own ERP takes an order. */
  readonly acknowledge: (id: string) => Promise<void>
}

const placed = z.object({ purchaseOrderIds: z.array(z.string()) })
const limits = z.object({ operations: z.record(z.string(), z.object({ tokens: z.number(), perMs: z.number() }).nullable()) })

/**
 * Fills the sandbox: a past of a month, and what comes in the next hours. Of what is hidden three of four are named by something, in
 * turn: an event, a return, the inventory log. Answers all orders so far, and what is still to happen.
 */
export const openHidingWorld = async (
  parts: HidingWorldParts,
): Promise<{ readonly orders: readonly HiddenOrder[]; readonly happenings: Happening[] }> => {
  const { plan, sandbox, nowMs, nameByEvent, acknowledge } = parts
  const rules = [
    { records: 'orders' as const, share: plan.forEver },
    { records: 'orders' as const, share: plan.forAWhile, forMs: plan.whileMs },
  ]
  const orders: HiddenOrder[] = []
  const happenings: Happening[] = []
  let turn = 0

  const hiddenAs = (id: string): Hidden => {
    const rule = findRule(rules, { records: 'orders', sellerId, id }, 'hidden', faultSeed)
    return rule === null ? 'shown' : rule.forMs === undefined ? 'for ever' : 'for a while'
  }
  const later = (atMs: number, happen: () => Promise<void>): void => {
    const place = happenings.findIndex((other) => other.atMs > atMs)
    happenings.splice(place === -1 ? happenings.length : place, 0, { atMs, happen })
  }

  const byEvent = async (order: HiddenOrder): Promise<void> => {
    order.namings.push({ by: 'event', atMs: nowMs() })
    await nameByEvent(order.id)
  }
  const byLog = async (order: HiddenOrder): Promise<void> => {
    order.namings.push({ by: 'inventory log', atMs: nowMs() })
    const movement = { sku: 'MUG-ENAMEL-12', changedUnits: -1, shipmentId: order.id }
    await sandbox.control('POST', '/inventory/movements', { movements: [movement] })
  }
  // Only what was delivered can come back; another order is named by an event.
  const byReturn = async (order: HiddenOrder): Promise<void> => {
    const delivered = (await sandbox.effects(order.id)).find(({ kind }) => kind === 'delivered')
    if (delivered === undefined) return byEvent(order)
    const answer = await fetch(`${sandbox.url}/_sandbox/returns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        purchaseOrderId: order.id,
        lines: [{ lineNumber: delivered.lineNumber, quantity: 1 }],
        travels: false,
      }),
    })
    await answer.text()
    if (answer.status === 409) await byEvent(order)
    else if (answer.ok) order.namings.push({ by: 'return', atMs: nowMs() })
    else throw new Error(`a return of ${order.id} is answered with ${answer.status}`)
  }
  const ways = [byEvent, byLog, byReturn, null]

  const place = async (count: number, node: HiddenOrder['node'], more: object): Promise<void> => {
    for (let left = count; left > 0; left -= 1_000) {
      const body = { sellerId, count: Math.min(left, 1_000), shipNodeType: node, ...more }
      const { purchaseOrderIds } = placed.parse(await sandbox.control('POST', '/orders', body))
      for (const id of purchaseOrderIds) {
        const order: HiddenOrder = { id, cameMs: nowMs(), hidden: hiddenAs(id), node, namings: [] }
        orders.push(order)
        if (order.hidden === 'shown') continue
        turn += 1
        const way = ways[turn % ways.length]
        // Some are named at once, others when they are hidden no more.
        if (way !== null && way !== undefined) later(order.cameMs + ((turn % 25) / 24) * plan.whileMs, () => way(order))
      }
    }
  }
  const placeAll = async (count: number, more: object): Promise<readonly HiddenOrder[]> => {
    const before = orders.length
    for (const [node, share] of Object.entries(nodeShares)) if (isNode(node)) await place(Math.round(count * share), node, more)
    return orders.slice(before)
  }

  const { operations } = limits.parse(await sandbox.control('GET', '/limits'))
  const virtual = Object.entries(operations).map(([name, limit]) => [
    name,
    limit === null ? null : { ...limit, clock: 'virtual' },
  ])
  // The ERP that acknowledges is no part of what is looked at.
  await sandbox.control('PUT', '/limits', {
    enabled: true,
    operations: { ...Object.fromEntries(virtual), 'orders.acknowledge': null },
  })
  await sandbox.control('PUT', '/faults', { seed: faultSeed, hidden: rules })
  const beginMs = nowMs()
  const daysAgo = (days: number): string => new Date(beginMs - days * dayMs).toISOString()
  await placeAll(Math.round(plan.orders * pastShare), { createdFrom: daysAgo(36), createdTo: daysAgo(6.1) })
  const ticks = Math.min(plan.arrivalMs / tickMs, Math.max(1, Math.floor((plan.orders * (1 - pastShare)) / 10)))
  for (let tick = 1; tick <= ticks; tick += 1) {
    later(beginMs + (tick * plan.arrivalMs) / ticks, async () => {
      const come = await placeAll((plan.orders * (1 - pastShare)) / ticks, {})
      later(nowMs() + 60 * minuteMs, async () => {
        for (const { id, node } of come) if (node !== 'WFSFulfilled') await acknowledge(id)
      })
    })
  }
  return { orders, happenings }
}

const isNode = (name: string): name is HiddenOrder['node'] => Object.hasOwn(nodeShares, name)
