import { oneAccountWarnings } from '../config/one-account.ts'
import { InvalidConfig, readSellersAgain } from '../config.ts'
import { createInTurn } from '../in-turn.ts'
import type { HangUps } from '../stop-signals.ts'
import type { DaemonContext } from './context.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { OldLimits } from './old-limits.ts'
import type { QueuesPart } from './queues.ts'

/** So many ids stand in a line of the log. */
const namedIds = 20
const named = (ids: readonly string[]): readonly string[] => ids.slice(0, namedIds)

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
    const [hadBefore, hasNow] = [new Set(before), new Set(after)]
    const added = after.filter((id) => !hadBefore.has(id))
    const removed = before.filter((id) => !hasNow.has(id))
    log.info({ added: named(added), removed: named(removed), sellers: after.length }, 'sellers read again')
    if (removed.length > 0)
      log.warn(
        { removed: named(removed), count: removed.length },
        'sellers are served here no more, and their work rests unless another process serves them; `tallyman sellers` shows them',
      )
    for (const warning of oneAccountWarnings(settings)) log.warn(warning)
    return { sellers: after, added, removed }
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
