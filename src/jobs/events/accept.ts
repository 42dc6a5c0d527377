import { setImmediate as letOthersRun } from 'node:timers/promises'
import { eventFaults, type ReadEvent, readEvent } from '../../domain/events/event-reading.ts'
import type { EventFault } from '../../domain/events/event-shape.ts'
import type { NamedOrder } from '../../domain/orders/named-orders.ts'
import { serializeTrace } from '../../observability/trace.ts'
import { runInLockstep } from '../../store/commit/lockstep.ts'
import { runPipelined } from '../../store/commit/query-batching.ts'
import type { Transaction } from '../../store/db/database.ts'
import { runWithLockRetry } from '../../store/db/lock-retry.ts'
import {
  type EventKey,
  type EventReceipt,
  type EventsResult,
  type IncomingEvent,
  type IndexedFault,
  insertEvents,
  readEvents,
  readStoredEvent,
  type StoredEvent,
} from '../../store/events/events.ts'
import { nameOrders } from '../../store/orders/named-orders.ts'
import { isOrderStored, type OrderKey } from '../../store/orders/order-queries.ts'
import { lockOrders } from '../../store/orders/orders.ts'
import { isSellerServed } from '../../store/sellers/sellers.ts'
import { faultPoint } from '../../util/fault-points.ts'
import { bodyHash, storedHash } from './body-hash.ts'
import {
  type Addressed,
  addressStoredEvent,
  afterDecisions,
  allFaults,
  type Decided,
  decideReceived,
  isOrder,
  lockForPlanning,
  type SubjectKey,
  storePlan,
  unknownOrderFault,
} from './decide.ts'
import type { OrderPresence } from './fetch-order.ts'
import { type AcceptParts, commonRules, findRules, onlySeller, type RuleParts } from './parts.ts'
import { storableFaults } from './storable.ts'

export type { AcceptParts } from './parts.ts'

/** An event that is not stored yet, with all that is known of it before its subject is read. */
interface Candidate {
  readonly index: number
  readonly event: IncomingEvent
  readonly read: ReadEvent
  readonly hash: string
  readonly addressed: Addressed
}

/** Rolls the transaction back. */
class Undone extends Error {
  override readonly name = 'Undone'
  readonly verdict: EventsResult
  constructor(verdict: EventsResult) {
    super('the events were not accepted')
    this.verdict = verdict
  }
}

/** Names an event, as a key. */
export const buildName = ({ source, id }: EventKey): string => JSON.stringify([source, id])
/** Names a subject, as a key. */
export const subjectName = ({ sellerId, purchaseOrderId }: SubjectKey): string => JSON.stringify([sellerId, purchaseOrderId])

/** The receipt of an event that was stored before. */
export const buildDuplicate = (stored: StoredEvent): EventReceipt => ({
  source: stored.source,
  id: stored.id,
  status: 'duplicate',
  state: stored.state,
  commands: stored.commands,
  problem: stored.problem,
})

const indexed = (index: number, faults: readonly EventFault[]): IndexedFault[] => faults.map((fault) => ({ index, ...fault }))

/**
 * Stores events durably and derives their commands: all of them, or none.
 *
 * An event whose source and id are known is a duplicate and gets the answer of the first; with another body it is a conflict.
 * An order that is not stored is fetched first. When the marketplace cannot be asked now, or does not answer in time, the event is stored as `received`
 * and decided later (process.ts). All faults are reported together.
 */
