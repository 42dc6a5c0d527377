import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const asks = /\b(?:sql|tx|transaction|database)\.(?:query|execute|prisma)\b/

/** Transactions are passed through `jobs` and `http`, where no import rule checks their use. */
test('code outside of the store passes transactions on, and sends no statements itself', () => {
  const files = globSync('src/**/*.ts', { exclude: ['src/store/**'] })
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => asks.test(readFileSync(file, 'utf8')))).toEqual([])
  expect(asks.test(readFileSync('src/store/sellers/sellers.ts', 'utf8'))).toBe(true)
})
