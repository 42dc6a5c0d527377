import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/store/db/migrate.ts'
import { cli } from '../cli/run.ts'
import { startIn } from '../support/postgres.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-bi-login-'))
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const readAs = async (url: string): Promise<unknown> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query('SELECT current_user AS login, count(*)::int AS rows FROM warehouse.sales_daily')
    return rows
  } finally {
    await client.end()
  }
}

test('a login of the embedded database is created without DATABASE_URL, and its address is valid after a restart', async () => {
  const first = await startIn(folder)
  let address: string
  try {
    await migrate(first.url)
    const created = await cli(['grants', '--bi-login', 'metabase', '--json'], { DATA_DIR: folder })
    expect(created).toMatchObject({ code: 0 })
    const url = new URL(first.url)
    url.username = 'metabase'
    url.password = JSON.parse(created.out).login.password
    address = url.href
    expect(await readAs(address)).toEqual([{ login: 'metabase', rows: 0 }])
  } finally {
    await first.stop()
  }
  const second = await startIn(folder)
  try {
    expect(await readAs(address)).toEqual([{ login: 'metabase', rows: 0 }])
  } finally {
    await second.stop()
  }
  expect(await cli(['grants', '--bi-login', 'metabase'], { DATA_DIR: folder })).toMatchObject({
    code: 2,
    messages: expect.stringContaining('no Postgres runs in DATA_DIR'),
  })
})