export const acceptEvents = async (
  parts: AcceptParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<EventsResult> => {
  const faults: IndexedFault[] = events.flatMap((event, index) => indexed(index, storableFaults(event)))
  // Values that cannot be stored cannot be looked up either.
  if (faults.length > 0) {
    const wrong = new Set(faults.map((fault) => fault.index))
    for (const [index, event] of events.entries()) {
      await letOthersRun()
      if (!wrong.has(index)) faults.push(...indexed(index, eventFaults(readEvent(event), commonRules(parts))))
    }
    return { ok: false, reason: 'invalid', faults: faults.sort((a, b) => a.index - b.index) }
  }

  const { stored, conflicts, candidates, faults: wrongByThemselves } = await examineEvents(parts, events)
  if (conflicts.size > 0) return { ok: false, reason: 'conflict', indexes: [...conflicts] }
  faults.push(...wrongByThemselves)

  const orders = findOrders(candidates, new Set(faults.map((fault) => fault.index)))
  const accept = (presences: ReadonlyMap<string, OrderPresence>) =>
    inOneTransaction(parts, candidates, { orders, presences }, faults, signal)
  // Most orders are stored, so the first attempt fetches none; only missing ones are fetched before the second.
  const fresh = (await accept(new Map())) ?? (await accept(await ensureOrders(parts, orders, signal)))
  if (fresh === null) throw new Error('orders that were looked for are not known')
  if (!fresh.ok) return fresh

  const receipts = new Map(fresh.receipts.map((receipt) => [buildName(receipt), receipt]))
  const answered = new Set<string>()
  return {
    ok: true,
    receipts: events.flatMap((event): EventReceipt[] => {
      const name = buildName(event)
      const known = stored.get(name)
      if (known !== undefined) return [buildDuplicate(known)]
      const receipt = receipts.get(name)
      if (receipt === undefined) return []
      const again = answered.has(name)
      answered.add(name)
      return [again ? { ...receipt, status: 'duplicate' } : receipt]
    }),
  }
}

/** What is known of events without fetching or locking anything. */
interface Examined {
  /** Events that are known already, by their names ({@link buildName}). */
  readonly stored: ReadonlyMap<string, StoredEvent>
  /** Events (by index) that share source and id with another one, stored or posted with them, whose body is another. */
  readonly conflicts: ReadonlySet<number>
  /** The events that are new, each once. */
  readonly candidates: readonly Candidate[]
  /** Faults of the candidates that are invalid by themselves. */
  readonly faults: readonly IndexedFault[]
}

/** Examines events that can be stored; reads only. */
export const examineEvents = async (
  parts: RuleParts & Pick<AcceptParts, 'sellers' | 'only'>,
  events: readonly IncomingEvent[],
): Promise<Examined> => {
  // Events are read while Postgres looks which of them are known; its failure is met below.
  const reading = readEvents(parts.database, events)
  reading.catch(() => undefined)
  const hashes = events.map(bodyHash)
  const conflicts = new Set<number>()
  const first = new Map<string, Candidate>()
  const posted: { readonly event: IncomingEvent; readonly read: ReadEvent }[] = []
  for (const event of events) {
    await letOthersRun()
    posted.push({ event, read: readEvent(event) })
  }
  const stored = new Map((await reading).map((event) => [buildName(event), event]))
  const only = await onlySeller(
    parts,
    parts.database,
    posted.map(({ read }) => ({ address: read.address, sellerId: null })),
  )
  for (const [index, { event, read }] of posted.entries()) {
    const hash = hashes[index] ?? ''
    const known = stored.get(buildName(event))
    const before = known === undefined ? first.get(buildName(event))?.hash : storedHash(known)
    if (before !== undefined && before !== hash) conflicts.add(index)
    if (before === undefined)
      first.set(buildName(event), {
        index,
        event,
        read,
        hash,
        addressed: await leftToOthers(
          parts,
          await addressStoredEvent(parts.database, { address: read.address, sellerId: null }, parts.sellers, only),
        ),
      })
  }
  const candidates = [...first.values()]
  const faults: IndexedFault[] = []
  for (const { index, read, addressed } of candidates) {
    await letOthersRun()
    if (addressed.ok && eventFaults(read, findRules(parts, addressed.key.sellerId)).length === 0) continue
    faults.push(...indexed(index, await allFaults(parts, read, addressed)))
  }
  return { stored, conflicts, candidates, faults }
}

/** An event of a seller whom another process serves is taken in for that process, which decides it. */
const leftToOthers = async ({ database }: Pick<RuleParts, 'database'>, addressed: Addressed): Promise<Addressed> => {
  if (addressed.ok || addressed.unserved === null || !(await isSellerServed(database, addressed.unserved))) return addressed
  return { ok: false, faults: [], unserved: null, unsure: `another process serves seller ${addressed.unserved}` }
}

/** The orders of events, by their names ({@link subjectName}). Those of invalid events are not looked for. */
const findOrders = (candidates: readonly Candidate[], wrong: ReadonlySet<number>): ReadonlyMap<string, OrderKey> => {
  const keys = new Map<string, OrderKey>()
  for (const { index, addressed } of candidates) {
    if (addressed.ok && isOrder(addressed.key) && !wrong.has(index)) keys.set(subjectName(addressed.key), addressed.key)
  }
  return keys
}

/** Orders of one post that are looked up side by side. */
const maxAtOnce = 8
/** Maximum time in which a post fetches orders, in ms: its sender waits for it, and has a timeout. */
const defaultLookUpMs = 10_000

/** Fetches the missing orders, each once; those that there is no time for are there later. */
const ensureOrders = async (
  { database, fetcher, lookUpMs = defaultLookUpMs }: AcceptParts,
  orders: ReadonlyMap<string, OrderKey>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OrderPresence>> => {
  const presences = new Map<string, OrderPresence>()
  // Asked for all at once; most are there.
  await Promise.all(
    [...orders].map(async ([name, { sellerId, purchaseOrderId }]) => {
      if (await isOrderStored(database, sellerId, purchaseOrderId)) presences.set(name, { presence: 'stored' })
    }),
  )
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(lookUpMs)])
  const missing = [...orders].filter(([name]) => !presences.has(name)).values()
  const lookUp = async (): Promise<void> => {
    // All of them take the next one from the same iterator.
    for (const [name, key] of missing) presences.set(name, inTime.aborted ? noTime : await fetcher.ensure(key, inTime))
  }
  // Nothing of it goes on once the post is answered.
  const ends = await Promise.allSettled(Array.from({ length: maxAtOnce }, lookUp))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return presences
}

