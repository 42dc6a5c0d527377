import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { z } from 'zod'
import { connectDaemon, type Daemon, Refused, Unreachable } from '../cli/daemon.ts'
import { eventsRequest } from '../cli/events.ts'
import { wordsOf } from '../cli/faults.ts'
import { type Agenda, createAgenda, type Errand } from './agenda.ts'
import { endOfFeed, readChanges, readOrder } from './daemon-view.ts'
import { type DemoEvent, decide } from './plan.ts'
import { shippingSettingsEvent } from './shipping-settings.ts'

/** What the demonstration needs. */
export interface DemonstrationOptions {
  readonly daemonUrl: string
  readonly apiKey: string | null
  /** Standard Webhooks secret that signs the events; null: they are not signed. */
  readonly eventsSecret: string | null
  /** A child logger whose lines all carry `demonstration: true`. */
  readonly log: Logger
  /** Ends the demonstration. */
  readonly signal: AbortSignal
  /** The pace of the warehouse in milliseconds: an order takes some five to ten paces from acceptance to its last parcel. */
  readonly paceMs?: number
}

const defaultPaceMs = 3_000

/** Orders worked on at the same time; those beyond it are taken up when there is room. */
const mostOrders = 200

/** A long poll of the change feed, in seconds. */
const pollSeconds = 20

/** A change of an order is looked at after this long, together with those that come meanwhile. */
const gatherMs = 300

/** An order that waits for its commands is looked at again after so many milliseconds even when no change was told. */
const patientMs = 60_000

/** At a start the feed is read from so many changes before its end: orders that were closed since may still be owed a refund. */
const lookBack = 2_000n

/** Of the events sent, one line for a person comes after so long at the earliest; the others are there for whoever asks for `debug`. */
const tellEveryMs = 500

const shortestBackOffMs = 1_000
const longestBackOffMs = 30_000

/**
 * The built-in demonstration ERP: accepts the orders of the built-in sandbox, ships, cancels and refunds them through
 * `POST /v1/events`, as an ERP would.
 *
 * What it does about an order follows from the order alone, and its event ids are the same each time, so it keeps no state of its
 * own: a restart continues and doubles nothing. Resolves once `signal` has fired; while the daemon is away it waits and says so once.
 */
export const startDemonstration = async (options: DemonstrationOptions): Promise<void> => {
  const { daemonUrl, apiKey, log, signal, paceMs = defaultPaceMs } = options
  const daemon = connectDaemon({ url: daemonUrl, apiKey, signal })
  const agenda = createAgenda(mostOrders)
  const patience = createPatience(log, signal)
  const patiently = (round: () => Promise<void>) => patience(round, false)
  const once = (round: () => Promise<void>) => patience(round, true)
  const erp: Erp = { daemon, agenda, signal, paceMs, eventsSecret: options.eventsSecret, note: createNotes(log) }
  try {
    await Promise.all([
      once(() => tell(erp, { subject: 'shipping settings' }, shippingSettingsEvent)),
      once(() => readPastReports(erp)),
      patiently(createFollower(erp)),
      patiently(() => scan(erp)),
      patiently(() => attendToDue(erp)),
    ])
  } finally {
    daemon.close()
  }
}

/** Months before this one whose inventory reports are read as well: the sandbox has stock since then, with units gone missing. */
const pastMonths = 3

const readPastReports = async ({ daemon }: Erp): Promise<void> => {
  const now = new Date()
  const monthStart = (monthsAgo: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1)).toISOString()
  const body = { from: monthStart(pastMonths), to: monthStart(0) }
  await daemon.post('/v1/syncs/reconciliation/run', receiptSchema, { body })
}

interface Erp {
  readonly daemon: Daemon
  readonly agenda: Agenda
  readonly signal: AbortSignal
  readonly paceMs: number
  readonly eventsSecret: string | null
  /** Logs what an ERP would not make a fuss about. */
  readonly note: (fields: object, message: string) => void
}

const createNotes = (log: Logger): Erp['note'] => {
  let toldAtMs = 0
  return (fields, message) => {
    const now = Date.now()
    if (now - toldAtMs < tellEveryMs) return log.debug(fields, message)
    toldAtMs = now
    log.info(fields, message)
  }
}

/** Repeats work for ever, or until it has been done once; while the daemon is away or busy with growing pauses, and one line at the beginning and one at the end. */
const createPatience = (log: Logger, signal: AbortSignal) => {
  let away = false
  return async (round: () => Promise<void>, onlyOnce: boolean): Promise<void> => {
    let backOffMs = shortestBackOffMs
    while (!signal.aborted) {
      try {
        await round()
        backOffMs = shortestBackOffMs
        if (away) log.info('the demonstration ERP goes on')
        away = false
        if (onlyOnce) return
      } catch (error) {
        if (signal.aborted) return
        const expected = error instanceof Unreachable || error instanceof Refused
        if (!away) log.warn(expected ? {} : { err: error }, `the demonstration ERP waits: ${wordsOf(error)}`)
        away = true
        const askedMs = error instanceof Refused ? (error.retryAfterMs ?? 0) : 0
        await pauseUnlessOver(Math.min(longestBackOffMs, Math.max(backOffMs, askedMs)), signal)
        backOffMs = Math.min(longestBackOffMs, backOffMs * 2)
      }
    }
  }
}

