import { createSlots, type Slots } from '../../queues/slots.ts'

/** Twice the slots of one endpoint: of slots without other holders one holder gets half. */
const ofOneEndpoint = 32
/** Longer than most receivers take: a job that waits for a slot in the process is not requeued. In milliseconds. */
const timeoutMs = 1_000

/**
 * Slots of which an endpoint gets sixteen at most, even if more are free: a receiver that never answers takes no slots from others, until so
 * many receivers hang that few slots are left. From then on each gets only as many as leave free slots for the next endpoint.
 */
export const createEndpointSlots = (total: number): Slots => {
  const all = createSlots({ total })
  const endpoints = new Map<string, Slots>()
  const findSlots = (endpointId: string): Slots => {
    const known = endpoints.get(endpointId) ?? createSlots({ total: ofOneEndpoint, timeoutMs })
    endpoints.set(endpointId, known)
    return known
  }
  return {
    take: async (endpointId, signal) => {
      const own = await findSlots(endpointId).take(endpointId, signal)
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
