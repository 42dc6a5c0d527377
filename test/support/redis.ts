import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../../src/util/net/free-port.ts'
import type { RedisTls } from '../../src/util/net/redis-address.ts'
import { eventually } from './eventually.ts'

/** A Redis of the tests' own, in a temporary folder, keeping nothing over a restart. */
export interface TestRedis {
  readonly url: string
  /** One command, over a connection of its own. */
  command(name: string, ...args: string[]): Promise<unknown>
  /** SIGKILL: everything in it is gone. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  start(): Promise<void>
  stop(): Promise<void>
}

const program = process.env['REDIS_SERVER'] ?? 'redis-server'

const runs = (name: string): boolean => spawnSync(name, ['--version']).status === 0

/** True when this machine has a redis-server. Without one, tests are skipped with a loud message; with `CI=true` that is a failure. */
export const hasRedisServer = (): boolean => {
  if (runs(program)) return true
  const message = `no ${program} on this machine: the tests of the queues on Redis do not run (install it, or name one in REDIS_SERVER)`
  if (process.env['CI'] === 'true') throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
  return false
}

/** What the queues run on, by the name that a test shows: Redis, and Valkey where this machine has it. */
export const redisPrograms = (): readonly (readonly [name: string, program: string])[] => {
  const redis = hasRedisServer() ? ([['Redis', program]] as const) : []
  if (runs('valkey-server')) return [...redis, ['Valkey', 'valkey-server']]
  process.stderr.write('\n*** no valkey-server on this machine: the queues are not tried on Valkey ***\n\n')
  return redis
}

/** How a server is reached: with a password, over TLS; and which program it is, unless the usual one. */
interface TestRedisAccess {
  readonly program?: string
  readonly password?: string
  readonly tls?: TestRedisTls
}

/** TLS of a server, and of those who call it. */
export interface TestRedisTls {
  /** Files of the server. */
  readonly ca: string
  readonly cert: string
  readonly key: string
  /** Whether it wants certificates of its clients. */
  readonly clients: 'yes' | 'no'
  /** What the test itself calls it with. */
  readonly caller: RedisTls
}

const tlsSettings = ({ ca, cert, key, clients }: TestRedisTls): readonly (readonly [name: string, value: string])[] => [
  ['tls-cert-file', cert],
  ['tls-key-file', key],
  ['tls-ca-cert-file', ca],
  ['tls-auth-clients', clients],
  ['tls-replication', 'yes'],
]

interface Server {
  readonly program?: string | undefined
  readonly url: string
  readonly args: readonly string[]
  readonly tls?: RedisTls | undefined
}

const run = async ({ program: own = program, url, args, tls }: Server): Promise<Omit<TestRedis, 'stop'>> => {
  let child: ChildProcess | undefined
  const command = async (name: string, ...values: string[]): Promise<unknown> => {
    const client = new Redis(url, {
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      ...(tls === undefined ? {} : { tls: { ...tls } }),
    })
    // `connect` and the command reject with the same fault.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await client.call(name, ...values)
    } finally {
      client.disconnect()
    }
  }
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
  const start = async (): Promise<void> => {
    child = spawn(own, args, { stdio: 'ignore' })
    await eventually(() => command('PING'))
  }
  await start()
  return { url, command, start, kill }
}

const account = (password: string | undefined): string => (password === undefined ? '' : `:${password}@`)

/** Starts one on a free port. */
export const startTestRedis = async (
  settings: readonly string[] = [],
  { program: own, password, tls }: TestRedisAccess = {},
): Promise<TestRedis> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-redis-'))
  const port = String(await freePort())
  const server = await run({
    program: own,
    // Certificates are issued for the name.
    url: `${tls === undefined ? 'redis' : 'rediss'}://${account(password)}${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}/0`,
    args: [
      ...(tls === undefined ? ['--port', port] : ['--port', '0', '--tls-port', port]),
      ...(tls === undefined ? [] : tlsSettings(tls).flatMap(([name, value]) => [`--${name}`, value])),
      ...['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
      ...(password === undefined ? [] : ['--requirepass', password, '--masterauth', password]),
      ...settings,
    ],
    tls: tls?.caller,
  })
  return {
    ...server,
    stop: async () => {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A master, its replica, and a sentinel that promotes the replica a second after the master is gone. */
export interface TestSentinel {
  /** For `REDIS_URL`. */
  readonly url: string
  readonly master: TestRedis
  readonly replica: TestRedis
  /** One command to the sentinel. */
  command(name: string, ...args: string[]): Promise<unknown>
  stop(): Promise<void>
}

/** Starts them, with passwords of both kinds, and waits until the sentinel knows the replica. `name`: that of the master. */
export const startTestSentinel = async (name: string, tls?: TestRedisTls): Promise<TestSentinel> => {
  const access = { password: 'of-redis', ...(tls === undefined ? {} : { tls }) }
  const scheme = tls === undefined ? 'redis' : 'rediss'
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-sentinel-'))
  const port = await freePort()
  const master = await startTestRedis(['--repl-diskless-sync-delay', '0'], access)
  const masterPort = new URL(master.url).port
  const replica = await startTestRedis(['--replicaof', '127.0.0.1', masterPort], access)
  const file = path.join(folder, 'sentinel.conf')
  await writeFile(
    file,
    [
      ...(tls === undefined ? [`port ${port}`] : ['port 0', `tls-port ${port}`]),
      ...(tls === undefined ? [] : tlsSettings(tls).map((setting) => setting.join(' '))),
      'bind 127.0.0.1',
      `dir ${folder}`,
      'requirepass of-the-sentinel',
      `sentinel monitor ${name} 127.0.0.1 ${masterPort} 1`,
      `sentinel auth-pass ${name} ${access.password}`,
      `sentinel down-after-milliseconds ${name} 1000`,
      `sentinel failover-timeout ${name} 10000`,
    ].join('\n'),
  )
  const sentinel = await run({
    url: `${scheme}://:of-the-sentinel@127.0.0.1:${port}`,
    args: [file, '--sentinel'],
    tls: tls?.caller,
  })
  await eventually(async () => {
    const linked = String(await replica.command('INFO', 'replication')).includes('master_link_status:up')
    const known = await sentinel.command('SENTINEL', 'replicas', name)
    if (!linked || !Array.isArray(known) || known.length === 0) throw new Error('the sentinel knows no replica yet')
  })
  return {
    url: `${scheme}+sentinel://:${access.password}@127.0.0.1:${port}/${name}?sentinel_password=of-the-sentinel`,
    master,
    replica,
    command: sentinel.command,
    stop: async () => {
      await sentinel.kill()
      await Promise.all([master.stop(), replica.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
