import { contentNotFound } from '../core/errors.ts'
import { addUnknownValues, breakRecord } from '../faults/blemishes.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { viewOrder } from '../http/order-view.ts'
import type { World } from '../world.ts'
import type { Call } from './operation.ts'
import { getOrder, type ListPage, listOrders, type ReadOptions } from './orders-read.ts'
import { listReturns } from './returns-read.ts'
import { applyWrite, isWriteOperation } from './writes.ts'

/** Does what a call about orders or returns asks for and gives the body of the answer. Throws a `Refusal`. */
export function perform(world: World, call: Call, plan: FaultPlan, now: number): unknown {
  const read: ReadOptions = { sellerId: call.sellerId, now, listLagMs: plan.listLagMs }
  if (isWriteOperation(call.operation)) {
    const actor = { by: 'seller', correlationId: call.correlationId, requestId: call.requestId } as const
    const order = applyWrite(world, call.operation, call.sellerId, call.purchaseOrderId, call.body, actor, now)
    const view = viewOrder(order, { productInfo: false, replacementInfo: false })
    return { order: blemishRecords([view], 'purchaseOrderId', plan)[0] }
  }
  switch (call.operation) {
    case 'orders.get': {
      const { order } = getOrder(world, call.query, call.purchaseOrderId, read)
      return { order: blemishRecords([order], 'purchaseOrderId', plan)[0] }
    }
    case 'returns.list': {
      const page = listReturns(world, call.query, read)
      refuseEmpty(page, plan, 'GMP_RETURNS_API')
      return { meta: metaOf(page, call, plan), returnOrders: blemishRecords(page.records, 'returnOrderId', plan) }
    }
    default: {
      const page = listOrders(world, call.query, call.operation === 'orders.released', read)
      refuseEmpty(page, plan, 'GMP_ORDER_API')
      return {
        list: { meta: metaOf(page, call, plan), elements: { order: blemishRecords(page.records, 'purchaseOrderId', plan) } },
      }
    }
  }
}

/** Nothing found is a 404 of severity INFO on a first page; past the end of a cursor it is an empty page. */
function refuseEmpty(page: ListPage, plan: FaultPlan, component: string): void {
  if (page.records.length === 0 && !page.onCursor && !plan.emptyList)
    throw contentNotFound('No orders found for the given search', component)
}

function metaOf(page: ListPage, call: Call, plan: FaultPlan): Record<string, unknown> {
  const repeat = plan.blemishes.has('repeatCursor') && page.onCursor && page.nextCursor !== null
  const nextCursor = repeat ? `?${call.query.raw}` : page.nextCursor
  return { totalCount: page.totalCount, limit: page.limit, ...(nextCursor === null ? {} : { nextCursor }) }
}

/** Rows as they are shown when a fault strikes them. */
export function blemishRecords(records: readonly Record<string, unknown>[], keyField: string, plan: FaultPlan): unknown[] {
  const { blemishes, random } = plan
  const index = random.whole(0, Math.max(0, records.length - 1))
  const chosen = records[index]
  const shown: unknown[] = blemishes.has('unknownValue') ? records.map(addUnknownValues) : [...records]
  if (chosen === undefined) return shown
  if (blemishes.has('malformedRecord')) shown[index] = breakRecord(chosen, keyField, random)
  if (blemishes.has('duplicateRows')) shown.push(chosen)
  return shown
}
