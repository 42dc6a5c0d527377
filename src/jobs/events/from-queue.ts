import { readStructuredEvent } from '../../domain/cloud-event.ts'
import { maxFaultsKept } from '../../domain/event-bounds.ts'
import { conflictMessage } from '../../domain/event-conflict.ts'
import { readEvent } from '../../domain/event-reading.ts'
import type { EventFault } from '../../domain/event-shape.ts'
import { isObject } from '../../domain/values.ts'
import type { InboundOutcome } from '../../queues/inbound.ts'
import { type EventReceipt, readStoredEvent } from '../../store/events.ts'
import { acceptEvents, duplicateOf } from './accept.ts'
import type { AcceptParts } from './parts.ts'

/** What is counted of a job. */
export type QueuedEventOutcome = EventReceipt['status'] | 'conflict' | 'refused'

/** Dependencies of taking events out of a queue. */
export interface EventQueueParts extends AcceptParts {
  /** Told of each event, once that is committed. Must not throw. */
  readonly onQueued?: (outcome: QueuedEventOutcome) => void
}

/** Marks the data of a job whose event has been looked at; no attribute of an event has such a name. */
const takenMark = 'tallyman-verdict'
const longestKept = 1_000
const longestFault = 500

/** What remains of a job's data: which event it was. */
const remainsOf = (data: unknown, verdict: 'taken' | 'refused'): object => {
  const kept: Record<string, string> = {}
  for (const name of ['specversion', 'id', 'source', 'type']) {
    const value = isObject(data) ? data[name] : undefined
    if (typeof value === 'string') kept[name] = value.slice(0, longestKept)
  }
  return { ...kept, [takenMark]: verdict }
}

const sentenceOf = (faults: readonly EventFault[]): string => {
  const told = faults
    .slice(0, maxFaultsKept)
    .map(({ path, message }) => `${path} ${message}`.trim().slice(0, longestFault).toWellFormed())
  if (faults.length > told.length) told.push(`${faults.length - told.length} more faults`)
  return told.join('; ')
}

/**
 * Takes ERP events out of a queue, as if they had been posted one by one: one for the process. The data of a job is a CloudEvent in structured
 * mode. Events about one order are taken in the order in which they are handed in.
 */
export const createEventQueue = (parts: EventQueueParts) => {
  const lastOf = new Map<string, Promise<void>>()

  const inTurn = async <Result>(subject: string, work: () => Promise<Result>): Promise<Result> => {
    const before = lastOf.get(subject)
    const turn = Promise.withResolvers<void>()
    lastOf.set(subject, turn.promise)
    try {
      await before
      return await work()
    } finally {
      turn.resolve()
      if (lastOf.get(subject) === turn.promise) lastOf.delete(subject)
    }
  }

  const refuse = (data: unknown, code: string, faults: readonly EventFault[]): InboundOutcome => {
    parts.onQueued?.(code === 'event-conflict' ? 'conflict' : 'refused')
    return { kind: 'refused', message: `${code}: ${sentenceOf(faults)}`, data: remainsOf(data, 'refused') }
  }

  /** A job that was interrupted after its data had been removed. */
  const tellAgain = async (data: Readonly<Record<string, unknown>>): Promise<InboundOutcome> => {
    const { source, id } = data
    const stored =
      typeof source === 'string' && typeof id === 'string' ? await readStoredEvent(parts.database, { source, id }) : null
    if (stored !== null) return { kind: 'done', value: duplicateOf(stored), data }
    const message = 'was removed when this job was refused: correct the event, and add it as a new job'
    return { kind: 'refused', message: `invalid-event: data ${message}`, data }
  }

  return async (data: unknown, signal: AbortSignal): Promise<InboundOutcome> => {
    if (isObject(data) && Object.hasOwn(data, takenMark)) return tellAgain(data)
    const { event, faults } = readStructuredEvent(data)
    if (event === null || faults.length > 0) return refuse(data, 'invalid-event', faults)
    const { address } = readEvent(event)
    const subject = JSON.stringify([address?.sellerId ?? null, address?.purchaseOrderId ?? null])
    return inTurn(subject, async (): Promise<InboundOutcome> => {
      const verdict = await acceptEvents(parts, [event], signal)
      if (!verdict.ok && verdict.reason === 'invalid') return refuse(data, 'invalid-event', verdict.faults)
      const [receipt] = verdict.ok ? verdict.receipts : []
      if (receipt === undefined) return refuse(data, 'event-conflict', [{ path: 'id', message: conflictMessage(event) }])
      parts.onQueued?.(receipt.status)
      return { kind: 'done', value: receipt, data: remainsOf(data, 'taken') }
    })
  }
}
