import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const asks = /\b(?:sql|tx|transaction|database)\.(?:query|execute|prisma)\b/

/** Runners of statements are handed through `jobs` and `http`, where no import rule sees what they are used for. */
test('what is outside of the store hands transactions on, and asks nothing of Postgres itself', () => {
  const files = globSync('src/**/*.ts', { exclude: ['src/store/**'] })
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => asks.test(readFileSync(file, 'utf8')))).toEqual([])
  expect(asks.test(readFileSync('src/store/sellers.ts', 'utf8'))).toBe(true)
})
