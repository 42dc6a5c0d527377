import { setImmediate as letOthersRun } from 'node:timers/promises'
import { eventFaults, type ReadEvent, readEvent } from '../../domain/event-reading.ts'
import type { EventFault } from '../../domain/event-shape.ts'
import { faultPoint } from '../../fault-points.ts'
import type { Transaction } from '../../store/database.ts'
import {
  type EventKey,
  type EventReceipt,
  type EventsVerdict,
  type IncomingEvent,
  type IndexedFault,
  insertEvent,
  readEvents,
  readStoredEvent,
  type StoredEvent,
} from '../../store/events.ts'
import { retryOnDeadlock } from '../../store/faults.ts'
import { bodyHash, storedHash } from './body-hash.ts'
import {
  type Addressed,
  addressEvent,
  afterDecisions,
  allFaults,
  type Decided,
  decideReceived,
  isOrder,
  type LockedSubject,
  lockForPlanning,
  type SubjectKey,
  storeCommands,
  unknownOrderFault,
} from './decide.ts'
import type { OrderPresence } from './fetch-order.ts'
import { type AcceptParts, commonRules, onlySeller, rulesOf } from './parts.ts'
import { storableFaults } from './storable.ts'

export type { AcceptParts } from './parts.ts'

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
  readonly verdict: EventsVerdict
  constructor(verdict: EventsVerdict) {
    super('the events were not accepted')
    this.verdict = verdict
  }
}

const nameOf = ({ source, id }: EventKey): string => JSON.stringify([source, id])
const subjectName = ({ sellerId, purchaseOrderId }: SubjectKey): string => JSON.stringify([sellerId, purchaseOrderId])

