/**
 * Memory of Redis for each command that is queued: used memory before and after so many jobs were added, none of which runs.
 * `node bench/redis-memory.ts [--commands 100000]`
 */
import { randomUUID } from 'node:crypto'
import { createMetrics } from '../src/observability/metrics.ts'
import { startTestRedis } from '../test/support/redis.ts'
import { benchOptions } from './measure.ts'
import { openQueues } from './ship-commands.ts'

const { commands } = benchOptions({ commands: 100_000 }).numbers
const batch = 1_000

const server = await startTestRedis()
const usedBytes = async (): Promise<number> =>
  Number(/used_memory:(\d+)/.exec(String(await server.command('INFO', 'memory')))?.[1])
const metrics = createMetrics({ version: 'bench', processMetrics: false })
const runtime = openQueues({ redisUrl: server.url, databaseUrl: '', prefix: 'bench' }, metrics)
try {
  await runtime.start()
  const before = await usedBytes()
  for (let first = 0; first < commands; first += batch) {
    const count = Math.min(batch, commands - first)
    const ids = Array.from({ length: count }, () => randomUUID())
    await runtime.enqueueMany(ids.map((commandId) => ({ name: 'command.run', data: { commandId } })))
  }
  const bytes = ((await usedBytes()) - before) / commands
  console.log(`${commands} queued commands: ${Math.round(bytes)} bytes of Redis each`)
} finally {
  await runtime.close()
  await server.stop()
}
