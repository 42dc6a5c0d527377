import { type FaultName, LIST_FAULTS } from '../faults/schema.ts'
import type { Call, Operation } from '../operations/operation.ts'
import { listTargets } from './targeting-list.ts'
import { listTaxonomies } from './taxonomies-list.ts'

const FAULTS: readonly FaultName[] = [...LIST_FAULTS, 'repeatCursor']

function startsLater({ body }: Call): boolean {
  return typeof body === 'object' && body !== null && 'startIndex' in body && Number(body.startIndex) > 0
}

/** Display advertising (specification, endpoints 1 and 2). */
export const displayOperations: readonly Operation[] = [
  {
    name: 'taxonomies.list',
    method: 'POST',
    urls: ['/api/v1/taxonomies/list'],
    admission: 'display',
    body: 'json',
    writes: false,
    errorShape: 'display-text',
    faults: FAULTS,
    onFurtherPage: startsLater,
    perform: (world, { body }, plan) => ({ json: listTaxonomies(world, body, plan) }),
  },
  {
    name: 'targeting.list',
    method: 'POST',
    urls: ['/api/v2/targeting/list'],
    admission: 'display',
    body: 'json',
    writes: false,
    errorShape: 'display',
    faults: FAULTS,
    onFurtherPage: startsLater,
    perform: (world, { body }, plan) => ({ json: listTargets(world, body, plan) }),
  },
]
