import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openBoundedLog } from '../../src/embedded/bounded-log.ts'
import { makeDataDir } from '../../src/embedded/data-dir.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/postgres.ts'
import { FolderInUse, lockFolder } from '../../src/embedded/process-lock.ts'
import { readProcesses } from '../daemon/support.ts'
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

  test('keeps its address over restarts, and says so when another program has its port', async () => {
    const first = await start()
    await first.stop()
    const second = await start()
    expect(second.url).toBe(first.url)
    await second.stop()
    running.length = 0
    const { port } = new URL(second.url)
    const intruder = createServer().listen(Number(port), '127.0.0.1')
    await once(intruder, 'listening')
    try {
      const third = await start()
      expect(new URL(third.url).port).not.toBe(port)
      expect(said.join('\n')).toContain(`port ${port} of the embedded Postgres is in use by another program`)
      await third.stop()
      expect((await start()).url).toBe(third.url)
    } finally {
      intruder.close()
    }
  })

  test('starts over the lock file of a server that is gone', async () => {
    const first = await start()
    await first.stop()
    running.length = 0
    await writeFile(path.join(folder, 'postgres', 'postmaster.pid'), '999999\n/nowhere\n1\n5432\n\n127.0.0.1\n')
    const second = await start()
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  /** One in a process of its own, which is then killed. */
  const startAndKill = async (beforehand: (pid: number) => Promise<void> = async () => undefined): Promise<number> => {
    const script = `
      const { startEmbeddedPostgres } = await import(${JSON.stringify(path.resolve('src/embedded/postgres.ts'))})
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(folder)}, say: () => undefined })
      console.log(server.pid())
      setInterval(() => undefined, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line]: unknown[] = await once(child.stdout, 'data')
    const pid = Number(String(line))
    await beforehand(pid)
    child.kill('SIGKILL')
    await once(child, 'exit')
    return pid
  }
  const readWatchers = async (): Promise<readonly number[]> =>
    (await readProcesses(folder)).filter(({ command }) => command.startsWith('/bin/sh')).map(({ pid }) => pid)

  test.skipIf(process.platform !== 'linux')('ends in good order when its daemon is killed', async () => {
    const orphan = await startAndKill(async () => expect(await readWatchers()).toHaveLength(1))
    await eventually(async () => expect(await readProcesses(folder)).toEqual([]))
    expect(() => process.kill(orphan, 0)).toThrow('ESRCH')
    expect(await readFile(path.join(folder, 'postgres.log'), 'utf8')).toContain('database system is shut down')
    const server = await start()
    expect(said.join()).not.toContain('of an earlier run')
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test.skipIf(process.platform !== 'linux')(
    'stops the server of a run that was killed with all that watched over it first',
    async () => {
      const orphan = await startAndKill(async () => {
        for (const pid of await readWatchers()) process.kill(pid, 'SIGKILL')
        await eventually(async () => expect(await readWatchers()).toEqual([]))
      })
      const server = await start()
      expect(said.some((text) => text.includes(`process ${orphan}`))).toBe(true)
      expect(server.pid()).not.toBe(orphan)
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    },
  )

  test('its log has its starts and ends, and nothing of what statements carry', async () => {
    const server = await start()
    await query(server.url, 'CREATE TABLE people (name text PRIMARY KEY, age integer)')
    await query(server.url, "INSERT INTO people VALUES ('Erika Mustermann', 1)")
    for (const statement of [
      "INSERT INTO people VALUES ('Erika Mustermann', 2)",
      "INSERT INTO people VALUES ('Max', 'Mustermann-Straße 7')",
      "SELECT jsonb '{Mustermann'",
      "DO $$ BEGIN RAISE WARNING 'Mustermann'; END $$; SELECT 1 / 0 AS Mustermann",
    ])
      await query(server.url, statement).catch(() => undefined)
    await server.stop()
    running.length = 0
    const log = await readFile(path.join(folder, 'postgres.log'), 'utf8')
    expect(log).toContain('ready to accept connections')
    expect(log).toContain('database system is shut down')
    expect(log).not.toMatch(/Mustermann|people|SELECT/)
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

describe('openBoundedLog', () => {
  test('keeps what was written once, begins anew, and whoever writes goes on', async () => {
    const file = path.join(folder, 'some.log')
    await writeFile(file, 'of an earlier version\n', { mode: 0o644 })
    const log = await openBoundedLog(file, { say: (line) => said.push(line), maxBytes: 2_000, everyMs: 20 })
    const write = (text: string) =>
      once(
        spawn(process.execPath, ['-e', `fs.writeSync(1, ${JSON.stringify(text)})`], { stdio: ['ignore', log.fd, 'inherit'] }),
        'exit',
      )
    await write('first\n'.repeat(400))
    await eventually(async () => expect((await stat(file)).size).toBe(0))
    expect(await readFile(`${file}.1`, 'utf8')).toMatch(/^of an earlier version\n(first\n){400}$/)
    await write('second\n')
    expect(await readFile(file, 'utf8')).toBe('second\n')
    for (const place of [file, `${file}.1`]) expect((await stat(place)).mode & 0o777).toBe(0o600)
    await log.close()

    await writeFile(file, 'x'.repeat(3_000))
    await (await openBoundedLog(file, { say: (line) => said.push(line), maxBytes: 2_000 })).close()
    expect((await readFile(`${file}.1`, 'utf8')).length).toBe(3_000)
    expect((await stat(file)).size).toBe(0)
    expect(said).toEqual([])
  })

  test('follows no link that somebody else laid', async () => {
    const [file, target] = [path.join(folder, 'some.log'), path.join(folder, 'target')]
    await writeFile(target, 'kept')
    await symlink(target, file)
    await expect(openBoundedLog(file, { say: (line) => said.push(line) })).rejects.toThrow('ELOOP')
    expect(await readFile(target, 'utf8')).toBe('kept')
  })
})

describe('makeDataDir', () => {
  const readMode = async (place: string): Promise<number> => (await stat(place)).mode & 0o777
  const make = (place: string) => makeDataDir(place, { owner: null, say: (line) => said.push(line) })

  test('makes a folder of its own for its owner alone, and closes one of an earlier version', async () => {
    const place = path.join(folder, 'deep', 'data')
    await make(place)
    expect(await readMode(place)).toBe(0o700)
    await writeFile(path.join(place, 'postgres.log'), '')
    await chmod(place, 0o755)
    await make(place)
    expect(await readMode(place)).toBe(0o700)
    expect(said).toEqual([])
  })

  test('leaves a folder that others use too as it is, and says so', async () => {
    await writeFile(path.join(folder, 'sellers.yaml'), '')
    await make(folder)
    expect(await readMode(folder)).toBe(0o755)
    expect(said).toEqual([expect.stringContaining(`${folder} is accessible by other users of this machine`)])
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
