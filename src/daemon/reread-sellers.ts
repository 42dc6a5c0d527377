import { InvalidConfig, readSellersAgain } from '../config.ts'
import type { DaemonContext } from './context.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'

/** Reads the sellers again whenever the process gets a SIGHUP; those that are wrong change nothing, and are told in the log. */
export const rereadSellersOnHangUp = (
  { log, vocabularies, closers }: DaemonContext,
  { sellers, rememberSellers }: MarketplacePart,
  { relay }: QueuesPart,
): void => {
  const reread = async (): Promise<void> => {
    try {
      const settings = readSellersAgain(process.env)
      await sellers.replace(settings)
      vocabularies.learn(settings)
      await rememberSellers('settings')
      relay.nudge()
      log.info({ sellers: sellers.ids().length }, 'sellers read again')
    } catch (error) {
      if (error instanceof InvalidConfig) for (const fault of error.faults) log.error(`the sellers stay as they were: ${fault}`)
      else log.error({ err: error }, 'the sellers could not be read again')
    }
  }
  const onHangUp = (): void => void reread()
  process.on('SIGHUP', onHangUp)
  closers.add('SIGHUP', async () => void process.off('SIGHUP', onHangUp))
}
