import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { findMonth, monthAfter, pacificMonth } from '../core/pacific.ts'
import { body, checked, duration, Misused, registeredSeller } from '../http/control-request.ts'
import type { Life } from '../life/live.ts'
import type { World } from '../world.ts'
import { makeItems } from './bulk.ts'
import { channelSettings, keepChannelSettings, readChannelSettings } from './channels.ts'
import { type Discrepancy, discrepancyKinds } from './discrepancy.ts'
import { enrol, enrolmentBody, readEnrolment } from './enrolment.ts'
import { cells, type Item, moved } from './model.ts'
import { compare, NoSuchPlace, plant, repair } from './planted.ts'
import { generationAt } from './report-period.ts'
import { keepReportSettings, readReportSettings, reportSettings } from './report-settings.ts'
import { liveOn, nextGtin } from './simulation.ts'
import { listPlantedStock, plantDifference, stockBody } from './stock.ts'
import type { LogFilter } from './store.ts'

const seller = { sellerId: z.string().min(1).optional() }
const moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))
const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month, YYYY-MM')
  .transform(pacificMonth)

const inventoryQuery = z.object({
  ...seller,
  after: z.string().default(''),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
})
const bulkBody = z.strictObject({
  ...seller,
  skus: z.number().int().min(1).max(1_000_000).default(1),
  entriesPerSku: z.number().int().min(0).max(10_000).default(10),
  /** Left out: from the beginning of last month to what the latest reports cover. */
  from: moment.optional(),
  to: moment.optional(),
  prefix: z
    .string()
    .regex(/^[\w.-]{1,30}$/, 'must be 1 to 30 letters, digits, dots, hyphens or underscores')
    .default('SKU'),
  /** Whether everything of the seller is removed first, planted discrepancies included. */
  replace: z.boolean().default(false),
})
const movement = z.strictObject({
  sku: z.string().min(1),
  changedUnits: z.number().int().min(-1_000_000).max(1_000_000),
  transactionTime: moment.optional(),
  /** When the log begins to show it; reports count it from then on. Default: always. */
  appearsAt: moment.optional(),
  /** The same as time from now. */
  appearsIn: duration.optional(),
  transactionType: z.string().min(1).default('Adjustment'),
  transactionLocation: z.enum(['Inventory', 'Salvage']).default('Inventory'),
  transactionReasonCode: z.string().default('ADJ'),
  transactionReasonDesc: z.string().default('Inventory Correction'),
  fcName: z.string().default('KY1'),
  shipmentId: z.string().optional(),
  id: z.string().min(1).optional(),
  /** Of a SKU that is new with this movement. */
  gtin: z
    .string()
    .regex(/^\d{14}$/, 'must have 14 digits')
    .optional(),
  productName: z.string().optional(),
  openingUnits: z.number().int().min(0).default(0),
})
const movementsBody = z.strictObject({ ...seller, movements: z.array(movement).min(1).max(10_000) })
const discrepancyBody = z.strictObject({
  ...seller,
  sku: z.string().min(1),
  month,
  kind: z.enum(discrepancyKinds),
  units: z.number().int().min(-1_000_000).max(1_000_000).optional(),
  cell: z.enum(cells).optional(),
  entryId: z.string().min(1).optional(),
})
const sellerQuery = z.object(seller)
const idParameter = z.object({ id: z.coerce.number().int().min(1) })

/** What is planted in the inventory of a seller, lived up to now. */
export const viewPlantedInventory = (world: World, sellerId: string) => {
  liveOn(world, sellerId, world.clock.now())
  return {
    inventoryDiscrepancies: world.discrepancies.list(sellerId).map((discrepancy) => view(world, discrepancy)),
    stockDifferences: listPlantedStock(world, sellerId),
    lateEntries: world.discrepancies.listLate(sellerId).map(({ sku, entryId, units, at, appearsAt }) => ({
      ...{ sku, entryId, units },
      transactionTime: new Date(at).toISOString(),
      appearsAt: new Date(appearsAt).toISOString(),
    })),
  }
}

