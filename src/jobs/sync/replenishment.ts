import type { CallOptions } from '../../clients/call-options.ts'
import type { MarketplaceFailure } from '../../clients/errors.ts'
import { replenishmentEndpoint } from '../../clients/marketplace/replenishment.ts'
import type { Page } from '../../clients/record.ts'
import type { ReplenishmentRecommendation } from '../../domain/replenishment.ts'
import { inventorySkusAfter } from '../../store/inventory-skus.ts'
import { openQuarantineKeys } from '../../store/quarantine.ts'
import {
  currentlyRecommended,
  endRecommendations,
  findDifferingRecommendations,
  someRecommended,
  storeDifferingRecommendations,
} from '../../store/replenishment.ts'
import { failuresOf } from '../../store/sync-states.ts'
import { asksToPassOver, failuresWithoutOthers, mayBeOfOne } from './passing-over.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'
import type { StreamContext } from './stream.ts'
import { behindKeys, type WalkPage, walk } from './streams.ts'

type Recommended = Page<ReplenishmentRecommendation>

interface FailedSku {
  readonly sku: string
  readonly failure: MarketplaceFailure
}

/** What asking for some SKUs has brought: pages, the SKUs that they answer for, and SKUs that fail even alone. */
interface Answered {
  readonly pages: readonly Recommended[]
  readonly skus: readonly string[]
  readonly failed: readonly FailedSku[]
}

const none: Answered = { pages: [], skus: [], failed: [] }
const together = (some: Answered, more: Answered): Answered => ({
  pages: [...some.pages, ...more.pages],
  skus: [...some.skus, ...more.skus],
  failed: [...some.failed, ...more.failed],
})

// "Not enrolled" is said of the seller.
const isOfSome = (error: unknown, options: CallOptions): error is MarketplaceFailure =>
  mayBeOfOne(error, options) && error.httpStatus !== 404

// Whether the marketplace recommends something for another SKU now; null where none is known to be recommended.
const recommendsOthers = async (
  { client, database }: StreamContext,
  came: readonly Recommended[],
  except: readonly string[],
  options: CallOptions,
): Promise<boolean | null> => {
  const keys = came.flatMap(({ records }) => records.flatMap(({ key }) => key ?? []))
  const known = [...keys.slice(-1), ...(await someRecommended(database, client.sellerId))].filter((sku) => !except.includes(sku))
  for (const sku of known.slice(0, asksToPassOver)) {
    try {
      if ((await client.of(replenishmentEndpoint).recommend({ skus: [sku] }, options)).records.length > 0) return true
    } catch (error) {
      if (!isOfSome(error, options)) throw error
    }
  }
  return known.length === 0 ? null : false
}

// A batch that fails is halved, until what spoils it stands alone, as long as the marketplace answers for others.
const askFor = async (context: StreamContext, skus: readonly string[], options: CallOptions): Promise<Answered> => {
  let failure: MarketplaceFailure
  try {
    return { ...none, pages: [await context.client.of(replenishmentEndpoint).recommend({ skus }, options)], skus }
  } catch (error) {
    if (!isOfSome(error, options)) throw error
    failure = error
  }
  const [sku = ''] = skus
  if (skus.length === 1) return { ...none, failed: [{ sku, failure }] }
  if ((await recommendsOthers(context, [], skus, options)) === false) throw failure
  const middle = Math.ceil(skus.length / 2)
  const first = await askFor(context, skus.slice(0, middle), options)
  return together(first, await askFor(context, skus.slice(middle), options))
}

// SKUs that failed alone, asked again. They are passed over when the marketplace recommends something for another one right after.
const askAgain = async (context: StreamContext, answered: Answered, options: CallOptions): Promise<Answered> => {
  let again: Answered = { ...answered, failed: [] }
  for (const { sku } of answered.failed) {
    let asked: Answered = none
    for (let asks = 1; asks < asksToPassOver && asked.skus.length === 0; asks += 1) asked = await askFor(context, [sku], options)
    again = together(again, asked)
  }
  const [first] = again.failed
  if (first === undefined) return again
  const { client, database } = context
  const failed = again.failed.map(({ sku }) => sku)
  const others = await recommendsOthers(context, again.pages, failed, options)
  const key = { sellerId: client.sellerId, resource: 'replenishment', stream: 'all' }
  const passOver = others ?? (await failuresOf(database, key)) + 1 >= failuresWithoutOthers
  if (!passOver) throw first.failure
  return again
}

// Of those that were asked for: what is stored as recommended, but did not come. A record without a key could be any of them.
const withdrawn = async (
  { client, database }: StreamContext,
  skus: readonly string[],
  came: ReadonlySet<string | null>,
): Promise<readonly string[]> =>
  came.has(null)
    ? []
    : currentlyRecommended(
        database,
        client.sellerId,
        skus.filter((sku) => !came.has(sku)),
      )

const recommendAfter = async (
  context: StreamContext,
  after: string,
  options: CallOptions,
): Promise<WalkPage<ReplenishmentRecommendation> | null> => {
  const { client, database, settings } = context
  const { sellerId } = client
  const most = Math.min(settings.pageSize, client.of(replenishmentEndpoint).mostKeys)
  const skus = (await inventorySkusAfter(database, sellerId, after, most)).map(({ sku }) => sku)
  if (skus.length === 0) return null
  // What failed before is asked for alone.
  const suspects = await openQuarantineKeys(database, sellerId, 'replenishment')
  const batches = [skus.filter((sku) => !suspects.has(sku)), ...skus.filter((sku) => suspects.has(sku)).map((sku) => [sku])]
  let answered = none
  for (const batch of batches) if (batch.length > 0) answered = together(answered, await askFor(context, batch, options))
  answered = await askAgain(context, answered, options)
  const records = answered.pages.flatMap((page) => page.records)
  const came = new Set(records.map((record) => record.key))
  return {
    answers: answered.pages,
    records,
    unreadable: answered.failed.map(({ sku, failure }) => ({ key: sku, fault: failure.message })),
    // With nothing to recommend.
    answered: answered.skus.filter((sku) => !came.has(sku)),
    missing: await withdrawn(context, answered.skus, came),
    next: skus.length < most ? null : (skus.at(-1) ?? null),
  }
}

/** Every SKU that the marketplace keeps for the seller, in batches, in their order. */
const all = walk<ReplenishmentRecommendation>({
  operation: replenishmentEndpoint.operations.recommend,
  reads: 'the recommendation of each known SKU',
  places: behindKeys,
  step: (context, { after }, options) => recommendAfter(context, after, options),
})

/** Recommended shipment quantities, for sellers that are enrolled in the fulfilment service. */
export const replenishment = resource({
  name: 'replenishment',
  endpoint: replenishmentEndpoint,
  poll: { variable: 'POLL_REPLENISHMENT', ordinaryMs: dayMs, demonstrationMs: 60_000 },
  enrolment: 'needed',
  streams: { all },
  table: {
    findDiffering: findDifferingRecommendations,
    store: storeDifferingRecommendations,
    noteMissing: endRecommendations,
  },
})
