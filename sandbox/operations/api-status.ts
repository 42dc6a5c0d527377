import type { Operation } from '../calls/operation.ts'
import { describeApiStatus } from '../faults/api-status.ts'
import { perMinute } from '../faults/limits.ts'

/** What the marketplace reports about itself (public facts, sections 5.1 and 13). */
export const operations: readonly Operation[] = [
  {
    name: 'api-status.list',
    limit: perMinute(100),
    method: 'GET',
    urls: ['/v3/utilities/apiStatus'],
    admission: 'marketplace',
    body: 'none',
    writes: false,
    errorShape: 'nested',
    faults: [],
    perform: (world, _call, _plan, now) => ({ json: describeApiStatus(world, now) }),
  },
]
