import { createMarketplaceClient } from '../../src/clients/marketplace/marketplace.ts'
import { ordersEndpoint } from '../../src/clients/marketplace/orders/orders.ts'
import { profiles } from '../../src/clients/marketplace/profiles/index.ts'
import { returnsEndpoint } from '../../src/clients/marketplace/returns.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'
import type { SellerSettings } from '../../src/config/config.ts'
import type { CommandJob, CommandParts } from '../../src/jobs/commands/engine/engine.ts'
import { buildSaveHooks } from '../../src/jobs/commands/kinds/auto-acknowledge.ts'
import type { AcceptParts } from '../../src/jobs/events/accept.ts'
import { createOrderFetcher } from '../../src/jobs/events/fetch-order.ts'
import { createReturnFetcher } from '../../src/jobs/events/fetch-return.ts'
import { createSellerRegistry, type SellerRegistry } from '../../src/jobs/sellers/registry.ts'
import type { SyncHooks } from '../../src/jobs/sync/engine/resource.ts'
import type { Database, Transaction } from '../../src/store/db/database.ts'
import { Prisma } from '../../src/store/generated/client.ts'
import type { After } from '../../src/util/clock.ts'
import { type Disturbance, type History, type Moment, requestTimeoutMs, settleTimeMs } from './history.ts'
import type { Stage } from './stage.ts'

/** What a process that has died throws at whoever still works in it. */
class Died extends Error {
  override readonly name = 'Died'
}

/** What a step is doing, as far as disturbances go by it. */
export type Phase = 'sending' | 'sent' | 'reading back' | 'accepting' | 'undisturbed'

/** A process of ours in a history. */
export interface Daemon {
  readonly place: number
  readonly sellers: SellerRegistry
  readonly command: CommandParts
  readonly accept: AcceptParts
  readonly database: Database
  readonly log: CommandJob['log']
  /** What every import of new orders does besides. */
  readonly saving: SyncHooks
  /** What it does now; set by whoever begins a step. */
  phase: Phase
  busy: boolean
  dead: boolean
  /** A fault was thrown at the step in progress: that it fails is no wonder. */
  disturbed: boolean
  close(): Promise<void>
}

/** What a process is made of. */
export interface DaemonParts {
  readonly place: number
  readonly stage: Stage
  readonly history: History
  readonly database: Database
  readonly settings: SellerSettings
  readonly random: () => number
  /** What a moment brings, if anything. */
  readonly disturbance: (moment: Moment) => Disturbance | null
  readonly tell: (line: string) => void
}

const intentStatement = /INSERT INTO tallyman\.command_attempts/

/** Faults as Prisma words them: its own time-out of a transaction, a backend that was terminated, a connection that is gone. */
const findFault = (time: number): Error => {
  const named = (code: string, meta: Record<string, unknown>) =>
    new Prisma.PrismaClientKnownRequestError('a fault of the histories', { code, clientVersion: 'histories', meta })
  switch (time % 3) {
    case 0:
      return named('P2028', {})
    case 1:
      return named('P2010', { driverAdapterError: { cause: { kind: 'postgres', originalCode: '57P01' } } })
    default:
      return named('P1017', {})
  }
}

const momentsByPhase: Readonly<Record<Phase, readonly [before: Moment, after: Moment] | null>> = {
  sending: ['before intent', 'after intent'],
  sent: ['before outcome', 'after outcome'],
  'reading back': ['before read-back', 'after read-back'],
  accepting: ['before acceptance', 'after acceptance'],
  undisturbed: null,
}

/** The second question about an order waits in true time, in which nothing of a history happens. */
const secondAskMs = 1

