import { profiles } from '../clients/marketplace/profiles/index.ts'
import { startDemonstration as startErp } from '../demo/erp.ts'
import type { DaemonContext } from './context.ts'

/** Starts the demonstration ERP, where it is wanted, against the HTTP interface at this address. */
export const startDemonstration = ({ config, log, stop, shutdownHooks }: DaemonContext, daemonUrl: string): void => {
  if (config.sandbox?.demo !== true) return
  const demonstration = startErp({
    daemonUrl,
    apiKey: config.http.apiKey,
    eventsSecret: config.http.eventsSecrets[0] ?? null,
    settingsHavePriority: profiles.get(config.sellers[0]?.profile ?? '')?.vocabulary.settingsForm.hasPriority ?? true,
    log: log.child({ demonstration: true }),
    signal: stop,
  })
  log.info(
    { demonstration: true },
    'a demonstration ERP accepts, ships, cancels and refunds the orders of the sandbox; DEMO=off leaves it out',
  )
  shutdownHooks.add('the demonstration', () => demonstration)
}
