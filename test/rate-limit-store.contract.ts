import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSharedBudget, type SharedBudget } from '../src/clients/rate-limit/shared-budget.ts'
import type { RateLimitStore } from '../src/clients/rate-limit/store.ts'

/** What every store of shared rate limits guarantees. */
export const rateLimitStoreContract = (name: string, buildStore: () => RateLimitStore): void => {
  const state = () => `state ${randomUUID()}`
  const findBudget = (): SharedBudget =>
    createSharedBudget({ store: buildStore(), id: randomUUID(), findLimit: (_seller, { limit }) => limit })

  describe(`shared rate limits in ${name}`, () => {
    test('a state is written only over the version that the writer has seen, and what is stored is returned', async () => {
      const store = buildStore()
      const key = state()
      const swap = async (version: number, text: string) => (await store.swap([{ name: key, version, text }]))[0]
      const results = await Promise.all(['one', 'two', 'three'].map((text) => swap(0, text)))
      expect(new Set(results.map((result) => result?.text)).size).toBe(1)
      expect(results.map((result) => result?.version)).toEqual([1, 1, 1])
      expect(await swap(1, 'four')).toMatchObject({ version: 2, text: 'four' })
      expect(await swap(1, 'five')).toMatchObject({ version: 2, text: 'four' })
      expect(Math.abs((await store.nowMs()) - Date.now())).toBeLessThan(60_000)
      expect(Math.abs(((await swap(0, 'six'))?.storeMs ?? 0) - Date.now())).toBeLessThan(60_000)
    })

    test('several states are written at once, each by its own version; a store that has lost a state takes any', async () => {
      const store = buildStore()
      const [one, two] = [state(), state()]
      await store.swap([{ name: one, version: 0, text: 'first' }])
      const results = await store.swap([
        { name: two, version: 41, text: "it's “new”" },
        { name: one, version: 41, text: 'late' },
      ])
      expect(results).toMatchObject([
        { version: 42, text: "it's “new”" },
        { version: 1, text: 'first' },
      ])
    })

    test.each(['{"from": "another version"}', 'corrupt'])('the state %s counts as unused, and is written again', async (text) => {
      const store = buildStore()
      const operation = { name: `orders.ship ${randomUUID()}`, limit: { tokens: 60, perMs: 60_000 }, payloadKeys: [] }
      const key = JSON.stringify(['S', operation.name, null])
      await store.swap([{ name: key, version: 0, text }])
      expect(await findBudget().take('S', operation)).toEqual({ granted: true })
      expect((await store.swap([{ name: key, version: 0, text }]))[0]?.text).toContain('"used":1')
    })

    test('a process that starts later knows what was used, and what was learned', async () => {
      const operation = { name: `orders.ship ${randomUUID()}`, limit: { tokens: 10, perMs: 3_600_000 }, payloadKeys: [] }
      const first = findBudget()
      expect(await first.take('S', operation)).toEqual({ granted: true })
      await first.learn('S', operation, { status: 429, remaining: null, replenishAt: null, retryAfter: null })
      const second = findBudget()
      expect(await second.take('S', operation)).toMatchObject({ granted: false })
      expect(second.snapshot()[0]?.perMinute).toBeCloseTo(10 / 60 / 2, 1)
    })

    test('many processes that draw at once get what one would get', async () => {
      const operation = { name: `orders.ship ${randomUUID()}`, limit: { tokens: 600, perMs: 3_600_000 }, payloadKeys: [] }
      let granted = 0
      const drain = async (budget: SharedBudget): Promise<void> => {
        for (let asked = 0; asked < 20; asked += 1) if ((await budget.take('S', operation)).granted) granted += 1
      }
      await Promise.all(Array.from({ length: 4 }, findBudget).flatMap((budget) => [drain(budget), drain(budget)]))
      // A tenth of the limit at once, without its margin.
      expect(granted).toBe(54)
    })
  })
}
