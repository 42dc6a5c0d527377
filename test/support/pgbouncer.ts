import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { unprivilegedUser } from '../../src/embedded/unprivileged-user.ts'
import { freePort } from '../../src/util/net/free-port.ts'
import { eventually } from './eventually.ts'

const program = process.env['PGBOUNCER'] ?? 'pgbouncer'

/** True when this machine has a pgbouncer. Without one, tests are skipped with a loud message; with `CI=true` that is a failure. */
export const hasPgbouncer = (): boolean => {
  if (spawnSync(program, ['--version']).status === 0) return true
  const message = `no ${program} on this machine: the tests behind a pooler do not run (install it, or name one in PGBOUNCER)`
  if (process.env['CI'] === 'true') throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
  return false
}

/** A pooler before a Postgres. */
export interface TestPooler {
  /** The address of a database, through the pooler. */
  through(databaseUrl: string): string
  stop(): Promise<void>
}

/** Starts one on a free port. `connections`: how many it keeps to Postgres for each database. */
export const startTestPooler = async (
  server: string,
  { mode, connections }: { readonly mode: 'transaction' | 'session'; readonly connections: number },
): Promise<TestPooler> => {
  const { hostname, port: serverPort, username, password } = new URL(server)
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-pooler-'))
  const file = path.join(folder, 'pgbouncer.ini')
  const users = path.join(folder, 'users.txt')
  const port = await freePort()
  // In clear: it signs in to Postgres with it, too.
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      `default_pool_size = ${connections}`,
      'max_client_conn = 200',
    ].join('\n'),
  )
  // As root it refuses to run.
  const user = await unprivilegedUser()
  if (user !== null) {
    await chmod(folder, 0o755)
    for (const each of [file, users]) await chown(each, user.uid, user.gid)
  }
  const child = spawn(program, [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-5_000)
  })
  const ended = once(child, 'exit')
  const through: TestPooler['through'] = (databaseUrl) => {
    const url = new URL(databaseUrl)
    url.port = String(port)
    return url.href
  }
  await eventually(async () => {
    const client = new pg.Client({ connectionString: through(server) })
    try {
      await client.connect()
      await client.query('SELECT 1')
    } catch (error) {
      throw new Error(`the pooler does not answer: ${said}`, { cause: error })
    } finally {
      await client.end()
    }
  })
  return {
    through,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
