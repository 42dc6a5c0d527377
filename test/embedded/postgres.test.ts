import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/postgres.ts'
import { FolderInUse, lockFolder } from '../../src/embedded/process-lock.ts'
import { eventually } from '../support/eventually.ts'

let folder: string
const running: EmbeddedPostgres[] = []
const said: string[] = []

const start = async (dataDir = folder): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres({ dataDir, say: (line) => said.push(line), settings: ['fsync=off'] })
  running.push(server)
  return server
}

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallyman-embedded-'))
  await chmod(folder, 0o755)
  said.length = 0
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('startEmbeddedPostgres', () => {
  test('keeps its data over a restart', async () => {
    const first = await start()
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await first.stop()
    running.length = 0
    const second = await start()
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  test('starts over the lock file of a server that is gone', async () => {
    const first = await start()
    await first.stop()
    running.length = 0
    await writeFile(path.join(folder, 'postgres', 'postmaster.pid'), '999999\n/nowhere\n1\n5432\n\n127.0.0.1\n')
    const second = await start()
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('stops the server of a killed run first', async () => {
    const script = `
      const { startEmbeddedPostgres } = await import(${JSON.stringify(path.resolve('src/embedded/postgres.ts'))})
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(folder)}, say: () => undefined })
      console.log(server.pid())
      setInterval(() => undefined, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line]: unknown[] = await once(child.stdout, 'data')
    const orphan = Number(String(line))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const server = await start()
    expect(said.some((text) => text.includes(`process ${orphan}`))).toBe(true)
    expect(server.pid()).not.toBe(orphan)
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('is started again when it dies', async () => {
    const server = await start()
    const pid = server.pid()
    expect(pid).not.toBeNull()
    process.kill(pid ?? 0, 'SIGKILL')
    await eventually(async () => {
      expect(server.pid()).not.toBe(pid)
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    })
  })

  test('works below a folder that only its owner may enter', async () => {
    await rm(folder, { recursive: true })
    folder = await mkdtemp(path.join(tmpdir(), 'tallyman-private-'))
    const server = await start(path.join(folder, 'data'))
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    if (process.getuid?.() === 0) {
      const told = said.find((line) => line.includes('/var/lib/tallyman/data-'))
      const place = /\/var\/lib\/tallyman\/data-[0-9a-f]+/.exec(told ?? '')?.[0]
      expect(place, said.join('\n')).toBeDefined()
      await server.stop()
      running.length = 0
      if (place !== undefined) await rm(place, { recursive: true })
    }
  })
})

describe('lockFolder', () => {
  test('refuses a folder whose owner lives, and says who', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { lockFolder } = await import(${JSON.stringify(path.resolve('src/embedded/process-lock.ts'))})
         await lockFolder(${JSON.stringify(folder)})
         console.log('locked')
         setInterval(() => undefined, 1000)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(child.stdout, 'data')
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUse)
    await expect(lockFolder(folder)).rejects.toThrow(`process ${child.pid}`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = await lockFolder(folder)
    expect(await readFile(path.join(folder, 'tallyman.pid'), 'utf8')).toMatch(new RegExp(`^${process.pid} `))
    await lock.release()
  })
})
