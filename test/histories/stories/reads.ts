import { rule } from '../history.ts'
import { credit, dispatched, order, post, type Story, story, unfulfillable } from '../story.ts'

const fresh = { skewMs: 0, orderLagMs: 0, listLagMs: 0 } as const
const lateMs = 100_000
const settledMs = 119_000
const manyTimes = 100_000

/** What reads show, when, and what becomes of it. */
export const reads: readonly Story[] = [
  story('one parcel in two events, and a late page in between', {
    orders: [order('acknowledged', 2)],
    nature: { nodes: [{ ...fresh, listLagMs: 60_000 }] },
    acts: [post(0, dispatched(1, 1)), { atMs: 5_000, does: 'sync' }, post(10_000, dispatched(1, 1))],
    rules: [rule({ operation: 'ship', call: 2, answer: { is: 'coded', status: 500 } })],
  }),
  story('the marketplace refunds after a credit was taken', {
    orders: [order('shipped', 1)],
    nature: { countsUnits: false, showsRefundedUnits: false },
    acts: [post(0, credit(1)), { atMs: 10_000, does: 'marketplace refunds', order: 0, line: 0, units: 0, cents: 1_080 }],
    rules: [rule({ operation: 'refund', answer: { is: 'throttled', seconds: 30 } })],
  }),
  story('the read before the second request finds no order', {
    orders: [order('acknowledged', 1)],
    nature: { countsUnits: false, nodes: [fresh, { ...fresh, orderLagMs: 54_000 }] },
    acts: [post(0, dispatched(1, 1))],
    rules: [
      rule({ operation: 'ship', effect: { of: 'all', afterMs: lateMs }, answer: { is: 'dropped' } }),
      rule({ operation: 'get', fromMs: settledMs, node: 1, answer: { is: 'true' } }),
      rule({ operation: 'get', fromMs: settledMs, call: 2, answer: { is: 'coded', status: 404 } }),
      rule({ operation: 'get', calls: manyTimes, node: 0, answer: { is: 'true' } }),
    ],
  }),
  story('the read before the second request comes from a node whose clock is behind', {
    orders: [order('acknowledged', 1, 1)],
    nature: { countsUnits: false, nodes: [fresh, { ...fresh, orderLagMs: 54_000 }, { ...fresh, skewMs: -1_500 }] },
    acts: [post(0, dispatched(1, 1)), { atMs: 62_000, does: 'buyer cancels', order: 0, line: 1, units: 1 }],
    rules: [
      rule({ operation: 'ship', effect: { of: 'all', afterMs: lateMs }, answer: { is: 'dropped' } }),
      // The first read that shows what the buyer did is stored with the time at which it was asked, which is ahead of the other node's.
      rule({ operation: 'get', fromMs: 70_000, calls: 2, node: 1, answer: { is: 'true' } }),
      rule({ operation: 'get', fromMs: 70_000, call: 3, node: 2, answer: { is: 'true' } }),
      rule({ operation: 'get', calls: manyTimes, node: 0, answer: { is: 'true' } }),
    ],
  }),
  story('a read of one order lags behind what the list has shown', {
    orders: [order('acknowledged', 1)],
    nature: { countsUnits: false, nodes: [{ ...fresh, orderLagMs: 54_000 }] },
    acts: [post(0, dispatched(1, 1)), { atMs: 110_000, does: 'sync' }],
    rules: [rule({ operation: 'ship', effect: { of: 'all', afterMs: lateMs }, answer: { is: 'dropped' } })],
  }),
  story('an equal second cancel is lost while reads lag', {
    orders: [order('acknowledged', 3)],
    nature: { nodes: [{ ...fresh, orderLagMs: 50_000 }] },
    acts: [post(0, unfulfillable(1)), post(5_000, unfulfillable(1))],
    rules: [rule({ operation: 'cancel', call: 2, answer: { is: 'dropped' } })],
  }),
  story('an equal second credit is lost while reads lag', {
    orders: [order('shipped', 3)],
    nature: { nodes: [{ ...fresh, orderLagMs: 50_000 }] },
    acts: [post(0, credit(1)), post(5_000, credit(1))],
    rules: [rule({ operation: 'refund', call: 2, answer: { is: 'dropped' } })],
  }),
  story(
    'the first read after a long downtime finds nothing',
    {
      orders: [order('acknowledged', 1)],
      acts: [post(0, dispatched(1, 1))],
      rules: [
        rule({ operation: 'ship', effect: { of: 'all', afterMs: 0 }, answer: { is: 'dropped' } }),
        rule({ operation: 'get', fromMs: 290_000, answer: { is: 'coded', status: 404 } }),
        // While the daemons are down nobody asks.
        rule({ operation: 'get', fromMs: 1_000, heldMs: 300_000, answer: { is: 'coded', status: 500 } }),
      ],
    },
    [['confirmed']],
  ),
  story('the marketplace gives back the same, and a yes of ours, which did nothing, cannot be read', {
    orders: [order('shipped', 4)],
    acts: [post(0, credit(1))],
    rules: [
      rule({
        operation: 'refund',
        effect: { of: 'nothing', afterMs: 0 },
        answer: { is: 'unreadable' },
        meanwhile: [{ does: 'marketplace refunds', order: 0, line: 0, units: 1, cents: 1_080 }],
      }),
    ],
  }),
  story('half a refund of ours and one of the marketplace make a whole', {
    orders: [order('shipped', 4)],
    nature: { showsRefundedUnits: false },
    acts: [post(0, credit(2))],
    rules: [
      rule({
        operation: 'refund',
        effect: { of: 'some units', afterMs: 0 },
        answer: { is: 'unreadable' },
        meanwhile: [{ does: 'marketplace refunds', order: 0, line: 0, units: 0, cents: 1_080 }],
      }),
    ],
  }),
]
