import { dayMs } from '../core/duration.ts'
import { findMonth, monthAfter, pacificMonth } from '../core/pacific.ts'
import { createRandom, type Random } from '../core/random.ts'
import { catalogue } from '../generator/catalogue.ts'
import type { World } from '../world.ts'
import { madeUpGtin } from './gtin.ts'
import { corrected, damaged, found, type Item, lost, type Movement, moved, received, returnedWording, sold } from './model.ts'
import { plantDiscrepancies } from './planted.ts'

/** A new inventory begins on the first of the month this many months back: about three months of history. */
const monthsOfHistory = 3
const warehouses = ['KY1', 'ATL2', 'PHX1', 'EDI3'] as const
/** The first numbers of made-up items belong to the catalogue. */
const firstFreeNumber = 1_000

/**
 * Brings a seller's inventory up to `now`: makes it up when nobody has looked yet, and writes down what happened since. The days
 * depend on the seed, the seller, the SKU and the date alone. Hours of today that have not come yet are written down as well and
 * shown to nobody before their time.
 */
export const liveOn = (world: World, sellerId: string, now: number): void => {
  const known = world.inventory.life(sellerId)
  if (known !== null && known.livedUntil > now) return
  world.database.transaction(() => {
    const beganAt = known?.beganAt ?? pacificMonth(monthAfter(findMonth(now).name, -monthsOfHistory)).from
    if (known === null) stockCatalogue(world, sellerId, beganAt)
    const from = known?.livedUntil ?? beganAt
    const days = Math.ceil((now + 1 - from) / dayMs)
    for (const item of world.inventory.livingItems(sellerId)) {
      const movements: Movement[] = []
      let stock = item.stock
      for (let day = 0; day < days; day += 1) {
        const made = simulateDay(world, item, stock, from + day * dayMs)
        stock += made.reduce((sum, movement) => sum + (movement.inReport ? movement.units : 0), 0)
        movements.push(...made)
      }
      world.inventory.record(item, movements)
    }
    world.inventory.keepLife(sellerId, { beganAt, livedUntil: from + days * dayMs, seenAt: known?.seenAt ?? 0 })
    if (known === null) plantDiscrepancies(world, sellerId, now)
  })
}

const stockCatalogue = (world: World, sellerId: string, beganAt: number): void => {
  for (const [index, { sku, productName }] of catalogue.entries()) {
    const random = createRandom(world.settings.seed, 'inventory', sellerId, sku)
    const pace = random.whole(3, 22) / 10
    world.inventory.addItem({
      ...{ sellerId, sku, productName, pace, firstAt: beganAt },
      gtin: madeUpGtin(index + 1),
      openingUnits: Math.ceil(pace * 25) + random.whole(5, 30),
    })
  }
}

/** The GTIN of the next generated item outside of the catalogue. */
export const nextGtin = (world: World): string => madeUpGtin(firstFreeNumber + world.meta.sequence('gtin', 1))

/** What one day does to one item, in order of time. The stock never falls below nothing: what is not there is not sold. */
const simulateDay = (world: World, item: Item, stockBefore: number, day: number): Movement[] => {
  const random = createRandom(world.settings.seed, 'inventory', item.sellerId, item.sku, day)
  const at = (): number => day + random.whole(0, dayMs / 1_000 - 1) * 1_000
  const fcName = random.pick(warehouses)
  const made: Movement[] = []
  let stock = stockBefore
  const move = (...args: Parameters<typeof moved>): void => {
    const movement = moved(args[0], args[1], args[2], { fcName, ...args[3] })
    if (movement.inReport) stock += movement.units
    made.push(movement)
  }
  // Receipts come first thing: goods that are sold on the same day lie there already.
  if (stock < Math.ceil(item.pace * 12)) {
    move(received, Math.ceil(item.pace * 40) + random.whole(4, 20), day, { shipmentId: drawShipmentId(random) })
  }
  for (let buyer = 0; buyer < 4; buyer += 1) {
    const units = random.pick([1, 1, 1, 2, 2, 3])
    if (random.chance(item.pace / 4) && units < stock) move(sold, -units, at())
  }
  if (random.chance(item.pace * 0.06)) {
    move(returnedWording, 1, at(), random.chance(0.3) ? { location: 'Salvage', inReport: false } : {})
  }
  mishaps(random, at, () => stock, move)
  return made.sort((a, b) => a.at - b.at)
}

/** Losses, finds, damage and corrections of a warehouse. Damaged units move from the sellable stock to Salvage. */
const mishaps = (
  random: Random,
  at: () => number,
  stock: () => number,
  move: (...args: Parameters<typeof moved>) => void,
): void => {
  const units = random.whole(1, 3)
  if (random.chance(0.012) && units < stock()) move(lost, -units, at())
  if (random.chance(0.008)) move(found, random.whole(1, 2), at())
  if (random.chance(0.015) && stock() > 1) {
    const when = at()
    move(damaged, -1, when)
    move(damaged, 1, when, { location: 'Salvage', inReport: false })
  }
  if (random.chance(0.008)) move(corrected, random.chance(0.5) || stock() < 3 ? 2 : -2, at())
}

/** The id of an inbound shipment. */
export const drawShipmentId = (random: Random): string => `${random.whole(1_000_000, 9_999_999)}WFA`