const noTime: OrderPresence = { presence: 'later', reason: 'other orders of the same post took too long', againInMs: null }

/** What is known of the orders of events. */
interface Orders {
  readonly orders: ReadonlyMap<string, OrderKey>
  /** Of those that have been looked for. */
  readonly presences: ReadonlyMap<string, OrderPresence>
}

/** An order is not stored and has not been looked for. */
class OrderMissed extends Error {
  override readonly name = 'OrderMissed'
}

/** Null: an order must be looked for first, and nothing was done. */
const inOneTransaction = async (
  parts: AcceptParts,
  candidates: readonly Candidate[],
  known: Orders,
  faultsSoFar: readonly IndexedFault[],
  signal: AbortSignal,
): Promise<EventsResult | null> => {
  if (candidates.length === 0) return { ok: true, receipts: [] }
  const sellers = new Set(candidates.map(({ addressed }) => (addressed.ok ? addressed.key.sellerId : '')))
  try {
    const { receipts, due, decided } = await runWithLockRetry(
      parts.database,
      [...sellers].sort().join(),
      (tx) => acceptAll(tx, parts, candidates, known, faultsSoFar),
      {
        timeoutMs: 60_000,
        // Nothing is locked for events about no order.
        locksFirst: candidates.some(({ addressed }) => addressed.ok && isOrder(addressed.key)),
        signal,
      },
    )
    faultPoint('event.after-commit')
    const all = [...afterDecisions(parts, decided), ...due]
    if (all.length > 0) parts.onStored(all)
    return { ok: true, receipts }
  } catch (error) {
    if (error instanceof Undone) return error.verdict
    if (error instanceof OrderMissed) return null
    throw error
  }
}

