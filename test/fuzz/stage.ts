import { once } from 'node:events'
import { z } from 'zod'
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
  /** Bytes of the heap that are still in use once garbage has been collected. */
  heapInUse(): Promise<number>
  stop(): Promise<void>
}

const heapUsage = z.object({ id: z.literal(2), result: z.object({ usedSize: z.number() }) })

// Asks V8 itself, by the inspector: what stands in a metric is garbage for the most part.
const heapInUse = async (daemon: TestDaemon): Promise<number> => {
  const address = /Debugger listening on (ws:\S+)/.exec(daemon.program.output())?.[1]
  if (address === undefined) throw new Error('the daemon has no inspector')
  const socket = new WebSocket(address)
  try {
    await once(socket, 'open')
    const answered = new Promise<number>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const answer = heapUsage.safeParse(JSON.parse(String(data)))
        if (answer.success) resolve(answer.data.result.usedSize)
      })
    })
    socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
    socket.send(JSON.stringify({ id: 2, method: 'Runtime.getHeapUsage' }))
    return await answered
  } finally {
    socket.close()
  }
}

/** Starts it on a sandbox with some orders. */
export const openStage = async (): Promise<Stage> => {
  const [postgres, sandbox] = await Promise.all([startTestPostgres(), startTestSandbox()])
  const databaseUrl = await postgres.database()
  const orders = await sandbox.placeRandom(5, { alive: false })
  const daemon = await startTestDaemon(
    {
      DATABASE_URL: databaseUrl,
      DATA_DIR: sandbox.folder,
      MARKETPLACE_URL: sandbox.url,
      SELLER_ID: 'sandbox-seller',
      CLIENT_ID: 'sandbox-client',
      CLIENT_SECRET: 'sandbox-secret',
      POLL_ORDERS: '1s',
    },
    ['--inspect=127.0.0.1:0'],
  )
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
    heapInUse: () => heapInUse(daemon),
    stop: async () => {
      await daemon.program.stop()
      await Promise.all([sandbox.stop(), postgres.stop()])
    },
  }
}
