import type { QueueRuntime } from '../../queues/runtime.ts'
import type { Database } from '../../store/db/database.ts'
import { checkStore } from '../../store/db/readiness.ts'
import { shareCheck } from '../../util/shared-check.ts'

/** Timeout of a check of Postgres, in milliseconds. */
export const checkTimeoutMs = 2_000

/** Result of one check. */
interface HealthCheck {
  readonly name: string
  readonly ok: boolean
  /** A sentence for the operator; no secrets. */
  readonly detail: string
}

/** Result of all checks; ok if each of them is. */
export interface HealthResult {
  readonly ok: boolean
  readonly checks: readonly HealthCheck[]
}

/** Dependencies of the checks. */
export interface HealthParts {
  readonly database: Database
  /** The migrations of this version, by name. */
  readonly migrations: readonly string[]
  /** The store of the queues. */
  readonly kind: 'redis' | 'postgres'
  readonly runtime: Pick<QueueRuntime, 'check' | 'liveness'>
  readonly webhooks: { isRead(): boolean }
  readonly sellers: { listShadowed(): readonly string[] }
}

/** Checks whether the daemon lives, and whether it is ready. */
export const createHealth = ({
  database,
  migrations,
  kind,
  runtime,
  webhooks,
  sellers,
}: HealthParts): { live(): HealthResult; ready(): Promise<HealthResult> } => {
  // Anybody may ask, as often as they like: one look a second serves all, and takes no connection but those of the pools.
  const shared = { freshMs: 1_000, timeoutMs: checkTimeoutMs, maxHanging: 2 }
  const late = { ok: false, detail: 'Postgres does not answer in time' }
  const lookAtPostgres = shareCheck(() => checkStore(database, migrations, checkTimeoutMs), { ...shared, late })
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
      const shadowed = sellers.listShadowed().length
      if (shadowed > 0) {
        const detail = `${shadowed} seller${shadowed === 1 ? ' is' : 's are'} in shadow mode: nothing of them is written to the marketplace`
        checks.push({ name: 'mode', ok: true, detail })
      }
      return { ok: checks.every((check) => check.ok), checks }
    },
  }
}