const acceptAll = async (
  tx: Transaction,
  parts: AcceptParts,
  candidates: readonly Candidate[],
  { orders, presences }: Orders,
  faultsSoFar: readonly IndexedFault[],
): Promise<{ receipts: readonly EventReceipt[]; due: readonly string[]; decided: readonly Decided[] }> => {
  const wrong = new Set(faultsSoFar.map((fault) => fault.index))
  const works = await planWork(tx, candidates)
  const isMissed = ({ key, held }: AboutTheSame): boolean =>
    key !== null && !held && orders.has(subjectName(key)) && !presences.has(subjectName(key))
  if (works.some(isMissed)) throw new OrderMissed()
  const accepted = await runInLockstep(
    tx,
    works.map((work) => (own) => acceptAbout(own, parts, work, presences, wrong)),
  )
  const faults = [...faultsSoFar, ...accepted.flatMap((one) => one.faults)]
  if (faults.length > 0) {
    throw new Undone({ ok: false, reason: 'invalid', faults: faults.sort((a, b) => a.index - b.index) })
  }
  for (const [sellerId, orders] of listMissed(works)) nameOrders(tx, sellerId, 'events', orders)
  faultPoint('event.before-commit')
  return {
    receipts: accepted.flatMap((one) => one.receipts),
    due: accepted.flatMap((one) => one.due),
    decided: accepted.flatMap((one) => one.decided),
  }
}

/** The orders of events that are not stored, by their sellers. */
const listMissed = (works: readonly AboutTheSame[]): ReadonlyMap<string, readonly NamedOrder[]> => {
  const missed = works.flatMap(({ key, held }) => (key === null || held || !isOrder(key) ? [] : [key]))
  const at = new Date()
  return new Map(
    [...Map.groupBy(missed, ({ sellerId }) => sellerId)].map(([sellerId, keys]) => [
      sellerId,
      keys.map(({ purchaseOrderId }) => ({ purchaseOrderId, at })),
    ]),
  )
}

/** Events about the same, in the order in which they were posted. */
interface AboutTheSame {
  /** Null: the subject cannot be determined. */
  readonly key: SubjectKey | null
  /** Whether it is an order whose row is locked already. */
  readonly held: boolean
  readonly candidates: readonly Candidate[]
}

/** Divides the events by what they are about, and locks the orders by their names, as every batch does: two batches cannot wait for each other. */
const planWork = async (tx: Transaction, candidates: readonly Candidate[]): Promise<readonly AboutTheSame[]> => {
  const bySubject = new Map<string, { readonly key: SubjectKey; readonly candidates: Candidate[] }>()
  const unclear: AboutTheSame[] = []
  for (const candidate of candidates) {
    const { addressed } = candidate
    if (!addressed.ok) {
      unclear.push({ key: null, held: false, candidates: [candidate] })
      continue
    }
    const name = subjectName(addressed.key)
    const known = bySubject.get(name)
    if (known === undefined) bySubject.set(name, { key: addressed.key, candidates: [candidate] })
    else known.candidates.push(candidate)
  }
  const sorted = [...bySubject].sort(([a], [b]) => (a < b ? -1 : 1))
  const held = await lockOrders(tx, sorted.map(([, { key }]) => key).filter(isOrder))
  const names = new Set(held.map(subjectName))
  return [...sorted.map(([name, about]) => ({ ...about, held: names.has(name) })), ...unclear]
}

interface Accepted {
  readonly receipts: readonly EventReceipt[]
  readonly faults: readonly IndexedFault[]
  readonly due: readonly string[]
  readonly decided: readonly Decided[]
}

