import { lying, orderAgo, type ReadingHistory, readingHistory } from './history.ts'

/** A history of reading that is kept, by name. */
export interface ReadingStory {
  readonly name: string
  readonly history: ReadingHistory
}

const story = (name: string, parts: Partial<ReadingHistory>): ReadingStory => ({ name, history: readingHistory(parts) })
const minuteMs = 60_000
const dayMinutes = 1_440
/** Orders over some days, so that a list of them has several pages. */
const several = (count: number) => Array.from({ length: count }, (_, place) => orderAgo(dayMinutes + place * 97))
const deadStatuses = [400, 401, 403, 404, 410, 422, 500] as const

/** What each has failed with before its rule was there. */
export const readingStories: readonly ReadingStory[] = [
  ...deadStatuses.map((status) =>
    story(`a cursor dies with ${status}, for ever`, {
      orders: several(14),
      temper: { is: 'dead', every: 5, status, untilMs: null },
    }),
  ),
  ...([401, 500] as const).map((status) =>
    story(`every cursor is dead, with ${status}`, {
      orders: several(9),
      temper: { is: 'dead', every: 1, status, untilMs: null },
    }),
  ),
  story('every further page says that there is nothing, for two hours', {
    orders: several(14),
    rules: [lying('none', 120, { pages: 'further' })],
  }),
  story('every list says that there is nothing for longer than the look-back', {
    orders: [...several(6), orderAgo(-20), orderAgo(-40, { node: 1 })],
    rules: [lying('none', 150)],
  }),
  story('orders of every node type show later than the look-back', {
    orders: [
      ...several(3),
      orderAgo(-10, { hiddenForMs: 180 * minuteMs, changedMs: [12 * minuteMs, 15 * minuteMs] }),
      orderAgo(-10, { hiddenForMs: 180 * minuteMs, node: 1 }),
      orderAgo(-10, { hiddenForMs: 180 * minuteMs, node: 2, changedMs: [30 * minuteMs] }),
    ],
  }),
  story('an order that closed is changed once more while the lists omit it', {
    orders: [orderAgo(600, { changedMs: [-500 * minuteMs, 30 * minuteMs] }), ...several(2)],
    rules: [lying('omit', 180, { fromMs: 10 * minuteMs })],
  }),
  story('orders that no list ever shows are named by an event and by a return', {
    orders: [
      ...several(3),
      orderAgo(300, { hiddenForMs: null, namedBy: 'event' }),
      orderAgo(300, { hiddenForMs: null, namedBy: 'return' }),
      orderAgo(300, { hiddenForMs: null }),
    ],
  }),
  story('the newest order corrupts each list that it is on, for good', {
    orders: [...several(4), orderAgo(-5, { namedBy: 'return', poison: { status: 403, untilMs: null } })],
  }),
  story('the only order there is corrupts each list that it is on, for good', {
    orders: [orderAgo(-5, { namedBy: 'return', poison: { status: 403, untilMs: null } })],
  }),
  story('lists lag hours behind', {
    orders: [...several(5), orderAgo(-5, { changedMs: [20 * minuteMs] }), orderAgo(-60)],
    rules: [lying('delay', 240, { lagMs: 200 * minuteMs })],
  }),
  story('pages repeat rows of the page before, and so slip others', {
    orders: several(13),
    rules: [lying('repeat', 120, { pages: 'further' })],
  }),
  story('a list comes in another order with every page', { orders: several(13), rules: [lying('reorder', 60)] }),
  story('a record corrupts its pages with 500, for ever', {
    orders: [...several(12), orderAgo(2 * dayMinutes + 7, { poison: { status: 500, untilMs: null } })],
  }),
  story('a record corrupts its pages with 400, for ever', {
    orders: [...several(12), orderAgo(2 * dayMinutes + 7, { poison: { status: 400, untilMs: null } })],
  }),
  story('a record corrupts its pages for three hours', {
    orders: [...several(12), orderAgo(2 * dayMinutes + 7, { poison: { status: 500, untilMs: 180 * minuteMs } })],
  }),
  story('two records next to each other corrupt their pages', {
    orders: [
      ...several(4),
      orderAgo(2 * dayMinutes + 7, { poison: { status: 500, untilMs: null } }),
      orderAgo(2 * dayMinutes + 8, { poison: { status: 403, untilMs: null } }),
    ],
  }),
  story('an outage of everything lasts for hours, and nothing is skipped', {
    orders: [...several(6), orderAgo(-60)],
    rules: [lying('fail', 180, { status: 503 })],
  }),
  story('answers with rows fail for hours while those without any come, and nothing is skipped', {
    orders: [...several(8), orderAgo(-60), orderAgo(-70)],
    rules: [lying('render', 300, { status: 503, fromMs: 20 * minuteMs })],
  }),
  story('the connection is dropped on every further page for an hour', {
    orders: several(9),
    rules: [lying('drop', 60, { pages: 'further' })],
  }),
  story('answers end in their middle for half an hour', { orders: several(5), rules: [lying('truncate', 30)] }),
  story('pages lead in circles for an hour', { orders: several(13), rules: [lying('circle', 60)] }),
  story('processes die one after another while cursors die', {
    orders: several(13),
    temper: { is: 'dead', every: 3, status: 422, untilMs: null },
    processes: 2,
    kills: [1, 2, 3, 5, 8],
  }),
]
