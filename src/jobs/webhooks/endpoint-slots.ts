import { createSlots, type Slots } from '../../queues/slots.ts'

/** Twice what one endpoint gets: of slots that nobody else wants one holder has half. */
const ofOneEndpoint = 32
/** Longer than most receivers take: what waits for a slot in the process need not come back through the queue. In milliseconds. */
const patienceMs = 1_000

/**
 * Slots of which an endpoint gets sixteen at most, however many are free: what a receiver that never answers holds takes none from another one, until so
 * many receivers hang that few slots are left. From then on each gets as many as stay free for whoever comes next.
 */
export const createEndpointSlots = (total: number): Slots => {
  const all = createSlots({ total })
  const endpoints = new Map<string, Slots>()
  const slotsOf = (endpointId: string): Slots => {
    const known = endpoints.get(endpointId) ?? createSlots({ total: ofOneEndpoint, patienceMs })
    endpoints.set(endpointId, known)
    return known
  }
  return {
    take: async (endpointId, signal) => {
      const own = await slotsOf(endpointId).take(endpointId, signal)
      if (own === null) return null
      const shared = await all.take(endpointId, signal)
      if (shared === null) {
        own()
        return null
      }
      return () => {
        shared()
        own()
      }
    },
  }
}
