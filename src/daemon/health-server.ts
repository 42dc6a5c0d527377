import { createHealthServer } from '../http/health-server.ts'
import type { HttpServices } from '../http/services.ts'
import type { DaemonContext } from './context.ts'

/** Health and metrics of this process, for its monitoring. */
export type Observed = Pick<HttpServices, 'health' | 'metrics'>

/**
 * Serves health and metrics on HEALTH_PORT where that is set: of a process without the role http nothing else tells whether it works.
 * @throws when the address cannot be listened at
 */
export const startHealthServer = async (
  { config, log, stop, shutdownHooks }: DaemonContext,
  observed: Observed,
): Promise<void> => {
  const { host, healthPort } = config.http
  if (healthPort === null) return
  const server = createHealthServer({ ...observed, log }, stop)
  const address = await server.listen({ host, port: healthPort })
  shutdownHooks.add('the server of health and metrics', () => server.close())
  log.info({ health: address }, 'health and metrics are answered')
}
