import { expect, test } from 'vitest'
import { createPostgresRateLimits, removeUnusedRateLimits } from '../../src/store/sellers/rate-limits.ts'
import { rateLimitStoreContract } from '../rate-limit-store.contract.ts'
import { withDatabase } from '../support/database.ts'

const opened = withDatabase()
rateLimitStoreContract('Postgres', () => createPostgresRateLimits(opened.database))

test('states that were not used for forty days are removed', async () => {
  const { database } = opened
  const store = createPostgresRateLimits(database)
  await store.swap(['old', 'new'].map((name) => ({ name, version: 0, text: '{}' })))
  await database.execute(`UPDATE tallyman.rate_limits SET changed_at = now() - interval '41 days' WHERE name = 'old'`)
  await removeUnusedRateLimits(database)
  expect(await database.query(`SELECT name FROM tallyman.rate_limits WHERE name IN ('old', 'new')`)).toEqual([{ name: 'new' }])
})