/** Control routes of the fulfilment service. */
export const registerFulfillmentControl = (app: FastifyInstance, world: World, life: Life): void => {
  /** The seller whose inventory is meant, lived up to now. */
  const findSeller = (named?: string): string => {
    const sellerId = registeredSeller(world, named)
    liveOn(world, sellerId, world.clock.now())
    return sellerId
  }
  const findItem = (sellerId: string, sku: string): Item => {
    const item = world.inventory.item(sellerId, sku)
    if (item === null) throw new Misused(404, `sku: ${sellerId} has no ${sku}`)
    return item
  }

  app.get('/inventory', async (request) => {
    const { sellerId, after, limit } = checked(inventoryQuery, request.query)
    const items = world.inventory.page(findSeller(sellerId), after, limit)
    const now = world.clock.now()
    const { at, coveredUntil } = generationAt(now)
    return {
      reports: { generatedAt: new Date(at).toISOString(), coveredUntil: new Date(coveredUntil).toISOString() },
      items: items.map((item) => {
        const { sku, gtin, productName } = item
        const { stock } = world.inventory.demand(item, now, now)
        return { sku, gtin, productName, stock, entries: world.inventory.countLog(item, wholeLog(now)) }
      }),
      next: items.length === limit ? (items.at(-1)?.sku ?? null) : null,
    }
  })
  app.post('/inventory', async (request, reply) => {
    const asked = body(bulkBody, request)
    const sellerId = findSeller(asked.sellerId)
    const now = world.clock.now()
    const from = asked.from ?? pacificMonth(monthAfter(findMonth(now).name, -1)).from
    const to = asked.to ?? Math.max(from + 1, generationAt(now).coveredUntil)
    if (from >= to || to > now) throw new Misused(400, 'from: must be before to, and neither may lie in the future')
    if (asked.replace) world.database.transaction(() => world.inventory.dropItems(sellerId))
    const { skus, entriesPerSku, prefix } = asked
    const { first, last } = await makeItems(world, { sellerId, skus, entriesPerSku, from, to, prefix }, life.breathe)
    reply.code(201)
    return { sellerId, skus, entries: skus * entriesPerSku, firstSku: first, lastSku: last }
  })
  app.post('/inventory/movements', async (request, reply) => {
    const asked = body(movementsBody, request)
    const sellerId = findSeller(asked.sellerId)
    reply.code(201)
    return world.database.transaction(() => ({
      items: asked.movements.map((given) => move(world, sellerId, given, world.clock.now())),
    }))
  })
  app.get('/inventory/discrepancies', async (request) => {
    const sellerId = findSeller(checked(sellerQuery, request.query).sellerId)
    return { items: world.discrepancies.list(sellerId).map((discrepancy) => view(world, discrepancy)) }
  })
  app.post('/inventory/discrepancies', async (request, reply) => {
    const asked = body(discrepancyBody, request)
    const item = findItem(findSeller(asked.sellerId), asked.sku)
    try {
      const planted = plant(world, item, asked, world.clock.now())
      reply.code(201)
      return view(world, planted)
    } catch (error) {
      if (error instanceof NoSuchPlace) throw new Misused(409, error.message)
      throw error
    }
  })
  app.delete('/inventory/discrepancies/:id', async (request) => {
    const { id } = checked(idParameter, request.params)
    const discrepancy = world.discrepancies.find(id)
    if (discrepancy === null) throw new Misused(404, `id: there is no discrepancy ${id}`)
    repair(world, discrepancy)
    return { repaired: id }
  })
  app.get('/report', async () => readReportSettings(world))
  app.put('/report', async (request) => {
    keepReportSettings(world, body(reportSettings, request))
    return readReportSettings(world)
  })
  app.put('/stock', async (request) => {
    const { sellerId, sku, difference } = body(stockBody, request)
    const item = findItem(findSeller(sellerId), sku)
    plantDifference(world, item.sellerId, sku, difference)
    return { sellerId: item.sellerId, sku, difference }
  })
  app.put('/channels', async (request) => {
    const { sellerId, ...settings } = body(channelSettings.extend(seller), request)
    const of = findSeller(sellerId)
    keepChannelSettings(world, of, settings)
    return readChannelSettings(world, of)
  })
  app.put('/enrolment', async (request) => {
    const { sellerId, ...enrolment } = body(enrolmentBody, request)
    const of = findSeller(sellerId)
    enrol(world, of, enrolment)
    return { sellerId: of, ...readEnrolment(world, of) }
  })
}

const wholeLog = (now: number): LogFilter => ({ from: 0, to: now, now, shipmentId: null, type: null, location: null })

/** Stores one movement as given; an unknown SKU is created with it. */
const move = (world: World, sellerId: string, given: z.infer<typeof movement>, now: number): Record<string, unknown> => {
  const at = given.transactionTime ?? now
  const appearsAt = given.appearsAt ?? (given.appearsIn === undefined ? at : now + given.appearsIn)
  if (at > now) throw new Misused(400, 'transactionTime: must not lie in the future')
  if (appearsAt < at) throw new Misused(400, 'appearsAt: must not be before transactionTime')
  const { sku, openingUnits } = given
  const item =
    world.inventory.item(sellerId, sku) ??
    world.inventory.addItem({
      ...{ sellerId, sku, openingUnits, pace: 0, firstAt: at },
      productName: given.productName ?? `Product ${sku}`,
      gtin: given.gtin ?? nextGtin(world),
    })
  if (given.id !== undefined && world.inventory.hasEntry(item, given.id))
    throw new Misused(409, `id: ${sku} has an entry ${given.id}`)
  const wording = {
    type: given.transactionType,
    reasonCode: given.transactionReasonCode,
    reasonText: given.transactionReasonDesc,
  }
  const { fcName, transactionLocation: location } = given
  const more = { appearsAt, location, fcName, shipmentId: given.shipmentId ?? null, entryId: given.id ?? null }
  const [recorded] = world.inventory.record(item, [moved(wording, given.changedUnits, at, more)])
  return { sku, gtin: item.gtin, id: recorded?.entryId ?? null, transactionTime: new Date(at).toISOString() }
}

const view = (world: World, discrepancy: Discrepancy): Record<string, unknown> => {
  const { id, itemId, month: of, kind, cell, units, entryId, done } = discrepancy
  const item = world.inventory.itemById(itemId)
  if (item === null) throw new Error('a discrepancy has lost its item')
  const { reported, expected } = compare(world, item, discrepancy, world.clock.now())
  return {
    id,
    sellerId: item.sellerId,
    sku: item.sku,
    gtin: item.gtin,
    month: of,
    kind,
    cell,
    units,
    entryId,
    reported,
    expected,
    done,
  }
}