const duplicateOf = (stored: StoredEvent): EventReceipt => ({
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
 * An order that is not stored is fetched first. When the marketplace cannot be asked now, the event is stored as `received`
 * and decided later (process.ts). All faults are reported together.
 */
export const acceptEvents = async (
  parts: AcceptParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<EventsVerdict> => {
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

  const hashes = events.map(bodyHash)
  const conflicts = new Set<number>()
  const stored = new Map((await readEvents(parts.database, events)).map((event) => [nameOf(event), event]))
  const first = new Map<string, Candidate>()
  const posted: { readonly event: IncomingEvent; readonly read: ReadEvent }[] = []
  for (const event of events) {
    await letOthersRun()
    posted.push({ event, read: readEvent(event) })
  }
  const only = await onlySeller(
    parts,
    parts.database,
    posted.map(({ read }) => ({ address: read.address, sellerId: null })),
  )
  for (const [index, { event, read }] of posted.entries()) {
    const hash = hashes[index] ?? ''
    const known = stored.get(nameOf(event))
    const before = known === undefined ? first.get(nameOf(event))?.hash : storedHash(known)
    if (before !== undefined && before !== hash) conflicts.add(index)
    if (before === undefined)
      first.set(nameOf(event), {
        index,
        event,
        read,
        hash,
        addressed: addressEvent({ address: read.address, sellerId: null }, parts.sellers, only),
      })
  }
  if (conflicts.size > 0) return { ok: false, reason: 'conflict', indexes: [...conflicts] }

  const candidates = [...first.values()]
  for (const { index, read, addressed } of candidates) {
    await letOthersRun()
    if (addressed.ok && eventFaults(read, rulesOf(parts, addressed.key.sellerId)).length === 0) continue
    faults.push(...indexed(index, await allFaults(parts, read, addressed)))
  }
  const presences = await ensureOrders(parts, candidates, new Set(faults.map((fault) => fault.index)), signal)
  const fresh = await inOneTransaction(parts, candidates, presences, faults)
  if (!fresh.ok) return fresh

  const receipts = new Map(fresh.receipts.map((receipt) => [nameOf(receipt), receipt]))
  const told = new Set<string>()
  return {
    ok: true,
    receipts: events.flatMap((event): EventReceipt[] => {
      const name = nameOf(event)
      const known = stored.get(name)
      if (known !== undefined) return [duplicateOf(known)]
      const receipt = receipts.get(name)
      if (receipt === undefined) return []
      const again = told.has(name)
      told.add(name)
      return [again ? { ...receipt, status: 'duplicate' } : receipt]
    }),
  }
}

/** Fetches the missing orders, each once. Orders of invalid events are not fetched. */
const ensureOrders = async (
  parts: AcceptParts,
  candidates: readonly Candidate[],
  wrong: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OrderPresence>> => {
  const presences = new Map<string, OrderPresence>()
  for (const { index, addressed } of candidates) {
    if (!addressed.ok || !isOrder(addressed.key) || wrong.has(index) || presences.has(subjectName(addressed.key))) continue
    presences.set(subjectName(addressed.key), await parts.fetcher.ensure(addressed.key, signal))
  }
  return presences
}

const inOneTransaction = async (
  parts: AcceptParts,
  candidates: readonly Candidate[],
  presences: ReadonlyMap<string, OrderPresence>,
  faultsSoFar: readonly IndexedFault[],
): Promise<EventsVerdict> => {
  if (candidates.length === 0) return { ok: true, receipts: [] }
  try {
    const { receipts, due, decided } = await retryOnDeadlock(() =>
      parts.database.transaction((tx) => acceptAll(tx, parts, candidates, presences, faultsSoFar), { timeoutMs: 60_000 }),
    )
    faultPoint('event.after-commit')
    const all = [...afterDecisions(parts, decided), ...due]
    if (all.length > 0) parts.wake(all)
    return { ok: true, receipts }
  } catch (error) {
    if (error instanceof Undone) return error.verdict
    throw error
  }
}

const acceptAll = async (
  tx: Transaction,
  parts: AcceptParts,
  candidates: readonly Candidate[],
  presences: ReadonlyMap<string, OrderPresence>,
  faultsSoFar: readonly IndexedFault[],
): Promise<{ receipts: readonly EventReceipt[]; due: readonly string[]; decided: readonly Decided[] }> => {
  const wrong = new Set(faultsSoFar.map((fault) => fault.index))
  const faults = [...faultsSoFar]
  const due: string[] = []
  const decided: Decided[] = []
  const subjects = await lockAll(tx, parts, candidates)
  for (const locked of subjects.values()) decided.push(...(await decideReceived(tx, locked, parts)))
  const receipts: EventReceipt[] = []
  for (const candidate of candidates) {
    const { index, event, read, addressed } = candidate
    if (wrong.has(index)) continue
    if (!addressed.ok) {
      // Its seller cannot be determined yet: it is decided later, like a row of the inbox.
      if (addressed.unsure !== null) receipts.push(await takeUndecided(tx, candidate))
      continue
    }
    const { key } = addressed
    const locked = subjects.get(subjectName(key)) ?? null
    if (locked === null && isOrder(key) && presences.get(subjectName(key))?.presence === 'unknown') {
      faults.push({ index, ...unknownOrderFault(key) })
      continue
    }
    const state = locked === null ? 'received' : 'accepted'
    const { source, id } = event
    // Inserted before it is planned: a duplicate that has just been accepted must not be found wrong for the units that it took itself.
    const inserted = await insertEvent(tx, { ...event, bodyHash: candidate.hash, sellerId: key.sellerId, state })
    if (!inserted) {
      receipts.push(await duplicateInside(tx, candidate))
      continue
    }
    if (locked === null) {
      receipts.push({ source, id, status: 'accepted', state, commands: [], problem: null })
      continue
    }
    const plan = locked.plan(read)
    if (!plan.ok) {
      faults.push(...indexed(index, plan.faults))
      continue
    }
    const commands = await storeCommands(tx, locked.key, event, plan.commands)
    due.push(...commands)
    receipts.push({ source, id, status: 'accepted', state, commands, problem: null })
  }
  if (faults.length > 0) {
    throw new Undone({ ok: false, reason: 'invalid', faults: faults.sort((a, b) => a.index - b.index) })
  }
  faultPoint('event.before-commit')
  return { receipts, due, decided }
}

const takeUndecided = async (tx: Transaction, candidate: Candidate): Promise<EventReceipt> => {
  const { source, id } = candidate.event
  const row = { ...candidate.event, bodyHash: candidate.hash, sellerId: null, state: 'received' } as const
  if (!(await insertEvent(tx, row))) return duplicateInside(tx, candidate)
  return { source, id, status: 'accepted', state: 'received', commands: [], problem: null }
}

/** Locks the subjects by their names, as every batch does: two batches cannot wait for each other. */
const lockAll = async (
  tx: Transaction,
  parts: AcceptParts,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<string, LockedSubject>> => {
  const keys = new Map(candidates.flatMap(({ addressed }) => (addressed.ok ? [[subjectName(addressed.key), addressed.key]] : [])))
  const subjects = new Map<string, LockedSubject>()
  for (const [name, key] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const locked = await lockForPlanning(tx, key, rulesOf(parts, key.sellerId))
    if (locked !== null) subjects.set(name, locked)
  }
  return subjects
}

/** The receipt of an event that another process has stored meanwhile. */
const duplicateInside = async (tx: Transaction, { index, event, hash }: Candidate): Promise<EventReceipt> => {
  const stored = await readStoredEvent(tx, event)
  if (stored === null) throw new Error(`event ${event.id} of ${event.source} has vanished while it was being accepted`)
  if (storedHash(stored) !== hash) throw new Undone({ ok: false, reason: 'conflict', indexes: [index] })
  return duplicateOf(stored)
}
