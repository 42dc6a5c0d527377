import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the data model and its diagram are what prisma/schema.prisma makes of them: npm run data-model writes them', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-model-'))
  try {
    await promisify(execFile)(process.execPath, ['scripts/data-model.mjs', folder])
    for (const file of ['data-model.md', 'data-model.svg'])
      expect(await readFile(path.join('docs', file), 'utf8'), file).toBe(await readFile(path.join(folder, file), 'utf8'))
    expect(await readFile(path.join(folder, 'data-model.md'), 'utf8')).toContain('`command_id` → `tallyman.commands`')
  } finally {
    await rm(folder, { recursive: true })
  }
})
