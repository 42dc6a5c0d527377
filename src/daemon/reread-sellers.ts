import { InvalidConfig, readSellersAgain } from '../config.ts'
import { createInTurn } from '../in-turn.ts'
import type { HangUps } from '../stop-signals.ts'
import type { DaemonContext } from './context.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { OldLimits } from './old-limits.ts'
import type { QueuesPart } from './queues.ts'

/** What reading the sellers again has changed, by their ids. */
export interface RereadSellers {
  readonly sellers: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** The settings are right, but could not be stored: the sellers stay as they were. */
export class SellersNotStored extends Error {
  override readonly name = 'SellersNotStored'
  constructor(cause: unknown) {
    super('the sellers stay as they were: they could not be stored', { cause })
  }
}

/**
 * Reads the settings of the sellers again.
 * @throws InvalidConfig when they are wrong, and SellersNotStored when Postgres does not take them; the sellers then stay as they were
 */
export type RereadSellersNow = () => Promise<RereadSellers>

/** Reads the sellers again whenever it is called, and at each SIGHUP, where faults go to the log. One reading follows another. */
export const rereadSellers = (
  { log, vocabularies, closers }: DaemonContext,
  { sellers, replaceSellers }: MarketplacePart,
  { relay, polls }: QueuesPart,
  { voidWaits }: OldLimits,
  hangUps: HangUps,
): RereadSellersNow => {
  const read: RereadSellersNow = async () => {
    const before = sellers.ids()
    const settingsBefore = sellers.settings()
    const settings = readSellersAgain(process.env)
    // What is stored of sellers is stored in their words.
    vocabularies.learn(settings)
    try {
      await replaceSellers(settings)
    } catch (error) {
      vocabularies.learn(settingsBefore)
      throw new SellersNotStored(error)
    }
    voidWaits()
    relay.nudge()
    polls.replan()
    const after = sellers.ids()
    log.info({ sellers: after.length }, 'sellers read again')
    return {
      sellers: after,
      added: after.filter((id) => !before.includes(id)),
      removed: before.filter((id) => !after.includes(id)),
    }
  }
  const inTurn = createInTurn()
  const readInTurn: RereadSellersNow = () => inTurn(read)
  const onHangUp = (): void =>
    void readInTurn().catch((error: unknown) => {
      if (error instanceof InvalidConfig) for (const fault of error.faults) log.error(`the sellers stay as they were: ${fault}`)
      else if (error instanceof SellersNotStored) log.error({ err: error.cause }, error.message)
      else log.error({ err: error }, 'the sellers could not be read again')
    })
  const unhear = hangUps.listen(onHangUp)
  closers.add('SIGHUP', async () => unhear())
  return readInTurn
}
