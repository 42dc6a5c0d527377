import pg from 'pg'
import { expect, test } from 'vitest'
import { createNumbering } from '../../src/store/changes/change-numbers.ts'
import { readChanges } from '../../src/store/changes/changes.ts'
import { openDatabase } from '../../src/store/db/database.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { findVocabulary } from '../support/vocabulary.ts'

const stage = withDatabase({ each: 'test', connections: 8 })

const read = async (after = 0n) => (await readChanges(stage.database, after, 1_000)).changes

test('numbers ascend without gaps, and changes of one order stay in order, while transactions overlap and several number', async () => {
  const seen: { readonly seq: bigint; readonly purchaseOrderId: string | null; readonly data: unknown }[] = []
  let writing = true
  const reader = (async () => {
    for (;;) {
      const last = !writing
      if (last) await numbered(stage.database)
      seen.push(...(await read(seen.at(-1)?.seq)))
      if (last) return
    }
  })()
  const numbering = (async () => {
    while (writing) await numbered(stage.database)
  })()
  const orders = ['1', '2', '3']
  await stage.database.query(`INSERT INTO tallyman.sellers (seller_id, state) SELECT unnest($1::text[]), 'active'`, orders)
  const rounds = new Map(orders.map((order) => [order, 0]))
  await Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let round = 0; round < 15; round += 1) {
        const order = orders[(writer + round) % orders.length] ?? ''
        await stage.database
          .transaction(async (transaction) => {
            // As the row of an order is locked by whoever changes it.
            await transaction.query('SELECT 1 AS locked FROM tallyman.sellers WHERE seller_id = $1 FOR UPDATE', order)
            const last = rounds.get(order) ?? 0
            for (let n = 0; n <= round % 3; n += 1)
              transaction.record({
                sellerId: 's',
                type: 'order.erased',
                purchaseOrderId: order,
                data: { customerOrderId: `${last + n}` },
              })
            if (round % 7 === 3) throw new Error('rolled back')
            rounds.set(order, last + (round % 3) + 1)
          })
          .catch((error: unknown) => expect(String(error)).toContain('rolled back'))
      }
    }),
  )
  writing = false
  await Promise.all([reader, numbering])
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => BigInt(index + 1)))
  for (const [order, count] of rounds) {
    const its = seen.filter(({ purchaseOrderId }) => purchaseOrderId === order)
    expect(its.map(({ data }) => data)).toEqual(Array.from({ length: count }, (_, n) => ({ customerOrderId: `${n}` })))
  }
})

test('changes of an open transaction get their numbers after changes that were committed meanwhile', async () => {
  const early = new pg.Client({ connectionString: stage.url })
  await early.connect()
  await early.query(`BEGIN; INSERT INTO tallyman.unnumbered_changes (changes)
    VALUES ('[{"ordinal": 1, "seller_id": "early", "type": "shipping_settings.missing", "data": {}}]')`)
  await stage.database.transaction(async (tx) => tx.record({ sellerId: 'late', type: 'shipping_settings.missing', data: {} }))
  await numbered(stage.database)
  expect((await read()).map(({ seq, sellerId }) => [seq, sellerId])).toEqual([[1n, 'late']])
  await early.query('COMMIT')
  await early.end()
  await numbered(stage.database)
  expect((await read(1n)).map(({ seq, sellerId }) => [seq, sellerId])).toEqual([[2n, 'early']])
})

test('changes that a process has left unnumbered are numbered by another process, which polls for them', async () => {
  await stage.database.execute(`INSERT INTO tallyman.unnumbered_changes (changes)
    VALUES ('[{"ordinal": 1, "seller_id": "left", "type": "shipping_settings.missing", "data": {}}]')`)
  const other = openDatabase({ url: stage.url, findVocabulary, connections: 1, numberEveryMs: 20 })
  await eventually(async () => expect((await read()).map(({ sellerId }) => sellerId)).toEqual(['left']))
  await other.close()
})

test('one numbering runs at a time; a failure is reported, and its changes are numbered by the next', async () => {
  const errors: unknown[] = []
  let under = 0
  let calls = 0
  const numbering = createNumbering(
    async () => {
      under += 1
      calls += 1
      expect(under).toBe(1)
      if (calls === 1) numbering.recorded()
      await Promise.resolve()
      under -= 1
      if (calls === 1) throw new Error('away')
    },
    { everyMs: null, onError: (error) => errors.push(error) },
  )
  for (let n = 0; n < 5; n += 1) numbering.recorded()
  await numbering.close()
  expect([calls, errors.map(String)]).toEqual([2, ['Error: away']])
})
