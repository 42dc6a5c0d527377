import { setTimeout as delay } from 'node:timers/promises'
import { acceptEvents } from '../../src/jobs/events/accept.ts'
import { processReceivedEvent } from '../../src/jobs/events/process.ts'
import { decideCommand } from '../../src/store/commands/command-decisions.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { buildRandom } from '../support/random.ts'
import { runCommand } from '../support/run-command.ts'
import { setClock } from './clock.ts'
import { createDaemon, type Daemon } from './daemon.ts'
import { buildEvent, namedIn } from './events.ts'
import { type Act, type Disturbance, type History, type Moment, settleTimeMs } from './history.ts'
import { createWorld } from './marketplace.ts'
import { buildTruth, judge, linesDecided, type Verdict } from './oracle.ts'
import { type Carry, directly } from './queues.ts'
import { type Posted, readRecord } from './record.ts'
import { createStage } from './stage.ts'
import { readPages } from './synchronise.ts'
import type { Slot, Theatre } from './theatre.ts'

/** How a history went. */
export interface Played extends Verdict {
  /** What happened, line by line, for whoever reads a failure. */
  readonly trace: readonly string[]
  readonly steps: number
  /** Virtual time that has passed, in milliseconds. */
  readonly lastedMs: number
}

/** When every history begins. */
const beginningMs = Date.UTC(2026, 10, 20, 12)
/** From the last disturbance on, everything must be settled within so long. */
const maxWaitMs = 30 * settleTimeMs
/** More steps than that are as bad as no end. */
const maxSteps = 600
const restartMs = 5_000
/** The relay finds what no job stands for. */
const relayMs = 15_000
const postAgainMs = 5_000
const maxPosts = 10

/** Work that a process is to do as soon as one is free. */
interface Errand {
  readonly atMs: number
  readonly name: string
  readonly run: (daemon: Daemon) => Promise<void>
}

interface DueRow {
  readonly what: 'command' | 'event'
  readonly id: string
  readonly state: string
  readonly at: number
}

const dueRows = `
  SELECT 'command' AS what, c.id, c.state, c.sequence,
    extract(epoch FROM greatest(c.next_action_at, coalesce(c.leased_until, c.next_action_at)))::float8 * 1000 AS at
  FROM tallyman.commands c
  WHERE c.seller_id = $1 AND c.state IN ('pending', 'sending', 'verifying') AND NOT EXISTS (
    SELECT 1 FROM tallyman.commands e WHERE e.seller_id = c.seller_id AND e.subject = c.subject AND e.sequence < c.sequence
      AND e.state NOT IN ('confirmed', 'rejected'))
  UNION ALL
  SELECT 'event', e.id, e.status, e.sequence, 0 FROM tallyman.erp_event e WHERE e.source = $2 AND e.status = 'received'
  ORDER BY what DESC, sequence`

let played = 0

/** Plays a history to its end and judges it. Rejects when the harness itself fails. */
export const play = async (theatre: Theatre, history: History, carry: Carry = directly): Promise<Played> =>
  theatre.inSlot((slot) => playIn(theatre, slot, history, carry))

