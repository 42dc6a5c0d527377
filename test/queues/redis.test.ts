import { afterEach, describe, expect, test, vi } from 'vitest'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { createQueueRuntime, type RuntimeTimes } from '../../src/queues/runtime.ts'
import { eventually } from '../support/eventually.ts'
import { hasRedisServer, redisPrograms, startTestRedis, type TestRedis } from '../support/redis.ts'
import { runtimeContract } from './runtime.contract.ts'
import { redisStore } from './store.ts'

const here = hasRedisServer()
const countPid = async (server: TestRedis): Promise<number> =>
  Number(/process_id:(\d+)/.exec(String(await server.command('INFO', 'server')))?.[1])
for (const [name, program] of redisPrograms()) runtimeContract(name, () => redisStore(program))

describe.runIf(here)('Redis of other kinds', () => {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  const on = async (settings: readonly string[], formatUrl: (url: string) => string, times: Partial<RuntimeTimes> = {}) => {
    const server = await startTestRedis(settings)
    ends.push(() => server.stop())
    const lines: Record<string, unknown>[] = []
    const log = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void lines.push(JSON.parse(line)) },
    })
    const metrics = createMetrics({ version: 'test', processMetrics: false })
    const backend = createQueueBackend({ redisUrl: formatUrl(server.url), databaseUrl: '', quiet: createQuietLog(log) })
    const runtime = createQueueRuntime({ backend, log, metrics, times })
    ends.push(() => runtime.close())
    return { server, runtime, lines }
  }

  test('a cluster, named by a list of its nodes', async () => {
    const { server, runtime } = await on(
      ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
      (url) => `${url}, ${url.replace('redis://', '')}`,
    )
    await server.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await eventually(async () => expect(await server.command('CLUSTER', 'INFO')).toContain('cluster_state:ok'))
    const ran: string[] = []
    runtime.register('command.run', async ({ data, starts }) => {
      ran.push(data.commandId)
      return starts === 1 ? { runAgainAt: new Date(Date.now() + 20), reason: 'once more' } : { done: true }
    })
    await runtime.start()
    await runtime.opened
    await runtime.enqueueMany([{ name: 'command.run', data: { commandId: '1' } }])
    await eventually(() => expect(ran).toEqual(['1', '1']))
    expect(await runtime.check(2_000)).toMatchObject({ ok: true })
  })

  test.each([
    ['is full', (server: TestRedis) => server.command('CONFIG', 'SET', 'maxmemory', '1')],
    ['is silent', async (server: TestRedis) => process.kill(await countPid(server), 'SIGSTOP')],
  ])('one that %s although its connections stand is no reason to restart, however long', async (_how, harm) => {
    const { server, runtime } = await on([], (url) => url, { stuckAfterMs: 2_000, bootGraceMs: 0, operationTimeoutMs: 300 })
    runtime.register('command.run', async () => ({ done: true }))
    await runtime.start()
    await runtime.opened
    const pid = await countPid(server)
    await harm(server)
    try {
      await eventually(() =>
        expect(runtime.liveness(Date.now() + 60_000)).toEqual({ alive: true, detail: 'waiting for the store of the queues' }),
      )
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    await eventually(() => expect(runtime.liveness(Date.now())).toEqual({ alive: true, detail: 'work is being consumed' }))
  })

  test('one that may throw jobs away is used, with one warning', async () => {
    const console = vi.spyOn(globalThis.console, 'warn')
    const { runtime, lines } = await on(['--maxmemory-policy', 'allkeys-lru'], (url) => url)
    runtime.register('command.run', async () => ({ done: true }))
    await runtime.start()
    expect((await runtime.check(2_000)).warnings).toEqual([expect.stringContaining('maxmemory-policy is allkeys-lru')])
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    expect(console).not.toHaveBeenCalled()
    console.mockRestore()
  })
})
