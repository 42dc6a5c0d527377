import type { Call, Operation } from '../calls/operation.ts'
import { blemishRecords } from '../calls/perform.ts'
import { dayMs } from '../core/duration.ts'
import { type ApiFault, Refusal } from '../core/errors.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { FaultPlan } from '../faults/faults.ts'
import { perMinute } from '../faults/limits.ts'
import { listFaults } from '../faults/schema.ts'
import { globalHeaders } from '../http/headers.ts'
import type { World } from '../world.ts'
import { requireEnrolment } from './enrolment.ts'
import { toUpc } from './gtin.ts'
import type { Item } from './model.ts'
import { liveOn } from './simulation.ts'

/** Most keys of one request (public facts, section 7.3). */
const maxKeys = 1_000
/** Days of sales that determine the demand, days of stock that are suggested, and their maximum. */
const lookBackDays = 28
const suggestedDays = 30
const maxDays = 90

/** Recommended shipment quantity (specification, section 5). Items that the seller does not have are left out of the answer. */
export const recommendations: Operation = {
  name: 'replenishment.recommend',
  limit: perMinute(100),
  method: 'POST',
  urls: ['/v3/wfs/recommendation/shipment-quantity', '/v3/wfs/recommendations/inbound'],
  admission: 'marketplace',
  // The live service counts this operation among the global ones (public facts, section 7.3).
  requiredHeaders: (dialect) => (dialect.fulfillment.recommendationIsGlobal ? globalHeaders(dialect) : []),
  // The SKUs may also be in the query, and then there is no body.
  body: 'optional-json',
  writes: false,
  errorShape: 'wfs',
  faults: listFaults,
  perform: (world, call, plan, now) => ({ json: recommend(world, call, plan, now) }),
}

const recommend = (world: World, call: Call, plan: FaultPlan, now: number): unknown => {
  const { sellerId } = call
  requireEnrolment(world, sellerId, 'fulfillment')
  const { gtins, skus } = buildKeys(world, call)
  liveOn(world, sellerId, now)
  const found =
    gtins === null ? skus.flatMap((sku) => world.inventory.item(sellerId, sku) ?? []) : listItems(world, sellerId, gtins)
  if (gtins !== null && found.length === 0) throw refuse(500, "All GTIN's are invalid")
  const unique = [...new Map(found.map((item) => [item.id, item])).values()]
  const replenishments = unique.map((item) => buildView(world, item, now))
  return { status: 'OK', payload: { replenishments: blemishRecords(replenishments, 'vendorSku', plan) } }
}

interface Keys {
  /** `null` when SKUs are asked for. */
  readonly gtins: readonly string[] | null
  readonly skus: readonly string[]
}

/** Either GTINs or SKUs, in the body under the profile's names; or SKUs as repeated query parameters `sku` (specification, section 5). */
const buildKeys = ({ settings }: World, { body, query }: Call): Keys => {
  const { gtinsField, skusField } = settings.dialect.fulfillment
  const given = isObject(body) ? body : {}
  const gtins = buildList(given, gtinsField)
  const inBody = buildList(given, skusField)
  const inQuery = new URLSearchParams(query.raw).getAll('sku').filter((sku) => sku !== '')
  const skus = [...inBody, ...inQuery]
  if (gtins.length === 0 && skus.length === 0) throw refuse(400, 'gtin/sku is required attribute.')
  if (gtins.length > 0 && skus.length > 0) throw refuse(400, 'Either gtin or sku is accepted, not both.')
  if (gtins.length + skus.length > maxKeys) throw refuse(400, `No more than ${maxKeys} items are accepted.`)
  return { gtins: gtins.length > 0 ? gtins : null, skus }
}

const buildList = (body: JsonObject, name: string): string[] => {
  const value = body[name]
  if (value === undefined || value === null) return []
  const words = Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '') : []
  if (!Array.isArray(value) || words.length !== value.length) throw refuse(400, `${name} must be an array of strings.`)
  return words
}

const listItems = (world: World, sellerId: string, gtins: readonly string[]): Item[] =>
  gtins.flatMap((gtin) => (/^\d{14}$/.test(gtin) ? world.inventory.itemsOfGtin(sellerId, gtin) : []))

const buildView = (world: World, item: Item, now: number): Record<string, unknown> => {
  const { stock, sold } = world.inventory.demand(item, now - lookBackDays * dayMs, now)
  const needed = (days: number): number => Math.max(0, Math.ceil((sold * days) / lookBackDays) - stock)
  const suggestedQty = needed(suggestedDays)
  return {
    itemId: String(900_000_000 + item.id),
    gtin: item.gtin,
    upc: toUpc(item.gtin),
    vendorSku: item.sku,
    // Where nothing was sold there is nothing to suggest, and the field is missing.
    ...(sold === 0 ? {} : { suggestedQty }),
    maxQty: needed(maxDays),
    ...(world.settings.dialect.fulfillment.liveFields ? { customerFavorite: sold > lookBackDays } : {}),
  }
}

/** The service's own errors (public facts, section 6.1). */
const refuse = (status: 400 | 500, description: string): Refusal => {
  const fault: ApiFault = {
    code: `${status}.WFS.100`,
    field: 'data',
    description,
    severity: 'ERROR',
    category: status === 400 ? 'DATA' : 'SYSTEM',
  }
  return new Refusal(status, [fault], 'wfs')
}
