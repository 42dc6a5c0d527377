import { rule } from '../history.ts'
import { dispatched, order, post, type Story, story } from '../story.ts'

/** What becomes of processes. */
export const processes: readonly Story[] = [
  story('the commit of an intent is acknowledged late, and another process has taken over', {
    orders: [order('acknowledged', 1)],
    nature: { countsUnits: false },
    processes: 2,
    acts: [post(0, dispatched(1, 1))],
    disturbances: [{ moment: 'after intent', time: 1, does: 'pauses', forMs: 200_000 }],
  }),
  story('a new token comes so late that another process has taken over', {
    orders: [order('acknowledged', 1)],
    nature: { countsUnits: false },
    processes: 2,
    acts: [post(0, dispatched(1, 1))],
    rules: [
      rule({ operation: 'ship', answer: { is: 'coded', status: 401 } }),
      rule({ operation: 'token', fromMs: 50, heldMs: 200_000, answer: { is: 'true' } }),
    ],
  }),
]
