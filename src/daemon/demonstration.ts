import { startDemonstration as startErp } from '../demo/erp.ts'
import type { DaemonContext } from './context.ts'

/** Starts the demonstration ERP, where it is wanted, against the HTTP interface at this address. */
export const startDemonstration = ({ config, log, stop, closers }: DaemonContext, daemonUrl: string): void => {
  if (config.sandbox?.demo !== true) return
  const demonstration = startErp({
    daemonUrl,
    apiKey: config.http.apiKey,
    eventsSecret: config.http.eventsSecrets[0] ?? null,
    log: log.child({ demonstration: true }),
    signal: stop,
  })
  log.info(
    { demonstration: true },
    'a demonstration ERP accepts, ships, cancels and refunds the orders of the sandbox; DEMO=off leaves it out',
  )
  closers.add('the demonstration', () => demonstration)
}
