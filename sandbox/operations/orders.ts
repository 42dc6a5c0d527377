import type { Call, Operation } from '../calls/operation.ts'
import { perform } from '../calls/perform.ts'
import { describeToken, issueToken } from '../calls/token.ts'
import { perMinute } from '../faults/limits.ts'
import { type FaultName, listFaults } from '../faults/schema.ts'
import { refundOfReturn } from '../orders/returns-refund.ts'

const defaultTokenLifeMs = 1_000
const ofLists: readonly FaultName[] = [
  ...listFaults,
  'repeatCursor',
  'cursorExpired',
  'emptyListInsteadOf404',
  'stale',
  'falseNone',
  'repeatedRows',
]
const ofRefunds: readonly FaultName[] = ['refundsAsMoney', 'positiveRefunds']
const isFurtherPage = ({ query }: Call): boolean => (query.get('hasMoreElements') ?? query.get('offset')) !== null

const token: Operation = {
  name: 'token',
  limit: null,
  method: 'POST',
  urls: ['/v3/token'],
  admission: 'credentials',
  body: 'text',
  writes: false,
  errorShape: 'oauth',
  faults: [],
  perform(world, call, plan, now) {
    const dies = plan.outcome?.name === 'tokenDiesEarly' ? (plan.outcome.details.delayMs ?? defaultTokenLifeMs) : null
    const form = typeof call.body === 'string' ? call.body : ''
    return { json: issueToken(world, call.headers, form, now, dies) }
  },
}

const tokenDetail: Operation = {
  name: 'token.detail',
  limit: null,
  method: 'GET',
  urls: ['/v3/token/detail'],
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'nested',
  faults: [],
  perform: (world, call) => ({ json: describeToken(world, call.sellerId, call.headers) }),
}

const read = (name: string, url: string, callsPerMinute: number, faults: readonly FaultName[]): Operation => ({
  name,
  limit: perMinute(callsPerMinute),
  method: 'GET',
  urls: [url],
  admission: 'marketplace',
  body: 'none',
  writes: false,
  errorShape: 'nested',
  faults,
  onFurtherPage: isFurtherPage,
  perform: (world, call, plan, now) => ({ json: perform(world, call, plan, now) }),
})

const write = (name: string, action: string, body: Operation['body']): Operation => ({
  name,
  limit: perMinute(60),
  method: 'POST',
  urls: [`/v3/orders/:po/${action}`],
  admission: 'marketplace',
  body,
  writes: true,
  errorShape: 'nested',
  faults: ['unknownValue', 'changedType', 'partialEffect', 'partialAnswer', ...ofRefunds],
  perform: (world, call, plan, now) => ({ json: perform(world, call, plan, now) }),
})

/** The token operation, orders and returns (specification, section 9). */
export const operations: readonly Operation[] = [
  token,
  tokenDetail,
  read('orders.list', '/v3/orders', 5_000, [...ofLists, ...ofRefunds]),
  read('orders.released', '/v3/orders/released', 60, [...ofLists, ...ofRefunds]),
  read('orders.get', '/v3/orders/:po', 5_000, [
    'malformedRecord',
    'unknownValue',
    'changedType',
    'stale',
    'falseNone',
    ...ofRefunds,
  ]),
  write('orders.acknowledge', 'acknowledge', 'none'),
  write('orders.ship', 'shipping', 'json'),
  write('orders.cancel', 'cancel', 'json'),
  write('orders.refund', 'refund', 'json'),
  read('returns.list', '/v3/returns', 50, ofLists),
  refundOfReturn,
]
