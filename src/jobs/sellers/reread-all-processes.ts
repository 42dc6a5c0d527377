import type { Role } from '../../config/config.ts'
import { InvalidConfig } from '../../config/config.ts'
import type { Logger, QuietLog } from '../../observability/log.ts'
import type { Database } from '../../store/db/database.ts'
import type { Listener } from '../../store/db/listener.ts'
import {
  announceProcess,
  listSellerProcesses,
  type OtherReread,
  readLastRereadRequest,
  requestReread,
  type SellerProcess,
  sendProcessHeartbeat,
} from '../../store/sellers/seller-processes.ts'
import { sellersChannel } from '../../store/sellers/sellers.ts'
import { createMutex, whenIdle } from '../../util/mutex.ts'
import { hasEnded } from '../../util/process-name.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import { pause } from '../../util/sleep.ts'
import type { SellerRegistry } from './registry.ts'
import type { RereadSellers, RereadSellersNow } from './reread-sellers.ts'

/** A process reads requests of other processes at this interval; a notification arrives earlier. */
const lookMs = 15_000
/** How long the answers of the other processes are waited for, and how often they are read. */
const answerWithinMs = 5_000
const answersEveryMs = 100

/** What reading the sellers again has changed in this process, and the results of the others. */
export interface RereadResults extends RereadSellers {
  /** The other processes; null: they could not be asked. */
  readonly others: readonly OtherReread[] | null
}

/**
 * Reads the sellers again in this process, then has every other one do so that shares the database, each from its own settings.
 * @throws as `RereadSellersNow`; the others are not asked then
 */
export type RereadAllProcesses = () => Promise<RereadResults>

/** Reads the settings again, unless all sellers of this process are recorded when its turn comes. False: the process stops. */
export type RereadRemoved = (removed: () => Promise<readonly string[]>) => Promise<boolean>

/** Dependencies of reading the sellers again in every process. */
export interface RereadAllParts {
  readonly roles: readonly Role[]
  readonly log: Logger
  readonly quiet: QuietLog
  readonly owner: string
  readonly stop: AbortSignal
  readonly shutdownHooks: ShutdownHooks
  readonly database: Database
  readonly sellers: SellerRegistry
  readonly listener: Listener
}

/** The ways in which the settings are read again, apart from a request to this process alone. */
export interface Rereads {
  readonly rereadAll: RereadAllProcesses
  readonly rereadRemoved: RereadRemoved
}

/** Announces the sellers of this process to the others, and reads the sellers again when one of them requests it. */
export const createRereadAllProcesses = (
  { roles, log, quiet, owner, stop, shutdownHooks, database, sellers, listener }: RereadAllParts,
  reread: RereadSellersNow,
): Rereads => {
  let faults: readonly string[] = []
  /** Time of the last request that was fulfilled. */
  let takenAt: Date | null = null
  const self = (): SellerProcess => ({ process: owner, roles, sellerIds: sellers.ids(), faults })

  /** Invalid settings are logged, and stored in the row of this process; any other error is tried again at the next check. */
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
    takenAt ??= await announceProcess(database, self(), process.uptime() * 1_000)
    const askedAt = await readLastRereadRequest(database, owner)
    const isAsked = askedAt !== null && askedAt > takenAt
    const gone = await removed()
    if (isAsked) log.info('another process asks to read the sellers again')
    if (gone.length > 0) log.warn({ sellers: gone }, 'sellers were removed that this process serves; its settings are read again')
    if (isAsked || gone.length > 0) faults = await meet()
    if (isAsked) takenAt = askedAt
    await sendProcessHeartbeat(database, { ...self(), takenAt })
  }
  const mutex = createMutex()
  const look = async (): Promise<void> => {
    try {
      await mutex(() => meetRequests(async () => []))
      quiet.recovered('rereads', 'requests to read the sellers again are heard again')
    } catch (error) {
      quiet.warn(
        'rereads',
        { err: error },
        'a request to read the sellers again could not be looked for or met; it is tried again',
      )
    }
  }
  const rereadRemoved: RereadRemoved = async (removed) => {
    if (stop.aborted) return false
    await mutex(() => meetRequests(removed))
    return true
  }

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
  shutdownHooks.add('the requests to read the sellers again', async () => {
    clearInterval(timer)
    unhear()
    await looking
    await whenIdle(mutex)
  })
  lookNow()

  const readAnswers = async (askedAt: Date): Promise<readonly OtherReread[]> => {
    const deadlineMs = performance.now() + answerWithinMs
    for (;;) {
      const others = (await listSellerProcesses(database)).filter(({ process: name }) => name !== owner && !hasEnded(name))
      const isOpen = others.some((other) => other.takenAt < askedAt)
      if (isOpen && performance.now() < deadlineMs && !stop.aborted) {
        await pause(answersEveryMs, stop)
        continue
      }
      return others.map(({ process: name, roles: itsRoles, sellerIds, faults: wrong, takenAt: at }) => {
        const state = at < askedAt ? 'unanswered' : wrong.length > 0 ? 'faulty' : 'reread'
        return { process: name, roles: itsRoles, sellers: sellerIds, state, faults: state === 'faulty' ? wrong : [] }
      })
    }
  }

  const rereadAll: RereadAllProcesses = async () => {
    const here = await reread()
    faults = []
    try {
      const askedAt = await requestReread(database, self())
      takenAt = askedAt
      return { ...here, others: await readAnswers(askedAt) }
    } catch (error) {
      log.error({ err: error }, 'the other processes could not be asked to read the sellers again')
      return { ...here, others: null }
    }
  }
  return { rereadAll, rereadRemoved }
}
