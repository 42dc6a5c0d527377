import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { markedColumns, personalDataPage } from '../../src/store/privacy/personal-data.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()

test('every column of the database is marked, once, and nothing else is', async () => {
  const rows = await stage.database.query<{ name: string }>(
    // A partition has the columns of its table.
    `SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname IN ('warehouse', 'tallyman') AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition`,
  )
  const marked = (await markedColumns()).map(({ table, column }) => `${table}.${column}`)
  expect(marked.sort()).toEqual(rows.map(({ name }) => name).sort())
})

test('docs/personal-data.md is what the marks make of it: npm run personal-data writes it', async () => {
  expect(await readFile('docs/personal-data.md', 'utf8')).toBe(await personalDataPage())
})

test('its table cells and lines are short enough to be read', async () => {
  for (const text of (await personalDataPage()).split('\n')) {
    if (text.startsWith('|')) for (const cell of text.split('|')) expect(cell.length, cell).toBeLessThanOrEqual(200)
    else expect(text.length, text).toBeLessThanOrEqual(160)
  }
})
