import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { BudgetStore } from '../src/budget-store.ts'
import { createSharedBudget } from '../src/clients/shared-budget.ts'
import { eventually } from './support/eventually.ts'

/** What every store of shared rate budgets promises. */
export const budgetStoreContract = (name: string, storeOf: () => BudgetStore): void => {
  const forMs = 60_000
  const bucket = () => `bucket ${randomUUID()}`

  describe(`shared rate budgets in ${name}`, () => {
    test('a text is written only by who has read the last one', async () => {
      const store = storeOf()
      const key = bucket()
      expect((await store.read(key)).value).toEqual({ version: 0, text: null })
      const won = await Promise.all(['one', 'two', 'three'].map((text) => store.swap(key, 0, text)))
      expect(won.filter(Boolean)).toHaveLength(1)
      const { version } = (await store.read(key)).value
      expect(await store.swap(key, version, 'four')).toBe(true)
      expect(await store.swap(key, version, 'five')).toBe(false)
      expect((await store.read(key)).value.text).toBe('four')
      expect(Math.abs((await store.read(key)).storeMs - Date.now())).toBeLessThan(60_000)
    })

    test('only one is sole, and only while nobody else is there', async () => {
      const store = storeOf()
      const ids = Array.from({ length: 6 }, () => randomUUID())
      const claims = await Promise.all(ids.map((id) => store.announce(id, { sole: 'claim', forMs })))
      expect(claims.filter(({ value }) => value.isSole).length).toBeLessThanOrEqual(1)
      const [first = '', ...others] = ids
      for (const id of others) await store.leave(id)
      expect((await store.announce(first, { sole: 'claim', forMs })).value).toEqual({ isSole: true, others: [] })
      const late = await store.announce('late', { sole: 'claim', forMs })
      expect(late.value).toEqual({ isSole: false, others: [{ id: first, isSole: true }] })
      expect((await store.announce(first, { sole: 'keep', forMs })).value.isSole).toBe(true)
      expect((await store.announce(first, { sole: 'yield', forMs })).value.isSole).toBe(false)
      expect((await store.announce('late', { sole: 'claim', forMs })).value.others).toEqual([{ id: first, isSole: false }])
      await store.leave(first)
      expect((await store.announce('late', { sole: 'claim', forMs })).value.isSole).toBe(true)
      await store.leave('late')
    })

    test('who has not been heard of in time is gone, and keeps nothing', async () => {
      const store = storeOf()
      expect((await store.announce('short', { sole: 'claim', forMs: 200 })).value.isSole).toBe(true)
      await eventually(async () => {
        expect((await store.announce('next', { sole: 'claim', forMs })).value.isSole).toBe(true)
      })
      expect((await store.announce('short', { sole: 'keep', forMs: 200 })).value.isSole).toBe(false)
      const key = bucket()
      await store.put('short', new Map([[key, 'late']]))
      expect((await store.read(key)).value.version).toBe(0)
      await store.put('next', new Map([[key, 'in time']]))
      await store.put(
        'next',
        new Map([
          [key, 'again'],
          [bucket(), 'other'],
        ]),
      )
      expect((await store.read(key)).value).toEqual({ version: 2, text: 'again' })
      await store.leave('short')
      await store.leave('next')
    })

    test('who was announced before the clock was set back stands for no longer than anybody else', async () => {
      const store = storeOf()
      // As it then looks: until a moment that is far ahead.
      await store.announce('gone', { sole: 'claim', forMs: 3_600_000 })
      expect((await store.announce('next', { sole: 'claim', forMs: 200 })).value.others).toMatchObject([{ id: 'gone' }])
      await eventually(async () => {
        expect((await store.announce('next', { sole: 'claim', forMs: 200 })).value).toEqual({ isSole: true, others: [] })
      })
      await store.leave('gone')
      await store.leave('next')
    })

    test('a process that has surely ended keeps nobody waiting for longer than a moment, and what it used is remembered', async () => {
      const store = storeOf()
      const operation = { name: `orders.ship ${randomUUID()}`, limit: { tokens: 10, perMs: 3_600_000 }, payloadKeys: [] }
      const [first, second] = [`first ${randomUUID()}`, `second ${randomUUID()}`]
      const parts = { store, limitOf: () => operation.limit }
      const killed = createSharedBudget({ ...parts, id: first })
      expect(await killed.take('S', operation)).toEqual({ granted: true })
      const heir = createSharedBudget({ ...parts, id: second, hasEnded: (id) => id === first })
      expect(await heir.take('S', operation)).toMatchObject({ granted: false })
      const other = { ...operation, name: `${operation.name} other` }
      const askedMs = performance.now()
      await eventually(async () => {
        await heir.beat()
        expect(await heir.take('S', other)).toEqual({ granted: true })
      })
      expect(performance.now() - askedMs).toBeLessThan(5_000)
      expect(await heir.take('S', operation)).toMatchObject({ granted: false })
      await heir.close()
    })

    test('what another version has written is taken for an empty bucket, and written again', async () => {
      const store = storeOf()
      const operation = { name: `orders.ship ${randomUUID()}`, limit: { tokens: 60, perMs: 60_000 }, payloadKeys: [] }
      const name = JSON.stringify(['S', operation.name, null])
      await store.swap(name, 0, '{"from": "another version"}')
      const budget = createSharedBudget({ store, id: randomUUID(), limitOf: (_seller, { limit }) => limit })
      expect(await budget.take('S', operation)).toMatchObject({ granted: false })
      await eventually(async () => expect(await budget.take('S', operation)).toEqual({ granted: true }))
      await budget.close()
      expect((await store.read(name)).value.text).toContain('arrivalMs')
    })

    test('many processes that draw at once get what one would get', async () => {
      const store = storeOf()
      const operation = { name: `orders.ship ${randomUUID()}`, limit: { tokens: 600, perMs: 3_600_000 }, payloadKeys: [] }
      const budgets = Array.from({ length: 4 }, () =>
        createSharedBudget({ store, id: randomUUID(), limitOf: (_seller, { limit }) => limit }),
      )
      // All of them are there before anybody draws.
      const other = { ...operation, name: 'orders.get' }
      await Promise.all(budgets.map((budget) => budget.take('S', other)))
      for (let round = 0; round < 3; round += 1) await Promise.all(budgets.map((budget) => budget.beat()))
      let granted = 0
      const drain = async (budget: (typeof budgets)[number]): Promise<void> => {
        for (let asked = 0; asked < 40; asked += 1) if ((await budget.take('S', operation)).granted) granted += 1
      }
      await Promise.all(budgets.flatMap((budget) => [drain(budget), drain(budget)]))
      // A tenth of the limit may go at once; one of leased ones may have lapsed meanwhile on a slow machine.
      expect(granted).toBeLessThanOrEqual(61)
      expect(granted).toBeGreaterThanOrEqual(50)
      await Promise.all(budgets.map((budget) => budget.close()))
    })
  })
}
