import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { eventually } from '../support/eventually.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { startTestSandbox } from '../support/sandbox.ts'
import type { Target } from './fuzz.ts'

/** A daemon of its own that can be attacked. */
export interface Stage {
  readonly target: Target
  readonly daemon: TestDaemon
  /** A metric of the process, as its name says. */
  metric(name: string): Promise<number>
  stop(): Promise<void>
}

/** Starts it on a sandbox with some orders. */
export const openStage = async (): Promise<Stage> => {
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const databaseUrl = await postgres.database()
  const orders = await sandbox.placeRandom(5, { alive: false })
  const daemon = await startTestDaemon({
    DATABASE_URL: databaseUrl,
    DATA_DIR: sandbox.folder,
    MARKETPLACE_URL: sandbox.url,
    SELLER_ID: 'sandbox-seller',
    CLIENT_ID: 'sandbox-client',
    CLIENT_SECRET: 'sandbox-secret',
    POLL_ORDERS: '1s',
  })
  await eventually(async () => {
    const { body } = await daemon.call('GET', '/v1/orders')
    if (!JSON.stringify(body).includes(orders.at(-1) ?? '')) throw new Error('the orders are not stored yet')
  })
  return {
    target: { url: daemon.url, databaseUrl, texts: [...orders, 'sandbox-seller', '1', '2', 'orders', 'returns', '/fuzz'] },
    daemon,
    metric: async (name) => {
      const text = await (await fetch(`${daemon.url}/metrics`)).text()
      const line = text.split('\n').find((each) => each.startsWith(`${name} `))
      if (line === undefined) throw new Error(`there is no metric ${name}`)
      return Number(line.slice(name.length + 1))
    },
    stop: async () => {
      await daemon.program.stop()
      await Promise.all([sandbox.stop(), postgres.stop()])
    },
  }
}
