import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shareCheck } from '../src/util/shared-check.ts'

const options = { freshMs: 1_000, timeoutMs: 1_000, maxHanging: 2, late: 'late' }

test('whoever asks at once, or soon after, gets the same look', async () => {
  let looks = 0
  const check = shareCheck(async () => `look ${++looks}`, options)
  expect(await Promise.all(Array.from({ length: 300 }, () => check()))).toEqual(Array.from({ length: 300 }, () => 'look 1'))
  expect(await check()).toBe('look 1')
  const impatient = shareCheck(async () => `look ${++looks}`, { ...options, freshMs: 0 })
  expect([await impatient(), await impatient()]).toEqual(['look 2', 'look 3'])
})

test('a look that hangs is answered for, and only some of them hang at once', async () => {
  const hanging: (() => void)[] = []
  const check = shareCheck(() => new Promise<string>((resolve) => hanging.push(() => resolve('answered'))), {
    ...options,
    freshMs: 0,
    timeoutMs: 5,
  })
  for (let asked = 0; asked < 10; asked += 1) expect(await check()).toBe('late')
  expect(hanging).toHaveLength(2)
  for (const answer of hanging) answer()
  await delay(0)
  void check()
  expect(hanging).toHaveLength(3)
})

test('a look that fails fails for those who asked, and the next one is made anew', async () => {
  const outcomes = [Promise.reject(new Error('away')), Promise.resolve('there')]
  const check = shareCheck(() => outcomes.shift() ?? Promise.resolve('there'), { ...options, freshMs: 0 })
  await expect(check()).rejects.toThrow('away')
  expect(await check()).toBe('there')
})
