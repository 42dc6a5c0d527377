import { InvalidConfig } from '../config.ts'
import type { OtherReread } from '../http/services.ts'
import { createInTurn, endOf } from '../in-turn.ts'
import { pause } from '../pause.ts'
import {
  askForReread,
  joinProcesses,
  listSellerProcesses,
  rereadAskedAt,
  type SellerProcess,
  sayProcess,
} from '../store/seller-processes.ts'
import { sellersChannel } from '../store/sellers.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import type { MarketplacePart } from './marketplace.ts'
import { hasEnded } from './process-name.ts'
import type { QueuesPart } from './queues.ts'
import type { RereadSellers, RereadSellersNow } from './reread-sellers.ts'

/** A process looks this often whether another one has asked; a notification comes earlier. */
const lookMs = 15_000
/** So long the others are waited for that were asked, and their answers are looked for this often. */
const answerWithinMs = 5_000
const answersEveryMs = 100

/** What reading the sellers again has changed here, and what became of it elsewhere. */
export interface RereadEverywhere extends RereadSellers {
  /** The other processes; null: they could not be asked. */
  readonly others: readonly OtherReread[] | null
}

/**
 * Reads the sellers again in this process, then has every other one do so that shares the database, each from its own settings.
 * @throws as `RereadSellersNow`; the others are not asked then
 */
export type RereadSellersEverywhere = () => Promise<RereadEverywhere>

/** Says to the other processes which sellers this one serves, and reads the sellers again whenever one of them asks for it. */
export const passRereads = (
  { config, log, quiet, owner, stop, closers }: DaemonContext,
  { database }: DatabasePart,
  { sellers, onRemoved }: MarketplacePart,
  { listener }: QueuesPart,
  reread: RereadSellersNow,
): RereadSellersEverywhere => {
  let faults: readonly string[] = []
  /** Every request up to then has been met. */
  let takenAt: Date | null = null
  const self = (): SellerProcess => ({ process: owner, roles: config.roles, sellerIds: sellers.ids(), faults })

  /** What is wrong with the settings is told here and in the row of this process; anything else is tried again at the next look. */
  const meet = async (): Promise<readonly string[]> => {
    try {
      await reread()
      return []
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error
      for (const fault of error.faults) log.error(`the sellers stay as they were: ${fault}`)
      return error.faults
    }
  }

  /**
   * Reads the sellers again where another process has asked for it, or where some are removed that are served here: the request that took them out
   * may be gone, with the process that made it.
   */
  const meetRequests = async (removed: () => Promise<readonly string[]>): Promise<void> => {
    takenAt ??= await joinProcesses(database, self(), process.uptime() * 1_000)
    const askedAt = await rereadAskedAt(database, owner)
    const isAsked = askedAt !== null && askedAt > takenAt
    const gone = await removed()
    if (isAsked) log.info('another process asks to read the sellers again')
    if (gone.length > 0) log.warn({ sellers: gone }, 'sellers were removed that this process serves; its settings are read again')
    if (isAsked || gone.length > 0) faults = await meet()
    if (isAsked) takenAt = askedAt
    await sayProcess(database, { ...self(), takenAt })
  }
  const inTurn = createInTurn()
  const look = async (): Promise<void> => {
    try {
      await inTurn(() => meetRequests(async () => []))
      quiet.recovered('rereads', 'requests to read the sellers again are heard again')
    } catch (error) {
      quiet.warn(
        'rereads',
        { err: error },
        'a request to read the sellers again could not be looked for or met; it is tried again',
      )
    }
  }
  onRemoved(async (removed) => {
    if (stop.aborted) return false
    await inTurn(() => meetRequests(removed))
    return true
  })

  let looking: Promise<void> | null = null
  let isDueAgain = false
  const lookNow = (): void => {
    if (stop.aborted) return
    if (looking !== null) {
      isDueAgain = true
      return
    }
    looking = look().finally(() => {
      looking = null
      if (!isDueAgain) return
      isDueAgain = false
      lookNow()
    })
  }
  const timer = setInterval(lookNow, lookMs)
  const unhear = listener.on(sellersChannel, lookNow)
  closers.add('the requests to read the sellers again', async () => {
    clearInterval(timer)
    unhear()
    await looking
    await endOf(inTurn)
  })
  lookNow()

  const answersOf = async (askedAt: Date): Promise<readonly OtherReread[]> => {
    const deadlineMs = performance.now() + answerWithinMs
    for (;;) {
      const others = (await listSellerProcesses(database)).filter(({ process: name }) => name !== owner && !hasEnded(name))
      const isOpen = others.some((other) => other.takenAt < askedAt)
      if (isOpen && performance.now() < deadlineMs && !stop.aborted) {
        await pause(answersEveryMs, stop)
        continue
      }
      return others.map(({ process: name, roles, sellerIds, faults: wrong, takenAt: at }) => {
        const state = at < askedAt ? 'unanswered' : wrong.length > 0 ? 'faulty' : 'reread'
        return { process: name, roles, sellers: sellerIds, state, faults: state === 'faulty' ? wrong : [] }
      })
    }
  }

  return async () => {
    const here = await reread()
    faults = []
    try {
      const askedAt = await askForReread(database, self())
      takenAt = askedAt
      return { ...here, others: await answersOf(askedAt) }
    } catch (error) {
      log.error({ err: error }, 'the other processes could not be asked to read the sellers again')
      return { ...here, others: null }
    }
  }
}
