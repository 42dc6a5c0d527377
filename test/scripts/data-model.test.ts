import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()

test('the data model, its diagram and the sources of dbt are what the schema and the comments of the database make of them: npm run data-model writes them', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-model-'))
  try {
    await promisify(execFile)(process.execPath, ['scripts/data-model.mjs', folder, stage.url])
    for (const file of ['docs/data-model.md', 'docs/data-model.svg', 'deploy/bi/dbt/models/sources.yml'])
      expect(await readFile(file, 'utf8'), file).toBe(await readFile(path.join(folder, path.basename(file)), 'utf8'))
    expect(await readFile(path.join(folder, 'data-model.md'), 'utf8')).toContain('`command_id` → `tallyman.commands`')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('every table, view and column of the warehouse has a comment', async () => {
  const bare = await stage.database.query(
    `SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'warehouse'::regnamespace AND c.relkind IN ('r', 'p', 'v')
       AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid, 'pg_class') IS NULL)`,
  )
  expect(bare, 'a migration that adds a column or a view describes it (COMMENT ON)').toEqual([])
})
