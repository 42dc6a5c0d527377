import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSlots, type Release } from '../../src/queues/slots.ts'

const never = new AbortController().signal

const take = async (slots: ReturnType<typeof createSlots>, sellerId: string): Promise<Release> => {
  const release = await slots.take(sellerId, never)
  if (release === null) throw new Error(`there is no slot for ${sellerId}`)
  return release
}

test('a single seller gets half of the slots; another one gets a slot without waiting', async () => {
  const slots = createSlots({ total: 16, timeoutMs: 1 })
  for (let taken = 0; taken < 8; taken += 1) await take(slots, 'a')
  expect(await slots.take('a', never)).toBeNull()
  await take(slots, 'b')
})

test('a run waits for a slot, and gets it as soon as one is free', async () => {
  const slots = createSlots({ total: 2, timeoutMs: 60_000 })
  const release = await take(slots, 'a')
  const next = slots.take('a', never)
  const third = slots.take('a', never)
  release()
  const second = await next
  if (second === null) throw new Error('it got no slot')
  second()
  expect(await third).not.toBeNull()
})

test('after a timeout further runs of the seller do not wait, until one of its runs ends', async () => {
  const slots = createSlots({ total: 2, timeoutMs: 1 })
  const release = await take(slots, 'a')
  expect(await slots.take('a', never)).toBeNull()
  // Otherwise it would wait for ever: no slot is released.
  expect(await slots.take('a', AbortSignal.timeout(60_000))).toBeNull()
  release()
  await take(slots, 'a')
})

test('a run whose signal is aborted stops waiting and takes no slot later', async () => {
  const slots = createSlots({ total: 2, timeoutMs: 60_000 })
  const release = await take(slots, 'a')
  const stopping = new AbortController()
  const waiting = slots.take('a', stopping.signal)
  stopping.abort()
  expect(await waiting).toBeNull()
  expect(await slots.take('b', stopping.signal)).toBeNull()
  release()
  await take(slots, 'a')
})

test('in any order of takes and releases no seller holds more than stays free by more than one, and a newcomer gets a slot', async () => {
  const step = fc.record({ seller: fc.constantFrom('a', 'b', 'c', 'd', 'e'), takes: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      const total = 24
      const slots = createSlots({ total, timeoutMs: 0 })
      const releases = new Map<string, Release[]>()
      const taken = (): number => [...releases.values()].reduce((sum, { length }) => sum + length, 0)
      for (const { seller, takes } of steps) {
        const own = releases.get(seller) ?? []
        releases.set(seller, own)
        if (!takes) {
          own.pop()?.()
          continue
        }
        const share = total - taken()
        const release = await slots.take(seller, never)
        // No slot exactly when it holds its share.
        expect(release === null).toBe(own.length >= share)
        if (release !== null) own.push(release)
        expect(taken()).toBeLessThan(total)
      }
      expect(await slots.take('newcomer', never)).not.toBeNull()
    }),
  )
})
