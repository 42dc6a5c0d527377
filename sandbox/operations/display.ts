import type { Call, Operation } from '../calls/operation.ts'
import { listTargets } from '../display/targeting-list.ts'
import { listTaxonomies } from '../display/taxonomies-list.ts'
import { perMinute } from '../faults/limits.ts'
import { type FaultName, listFaults } from '../faults/schema.ts'

const faults: readonly FaultName[] = [...listFaults, 'repeatCursor']

const startsLater = ({ body }: Call): boolean =>
  typeof body === 'object' && body !== null && 'startIndex' in body && Number(body.startIndex) > 0

/** Display advertising (specification, endpoints 1 and 2). */
export const operations: readonly Operation[] = [
  {
    name: 'taxonomies.list',
    limit: perMinute(600),
    method: 'POST',
    urls: ['/api/v1/taxonomies/list'],
    admission: 'display',
    body: 'json',
    writes: false,
    errorShape: 'display-text',
    faults: faults,
    onFurtherPage: startsLater,
    perform: (world, { body }, plan) => ({ json: listTaxonomies(world, body, plan) }),
  },
  {
    name: 'targeting.list',
    limit: perMinute(600),
    method: 'POST',
    urls: ['/api/v2/targeting/list'],
    admission: 'display',
    body: 'json',
    writes: false,
    errorShape: 'display',
    faults: faults,
    onFurtherPage: startsLater,
    perform: (world, { body }, plan) => ({ json: listTargets(world, body, plan) }),
  },
]
