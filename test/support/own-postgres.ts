import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../src/util/net/free-port.ts'
import { eventually } from './eventually.ts'

const run = promisify(execFile)
const versions = '/usr/lib/postgresql'

/** Folder of the programs of a Postgres of this machine, `pg_dump` among them; null: there is none, which with `CI=true` is a failure. */
export const ownPostgresPrograms = (): string | null => {
  const found = (existsSync(versions) ? readdirSync(versions) : [])
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => path.join(versions, version, 'bin'))
    .find((folder) => ['initdb', 'postgres', 'pg_dump', 'pg_restore'].every((name) => existsSync(path.join(folder, name))))
  if (found === undefined && process.env['CI'] === 'true') throw new Error(`no Postgres with its client programs in ${versions}`)
  return found ?? null
}

/** A server of the tests' own, of the machine's programs, on a free port: what a user has beside the embedded one. */
export interface OwnPostgres {
  /** Address of a new, empty database. */
  database(): Promise<string>
  stop(): Promise<void>
}

/** As whom the server runs: it refuses root. */
const identity = async (): Promise<{ readonly uid?: number; readonly gid?: number }> => {
  if (process.getuid?.() !== 0) return {}
  const of = async (flag: string): Promise<number> => Number((await run('id', [flag, 'nobody'])).stdout)
  return { uid: await of('-u'), gid: await of('-g') }
}

/** Starts one in a temporary folder. */
export const startOwnPostgres = async (programs: string): Promise<OwnPostgres> => {
  const as = await identity()
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-own-postgres-'))
  if (as.uid !== undefined && as.gid !== undefined) await chown(folder, as.uid, as.gid)
  const cluster = path.join(folder, 'data')
  const port = await freePort()
  await run(
    path.join(programs, 'initdb'),
    ['-D', cluster, '-U', 'owner', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    as,
  )
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
  const child = spawn(
    path.join(programs, 'postgres'),
    ['-D', cluster, '-p', `${port}`, ...settings.flatMap((one) => ['-c', one])],
    {
      ...as,
      stdio: 'ignore',
    },
  )
  const buildAddress = (name: string): string => `postgresql://owner@127.0.0.1:${port}/${name}`
  const ask = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: buildAddress('postgres') })
    // `connect` rejects with the same fault.
    client.on('error', () => undefined)
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  await eventually(() => ask('SELECT 1'))
  let made = 0
  return {
    database: async () => {
      made += 1
      await ask(`CREATE DATABASE own_${made}`)
      return buildAddress(`own_${made}`)
    },
    stop: async () => {
      const ended = child.exitCode === null ? once(child, 'exit') : null
      child.kill('SIGQUIT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
