import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { createQueueRuntime } from '../../src/queues/runtime.ts'

// A worker that takes a job and never ends it; the test kills it.
const log = createLogger({ level: 'error', format: 'json' })
const runtime = createQueueRuntime({
  backend: createQueueBackend({ ...JSON.parse(process.env['STORE'] ?? ''), quiet: createQuietLog(log) }),
  log,
  metrics: createMetrics({ version: 'test', processMetrics: false }),
  times: { lockMs: 1_500, stalledIntervalMs: 500 },
})
runtime.register('command.run', async ({ data }) => {
  console.log(`running ${data.commandId}`)
  return new Promise(() => undefined)
})
await runtime.start()