const playIn = async (theatre: Theatre, slot: Slot, history: History, carry: Carry): Promise<Played> => {
  played += 1
  const number = played
  const sellerId = `seller-${number}`
  const source = `/histories/${number}`
  const purchaseOrderId = (place: number): string => `${7_000_000 + number}${place}`
  const returnOrderId = (place: number): string => `${8_000_000 + number}${place}`
  const trace: string[] = []
  const stage = createStage(beginningMs)
  const tell = (line: string): void => {
    trace.push(`${((stage.nowMs() - beginningMs) / 1000).toFixed(2).padStart(9)} s  ${line}`)
  }
  const world = createWorld({
    stage,
    nature: history.nature,
    rules: history.rules,
    orders: history.orders,
    planned: history.returns,
    purchaseOrderId,
    returnOrderId,
    tell,
  })
  const random = buildRandom(history.dice)
  const times = new Map<Moment, number>()
  let lastDisturbedMs = beginningMs
  const disturbance = (moment: Moment): Disturbance | null => {
    const time = (times.get(moment) ?? 0) + 1
    times.set(moment, time)
    const found = history.disturbances.find((each) => each.moment === moment && each.time === time) ?? null
    if (found !== null) lastDisturbedMs = stage.nowMs() + found.forMs
    return found
  }

  const name = `h${number}`
  const settings = {
    sellerId,
    clientId: 'client',
    clientSecret: 'secret',
    refreshToken: null,
    notificationsSecret: null,
    partnerId: null,
    profile: 'walmart-us',
    headerPrefix: null,
    quantityField: null,
    tokenPath: null,
    marketplaceUrl: theatre.marketplace.open(name, world),
    serviceName: 'Histories',
    advertiserId: null,
    campaignIds: [],
    skus: [],
    logReasons: new Map(),
    reportColumns: {},
    rateLimits: {},
    mode: 'live',
  } as const
  const start = (place: number): Daemon =>
    createDaemon({ place, stage, history, database: slot.database, settings, random, disturbance, tell })

  const daemons = Array.from({ length: history.processes }, (_, place) => start(place))
  const errands: Errand[] = []
  const notBefore = new Map<string, number>()
  const failures = new Map<string, number>()
  const thrown: string[] = []
  const posted = new Map<string, Posted>()
  let steps = 0

  let clockMs = Number.NaN
  const setTime = async (): Promise<void> => {
    if (clockMs === stage.nowMs()) return
    const first = Number.isNaN(clockMs)
    clockMs = stage.nowMs()
    await setClock(slot.client, slot.clock, clockMs, first)
  }

  /** Runs one step in a process. */
  const begin = async (
    daemon: Daemon,
    what: { name: string; buildCommand: () => string | null; key: string },
    work: () => Promise<void>,
  ) => {
    steps += 1
    daemon.busy = true
    daemon.disturbed = false
    const ended = async (): Promise<void> => {
      try {
        await work()
        failures.delete(what.key)
      } catch (error) {
        tell(`process ${daemon.place}: ${what.name} failed: ${error instanceof Error ? error.message : String(error)}`)
        const expected = daemon.disturbed || daemon.dead
        if (!expected) thrown.push(`${what.name}: ${error instanceof Error ? error.message : String(error)}`)
        const failed = (failures.get(what.key) ?? 0) + 1
        failures.set(what.key, failed)
        notBefore.set(what.key, stage.nowMs() + Math.min(1_000 * 2 ** failed, 300_000))
      }
      daemon.busy = false
      if (!daemon.dead) return
      await daemon.close()
      stage.at(stage.nowMs() + restartMs, () => {
        daemons[daemon.place] = start(daemon.place)
      })
    }
    await stage.begin({ name: what.name, process: daemon.place, buildCommand: what.buildCommand }, ended)
  }

  const runStep = (daemon: Daemon, { id, state }: DueRow): Promise<void> => {
    return begin(daemon, { name: `${state} command ${id.slice(0, 8)}`, buildCommand: () => id, key: id }, async () => {
      tell(`process ${daemon.place} takes ${state} command ${id.slice(0, 8)}`)
      daemon.phase = state === 'pending' ? 'sending' : 'reading back'
      const job = { signal: new AbortController().signal, log: daemon.log }
      const command = { ...daemon.command, onEarlierDue: (other: string) => void notBefore.delete(other) }
      const outcome = await carry({ name: 'command.run', data: { commandId: id } }, () => runCommand(command, id, job))
      if (outcome === 'missed') notBefore.set(id, stage.nowMs() + relayMs)
      else if ('runAgainAt' in outcome) {
        notBefore.set(id, outcome.runAgainAt.getTime())
        tell(`process ${daemon.place}: again in ${outcome.runAgainAt.getTime() - stage.nowMs()} ms, ${outcome.reason}`)
      } else notBefore.set(id, stage.nowMs() + relayMs)
    })
  }

  const processEvent = (daemon: Daemon, { id }: DueRow): Promise<void> =>
    begin(daemon, { name: `event ${id}`, buildCommand: () => null, key: `event ${id}` }, async () => {
      daemon.phase = 'accepting'
      await carry({ name: 'event.process', data: { source, id } }, async () => {
        const result = await processReceivedEvent(daemon.accept, { source, id }, new AbortController().signal)
        tell(`process ${daemon.place}: event ${id} is ${result}`)
        return { done: true }
      })
      notBefore.set(`event ${id}`, stage.nowMs() + relayMs)
    })

  const post = (id: string, event: { readonly type: string; readonly data: object }, atMs: number, tries: number): void => {
    errands.push({
      atMs,
      name: `post ${id}`,
      run: async (daemon) => {
        daemon.phase = 'accepting'
        try {
          const verdict = await acceptEvents(daemon.accept, [{ source, id, ...event }], new AbortController().signal)
          const told = verdict.ok ? (verdict.receipts[0]?.state ?? 'nothing') : `${verdict.reason} ${JSON.stringify(verdict)}`
          tell(`process ${daemon.place}: event ${id} (${event.type}) is ${told}`)
          if (verdict.ok || posted.get(id)?.accepted !== true) note(id, event.data, verdict.ok)
        } catch (error) {
          // Whoever gets no answer, or a fault, posts again.
          if (tries < maxPosts) post(id, event, stage.nowMs() + postAgainMs, tries + 1)
          throw error
        }
      },
    })
  }
  const note = (id: string, data: object, accepted: boolean): void => {
    posted.set(id, { id, atMs: stage.nowMs(), accepted, ...namedIn(data) })
  }

  const synchronise = async (daemon: Daemon): Promise<void> => {
    daemon.phase = 'undisturbed'
    const told = await readPages(daemon, sellerId, stage.nowMs())
    for (const line of told) tell(`process ${daemon.place}: ${line}`)
  }

  /** A person looks at the truth and decides right, line by line where only a part was applied. */
  const decideAll = async (unapplied: 'retry' | 'reject', blindly: boolean): Promise<void> => {
    const record = await readRecord(slot.client, sellerId, source)
    for (const command of record.commands.filter(({ state }) => state === 'held')) {
      const applied = buildTruth(world, command)
      const whole = blindly || applied === 'none' ? unapplied : applied === 'whole' ? 'confirm' : null
      const lines = whole === null ? linesDecided(world, command, unapplied) : null
      const decision = whole ?? (lines === null ? null : 'line by line')
      tell(`a person finds command ${command.id.slice(0, 8)} applied ${applied}: ${decision ?? 'leaves it'}`)
      const who = { commandId: command.id, actor: 'kim', reason: 'as it is at the marketplace' }
      if (whole !== null) await decideCommand(slot.database, { ...who, decision: whole })
      else if (lines !== null) await decideCommand(slot.database, { ...who, lines })
      if (decision !== null) notBefore.delete(command.id)
    }
  }

  const arrange = (act: Act, place: number): void => {
    const atMs = beginningMs + act.atMs
    const id = `event-${place}`
    switch (act.does) {
      case 'post': {
        const event = buildEvent(act.event, history, { sellerId, purchaseOrderId, returnOrderId })
        if (!act.inbox) for (let copy = 0; copy < act.copies; copy += 1) post(id, event, atMs, 1)
        else
          stage.at(atMs, () => {
            inserts.push({ id, ...event })
          })
        return
      }
      case 'sync':
        errands.push({ atMs, name: 'sync', run: synchronise })
        return
      case 'decide':
        stage.at(atMs, () => {
          decisions.push(act)
        })
        return
      default:
        stage.at(atMs, () => {
          tell(act.does)
          world.perform(act)
        })
    }
  }
  const inserts: { id: string; type: string; data: object }[] = []
  const decisions: { readonly unapplied: 'retry' | 'reject'; readonly blindly?: true }[] = []

  const serve = async (): Promise<void> => {
    for (const { id, type, data } of inserts.splice(0)) {
      // This connection goes by the true time.
      await slot.client.query(
        `INSERT INTO tallyman.erp_event (source, id, type, data, received_at, due_at)
         VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), to_timestamp($5::float8 / 1000))`,
        [source, id, type, data, stage.nowMs()],
      )
      note(id, data, true)
      tell(`event ${id} (${type}) lies in the inbox`)
    }
    for (const { unapplied, blindly = false } of decisions.splice(0)) await decideAll(unapplied, blindly)
  }

  type Due = { readonly atMs: number; readonly go: (daemon: Daemon) => Promise<void> }
  const nextDue = async (): Promise<Due | null> => {
    const { rows } = await slot.client.query<DueRow>({ name: 'due', text: dueRows, values: [sellerId, source] })
    const due = rows.map((row): Due => {
      const command = row.what === 'command'
      const key = command ? row.id : `event ${row.id}`
      const atMs = Math.max(row.at, notBefore.get(key) ?? 0, stage.nowMs())
      return { atMs, go: (daemon) => (command ? runStep(daemon, row) : processEvent(daemon, row)) }
    })
    for (const errand of errands) {
      const go = async (daemon: Daemon): Promise<void> => {
        errands.splice(errands.indexOf(errand), 1)
        await begin(daemon, { name: errand.name, buildCommand: () => null, key: errand.name }, () => errand.run(daemon))
      }
      due.push({ atMs: Math.max(errand.atMs, stage.nowMs()), go })
    }
    return due.reduce<Due | null>((first, each) => (first === null || each.atMs < first.atMs ? each : first), null)
  }

  try {
    await setTime()
    await recordSellers(
      slot.database,
      daemons.slice(0, 1).map((daemon) => daemon.sellers.configured(sellerId)),
    )
    for (const [place, { atMs }] of history.returns.entries()) stage.at(beginningMs + atMs, () => world.receiveReturn(place))
    for (const [place, act] of history.acts.entries()) arrange(act, place)
    let turn = 0
    for (;;) {
      const free = daemons.filter((daemon) => !daemon.busy && !daemon.dead)
      const due = free.length === 0 ? null : await nextDue()
      const arrangedAtMs = stage.nextAtMs()
      if (due === null && arrangedAtMs === null) break
      const atMs = Math.min(due?.atMs ?? Number.POSITIVE_INFINITY, arrangedAtMs ?? Number.POSITIVE_INFINITY)
      const deadlineMs = Math.max(world.lastDisturbedMs(), lastDisturbedMs) + maxWaitMs
      if ((atMs > deadlineMs && errands.length === 0) || steps >= maxSteps) break
      stage.moveTo(atMs)
      await setTime()
      if (arrangedAtMs !== null && arrangedAtMs <= atMs) {
        await stage.happen()
        await serve()
      } else {
        const daemon = free[turn % free.length]
        turn += 1
        if (due !== null && daemon !== undefined) await due.go(daemon)
      }
      if (stage.failed.length > 0) throw new AggregateError(stage.failed, 'the harness failed')
    }
    const record = await readRecord(slot.client, sellerId, source)
    const verdict = judge({ history, world, record, posted: [...posted.values()], thrown })
    return { ...verdict, trace, steps, lastedMs: stage.nowMs() - beginningMs }
  } finally {
    theatre.marketplace.close(name)
    await Promise.all(daemons.map((daemon) => daemon.close()))
    await delay(0)
  }
}
