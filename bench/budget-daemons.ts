/**
 * How much of what a marketplace allows 1, 2 and 4 real daemons of one seller use, while there is always work: acknowledgements at the sandbox, which allows
 * 60 a minute and says in each answer how many are left. What `budget.ts` plays in virtual time.
 * `node bench/budget-daemons.ts [--seconds 150] [--queues postgres|redis]`
 */
import { z } from 'zod'
import { placeOrder, post, sandboxSeller } from '../test/daemon/support.ts'
import { startTestDaemon, type TestDaemon } from '../test/support/daemon.ts'
import { accepted } from '../test/support/events.ts'
import { eventually } from '../test/support/eventually.ts'
import { startTestPostgres } from '../test/support/postgres.ts'
import { startTestRedis } from '../test/support/redis.ts'
import { startTestSandbox } from '../test/support/sandbox.ts'
import { benchOptions, daemonFlags } from './measure.ts'

const { numbers, queues } = benchOptions({ seconds: 150 }, { queues: true })
const { seconds } = numbers
const redisWanted = queues === 'redis'
const limit = { tokens: 60, perMs: 60_000 }
/** A full bucket, what comes in while it runs, and some more, so that work never ends. */
const orders = Math.ceil(limit.tokens + (seconds * 1_000 * limit.tokens) / limit.perMs) + 40
const unlimited = ['orders.get', 'orders.list', 'orders.released', 'token']

const requestsSchema = z.object({
  items: z.array(z.object({ operation: z.string().nullable(), status: z.number().nullable(), at: z.string() })),
})

const run = async (processes: number): Promise<{ readonly used: number; readonly refused: number }> => {
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const redis = redisWanted ? await startTestRedis() : null
  const daemons: TestDaemon[] = []
  try {
    const environment = {
      ...sandboxSeller,
      MARKETPLACE_URL: sandbox.url,
      DATABASE_URL: await postgres.database(),
      DATA_DIR: sandbox.folder,
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    }
    const operations = Object.fromEntries(unlimited.map((name) => [name, null]))
    await sandbox.control('PUT', '/limits', { enabled: true, operations: { ...operations, 'orders.acknowledge': limit } })
    const placed = []
    for (let order = 0; order < orders; order += 1) placed.push(await placeOrder(sandbox, 1))
    daemons.push(...(await Promise.all(Array.from({ length: processes }, () => startTestDaemon(environment, daemonFlags)))))
    const acknowledgements = async (): Promise<readonly { readonly status: number | null; readonly atMs: number }[]> =>
      requestsSchema
        .parse(await sandbox.control('GET', '/requests?limit=5000'))
        .items.filter(({ operation }) => operation === 'orders.acknowledge')
        .map(({ status, at }) => ({ status, atMs: Date.parse(at) }))
    for (const [index, order] of placed.entries()) {
      const daemon = daemons[index % processes]
      if (daemon === undefined || (await post(daemon, accepted(order))) !== 202) throw new Error('an event was not taken')
    }
    const startMs = await eventually(async () => {
      const [first] = (await acknowledgements()).map(({ atMs }) => atMs).sort((a, b) => a - b)
      if (first === undefined) throw new Error('nothing was sent yet')
      return first
    })
    const endMs = startMs + seconds * 1_000
    await eventually(
      async () => {
        const latest = Math.max(...(await acknowledgements()).map(({ atMs }) => atMs))
        if (latest < endMs) throw new Error('there is more to come')
      },
      seconds * 1_000 + 60_000,
    )
    const within = (await acknowledgements()).filter(({ atMs }) => atMs <= endMs)
    const refused = within.filter(({ status }) => status === 429).length
    const allowed = limit.tokens + (seconds * 1_000 * limit.tokens) / limit.perMs
    return { used: (within.length - refused) / allowed, refused }
  } finally {
    for (const { program } of daemons) await program.kill()
    await redis?.stop()
    await sandbox.stop()
    await postgres.stop()
  }
}

const rows: { readonly daemons: number; readonly used: string; readonly refused: number }[] = []
for (const processes of [1, 2, 4]) {
  const { used, refused } = await run(processes)
  rows.push({ daemons: processes, used: `${(100 * used).toFixed(1)} %`, refused })
}
console.log(
  `${limit.tokens} calls a minute, ${seconds} seconds from the first, the store in ${redisWanted ? 'Redis' : 'Postgres'}`,
)
console.table(rows)
