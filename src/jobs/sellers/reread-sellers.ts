import type { SellerSettings } from '../../config/config.ts'
import { InvalidConfig, readSellersAgain } from '../../config/config.ts'
import { listSharedAccountWarnings } from '../../config/shared-accounts.ts'
import type { Logger } from '../../observability/log.ts'
import { createMutex } from '../../util/mutex.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import type { HangUps } from '../../util/stop-signals.ts'
import type { SellerRegistry } from './registry.ts'
import type { Vocabularies } from './vocabularies.ts'

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

/** What reading the sellers again needs. */
export interface RereadParts {
  readonly log: Logger
  readonly vocabularies: Vocabularies
  readonly shutdownHooks: ShutdownHooks
  readonly sellers: SellerRegistry
  /** Stores other settings, then takes them. */
  replaceSellers(settings: readonly SellerSettings[]): Promise<void>
  /** The sellers, or what they have, have changed. */
  sellersChanged(): void
  /** Makes due what waits by limits that have changed. */
  voidWaits(): void
}

/** Reads the sellers again whenever it is called, and at each SIGHUP, where faults go to the log. One reading follows another. */
export const rereadSellers = (
  { log, vocabularies, shutdownHooks, sellers, replaceSellers, sellersChanged, voidWaits }: RereadParts,
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
    sellersChanged()
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
    for (const warning of listSharedAccountWarnings(settings)) log.warn(warning)
    return { sellers: after, added, removed }
  }
  const mutex = createMutex()
  const readInTurn: RereadSellersNow = () => mutex(read)
  const onHangUp = (): void =>
    void readInTurn().catch((error: unknown) => {
      if (error instanceof InvalidConfig) for (const fault of error.faults) log.error(`the sellers stay as they were: ${fault}`)
      else if (error instanceof SellersNotStored) log.error({ err: error.cause }, error.message)
      else log.error({ err: error }, 'the sellers could not be read again')
    })
  const unhear = hangUps.listen(onHangUp)
  shutdownHooks.add('SIGHUP', async () => unhear())
  return readInTurn
}
