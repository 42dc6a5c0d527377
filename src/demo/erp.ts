import type { Logger } from 'pino'
import { describeError } from '../api-client/errors.ts'
import { createTallymanClient, listAll, Refused, sendEvents, type TallymanClient, Unreachable, unwrap } from '../client/client.ts'
import { pause } from '../util/sleep.ts'
import { type Agenda, createAgenda, type Errand } from './agenda.ts'
import { endOfFeed, readChanges, readOrder } from './daemon-view.ts'
import { type DemoEvent, decide } from './plan.ts'
import { buildShippingSettingsEvent } from './shipping-settings.ts'

/** Settings of the demonstration. */
export interface DemonstrationOptions {
  readonly daemonUrl: string
  readonly apiKey: string | null
  /** Standard Webhooks secret that signs the events; null: they are not signed. */
  readonly eventsSecret: string | null
  /** Whether the marketplace's shipping settings have a priority. */
  readonly settingsHavePriority: boolean
  /** A child logger whose lines all have `demonstration: true`. */
  readonly log: Logger
  /** Ends the demonstration. */
  readonly signal: AbortSignal
  /** The pace of the warehouse in milliseconds: an order takes some five to ten paces from acceptance to its last parcel. */
  readonly paceMs?: number
}

const defaultPaceMs = 3_000

/** Maximum number of orders in progress; further ones follow when others are finished. */
const maxOrders = 200

/** A long poll of the change feed, in seconds. */
const pollSeconds = 20

/** A change of an order is handled after this delay, together with those that arrive meanwhile. */
const gatherMs = 300

/** An order that waits for its commands is checked again after this time in milliseconds, even without a change. */
const maxWaitMs = 60_000

/** At a start the feed is read from this number of changes before its end: orders closed since may still need a refund. */
const lookBack = 2_000n

/** This number of events have an info line each; the others are logged at level `debug`, and summed up after each interval, in milliseconds. */
const loggedSingly = 5
const sumUpEveryMs = 60_000

const shortestBackOffMs = 1_000
const longestBackOffMs = 30_000

/**
 * The built-in demonstration ERP: accepts the orders of the built-in sandbox, ships, cancels and refunds them through
 * `POST /v1/events`, as an ERP would.
 *
 * Its decisions depend on the order only, and its event ids are deterministic, so it keeps no state: a restart continues and repeats
 * nothing. Resolves once `signal` is aborted; while the daemon is unavailable it waits and logs it once.
 */
export const startDemonstration = async (options: DemonstrationOptions): Promise<void> => {
  const { daemonUrl, apiKey, eventsSecret, log, signal, paceMs = defaultPaceMs } = options
  const client = createTallymanClient({ url: daemonUrl, apiKey, eventsSecret, signal })
  const agenda = createAgenda(maxOrders)
  const retry = createRetry(log, signal)
  const forever = (round: () => Promise<void>) => retry(round, false)
  const once = (round: () => Promise<void>) => retry(round, true)
  const erp: Erp = { client, agenda, signal, paceMs, note: createNotes(log) }
  await Promise.all([
    once(() => tell(erp, { subject: 'shipping settings' }, buildShippingSettingsEvent(options.settingsHavePriority))),
    once(() => readPastReports(erp)),
    forever(createFollower(erp)),
    forever(() => scan(erp)),
    forever(() => attendToDue(erp)),
  ])
}

/** Months before this one whose inventory reports are read as well: the sandbox has stock since then, with units gone missing. */
const pastMonths = 3

const readPastReports = async ({ client }: Erp): Promise<void> => {
  const now = new Date()
  const monthStart = (monthsAgo: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1)).toISOString()
  const body = { from: monthStart(pastMonths), to: monthStart(0) }
  unwrap(await client.POST('/v1/syncs/{resource}/run', { params: { path: { resource: 'reconciliation' } }, body }))
}

interface Erp {
  readonly client: TallymanClient
  readonly agenda: Agenda
  readonly signal: AbortSignal
  readonly paceMs: number
  /** Logs what became of a sent event. */
  readonly note: (
    fields: { readonly type: string; readonly status?: number; readonly faults?: readonly string[] },
    message: string,
  ) => void
}

const createNotes = (log: Logger): Erp['note'] => {
  let logged = 0
  let sinceMs = Date.now()
  let counts: Record<string, number> = {}
  return (fields, message) => {
    if (logged < loggedSingly) {
      logged += 1
      return log.info(fields, message)
    }
    log.debug(fields, message)
    const what = fields.status === undefined ? fields.type : 'refused'
    counts[what] = (counts[what] ?? 0) + 1
    if (Date.now() - sinceMs < sumUpEveryMs) return
    const seconds = Math.round((Date.now() - sinceMs) / 1_000)
    log.info({ events: counts }, `the demonstration ERP has sent events for ${seconds} s; LOG_LEVEL=debug shows each`)
    sinceMs = Date.now()
    counts = {}
  }
}

