import { answered, api } from './api.ts'
import { useQuery } from './query.ts'

/** Most rows of one page of the interface. */
const mostRows = 1_000

/** Questions that several views ask: each has one key, one answer and one freshness. */

/** The figures of all sellers. */
export const useOverview = () =>
  useQuery('overview', () => answered(api.GET('/v1/overview')), {
    topics: ['order', 'command', 'event', 'inventory', 'alarm'],
    everyMs: 15_000,
  })

/** What can be synced. */
export const useResources = () => useQuery('resources', () => answered(api.GET('/v1/resources')), { everyMs: 600_000 })

/** The sellers, for choices and states beside other rows. */
export const useSellers = () =>
  useQuery('sellers', () => answered(api.GET('/v1/sellers', { params: { query: { limit: mostRows } } })), { topics: ['seller'] })
