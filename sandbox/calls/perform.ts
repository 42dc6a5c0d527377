import { contentNotFound, gatewayRefusal, Refusal, refuseParameter } from '../core/errors.ts'
import { addUnknownValues, breakRecord, changeTypes } from '../faults/blemishes.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { type Body, type RecordKind, uncoded } from '../faults/schema.ts'
import { viewOrder } from '../http/order-view.ts'
import { getOrder, type ListPage, listOrders, type ReadOptions } from '../orders/orders-read.ts'
import { listReturns } from '../orders/returns-read.ts'
import { applyWrite, isWriteOperation } from '../orders/writes.ts'
import type { World } from '../world.ts'
import type { Call } from './operation.ts'

const defaultStaleMs = 60_000
const maxRepeatedRows = 5
/** More than the daemon, or any sensible client, takes at once. */
const defaultOversizeBytes = 40_000_000

/** Does what a call about orders or returns asks for and gives the body of the answer. Throws a `Refusal`. */
export const perform = (world: World, call: Call, plan: FaultPlan, now: number): unknown => {
  const read = readOptions(world, call, plan, now)
  if (isWriteOperation(call.operation)) {
    const actor = { by: 'seller', correlationId: call.correlationId, requestId: call.requestId } as const
    const { operation, sellerId, purchaseOrderId, body } = call
    const partial = {
      effect: plan.blemishes.get('partialEffect') ?? null,
      answer: plan.blemishes.get('partialAnswer') ?? null,
      random: plan.random,
    }
    const order = applyWrite(world, { operation, sellerId, purchaseOrderId, body, actor }, partial, now)
    const view = viewOrder(order, { ...read, productInfo: false, replacementInfo: false })
    return { order: blemishRecords([view], 'purchaseOrderId', plan)[0] }
  }
  switch (call.operation) {
    case 'orders.get': {
      if (plan.blemishes.has('falseNone')) throw contentNotFound(`No order found for PO: ${call.purchaseOrderId}`)
      const { order } = getOrder(world, call.query, call.purchaseOrderId, read)
      const [shown] = poison([order], orders, call, plan, true)
      return { order: blemishRecords(shown === undefined ? [] : [shown], 'purchaseOrderId', plan)[0] }
    }
    case 'returns.list': {
      const page = spoilPage(listReturns(world, call.query, read), returns, call, plan)
      refuseEmpty(page, plan, 'GMP_RETURNS_API')
      return { meta: buildMeta(page, call, plan), returnOrders: blemishRecords(page.records, 'returnOrderId', plan) }
    }
    default: {
      const page = spoilPage(listOrders(world, call.query, call.operation === 'orders.released', read), orders, call, plan)
      refuseEmpty(page, plan, 'GMP_ORDER_API')
      return {
        list: { meta: buildMeta(page, call, plan), elements: { order: blemishRecords(page.records, 'purchaseOrderId', plan) } },
      }
    }
  }
}

const readOptions = (
  { settings }: World,
  { sellerId }: Call,
  { blemishes, listLagMs, random }: FaultPlan,
  now: number,
): ReadOptions => {
  const stale = blemishes.get('stale')
  const repeated = blemishes.get('repeatedRows')
  return {
    sellerId,
    now,
    listLagMs,
    asOf: stale === undefined ? null : now - (stale.delayMs ?? defaultStaleMs),
    previousRows: repeated === undefined ? 0 : (repeated.rows ?? random.whole(1, maxRepeatedRows)),
    refundsAsMoney: blemishes.has('refundsAsMoney'),
    positiveRefunds: blemishes.has('positiveRefunds'),
    liveFields: settings.dialect.liveRecordFields,
  }
}

interface Listed {
  readonly records: RecordKind
  readonly keyField: string
}
const orders: Listed = { records: 'orders', keyField: 'purchaseOrderId' }
const returns: Listed = { records: 'returns', keyField: 'returnOrderId' }

type ViewedRecord = Record<string, unknown>

