import type { CallOptions } from '../../../clients/http/call-options.ts'
import type { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { Page } from '../../../clients/http/record.ts'
import { replenishmentEndpoint } from '../../../clients/marketplace/replenishment.ts'
import type { ReplenishmentRecommendation } from '../../../domain/inventory/replenishment.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { listInventorySkus, readMarketplaceSpellings } from '../../../store/inventory/inventory-skus.ts'
import {
  endRecommendations,
  filterRecommended,
  findDifferingRecommendations,
  sampleRecommendedSkus,
  storeDifferingRecommendations,
} from '../../../store/inventory/replenishment.ts'
import { readOpenQuarantineKeys } from '../../../store/sync/quarantine.ts'
import { readFailures } from '../../../store/sync/sync-states.ts'
import { resource } from '../engine/resource.ts'
import type { StreamContext } from '../engine/stream.ts'
import { afterKeys, type WalkPage, walk } from '../engine/streams.ts'
import { failedRequestsBeforeSkip, failedRunsWithoutProbes, mayBeAboutRecord } from '../recovery/skip-rules.ts'

type Recommended = Page<ReplenishmentRecommendation>

interface FailedSku {
  readonly sku: string
  readonly failure: MarketplaceFailure
}

/** Result of requesting some SKUs: pages, the SKUs that were answered, and SKUs that fail even alone. */
interface Answered {
  readonly pages: readonly Recommended[]
  readonly skus: readonly string[]
  readonly failed: readonly FailedSku[]
}

const none: Answered = { pages: [], skus: [], failed: [] }
const merge = (some: Answered, more: Answered): Answered => ({
  pages: [...some.pages, ...more.pages],
  skus: [...some.skus, ...more.skus],
  failed: [...some.failed, ...more.failed],
})

// A 404 concerns the seller, who is then not enrolled.
const mayBeAboutSkus = (error: unknown, options: CallOptions): error is MarketplaceFailure =>
  mayBeAboutRecord(error, options) && error.httpStatus !== 404

// Requests SKUs in the marketplace's spelling; the records are in the normal form.
const recommend = async (
  { client, database }: StreamContext,
  skus: readonly string[],
  options: CallOptions,
): Promise<Recommended> => {
  const spellings = await readMarketplaceSpellings(database, client.sellerId, skus)
  return client.of(replenishmentEndpoint).recommend({ skus: skus.map((sku) => spellings.get(sku) ?? sku) }, options)
}

// Whether the marketplace recommends something for another SKU now; null if no SKU is known to have a recommendation.
const recommendsOthers = async (
  context: StreamContext,
  pages: readonly Recommended[],
  except: readonly string[],
  options: CallOptions,
): Promise<boolean | null> => {
  const keys = pages.flatMap(({ records }) => records.flatMap(({ key }) => key ?? []))
  const known = [...keys.slice(-1), ...(await sampleRecommendedSkus(context.database, context.client.sellerId))].filter(
    (sku) => !except.includes(sku),
  )
  for (const sku of known.slice(0, failedRequestsBeforeSkip)) {
    try {
      if ((await recommend(context, [sku], options)).records.length > 0) return true
    } catch (error) {
      if (!mayBeAboutSkus(error, options)) throw error
    }
  }
  return known.length === 0 ? null : false
}

// Halves a failed batch until the SKU that causes the failure is alone, as long as the marketplace answers for others.
const requestSkus = async (context: StreamContext, skus: readonly string[], options: CallOptions): Promise<Answered> => {
  let failure: MarketplaceFailure
  try {
    return { ...none, pages: [await recommend(context, skus, options)], skus }
  } catch (error) {
    if (!mayBeAboutSkus(error, options)) throw error
    failure = error
  }
  const [sku = ''] = skus
  if (skus.length === 1) return { ...none, failed: [{ sku, failure }] }
  if ((await recommendsOthers(context, [], skus, options)) === false) throw failure
  const middle = Math.ceil(skus.length / 2)
  const first = await requestSkus(context, skus.slice(0, middle), options)
  return merge(first, await requestSkus(context, skus.slice(middle), options))
}

// Retries SKUs that failed alone. They are skipped if the marketplace recommends something for another SKU right after.
const retryFailed = async (context: StreamContext, answered: Answered, options: CallOptions): Promise<Answered> => {
  let retried: Answered = { ...answered, failed: [] }
  for (const { sku } of answered.failed) {
    let answer: Answered = none
    for (let tries = 1; tries < failedRequestsBeforeSkip && answer.skus.length === 0; tries += 1)
      answer = await requestSkus(context, [sku], options)
    retried = merge(retried, answer)
  }
  const [first] = retried.failed
  if (first === undefined) return retried
  const { client, database } = context
  const failed = retried.failed.map(({ sku }) => sku)
  const others = await recommendsOthers(context, retried.pages, failed, options)
  const key = { sellerId: client.sellerId, resource: 'replenishment', stream: 'all' }
  const skip = others ?? (await readFailures(database, key)) + 1 >= failedRunsWithoutProbes
  if (!skip) throw first.failure
  return retried
}

// The requested SKUs that are stored as recommended but have no record now. None if a record has no key, since it could belong to any of them.
const findWithdrawn = async (
  { client, database }: StreamContext,
  skus: readonly string[],
  received: ReadonlySet<string | null>,
): Promise<readonly string[]> =>
  received.has(null)
    ? []
    : filterRecommended(
        database,
        client.sellerId,
        skus.filter((sku) => !received.has(sku)),
      )

const recommendAfter = async (
  context: StreamContext,
  after: string,
  options: CallOptions,
): Promise<WalkPage<ReplenishmentRecommendation> | null> => {
  const { client, database, settings } = context
  const { sellerId } = client
  const limit = Math.min(settings.pageSize, client.of(replenishmentEndpoint).maxKeys)
  const skus = (await listInventorySkus(database, sellerId, after, limit)).map(({ sku }) => sku)
  if (skus.length === 0) return null
  // SKUs that failed before are requested alone.
  const suspects = await readOpenQuarantineKeys(database, sellerId, 'replenishment')
  const batches = [skus.filter((sku) => !suspects.has(sku)), ...skus.filter((sku) => suspects.has(sku)).map((sku) => [sku])]
  let answered = none
  for (const batch of batches) if (batch.length > 0) answered = merge(answered, await requestSkus(context, batch, options))
  answered = await retryFailed(context, answered, options)
  const records = answered.pages.flatMap((page) => page.records)
  const received = new Set(records.map((record) => record.key))
  return {
    answers: answered.pages,
    records,
    unreadable: answered.failed.map(({ sku, failure }) => ({ key: sku, fault: failure.message })),
    // SKUs without a recommendation.
    answered: answered.skus.filter((sku) => !received.has(sku)),
    missing: await findWithdrawn(context, answered.skus, received),
    next: skus.length < limit ? null : (skus.at(-1) ?? null),
  }
}

/** Every SKU that the marketplace stores for the seller, in batches, in the order of SKUs. */
const all = walk<ReplenishmentRecommendation>({
  operation: replenishmentEndpoint.operations.recommend,
  reads: 'the recommendation of each known SKU',
  places: afterKeys,
  step: (context, { after }, options) => recommendAfter(context, after, options),
})

/** Recommended shipment quantities, for sellers that are enrolled in the fulfilment service. */
export const replenishment = resource({
  name: 'replenishment',
  endpoint: replenishmentEndpoint,
  poll: pollIntervals.replenishment,
  enrolment: 'needed',
  streams: { all },
  table: {
    findDiffering: findDifferingRecommendations,
    store: storeDifferingRecommendations,
    noteMissing: endRecommendations,
  },
})