/** Accepts the events about one subject; those of others are accepted in step with them, in the same transaction. */
const acceptAbout = async (
  tx: Transaction,
  parts: AcceptParts,
  { key, held, candidates }: AboutTheSame,
  presences: ReadonlyMap<string, OrderPresence>,
  wrong: ReadonlySet<number>,
): Promise<Accepted> => {
  const right = candidates.filter(({ index }) => !wrong.has(index))
  if (key === null) {
    const unsure = right.filter(({ addressed }) => !addressed.ok && addressed.unsure !== null)
    return { receipts: await takeForLater(tx, null, unsure), faults: [], due: [], decided: [] }
  }
  if (!isOrder(key)) return acceptNow(tx, parts, key, right)
  if (held) return acceptNow({ ...tx, held: key }, parts, key, right)
  if (presences.get(subjectName(key))?.presence === 'unknown') {
    return { receipts: [], faults: right.flatMap(({ index }) => indexed(index, [unknownOrderFault(key)])), due: [], decided: [] }
  }
  return { receipts: await takeForLater(tx, key.sellerId, right), faults: [], due: [], decided: [] }
}

/** Accepts events about a subject that is there, and decides first what waits for it. */
const acceptNow = async (
  tx: Transaction,
  parts: AcceptParts,
  key: SubjectKey,
  candidates: readonly Candidate[],
): Promise<Accepted> => {
  const state = 'accepted'
  const rules = findRules(parts, key.sellerId)
  // Inserted before they are planned: a duplicate that has just been accepted must not be found wrong for the units that it took itself.
  const [{ planned, waiting }, inserted] = await runPipelined(
    tx,
    () => lockForPlanning(tx, key, rules),
    () =>
      insertEvents(
        tx,
        candidates.map(({ event, hash }) => ({ ...event, bodyHash: hash, sellerId: key.sellerId, state })),
      ),
  )
  if (planned === null) throw new Error(`order ${key.purchaseOrderId} of seller ${key.sellerId} has vanished under its lock`)
  const decided = await decideReceived(tx, planned, waiting, parts)
  const receipts: EventReceipt[] = []
  const faults: IndexedFault[] = []
  const due: string[] = []
  for (const [place, candidate] of candidates.entries()) {
    const { index, event, read } = candidate
    if (inserted[place] !== true) {
      receipts.push(await duplicateInside(tx, candidate))
      continue
    }
    const plan = planned.plan(read)
    if (!plan.ok) {
      faults.push(...indexed(index, plan.faults))
      continue
    }
    const commands = await storePlan(tx, planned.key, event, plan)
    due.push(...commands)
    receipts.push({ source: event.source, id: event.id, status: 'accepted', state, commands, problem: null })
  }
  return { receipts, faults, due, decided }
}

/**
 * Stores events that are decided later, like a row of the inbox: their seller cannot be determined yet (null), or their order is not stored and cannot
 * be fetched now.
 */
const takeForLater = async (
  tx: Transaction,
  sellerId: string | null,
  candidates: readonly Candidate[],
): Promise<readonly EventReceipt[]> => {
  const state = 'received'
  const trace = serializeTrace()
  const rows = candidates.map(({ event, hash }) => ({ ...event, bodyHash: hash, sellerId, state, trace }) as const)
  const inserted = await insertEvents(tx, rows)
  const receipts: EventReceipt[] = []
  for (const [place, candidate] of candidates.entries()) {
    const { source, id } = candidate.event
    receipts.push(
      inserted[place] === true
        ? { source, id, status: 'accepted', state, commands: [], problem: null }
        : await duplicateInside(tx, candidate),
    )
  }
  return receipts
}

/** The receipt of an event that another process has stored meanwhile. */
const duplicateInside = async (tx: Transaction, { index, event, hash }: Candidate): Promise<EventReceipt> => {
  const stored = await readStoredEvent(tx, event)
  if (stored === null) throw new Error(`event ${event.id} of ${event.source} has vanished while it was being accepted`)
  if (storedHash(stored) !== hash) throw new Undone({ ok: false, reason: 'conflict', indexes: [index] })
  return buildDuplicate(stored)
}
