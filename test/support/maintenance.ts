import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import { createQueueRuntime } from '../../src/queues/runtime.ts'
import { eventually } from './eventually.ts'

/**
 * Enqueues a maintenance task in the queues of a daemon, which are in Postgres, as its scheduler does once a minute or once an hour. Resolves when
 * a new job is there: a job that was there before may have read the state of an earlier time.
 */
export const enqueueMaintenance = async (databaseUrl: string, task: string): Promise<void> => {
  const log = createLogger({ level: 'error', format: 'json', destination: process.stderr })
  const backend = createQueueBackend({ redisUrl: null, databaseUrl, quiet: createQuietLog(log) })
  const runtime = createQueueRuntime({ backend, log, metrics: createMetrics({ version: 'tests', processMetrics: false }) })
  try {
    await runtime.start()
    await runtime.opened
    await eventually(async () => {
      const { outcome } = await runtime.enqueue('maintenance.run', { task })
      if (outcome === 'exists') throw new Error(`the last job of ${task} has not ended`)
    })
  } finally {
    await runtime.close()
  }
}
