import { z } from 'zod'
import type { Call, Operation } from '../calls/operation.ts'
import { blemishRecords } from '../calls/perform.ts'
import { maxOffset, readWhole } from '../calls/query.ts'
import { dayMs } from '../core/duration.ts'
import { gatewayRefusal } from '../core/errors.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { perMinute } from '../faults/limits.ts'
import { listFaults } from '../faults/schema.ts'
import { unitsIn } from '../rules/units.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import type { Item } from './model.ts'
import { gtinParameter, refuseValue } from './parameters.ts'
import { liveOn } from './simulation.ts'
import type { LogFilter } from './store.ts'

const defaultLimit = 10
const maxLimit = 300
/** The days of sales from which the insights follow. */
const salesDays = 28
/** The newest receipts, from which the age of the stock follows. */
const maxReceipts = 1_000

/** `GET /v3/wfs/inventory` of the live service: the stock of every item by offset, sorted by SKU. */
export const stockOnHand: Operation = {
  name: 'inventory.list',
  limit: perMinute(20),
  method: 'GET',
  urls: ['/v3/wfs/inventory'],
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'flat',
  faults: listFaults,
  perform: (world, call, plan, now) => ({ json: listStock(world, call, plan, now) }),
}

/** Body of `PUT /_sandbox/stock`: the list shows so many units more than the movements of a SKU add up to. */
export const stockBody = z.strictObject({
  sellerId: z.string().min(1).optional(),
  sku: z.string().min(1),
  difference: z.number().int().min(-1_000_000).max(1_000_000),
})

const differences = z.record(z.string(), z.number().int())
const buildKey = (sellerId: string): string => `stock:${sellerId}`

/** The planted differences of a seller, by SKU. */
export const listPlantedStock = (
  { meta }: World,
  sellerId: string,
): readonly { readonly sku: string; readonly difference: number }[] =>
  Object.entries(meta.read(buildKey(sellerId), differences))
    .map(([sku, difference]) => ({ sku, difference }))
    .filter(({ difference }) => difference !== 0)

/** Plants a difference between the list and the movements of a SKU; 0 removes it. */
export const plantDifference = ({ meta }: World, sellerId: string, sku: string, difference: number): void => {
  meta.keep(buildKey(sellerId), { ...meta.read(buildKey(sellerId), differences), [sku]: difference })
}

const listStock = (world: World, { sellerId, query }: Call, plan: FaultPlan, now: number): unknown => {
  if (!world.settings.dialect.fulfillment.stockOnHand)
    throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
  requireEnrolment(world, sellerId, 'fulfillment')
  const limit = readWhole(query, 'limit', defaultLimit, [1, maxLimit], refuseValue)
  const offset = readWhole(query, 'offset', 0, [0, maxOffset], refuseValue)
  const gtin = query.get('gtin')
  const filter = { sku: query.get('sku'), gtin: gtin === null ? null : gtinParameter(gtin) }
  liveOn(world, sellerId, now)
  world.inventory.seen(sellerId, now)
  const planted = world.meta.read(buildKey(sellerId), differences)
  const { items, total } = world.inventory.list(sellerId, filter, limit, offset)
  const inventory = items.map((item) => buildView(world, item, planted[item.sku] ?? 0, now))
  return {
    headers: { totalCount: total, limit, offset },
    payload: { inventory: blemishRecords(inventory, 'inventoryData', plan) },
  }
}

/** Units of marketplace-fulfilled orders that are not shipped yet. */
const countReserved = (world: World, { sellerId, sku }: Item): number =>
  world.orders
    .open(sellerId, 'WFSFulfilled', sku)
    .flatMap(({ lines }) => lines.filter((line) => line.item.sku === sku))
    .reduce((sum, line) => sum + unitsIn(line, 'Created', 'Acknowledged'), 0)

/** First days of the age groups, the oldest group last. */
const ages = [
  ['0To90days', 0],
  ['91To180days', 91],
  ['181To270days', 181],
  ['271To365days', 271],
  ['365PlusDays', 366],
] as const

/** The age of the stock: the first units to arrive leave first, so that the newest receipts are still there. */
const buildAge = (world: World, item: Item, onHand: number, now: number): Record<string, number> => {
  const filter: LogFilter = { from: 0, to: now, now, shipmentId: null, type: null, location: 'Inventory' }
  const receipts = world.inventory.log(item, filter, { column: null, direction: 'DESC' }, maxReceipts, 0)
  const units = new Map<string, number>(ages.map(([name]) => [name, 0]))
  let left = Math.max(0, onHand)
  const add = (count: number, at: number): void => {
    const days = Math.floor((now - at) / dayMs)
    const [name] = ages.findLast(([, first]) => days >= first) ?? ages[0]
    units.set(name, (units.get(name) ?? 0) + count)
    left -= count
  }
  for (const receipt of receipts) if (receipt.units > 0 && left > 0) add(Math.min(left, receipt.units), receipt.at)
  if (left > 0) add(left, item.firstAt)
  return Object.fromEntries(units)
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)

const buildView = (world: World, item: Item, difference: number, now: number): Record<string, unknown> => {
  const { stock, sold } = world.inventory.demand(item, now - salesDays * dayMs, now)
  const onhandUnits = stock + difference
  const reservedUnits = countReserved(world, item)
  const availableUnits = Math.max(0, onhandUnits - reservedUnits)
  const daysOfSupply = sold === 0 ? null : Math.floor((availableUnits * salesDays) / sold)
  const isScarce = daysOfSupply !== null && daysOfSupply < salesDays
  return {
    itemInformation: {
      itemName: item.productName,
      gtin: item.gtin,
      sku: item.sku,
      itemID: String(1_000_000 + item.id),
      offerID: `OFFER${item.id}`,
      brand: 'Dock Seven',
      itemCondition: 'New',
    },
    inventoryData: {
      publishingStatus: 'Published',
      itemLifecycle: 'Active',
      stockStatus: availableUnits === 0 ? 'Out-of-stock' : isScarce ? 'At-risk' : 'In-stock',
      availableUnits,
      reservedUnits,
      onhandUnits,
      inboundUnits: 0,
      unavailableUnits: { inventoryReviewUnits: 0, inventoryMovementUnits: 0 },
      inventoryAge: buildAge(world, item, onhandUnits, now),
      firstInStockDate: day(item.firstAt),
    },
    inventoryInsights: {
      daysOfSupply,
      outOfStockDate: daysOfSupply === null ? null : day(now + daysOfSupply * dayMs),
      salesForecastWeek1to4: sold,
      salesForecastWeek5to8: sold,
      salesForecastWeek9to12: sold,
      sellThroughRate: stock + sold === 0 ? 0 : Math.round((sold * 100) / (Math.max(0, stock) + sold)) / 100,
      suggestedUnits: Math.max(0, sold - availableUnits),
      surplusUnits: Math.max(0, availableUnits - 3 * sold),
    },
  }
}
