import { createRandom, type Random } from '../core/random.ts'
import type { World } from '../world.ts'
import { corrected, damaged, found, lost, type Movement, moved, received, returnedWording, sold } from './model.ts'
import { drawShipmentId, nextGtin } from './simulation.ts'

/** Many generated SKUs that do not change after their creation. */
export interface BulkItems {
  readonly sellerId: string
  readonly skus: number
  readonly entriesPerSku: number
  /** The entries are spread evenly over this time (virtual epoch milliseconds, `to` exclusive). */
  readonly from: number
  readonly to: number
  /** Head of the SKUs: `SKU` gives `SKU-000001`. */
  readonly prefix: string
}

/** So many entries at once between two breaths. */
const entriesAtOnce = 20_000

/** Makes the items up, in pieces so that others are heard in between; gives the first and the last SKU. */
export const makeItems = async (
  world: World,
  asked: BulkItems,
  breathe: () => Promise<void>,
): Promise<{ readonly first: string; readonly last: string }> => {
  const start = world.meta.sequence(`inventory:${asked.sellerId}:${asked.prefix}`, asked.skus)
  const parseSku = (number: number): string => `${asked.prefix}-${String(number).padStart(6, '0')}`
  const atOnce = Math.max(1, Math.floor(entriesAtOnce / (asked.entriesPerSku + 1)))
  for (let made = 0; made < asked.skus; made += atOnce) {
    world.database.transaction(() => {
      for (let number = start + made; number < start + Math.min(made + atOnce, asked.skus); number += 1) {
        makeItem(world, asked, parseSku(number), number)
      }
    })
    await breathe()
  }
  return { first: parseSku(start), last: parseSku(start + asked.skus - 1) }
}

const makeItem = (world: World, { sellerId, entriesPerSku, from, to }: BulkItems, sku: string, number: number): void => {
  const random = createRandom(world.settings.seed, 'bulk', sellerId, sku)
  const step = (to - from) / Math.max(1, entriesPerSku)
  const movements = Array.from({ length: entriesPerSku }, (_, index) =>
    madeUp(random, Math.floor(from + step * (index + random.next()))),
  )
  world.inventory.addItem(
    {
      ...{ sellerId, sku, pace: 0, firstAt: from },
      // Commas and quotes, so that a reader of the report cannot do without a real CSV parser.
      productName: `Item No. ${number}, "Series ${String.fromCharCode(65 + (number % 26))}"`,
      gtin: nextGtin(world),
      openingUnits: entriesPerSku * 3 + random.whole(0, 50),
    },
    movements,
  )
}

/** Mostly sales; no more than three units leave at once, so the opening units last. */
const madeUp = (random: Random, at: number): Movement => {
  const draw = random.next()
  const units = random.whole(1, 3)
  if (draw < 0.78) return moved(sold, -units, at)
  if (draw < 0.84) return moved(returnedWording, 1, at)
  if (draw < 0.9) return moved(received, random.whole(10, 40), at, { shipmentId: drawShipmentId(random) })
  if (draw < 0.93) return moved(lost, -units, at)
  if (draw < 0.95) return moved(found, units, at)
  return draw < 0.98 ? moved(damaged, -units, at) : moved(corrected, random.chance(0.5) ? units : -units, at)
}
