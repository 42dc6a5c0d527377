import { api, readAnswer } from './api.ts'
import { useMarketplaceNow } from './clock.ts'
import { findDayEnd } from './format.ts'
import { useQuery } from './query.ts'

/** Maximum number of rows in one page of the interface. */
const maxRows = 1_000

// Queries of several views: each has one key, one answer and one freshness.

/** The figures of all sellers; `orders.dueBy` counts until the end of the viewer's day. */
export const useOverview = () => {
  const dueBy = findDayEnd(new Date(useMarketplaceNow())).toISOString()
  return useQuery(`overview ${dueBy}`, () => readAnswer(api.GET('/v1/overview', { params: { query: { dueBy } } })), {
    topics: ['order', 'return', 'command', 'event', 'inventory', 'alarm'],
    everyMs: 15_000,
  })
}

/** The resources that can be synced. */
export const useResources = () => useQuery('resources', () => readAnswer(api.GET('/v1/resources')), { everyMs: 600_000 })

/** The sellers in shadow mode. */
export const useShadowed = () =>
  useQuery('shadowed', () => readAnswer(api.GET('/v1/sellers', { params: { query: { mode: 'shadow', limit: maxRows } } })), {
    topics: ['seller'],
    everyMs: 60_000,
  })

/** The sellers, for choices and states beside other rows. */
export const useSellers = () =>
  useQuery('sellers', () => readAnswer(api.GET('/v1/sellers', { params: { query: { limit: maxRows } } })), { topics: ['seller'] })

/** Maximum number of sellers that a field offers as a choice. */
const maxChoices = 50

/** The ids of the first sellers, and whether these are all. Until they are known: none, as with a single seller. */
export const useSellerIds = (): { readonly ids: readonly string[]; readonly isComplete: boolean } => {
  const query = { limit: maxChoices }
  const { data } = useQuery('seller-ids', () => readAnswer(api.GET('/v1/sellers', { params: { query } })), { topics: ['seller'] })
  return { ids: data?.items.map(({ sellerId }) => sellerId) ?? [], isComplete: data === undefined || data.nextCursor === null }
}
