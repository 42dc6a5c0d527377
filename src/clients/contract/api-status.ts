import { z } from 'zod'
import { buildList, lenient, timestampLike } from './lenient.ts'

/** The marketplace's own status on the wire, as the live service publishes it; the specification does not have it. Loose: unknown fields are kept. */

/** One group of operations. */
const wireApiStatus = z.looseObject({
  apiGroup: lenient(z.string()),
  status: lenient(z.string()),
  lastUpdatedTime: lenient(timestampLike),
})

/** The answer with all groups. */
export const wireApiStatuses = z.looseObject({ apiStatuses: buildList(wireApiStatus) })
