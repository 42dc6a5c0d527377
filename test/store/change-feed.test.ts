import { expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ connections: 8 })

test('numbers follow the order of commits, without gaps, while transactions overlap', async () => {
  const seen: bigint[] = []
  let writing = true
  const reader = (async () => {
    let after = 0n
    for (;;) {
      const last = !writing
      const found = await stage.database.query<{ seq: bigint }>(
        'SELECT seq FROM warehouse.changes WHERE seq > $1 ORDER BY seq',
        after,
      )
      for (const { seq } of found) seen.push(seq)
      after = seen.at(-1) ?? 0n
      if (last) return
    }
  })()
  await Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let round = 0; round < 15; round += 1) {
        await stage.database
          .transaction(async (transaction) => {
            for (let n = 0; n <= round % 3; n += 1)
              transaction.record({ sellerId: `s${writer}`, type: 'seller.stopped', data: { reason: `${round} ${n}` } })
            if (round % 7 === 3) throw new Error('rolled back')
          })
          .catch((error: unknown) => expect(String(error)).toContain('rolled back'))
      }
    }),
  )
  writing = false
  await reader
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => BigInt(index + 1)))
  const [count] = await stage.database.query<{ n: bigint }>('SELECT count(*) AS n FROM warehouse.changes')
  expect(seen.length).toBe(Number(count?.n))
})
