import { rule } from '../history.ts'
import { corrected, credit, dispatched, order, post, returnRefunded, type Story, sentBack, story } from '../story.ts'

/** Whatever is asked twice happens twice, and shows late. */
const careless = {
  ...{ countsUnits: false, showsRefundedUnits: false, countsCredits: false },
  nodes: [{ skewMs: 0, orderLagMs: 54_000, listLagMs: 0 }],
}
const calmNodes = [{ skewMs: 0, orderLagMs: 0, listLagMs: 0 }]
/** The order shows late, and the return at once. */
const unequalNodes = [{ skewMs: 0, orderLagMs: 54_000, listLagMs: 0 }, ...calmNodes]
const atOnce = { of: 'all', afterMs: 0 } as const

/** Refunds through returns beside those through orders, and corrections of shipments. */
export const returns: readonly Story[] = [
  story(
    'all units of a line are refunded through their return, and at once through their order',
    {
      ...{
        orders: [order('shipped', 2)],
        returns: [sentBack({ line: 0, units: 2 })],
        nature: { ...careless, nodes: unequalNodes },
      },
      acts: [post(100_000, returnRefunded(2)), post(100_000, credit(2))],
      rules: [
        rule({ operation: 'get', calls: 1_000, node: 0, answer: { is: 'true' } }),
        rule({ operation: 'get return', calls: 1_000, node: 1, answer: { is: 'true' } }),
      ],
    },
    [['confirmed']],
  ),
  story(
    'a returned unit is refunded through its order, then through its return',
    {
      ...{ orders: [order('shipped', 4)], returns: [sentBack({ line: 0, units: 1 })], nature: careless },
      acts: [post(100_000, credit(1)), post(400_000, returnRefunded(1))],
    },
    [['confirmed']],
  ),
  story(
    'the answer to the refund of a return is lost after its effect',
    {
      ...{ orders: [order('shipped', 3)], returns: [sentBack({ line: 0, units: 2 })], nature: careless },
      acts: [post(100_000, returnRefunded(1))],
      rules: [rule({ operation: 'refund-return', answer: { is: 'dropped' }, effect: atOnce })],
    },
    [['confirmed']],
  ),
  story(
    'the second line of a return is refunded, and the answer is lost after the effect',
    {
      ...{
        orders: [order('shipped', 4, 4)],
        returns: [sentBack({ line: 1, units: 2 }, { line: 0, units: 2 })],
        nature: careless,
      },
      acts: [post(100_000, returnRefunded(0, 1)), post(500_000, returnRefunded(1, 1))],
      rules: [rule({ operation: 'refund-return', answer: { is: 'dropped' }, effect: atOnce })],
    },
    [['confirmed'], ['confirmed']],
  ),
  story(
    'the marketplace refunds a return while ours waits behind a correction',
    {
      ...{ orders: [order('shipped', 4)], returns: [sentBack({ line: 0, units: 1 })], nature: careless },
      acts: [
        ...[post(90_000, corrected(0, 3)), post(95_000, returnRefunded(1))],
        { atMs: 110_000, does: 'marketplace refunds return', return: 0, line: 0, units: 1 },
      ],
      rules: [rule({ operation: 'correct', answer: { is: 'dropped' }, effect: { of: 'nothing', afterMs: 0 } })],
    },
    [['confirmed'], ['rejected']],
  ),
  story(
    'the process dies between the intent and the answer of the refund of a return',
    {
      ...{ orders: [order('shipped', 4)], returns: [sentBack({ line: 0, units: 2 })], nature: careless },
      acts: [post(100_000, returnRefunded(1))],
      disturbances: [{ moment: 'before outcome', time: 1, does: 'dies', forMs: 0 }],
    },
    [['confirmed']],
  ),
  story(
    'the refund of a return is refused because it was made before, and its unit is credited',
    {
      ...{ orders: [order('shipped', 4)], returns: [sentBack({ line: 0, units: 1 })], nature: { ...careless, nodes: calmNodes } },
      acts: [post(0, returnRefunded(1)), post(20_000, credit(1))],
      rules: [rule({ operation: 'refund-return', answer: { is: 'already done' }, effect: { of: 'all', afterMs: 50_000 } })],
    },
    [['confirmed'], ['confirmed']],
  ),
  story(
    'the marketplace has given back all money of a line before a return of it is refunded',
    {
      ...{ orders: [order('shipped', 1)], returns: [sentBack({ line: 0, units: 1 })], nature: { ...careless, nodes: calmNodes } },
      acts: [
        { atMs: 0, does: 'marketplace refunds', order: 0, line: 0, units: 0, cents: 1_080 },
        ...[{ atMs: 1_000, does: 'sync' } as const, post(2_000, returnRefunded(1))],
      ],
    },
    [],
  ),
  story(
    'the answer to a correction is lost after its effect',
    {
      ...{ orders: [order('acknowledged', 3)], nature: careless },
      acts: [post(0, dispatched(1, 2)), post(200_000, corrected(1, 2))],
      rules: [rule({ operation: 'correct', answer: { is: 'dropped' }, effect: atOnce })],
    },
    [['confirmed'], ['confirmed']],
  ),
  story(
    'a correction is refused because it was made before',
    {
      orders: [order('acknowledged', 3)],
      acts: [post(0, dispatched(1, 2)), post(1_000, corrected(1, 2))],
      rules: [rule({ operation: 'correct', answer: { is: 'already done' }, effect: atOnce })],
    },
    [['confirmed'], ['confirmed']],
  ),
  story(
    'the answer to a shipment is lost, its parcel is corrected, and corrected again',
    {
      ...{ orders: [order('acknowledged', 3)], nature: careless },
      acts: [post(0, dispatched(1, 2)), post(1_000, corrected(1, 2)), post(2_000, corrected(2, 3))],
      rules: [rule({ operation: 'ship', answer: { is: 'dropped' }, effect: atOnce })],
    },
    [['confirmed'], ['confirmed'], ['confirmed']],
  ),
]
