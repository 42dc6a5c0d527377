// An ERP in one file, to start from: it follows the orders of Tallyman, accepts them, ships what is in stock and cancels the rest. Replace the
// functions of "The warehouse" by your own systems. `npm start` runs it beside an installed package, with Node 24.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createTallymanClient, followChanges, listAll, Refused, sendEvents, Unreachable, unwrap } from 'tallyman/client'
import type { Change, ErpEvent, Order } from 'tallyman/types'

const source = '/example-erp'
const stateFile = process.env['ERP_STATE'] ?? 'erp-state.json'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

const client = createTallymanClient({
  url: process.env['TALLYMAN_URL'] ?? 'http://127.0.0.1:8080',
  apiKey: process.env['API_KEY'],
  eventsSecret: process.env['EVENTS_SECRET'],
  signal: stopping.signal,
})

// ── The warehouse ──

/** Units in stock by SKU. A SKU that is not listed has `usualStock` units. */
type Stock = Record<string, number>
const usualStock = 5

interface State {
  /** Number of the last change that was handled. Null: none yet. */
  position: string | null
  stock: Stock
  /** What was decided for each order, by its name. A decision is stored before it is sent, so a restart sends the same one again. */
  decisions: Record<string, ErpEvent[]>
}

/** A label of the carrier for one parcel. */
const buyLabel = (order: Order): { carrier: string; trackingNumber: string } => ({
  carrier: 'UPS',
  trackingNumber: `1Z${order.purchaseOrderId.padStart(16, '0').slice(-16)}`,
})

/** Takes units out of stock. The answer is the number that was there. */
const pick = (stock: Stock, sku: string, wanted: number): number => {
  const available = stock[sku] ?? usualStock
  const taken = Math.min(available, wanted)
  stock[sku] = available - taken
  return taken
}

// ── Decisions ──

const buildEvent = <Type extends ErpEvent['type']>(
  type: Type,
  id: string,
  data: Extract<ErpEvent, { type: Type }>['data'],
): { specversion: '1.0'; source: string; type: Type; id: string; data: typeof data } => ({
  specversion: '1.0',
  source,
  // The id is the same each time, so the daemon takes an event that is sent twice for a duplicate.
  id,
  type,
  data,
})

/** The events that fulfil an order: accept it, ship what is in stock, cancel what is not. */
const decide = (order: Order, stock: Stock): ErpEvent[] => {
  const { sellerId, purchaseOrderId } = order
  const name = { sellerId, purchaseOrderId }
  const shipped: { lineNumber: string; quantity: number }[] = []
  const missing: { lineNumber: string; quantity: number; reason: string }[] = []
  for (const { lineNumber, sku, intentToCancel, ledger } of order.lines) {
    const open = ledger?.available.ship ?? 0
    const quantity = intentToCancel ? 0 : pick(stock, sku ?? lineNumber, open)
    const reason = intentToCancel ? 'CUSTOMER_REQUESTED_SELLER_TO_CANCEL' : 'SELLER_CANCEL_OUT_OF_STOCK'
    if (quantity > 0) shipped.push({ lineNumber, quantity })
    if (quantity < open) missing.push({ lineNumber, quantity: open - quantity, reason })
  }
  const events: ErpEvent[] = []
  if (shipped.length > 0 || missing.length > 0) events.push(buildEvent('erp.order.accepted', `accept-${purchaseOrderId}`, name))
  if (missing.length > 0) {
    events.push(buildEvent('erp.lines.unfulfillable', `cancel-${purchaseOrderId}`, { ...name, lines: missing }))
  }
  if (shipped.length > 0) {
    const parcel = { ...buyLabel(order), shippedAt: new Date().toISOString(), lines: shipped }
    events.push(buildEvent('erp.shipment.dispatched', `ship-${purchaseOrderId}`, { ...name, parcels: [parcel] }))
  }
  return events
}

// ── State ──

const readState = async (): Promise<State> => {
  try {
    return JSON.parse(await readFile(stateFile, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { position: null, stock: {}, decisions: {} }
    throw error
  }
}

const writeState = async (state: State): Promise<void> => {
  await writeFile(`${stateFile}.new`, JSON.stringify(state))
  await rename(`${stateFile}.new`, stateFile)
}

const state = await readState()

// ── Work ──

/** Sends the events of an order, one at a time. A refusal needs a clerk: the reason is printed. */
const send = async (events: readonly ErpEvent[]): Promise<void> => {
  for (const event of events) {
    try {
      for (const { status } of await sendEvents(client, event)) console.log(`${event.id}: ${status}`)
    } catch (error) {
      if (!(error instanceof Refused) || error.status === 429 || error.status >= 500) throw error
      console.error(`${event.id} was refused: ${[error.message, ...error.notes].join('; ')}`)
    }
  }
}

const fulfil = async (sellerId: string, purchaseOrderId: string): Promise<void> => {
  const name = `${sellerId} ${purchaseOrderId}`
  if (state.decisions[name] === undefined) {
    const order = unwrap(
      await client.GET('/v1/orders/{purchaseOrderId}', { params: { path: { purchaseOrderId }, query: { sellerId } } }),
    )
    // Orders that the marketplace fulfils are not ours to ship.
    if (!order.open || !order.fulfilledBySeller) return
    state.decisions[name] = decide(order, state.stock)
    await writeState(state)
  }
  await send(state.decisions[name])
}

const handle = async (change: Change): Promise<void> => {
  const { type, sellerId, purchaseOrderId } = change
  if (type === 'order.seen' && purchaseOrderId !== null) await fulfil(sellerId, purchaseOrderId)
  else console.log(`${type} of order ${purchaseOrderId ?? 'none'}`)
  state.position = change.seq
  await writeState(state)
}

/** Prints the work that is open now, as a check that nothing was missed. */
const printOpenOrders = async (): Promise<void> => {
  let count = 0
  for await (const _ of listAll((page) => client.GET('/v1/orders', { params: { query: { open: true, ...page } } }))) count += 1
  console.log(`${count} open orders`)
}

const run = async (): Promise<void> => {
  await printOpenOrders()
  const types = 'order.seen,command.confirmed,command.rejected,command.held'
  const after = state.position ?? undefined
  for await (const change of followChanges(client, { types, after, signal: stopping.signal })) await handle(change)
}

while (!stopping.signal.aborted) {
  try {
    await run()
  } catch (error) {
    if (stopping.signal.aborted) break
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error
    console.error(`${error.message}; the next attempt is in 5 s`)
    await delay(5_000)
  }
}
