import type { HealthReport } from '../http/services.ts'
import type { QueueRuntime } from '../queues/runtime.ts'
import { shareCheck } from '../shared-check.ts'
import { lookAtStore } from '../store/readiness.ts'
import type { DatabasePart } from './database.ts'
import type { QueuesPart } from './queues.ts'

/** Postgres is given so long to answer a look. */
export const checkTimeoutMs = 2_000

/** Whether the daemon lives, and is ready. */
export const createHealth = (
  { database, migrations }: DatabasePart,
  { kind, runtime }: { readonly kind: QueuesPart['kind']; readonly runtime: Pick<QueueRuntime, 'check' | 'liveness'> },
  webhooks: { isRead(): boolean },
): { live(): HealthReport; ready(): Promise<HealthReport> } => {
  // Anybody may ask, as often as they like: one look a second serves all, and takes no connection but those of the pools.
  const shared = { freshMs: 1_000, timeoutMs: checkTimeoutMs, mostHanging: 2 }
  const late = { ok: false, detail: 'Postgres does not answer in time' }
  const lookAtPostgres = shareCheck(() => lookAtStore(database, migrations, checkTimeoutMs), { ...shared, late })
  const lookAtQueues = shareCheck(() => runtime.check(checkTimeoutMs), {
    ...shared,
    timeoutMs: checkTimeoutMs * 2,
    late: { ok: false, detail: 'the store of the queues does not answer in time', warnings: [] },
  })
  return {
    live: () => {
      const verdict = runtime.liveness(Date.now())
      return { ok: verdict.alive, checks: [{ name: 'work is consumed', ok: verdict.alive, detail: verdict.detail }] }
    },
    ready: async () => {
      const [store, queues] = await Promise.all([lookAtPostgres(), lookAtQueues()])
      const checks = [
        { name: 'postgres', ...store },
        { name: kind === 'redis' ? 'redis' : 'queues', ok: queues.ok, detail: queues.detail },
        // What keeps them from being read is named already where Postgres or the queues do not answer.
        webhooks.isRead() || !store.ok || !queues.ok
          ? { name: 'webhooks', ok: true, detail: 'the change feed is read for webhooks' }
          : {
              name: 'webhooks',
              ok: false,
              detail: 'the change feed has not been read for webhooks for two minutes; the log says why',
            },
      ]
      return { ok: checks.every((check) => check.ok), checks }
    },
  }
}
