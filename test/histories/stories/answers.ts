import { rule } from '../history.ts'
import { accepted, credit, dispatched, order, post, type Story, story } from '../story.ts'

const lateEffect = { of: 'all', afterMs: 200 } as const
const atOnce = { of: 'all', afterMs: 0 } as const
const lagging = { skewMs: 0, orderLagMs: 30_000, listLagMs: 0 } as const
const manyTimes = 100_000
const shippedAndRefunded = [
  { does: 'colleague ships', order: 0, line: 0, units: 1 },
  { does: 'marketplace refunds', order: 0, line: 0, units: 1, cents: 1_080 },
] as const

/** What the marketplace answers, and what a gateway answers in its place. */
export const answers: readonly Story[] = [
  story('a yes that did only one of two lines', {
    orders: [order('acknowledged', 1, 1)],
    acts: [post(0, dispatched(1, 1, 1))],
    rules: [rule({ operation: 'ship', effect: { of: 'some lines', afterMs: 0 }, answer: { is: 'true' } })],
  }),
  story('a yes that gave back three times the money', {
    orders: [order('shipped', 4)],
    acts: [post(0, credit(1))],
    rules: [rule({ operation: 'refund', effect: { of: 'more', afterMs: 0 }, answer: { is: 'true' } })],
  }),
  story(
    'words that it was done before come sooner than the effect shows',
    {
      orders: [order('acknowledged', 1)],
      acts: [post(0, dispatched(1, 1))],
      rules: [rule({ operation: 'ship', effect: lateEffect, answer: { is: 'already done' } })],
    },
    [['confirmed']],
  ),
  story('reads fail with 500 for ever', {
    orders: [order('acknowledged', 1)],
    acts: [post(0, dispatched(1, 1))],
    rules: [
      rule({ operation: 'ship', answer: { is: 'dropped' } }),
      rule({ operation: 'get', fromMs: 1_000, calls: manyTimes, answer: { is: 'coded', status: 500 } }),
    ],
  }),
  story('reads are forbidden by a gateway for ever', {
    orders: [order('acknowledged', 1)],
    acts: [post(0, dispatched(1, 1))],
    rules: [
      rule({ operation: 'ship', answer: { is: 'dropped' } }),
      rule({ operation: 'get', fromMs: 1_000, calls: manyTimes, answer: { is: 'gateway', status: 403, body: 'html' } }),
    ],
  }),
  story('a write is locked for ever', {
    orders: [order('acknowledged', 1)],
    acts: [post(0, dispatched(1, 1))],
    rules: [rule({ operation: 'ship', calls: manyTimes, answer: { is: 'coded', status: 423 } })],
  }),
  story(
    'a gateway forbids one parcel once',
    {
      orders: [order('acknowledged', 1)],
      acts: [post(0, dispatched(1, 1))],
      rules: [rule({ operation: 'ship', answer: { is: 'gateway', status: 403, body: 'html' } })],
    },
    [['confirmed']],
  ),
  story(
    'a gateway knows no order once, while an event of the inbox waits for it',
    {
      orders: [order('acknowledged', 1)],
      acts: [{ atMs: 0, does: 'post', event: dispatched(1, 1), copies: 1, inbox: true }],
      rules: [rule({ operation: 'get', answer: { is: 'gateway', status: 404, body: 'html' } })],
    },
    [['confirmed']],
  ),
  story(
    'a token is refused once, so the request goes out twice',
    {
      orders: [order('acknowledged', 1)],
      acts: [post(0, dispatched(1, 1))],
      rules: [rule({ operation: 'ship', answer: { is: 'coded', status: 401 } })],
    },
    [['confirmed']],
  ),
  story('a locked order, after the parcel was taken', {
    orders: [order('acknowledged', 2)],
    nature: { countsUnits: false, nodes: [lagging] },
    acts: [post(0, dispatched(1, 2))],
    rules: [rule({ operation: 'ship', effect: atOnce, answer: { is: 'coded', status: 423 } })],
  }),
  story('too early, after the refund was paid', {
    orders: [order('shipped', 1)],
    nature: { countsUnits: false, nodes: [lagging] },
    acts: [post(0, credit(1))],
    rules: [rule({ operation: 'refund', effect: atOnce, answer: { is: 'gateway', status: 425, body: 'empty' } })],
  }),
  story('a locked order, after the parcel was taken, at a marketplace that counts', {
    orders: [order('acknowledged', 2)],
    acts: [post(0, dispatched(1, 2))],
    rules: [rule({ operation: 'ship', effect: atOnce, answer: { is: 'coded', status: 423 } })],
  }),
  story(
    'the buyer cancels everything before it is acknowledged',
    {
      orders: [order('created', 1, 2)],
      acts: [post(0, accepted())],
      rules: [
        rule({
          operation: 'acknowledge',
          answer: { is: 'true' },
          meanwhile: [{ does: 'buyer cancels', order: 0, line: null, units: null }],
        }),
      ],
    },
    [['rejected']],
  ),
  story(
    'the buyer cancels everything before it is acknowledged by itself',
    {
      orders: [order('created', 2)],
      autoAcknowledge: true,
      acts: [{ atMs: 0, does: 'sync' }],
      rules: [
        rule({
          operation: 'acknowledge',
          answer: { is: 'true' },
          meanwhile: [{ does: 'buyer cancels', order: 0, line: null, units: null }],
        }),
      ],
    },
    [['rejected']],
  ),
  story(
    'refused outright, because a colleague has shipped',
    {
      orders: [order('acknowledged', 2)],
      acts: [post(0, dispatched(1, 2))],
      rules: [
        rule({
          operation: 'ship',
          answer: { is: 'true' },
          meanwhile: [{ does: 'colleague ships', order: 0, line: 0, units: 1 }],
        }),
      ],
    },
    [['rejected']],
  ),
  story(
    'a coded 401 comes after the parcel was taken',
    {
      orders: [order('acknowledged', 2)],
      acts: [post(0, dispatched(1, 1))],
      rules: [rule({ operation: 'ship', effect: atOnce, answer: { is: 'coded', status: 401 } })],
    },
    [['confirmed']],
  ),
  story(
    'a throttle comes after the refund was paid',
    {
      orders: [order('shipped', 2)],
      acts: [post(0, credit(1))],
      rules: [rule({ operation: 'refund', effect: atOnce, answer: { is: 'throttled', seconds: 5 } })],
    },
    [['confirmed']],
  ),
  story(
    'many throttles, then one request without an answer',
    {
      orders: [order('acknowledged', 1)],
      acts: [post(0, dispatched(1, 1))],
      rules: [
        rule({ operation: 'ship', calls: 6, answer: { is: 'throttled', seconds: 1 } }),
        rule({ operation: 'ship', call: 7, answer: { is: 'coded', status: 500 } }),
      ],
    },
    [['confirmed']],
  ),
  story("a part of a parcel was taken, and a colleague's unit is refunded, which loses its tracking number", {
    orders: [order('acknowledged', 3)],
    nature: { refundsKeepTracking: false },
    acts: [post(0, dispatched(1, 2))],
    rules: [
      rule({ operation: 'ship', effect: { of: 'some units', afterMs: 0 }, answer: { is: 'coded', status: 500 } }),
      rule({ operation: 'get', fromMs: 1_000, answer: { is: 'true' }, meanwhile: shippedAndRefunded }),
    ],
  }),
  story("a yes that took a part of a parcel, and a colleague's unit is refunded, which loses its tracking number", {
    orders: [order('acknowledged', 3)],
    nature: { refundsKeepTracking: false },
    acts: [post(0, dispatched(1, 2))],
    rules: [
      rule({ operation: 'ship', effect: { of: 'some units', afterMs: 0 }, answer: { is: 'true' } }),
      rule({ operation: 'get', fromMs: 1_000, answer: { is: 'true' }, meanwhile: shippedAndRefunded }),
    ],
  }),
  story('a yes that took nothing, a colleague ships, and what was shipped before is refunded and loses its tracking number', {
    orders: [order('acknowledged', 3)],
    nature: { refundsKeepTracking: false },
    acts: [post(0, dispatched(1, 1)), post(5_000, dispatched(2, 1))],
    rules: [
      rule({
        operation: 'ship',
        call: 2,
        effect: { of: 'nothing', afterMs: 0 },
        answer: { is: 'stale' },
        meanwhile: [{ does: 'colleague ships', order: 0, line: 0, units: 1 }],
      }),
      rule({
        operation: 'get',
        fromMs: 5_000,
        answer: { is: 'true' },
        meanwhile: [{ does: 'marketplace refunds', order: 0, line: 0, units: 1, cents: 1_080 }],
      }),
    ],
  }),
  story(
    'a person says again of a command that the order shows in part',
    {
      orders: [order('acknowledged', 1, 1)],
      nature: { countsUnits: false },
      acts: [post(0, dispatched(1, 1, 1)), { atMs: 400_000, does: 'decide', unapplied: 'retry', blindly: true }],
      rules: [rule({ operation: 'ship', effect: { of: 'some lines', afterMs: 0 }, answer: { is: 'true' } })],
    },
    [['held']],
  ),
  story(
    'a person says again of a refund that the order shows in part',
    {
      orders: [order('shipped', 2, 2)],
      nature: { countsUnits: false },
      acts: [post(0, credit(1, 1)), { atMs: 400_000, does: 'decide', unapplied: 'retry', blindly: true }],
      rules: [rule({ operation: 'refund', effect: { of: 'some lines', afterMs: 0 }, answer: { is: 'true' } })],
    },
    [['held']],
  ),
  story(
    'a person decides line by line what was done of a parcel, and the rest is sent again',
    {
      orders: [order('acknowledged', 2, 2)],
      nature: { countsUnits: false },
      acts: [
        post(0, dispatched(1, 2, 2)),
        { atMs: 400_000, does: 'decide', unapplied: 'retry' },
        post(500_000, dispatched(2, 1, 1)),
      ],
      rules: [rule({ operation: 'ship', effect: { of: 'some units', afterMs: 0 }, answer: { is: 'true' } })],
    },
    [['confirmed']],
  ),
  story(
    'a part was applied, and the buyer cancels what a person has sent again',
    {
      orders: [order('acknowledged', 2, 1)],
      acts: [
        post(0, dispatched(1, 2, 1)),
        { atMs: 300_000, does: 'buyer cancels', order: 0, line: 1, units: 1 },
        { atMs: 400_000, does: 'decide', unapplied: 'retry' },
      ],
      rules: [rule({ operation: 'ship', effect: { of: 'some lines', afterMs: 0 }, answer: { is: 'true' } })],
    },
    [['confirmed']],
  ),
]