/** A page as faults leave it: poisoned, denied, or with records of the page before. */
const spoilPage = (page: ListPage, kind: Listed, call: Call, plan: FaultPlan): ListPage => {
  if (plan.blemishes.has('falseNone')) return { ...page, records: [], totalCount: 0, nextCursor: null }
  return { ...page, records: [...page.previous, ...poison(page.records, kind, call, plan, false)] }
}

/** Poisoned records make their page fail, or are oversized. */
const poison = (
  records: readonly ViewedRecord[],
  { records: kind, keyField }: Listed,
  call: Call,
  plan: FaultPlan,
  alone: boolean,
): ViewedRecord[] =>
  records.map((record) => {
    const found = plan.findPoison({ records: kind, sellerId: call.sellerId, id: String(record[keyField]) }, alone)
    if (found === null) return record
    if (found.kind === 'swollen') return swollen(record, found.bytes)
    throw poisoned(found.status, found.body)
  })

/** An answer that does not identify the record at which it failed (public facts, section 6.3). */
const poisoned = (status: number, body: Body): Refusal => {
  const shape = body === 'coded' ? 'nested' : uncoded[body]
  const { faults } =
    status < 500
      ? refuseParameter('data', 'Invalid Request')
      : gatewayRefusal(status, 'SYSTEM_ERROR', 'data', 'Internal Server Error - Read')
  return new Refusal(status, faults, shape)
}

const swollen = (record: ViewedRecord, bytes: number): ViewedRecord => ({ ...record, padding: 'x'.repeat(bytes) })

/** Nothing found is a 404 of severity INFO on a first page; past the end of a cursor it is an empty page. */
const refuseEmpty = (page: ListPage, plan: FaultPlan, component: string): void => {
  if (page.totalCount === 0 && !page.onCursor && !plan.emptyList)
    throw contentNotFound('No orders found for the given search', component)
}

const buildMeta = (page: ListPage, call: Call, plan: FaultPlan): Record<string, unknown> => {
  const repeat = plan.blemishes.has('repeatCursor') && page.onCursor && page.nextCursor !== null
  const nextCursor = repeat ? `?${call.query.raw}` : page.nextCursor
  return { totalCount: page.totalCount, limit: page.limit, ...(nextCursor === null ? {} : { nextCursor }) }
}

/** Rows as they are shown when a fault strikes them. */
export const blemishRecords = (records: readonly Record<string, unknown>[], keyField: string, plan: FaultPlan): unknown[] => {
  const { blemishes, random } = plan
  const rows = misplaced(records, plan)
  const index = random.whole(0, Math.max(0, rows.length - 1))
  const chosen = rows[index]
  const typed = blemishes.has('changedType') ? rows.map(changeTypes) : rows
  const shown: unknown[] = blemishes.has('unknownValue') ? typed.map(addUnknownValues) : [...typed]
  if (chosen === undefined) return shown
  if (blemishes.has('malformedRecord')) shown[index] = breakRecord(chosen, keyField, random)
  if (blemishes.has('duplicateRows')) shown.push(chosen)
  return shown
}

/** Rows some of which are missing, or in another order, or too large. */
const misplaced = (records: readonly ViewedRecord[], { blemishes, random }: FaultPlan): readonly ViewedRecord[] => {
  const missing = blemishes.get('missingRows')
  const large = blemishes.get('oversized')
  if (missing === undefined && large === undefined && !blemishes.has('reorderedRows')) return records
  const rows = [...records]
  const count = missing === undefined ? 0 : (missing.rows ?? random.whole(1, Math.max(1, Math.ceil(rows.length / 3))))
  const takeAny = (): ViewedRecord[] => rows.splice(random.whole(0, rows.length - 1), 1)
  for (let left = count; left > 0 && rows.length > 0; left -= 1) takeAny()
  const ordered = blemishes.has('reorderedRows') ? rows.slice().flatMap(takeAny) : rows
  if (large === undefined) return ordered
  return ordered.map((record, index) => (index === 0 ? swollen(record, large.bytes ?? defaultOversizeBytes) : record))
}
