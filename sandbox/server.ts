import type { AddressInfo } from 'node:net'
import { operations } from './calls/registry.ts'
import { type Log, stdoutLog } from './core/log.ts'
import { createFaultControl } from './faults/faults.ts'
import { createRateLimits } from './faults/limits.ts'
import { createApp } from './http/app.ts'
import type { Gateway } from './http/gateway.ts'
import { createRequestLog } from './http/request-log.ts'
import { createLife } from './life/live.ts'
import { placePast } from './life/past.ts'
import { placeRandomOrders } from './life/place.ts'
import { createNotifier } from './notifications/notifier.ts'
import { buildDialect, defaultClientId, defaultClientSecret, defaultSellerId, type Settings } from './settings.ts'
import { openWorld } from './world.ts'

/** A running sandbox. */
export interface Sandbox {
  readonly url: string
  readonly port: number
  /** Ends all connections, also those of requests that were left unanswered, and closes the file. */
  close(): Promise<void>
}

/** Required settings; all others have the defaults of the environment variables. */
export type SandboxOptions = Pick<Settings, 'dataDir'> & Partial<Settings> & { readonly log?: Log }

/** Starts a sandbox in this process. Throws `DataDirectoryInUse` when another one has the directory. */
export const startSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  const { log = stdoutLog, ...given } = options
  const settings: Settings = {
    port: 0,
    host: '127.0.0.1',
    dialect: buildDialect('specification'),
    seed: '1',
    sellerId: defaultSellerId,
    clientId: defaultClientId,
    clientSecret: defaultClientSecret,
    orderIntervalMs: null,
    pastOrders: 0,
    ...given,
  }
  const world = openWorld(settings)
  placePast(world)
  const life = createLife(world, log)
  const gateway: Gateway = {
    world,
    life,
    limits: createRateLimits(world.meta, operations, undefined, () => world.clock.offsetMs()),
    faults: createFaultControl(world.meta, world.database, world.clock),
    requests: createRequestLog(),
    log,
  }
  const app = createApp(gateway)
  try {
    await app.listen({ port: settings.port, host: settings.host })
  } catch (error) {
    world.close()
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error
    const taken = `http://${settings.host}:${settings.port} is in use by another program`
    throw new AddressInUse(
      `${taken}; if that is the sandbox of \`npm start\`, use it there; otherwise set another SANDBOX_PORT`,
      {
        cause: error,
      },
    )
  }
  const timer = settings.orderIntervalMs === null ? null : setInterval(() => placeOne(gateway), settings.orderIntervalMs)
  const notifier = createNotifier(world, life, gateway.faults, log)
  const { port } = requireAddress(app.server.address())
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  return {
    port,
    url: `http://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`,
    async close() {
      if (timer !== null) clearInterval(timer)
      life.stop()
      await notifier.close()
      await app.close()
      world.close()
    },
  }
}

/** Another program listens where the sandbox is to. */
export class AddressInUse extends Error {
  override readonly name = 'AddressInUse'
}

const requireAddress = (address: AddressInfo | string | null): { port: number } => {
  if (address === null || typeof address === 'string') throw new Error('the sandbox listens on no port')
  return address
}

const placeOne = ({ world, log }: Gateway): void => {
  const now = world.clock.now()
  const [purchaseOrderId] = placeRandomOrders(world, {
    sellerId: world.settings.sellerId,
    count: 1,
    createdFrom: now,
    createdTo: now,
    alive: true,
    history: false,
  })
  log('info', 'order placed', { seller_id: world.settings.sellerId, purchase_order_id: purchaseOrderId })
}