const pauseUnlessOver = async (delayMs: number, signal: AbortSignal): Promise<void> => {
  try {
    await wait(delayMs, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Notes every order that the change feed tells of; goes on where it was after the daemon was away. */
const createFollower = ({ daemon, agenda }: Erp): (() => Promise<void>) => {
  let after: bigint | null = null
  return async () => {
    if (after === null) {
      const end = await endOfFeed(daemon)
      after = end > lookBack ? end - lookBack : 0n
    }
    for (const { seq, sellerId, purchaseOrderId } of await readChanges(daemon, after, { limit: 500, waitSeconds: pollSeconds })) {
      if (purchaseOrderId !== null) agenda.note({ sellerId, purchaseOrderId }, Date.now() + gatherMs)
      after = seq
    }
  }
}

const listedSchema = z.looseObject({ sellerId: z.string(), purchaseOrderId: z.string(), shipNodeType: z.string().nullable() })

const sellerFulfilled = 'SellerFulfilled'

/** Notes all open orders as there is room for them; again whenever the feed told of more orders than there was room for. */
const scan = async ({ daemon, agenda, signal }: Erp): Promise<void> => {
  agenda.takeLeftOut()
  for await (const order of daemon.list('/v1/orders', listedSchema, { query: { open: true }, pageSize: 200 })) {
    if (order.shipNodeType !== sellerFulfilled) continue
    while (!agenda.hasRoom() && !signal.aborted) await agenda.until(agenda.hasRoom, Date.now() + patientMs, signal)
    if (signal.aborted) return
    agenda.note(order, Date.now())
  }
  let wanted = false
  while (!signal.aborted && !(wanted && agenda.hasRoom())) {
    wanted ||= agenda.takeLeftOut()
    await pauseUnlessOver(shortestBackOffMs, signal)
  }
}

/** Looks at the order that is due first, once one is due. */
const attendToDue = async (erp: Erp): Promise<void> => {
  const { agenda, signal } = erp
  const errand = agenda.due(Date.now())
  if (errand === null) {
    const nextAtMs = agenda.nextAtMs()
    await agenda.until(() => agenda.nextAtMs() !== nextAtMs, nextAtMs ?? Date.now() + patientMs, signal)
    return
  }
  await attend(erp, errand)
}

const attend = async (erp: Erp, errand: Errand): Promise<void> => {
  const { agenda, paceMs } = erp
  const untouchedMs = Date.now() + patientMs
  errand.dueAtMs = untouchedMs
  const order = await readOrder(erp.daemon, errand)
  const decision =
    order === null || order.shipNodeType !== sellerFulfilled ? ({ kind: 'finished' } as const) : decide(order, errand.answered)
  switch (decision.kind) {
    case 'finished':
    case 'held':
      // What has changed while the order was read is looked at first.
      if (errand.dueAtMs === untouchedMs) agenda.finish(errand)
      return
    case 'wait':
      return
    case 'say': {
      const { event, paces } = decision
      if (errand.next?.eventId !== event.id) errand.next = { eventId: event.id, notBeforeMs: Date.now() + paces * paceMs }
      if (Date.now() >= errand.next.notBeforeMs) await say(erp, errand, event)
      errand.dueAtMs = Math.min(errand.dueAtMs, Math.max(errand.next.notBeforeMs, Date.now() + gatherMs))
    }
  }
}

const receiptSchema = z.unknown()

/** Answers that will not become others by sending the same event again. */
const finalRefusals: readonly number[] = [400, 404, 409, 413, 422]

const say = async (erp: Erp, errand: Errand, event: DemoEvent): Promise<void> => {
  const { sellerId, purchaseOrderId } = errand
  await tell(erp, { sellerId, purchaseOrderId, subject: `order ${purchaseOrderId}` }, event)
  errand.answered.add(event.id)
}

/** Tells the daemon an event; a refusal is final and only noted. */
const tell = async (
  { daemon, eventsSecret, note }: Erp,
  { subject, ...address }: { readonly subject: string; readonly sellerId?: string; readonly purchaseOrderId?: string },
  event: DemoEvent,
): Promise<void> => {
  const about = { ...address, eventId: event.id, type: event.type }
  try {
    await daemon.post('/v1/events', receiptSchema, eventsRequest({ ...event }, eventsSecret, new Date()))
    note(about, `the demonstration ERP says ${event.type} of ${subject}`)
  } catch (error) {
    if (!(error instanceof Refused) || !finalRefusals.includes(error.status)) throw error
    // Units that a buyer cancelled a moment ago, say. An ERP would tell a person; this one goes on with what is left.
    note({ ...about, status: error.status, faults: error.notes }, `the demonstration ERP was refused: ${error.message}`)
  }
}
