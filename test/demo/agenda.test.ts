import { expect, test } from 'vitest'
import { createAgenda } from '../../src/demo/agenda.ts'

const order = (purchaseOrderId: string) => ({ sellerId: 'S', purchaseOrderId })
const never = new AbortController().signal

test('holds no more orders than it may, and tells once that some were left out', () => {
  const agenda = createAgenda(2)
  for (const id of ['1', '2', '3']) agenda.note(order(id), 0)
  expect(agenda.hasRoom()).toBe(false)
  expect(agenda.takeLeftOut()).toBe(true)
  expect(agenda.takeLeftOut()).toBe(false)
  const first = agenda.due(0)
  if (first === null) throw new Error('nothing is due')
  agenda.finish(first)
  expect(agenda.hasRoom()).toBe(true)
})

test('the earliest errand comes first; noting it again can only bring it forward', () => {
  const agenda = createAgenda(10)
  agenda.note(order('late'), 2_000)
  agenda.note(order('early'), 1_000)
  expect(agenda.due(999)).toBeNull()
  expect(agenda.due(1_000)?.purchaseOrderId).toBe('early')
  agenda.note(order('late'), 500)
  agenda.note(order('late'), 9_000)
  expect(agenda.nextAtMs()).toBe(500)
})

test('whoever waits is woken by a change that meets the condition, by the time, and by the signal', async () => {
  const agenda = createAgenda(10)
  const woken = agenda.until(() => agenda.nextAtMs() !== null, Date.now() + 60_000, never)
  agenda.note(order('1'), 0)
  await woken
  await agenda.until(() => false, Date.now() + 5, never)
  const stopping = new AbortController()
  const stopped = agenda.until(() => false, Date.now() + 60_000, stopping.signal)
  stopping.abort()
  await stopped
  await agenda.until(() => false, Date.now() + 60_000, stopping.signal)
})