/** Repeats work for ever, or until it has succeeded once; during an outage with a back-off, and one log line at its beginning and its end. */
const createRetry = (log: Logger, signal: AbortSignal) => {
  let unavailable = false
  return async (round: () => Promise<void>, onlyOnce: boolean): Promise<void> => {
    let backOffMs = shortestBackOffMs
    while (!signal.aborted) {
      try {
        await round()
        backOffMs = shortestBackOffMs
        if (unavailable) log.info('the demonstration ERP continues')
        unavailable = false
        if (onlyOnce) return
      } catch (error) {
        if (signal.aborted) return
        const expected = error instanceof Unreachable || error instanceof Refused
        if (!unavailable) log.warn(expected ? {} : { err: error }, `the demonstration ERP waits: ${describeError(error)}`)
        unavailable = true
        const askedMs = error instanceof Refused ? (error.retryAfterMs ?? 0) : 0
        await pause(Math.min(longestBackOffMs, Math.max(backOffMs, askedMs)), signal)
        backOffMs = Math.min(longestBackOffMs, backOffMs * 2)
      }
    }
  }
}

/** Notes every order that the change feed names; continues at the same position after an outage of the daemon. */
const createFollower = ({ client, agenda }: Erp): (() => Promise<void>) => {
  let after: bigint | null = null
  return async () => {
    if (after === null) {
      const end = await endOfFeed(client)
      after = end > lookBack ? end - lookBack : 0n
    }
    for (const { seq, sellerId, purchaseOrderId } of await readChanges(client, after, { limit: 500, waitSeconds: pollSeconds })) {
      if (purchaseOrderId !== null) agenda.note({ sellerId, purchaseOrderId }, Date.now() + gatherMs)
      after = BigInt(seq)
    }
  }
}

/** The marketplace ships these orders itself; all others, also those of a third party, are the ERP's. */
const marketplaceFulfilled = 'WFSFulfilled'

/** Adds all open orders while there is capacity; again whenever the feed had more orders than capacity. */
const scan = async ({ client, agenda, signal }: Erp): Promise<void> => {
  agenda.takeLeftOut()
  const open = listAll((page) => client.GET('/v1/orders', { params: { query: { open: true, limit: 200, ...page } } }))
  for await (const order of open) {
    if (order.shipNodeType === marketplaceFulfilled) continue
    while (!agenda.hasRoom() && !signal.aborted) await agenda.until(agenda.hasRoom, Date.now() + maxWaitMs, signal)
    if (signal.aborted) return
    agenda.note(order, Date.now())
  }
  let wanted = false
  while (!signal.aborted && !(wanted && agenda.hasRoom())) {
    wanted ||= agenda.takeLeftOut()
    await pause(shortestBackOffMs, signal)
  }
}

/** Handles the order that is due first, once one is due. */
const attendToDue = async (erp: Erp): Promise<void> => {
  const { agenda, signal } = erp
  const errand = agenda.due(Date.now())
  if (errand === null) {
    const nextAtMs = agenda.nextAtMs()
    await agenda.until(() => agenda.nextAtMs() !== nextAtMs, nextAtMs ?? Date.now() + maxWaitMs, signal)
    return
  }
  await attend(erp, errand)
}

const attend = async (erp: Erp, errand: Errand): Promise<void> => {
  const { agenda, paceMs } = erp
  const untouchedMs = Date.now() + maxWaitMs
  errand.dueAtMs = untouchedMs
  const order = await readOrder(erp.client, errand)
  const decision =
    order === null || order.shipNodeType === marketplaceFulfilled
      ? ({ kind: 'finished' } as const)
      : decide(order, errand.answered)
  switch (decision.kind) {
    case 'finished':
    case 'held':
      // Changes that arrived while the order was read are handled first.
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

/** Answers that repeating the same event would not change. */
const finalRefusals: readonly number[] = [400, 404, 409, 413, 422]

const say = async (erp: Erp, errand: Errand, event: DemoEvent): Promise<void> => {
  const { sellerId, purchaseOrderId } = errand
  await tell(erp, { sellerId, purchaseOrderId, subject: `order ${purchaseOrderId}` }, event)
  errand.answered.add(event.id)
}

/** Sends an event to the daemon; a refusal is final and only logged. */
const tell = async (
  { client, note }: Erp,
  { subject, ...address }: { readonly subject: string; readonly sellerId?: string; readonly purchaseOrderId?: string },
  event: DemoEvent,
): Promise<void> => {
  const about = {
    ...(address.sellerId === undefined ? {} : { seller_id: address.sellerId }),
    ...(address.purchaseOrderId === undefined ? {} : { purchase_order_id: address.purchaseOrderId }),
    event_id: event.id,
    type: event.type,
  }
  try {
    await sendEvents(client, event)
    note(about, `the demonstration ERP sends ${event.type} for ${subject}`)
  } catch (error) {
    if (!(error instanceof Refused) || !finalRefusals.includes(error.status)) throw error
    // For example units that a buyer has just cancelled. A real ERP would inform a clerk; this one continues with the remaining units.
    note({ ...about, status: error.status, faults: error.notes }, `the demonstration ERP was refused: ${error.message}`)
  }
}
