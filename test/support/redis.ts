import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../../src/free-port.ts'
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

/** True when this machine has a redis-server. Without one, tests are skipped with a loud message; with `CI=true` that is a failure. */
export const hasRedisServer = (): boolean => {
  if (spawnSync(program, ['--version']).status === 0) return true
  const message = `no ${program} on this machine: the tests of the queues on Redis do not run (install it, or name one in REDIS_SERVER)`
  if (process.env['CI'] === 'true') throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
  return false
}

/** Starts one on a free port. */
export const startTestRedis = async (settings: readonly string[] = []): Promise<TestRedis> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallyman-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}/0`
  let child: ChildProcess | undefined

  const command = async (name: string, ...args: string[]): Promise<unknown> => {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
    // `connect` and the command reject with the same fault.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await client.call(name, ...args)
    } finally {
      client.disconnect()
    }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill(signal)
    await ended
  }
  const start = async (): Promise<void> => {
    child = spawn(
      program,
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder, ...settings],
      { stdio: 'ignore' },
    )
    await eventually(() => command('PING'))
  }

  await start()
  return {
    url,
    command,
    start,
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
