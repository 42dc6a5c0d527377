import { expect, test } from 'vitest'
import type { Announced } from '../../src/budget-store.ts'
import { rig } from './support/budget-rig.ts'

test('a process that finds nobody in a store that has lost its content is alone only after the others had time to say that they are there', async () => {
  const { store, share, live, pass } = rig({ tokens: 60, perMs: 60_000 })
  const answers: Announced[] = []
  const a = share('A', {
    ...store,
    announce: async (id, options) => {
      const answer = await store.announce(id, options)
      answers.push(answer.value)
      return answer
    },
  })
  const b = share('B')
  await live([a, b], 10_000)
  expect(answers.at(-1)).toEqual({ isSole: false, others: [{ id: 'B', isSole: false }] })
  store.lose()
  pass(100)
  await a.beat()
  expect(answers.at(-1)).toEqual({ isSole: false, others: [] })
  pass(500)
  await b.beat()
  await live([a, b], 3_000)
  expect(answers.slice(-3).map(({ isSole }) => isSole)).toEqual([false, false, false])
  // Where the other one has gone it is alone a beat later.
  store.lose()
  await live([a], 2_000)
  expect(answers.slice(-2)).toEqual([
    { isSole: false, others: [] },
    { isSole: true, others: [] },
  ])
})
