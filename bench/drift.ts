/**
 * What the comparison of records with their published form costs, of all that reading a page of orders costs: cut, parse, schema, domain form.
 * `node bench/drift.ts [orders] [rounds]`; prints medians and the shares of a page without and with an unknown field.
 */

import { publishedOrder } from '../src/clients/contract/orders.ts'
import { cutRecords } from '../src/clients/http/json.ts'
import { type CompareRecord, readRecord } from '../src/clients/http/record.ts'
import { orderReader } from '../src/clients/marketplace/orders/order-record.ts'
import { conforms, findDrift } from '../src/domain/drift/shape.ts'
import { generateOrder } from './generate.ts'
import { benchOptions, median } from './measure.ts'

const { orders, rounds } = benchOptions({ orders: 200, rounds: 300 }, { inOrder: true }).numbers
const ignored = (): void => undefined

const buildPage = (more: string): string =>
  `{"list":{"elements":{"order":[${Array.from({ length: orders }, (_, at) => generateOrder(at + 1, 1).rawText.replace(/\}$/, `${more}}`)).join(',')}]}}}`
const plain = buildPage('')
const drifted = buildPage(',"loyaltyTier":{"name":"GOLD"}')

let seen = 0
let compared = 0
/** As a caller does after its first records: one of four. */
const compare: CompareRecord = (published, raw, odd) => {
  compared += 1
  if ((odd || compared % 4 === 0) && !conforms(published, raw)) seen += findDrift(published, raw).length
}

const readPage = (text: string, comparison?: CompareRecord): number => {
  const startedAt = performance.now()
  for (const record of cutRecords(text, ['list', 'elements', 'order'])?.records ?? []) {
    if (!readRecord(orderReader, record, ignored, comparison).ok) throw new Error('an order of the benchmark is unreadable')
  }
  return performance.now() - startedAt
}

const ways = {
  without: () => readPage(plain),
  with: () => readPage(plain, compare),
  drifted: () => readPage(drifted, compare),
}
const times = { without: [0], with: [0], drifted: [0] }
for (let round = 0; round < rounds; round += 1) {
  for (const way of ['without', 'with', 'drifted'] as const) times[way][round] = ways[way]()
}
if (seen !== (orders * rounds) / 4) throw new Error(`${seen} differences were found in a fourth of ${orders * rounds} orders`)
const ms = { without: median(times.without), with: median(times.with), drifted: median(times.drifted) }
console.table({
  'read without comparison': { ms: ms.without, share: 0 },
  'read with comparison': { ms: ms.with, share: ms.with / ms.without - 1 },
  'read with an unknown field in each order': { ms: ms.drifted, share: ms.drifted / ms.without - 1 },
})

// The comparison alone, which the noise of a shared machine disturbs less than the difference of two readings.
const parsed = (cutRecords(plain, ['list', 'elements', 'order'])?.records ?? []).map(({ text }): unknown => JSON.parse(text))
const alone = Array.from({ length: rounds }, () => {
  const startedAt = performance.now()
  for (const one of parsed) if (!conforms(publishedOrder, one)) throw new Error('an order of the benchmark has a difference')
  return performance.now() - startedAt
})
const share = median(alone) / ms.without
console.log(
  `the comparison of every order alone: ${(share * 100).toFixed(1)} % of reading a page; of one of four: ${((share * 100) / 4).toFixed(1)} %`,
)