/** Starts a process. */
export const createDaemon = (parts: DaemonParts): Daemon => {
  const { place, stage, history, settings, tell } = parts
  let sleptMs = 0
  let standsStillUntilMs = 0

  const alive = (): void => {
    if (daemon.dead) throw new Died(`process ${place} is dead`)
  }

  const pass = async (moment: Moment): Promise<void> => {
    const disturbance = parts.disturbance(moment)
    if (disturbance === null) return
    daemon.disturbed = true
    tell(`process ${place}, ${moment}: ${disturbance.does}${disturbance.forMs > 0 ? ` for ${disturbance.forMs} ms` : ''}`)
    switch (disturbance.does) {
      case 'dies':
        daemon.dead = true
        return alive()
      case 'error':
        throw findFault(disturbance.time)
      case 'pauses':
      case 'sleeps':
        standsStillUntilMs = stage.nowMs() + disturbance.forMs
        await stage.park(standsStillUntilMs)
        if (disturbance.does === 'sleeps') sleptMs += disturbance.forMs
    }
  }

  const { database } = parts
  const watched: Database = {
    findVocabulary: database.findVocabulary,
    get prisma() {
      alive()
      return database.prisma
    },
    query: async (sql, ...parameters) => {
      alive()
      return database.query(sql, ...parameters)
    },
    execute: async (sql, ...parameters) => {
      alive()
      return database.execute(sql, ...parameters)
    },
    transaction: async (work, options) => {
      alive()
      const moments = momentsByPhase[daemon.phase]
      if (moments !== null) await pass(moments[0])
      let intent = false
      const result = await database.transaction((transaction) => {
        const watchedTransaction: Transaction = {
          prisma: transaction.prisma,
          record: transaction.record,
          findVocabulary: transaction.findVocabulary,
          query: transaction.query,
          execute: transaction.execute,
          send: transaction.send,
          sendForLater: (sql, ...parameters) => {
            intent ||= intentStatement.test(sql)
            return transaction.sendForLater(sql, ...parameters)
          },
        }
        return work(watchedTransaction)
      }, options)
      // Before the request leaves a step may store what it has read; only the intent is the intent.
      if (moments !== null && (daemon.phase !== 'sending' || intent)) {
        if (daemon.phase === 'sending') daemon.phase = 'sent'
        await pass(moments[1])
      }
      alive()
      return result
    },
    close: () => database.close(),
  }

  /** Timers of a process stand still as long as it does, and end with it. */
  const after: After = (delayMs, work) => {
    let isCalledOff = false
    const happen = (): void => {
      if (isCalledOff || daemon.dead) return
      if (stage.nowMs() < standsStillUntilMs) stage.at(standsStillUntilMs, happen)
      else void stage.begin({ name: 'a timer', process: place, buildCommand: () => null }, work)
    }
    stage.at(stage.nowMs() + delayMs, happen)
    return () => {
      isCalledOff = true
    }
  }

  const log = {
    debug: () => undefined,
    info: (_fields: object, message: string) => tell(`process ${place}: ${message}`),
    warn: (_fields: object, message: string) => tell(`process ${place}: ${message}`),
  }
  const sellers = createSellerRegistry({
    sellers: [settings],
    sandboxUrl: null,
    display: null,
    requestTimeoutMs,
    profiles,
    budget: createInProcessBudget({ now: stage.nowMs, random: parts.random }),
    log,
    hooks: {},
    createClient: (connection, clientParts) => createMarketplaceClient(connection, { ...clientParts, now: stage.nowMs }),
  })
  const saving = buildSaveHooks(history.autoAcknowledge ? 'on-import' : 'off')
  const daemon: Daemon = {
    place,
    sellers,
    database: watched,
    log,
    saving,
    command: {
      database: watched,
      sellers,
      owner: `process-${place}`,
      requestTimeoutMs,
      settleTimeMs,
      onSettled: async () => undefined,
      clock: { wallMs: stage.nowMs, monotonicMs: () => stage.nowMs() - sleptMs },
      after,
      random: parts.random,
    },
    accept: {
      database: watched,
      sellers,
      fetcher: createOrderFetcher({
        database: watched,
        getOrdersClient: (id) => sellers.client(id).of(ordersEndpoint),
        quiet: { warn: (_key, fields, message) => log.warn(fields, message) },
        now: stage.nowMs,
        secondAskMs,
        ...saving,
      }),
      returns: createReturnFetcher({
        database: watched,
        findReturns: (id) => sellers.client(id).of(returnsEndpoint),
        quiet: { warn: (_key, fields, message) => log.warn(fields, message) },
        now: stage.nowMs,
      }),
      rules: () => ({
        now: new Date(stage.nowMs()),
        shipUnacknowledged: 'acknowledge-first',
        fullPriceRefundsAll: false,
        correctsShipments: true,
      }),
      onStored: () => undefined,
      settleTimeMs,
    },
    phase: 'undisturbed',
    busy: false,
    dead: false,
    disturbed: false,
    close: () => sellers.close(),
  }
  return daemon
}
