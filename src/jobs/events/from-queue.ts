import { readStructuredEvent } from '../../domain/events/cloud-event.ts'
import { maxFaultsKept } from '../../domain/events/event-bounds.ts'
import { conflictMessage } from '../../domain/events/event-conflict.ts'
import { readEvent } from '../../domain/events/event-reading.ts'
import type { EventFault } from '../../domain/events/event-shape.ts'
import { isObject } from '../../domain/values/values.ts'
import type { InboundOutcome } from '../../queues/inbound.ts'
import { type EventReceipt, readStoredEvent } from '../../store/events/events.ts'
import { acceptEvents, buildDuplicate } from './accept.ts'
import type { AcceptParts } from './parts.ts'

/** What is counted of a job. */
export type QueuedEventOutcome = EventReceipt['status'] | 'conflict' | 'refused'

/** Dependencies of taking events out of a queue. */
export interface EventQueueParts extends AcceptParts {
  /** Called for each event, after the commit. Must not throw. */
  readonly onQueued?: (outcome: QueuedEventOutcome) => void
}

/** Marks the data of a job whose event has been processed; no attribute of an event has such a name. */
const takenMark = 'tallyman-verdict'
const longestKept = 1_000
const longestFault = 500

/** What remains of a job's data: which event it was. */
const pickRemains = (data: unknown, verdict: 'taken' | 'refused'): object => {
  const kept: Record<string, string> = {}
  for (const name of ['specversion', 'id', 'source', 'type']) {
    const value = isObject(data) ? data[name] : undefined
    if (typeof value === 'string') kept[name] = value.slice(0, longestKept)
  }
  return { ...kept, [takenMark]: verdict }
}

const formatFaults = (faults: readonly EventFault[]): string => {
  const parts = faults
    .slice(0, maxFaultsKept)
    .map(({ path, message }) => `${path} ${message}`.trim().slice(0, longestFault).toWellFormed())
  if (faults.length > parts.length) parts.push(`${faults.length - parts.length} more faults`)
  return parts.join('; ')
}

/**
 * Takes ERP events out of a queue, as if they had been posted one by one: one for the process. The data of a job is a CloudEvent in structured
 * mode. Events about one order are taken in the order in which they are handed in.
 */
export const createEventQueue = (parts: EventQueueParts) => {
  const lastByOrder = new Map<string, Promise<void>>()

  const mutex = async <Result>(subject: string, work: () => Promise<Result>): Promise<Result> => {
    const before = lastByOrder.get(subject)
    const turn = Promise.withResolvers<void>()
    lastByOrder.set(subject, turn.promise)
    try {
      await before
      return await work()
    } finally {
      turn.resolve()
      if (lastByOrder.get(subject) === turn.promise) lastByOrder.delete(subject)
    }
  }

  const refuse = (data: unknown, code: string, faults: readonly EventFault[]): InboundOutcome => {
    parts.onQueued?.(code === 'event-conflict' ? 'conflict' : 'refused')
    return { kind: 'refused', message: `${code}: ${formatFaults(faults)}`, data: pickRemains(data, 'refused') }
  }

  /** A job that was interrupted after its data had been removed. */
  const repeatReceipt = async (data: Readonly<Record<string, unknown>>): Promise<InboundOutcome> => {
    const { source, id } = data
    const stored =
      typeof source === 'string' && typeof id === 'string' ? await readStoredEvent(parts.database, { source, id }) : null
    if (stored !== null) return { kind: 'done', value: buildDuplicate(stored), data }
    const message = 'was removed when this job was refused: correct the event, and add it as a new job'
    return { kind: 'refused', message: `invalid-event: data ${message}`, data }
  }

  return async (data: unknown, signal: AbortSignal): Promise<InboundOutcome> => {
    if (isObject(data) && Object.hasOwn(data, takenMark)) return repeatReceipt(data)
    const { event, faults } = readStructuredEvent(data)
    if (event === null || faults.length > 0) return refuse(data, 'invalid-event', faults)
    const { address } = readEvent(event)
    const subject = JSON.stringify([address?.sellerId ?? null, address?.purchaseOrderId ?? address?.returnOrderId ?? null])
    return mutex(subject, async (): Promise<InboundOutcome> => {
      const verdict = await acceptEvents(parts, [event], signal)
      if (!verdict.ok && verdict.reason === 'invalid') return refuse(data, 'invalid-event', verdict.faults)
      const [receipt] = verdict.ok ? verdict.receipts : []
      if (receipt === undefined) return refuse(data, 'event-conflict', [{ path: 'id', message: conflictMessage(event) }])
      parts.onQueued?.(receipt.status)
      return { kind: 'done', value: receipt, data: pickRemains(data, 'taken') }
    })
  }
}
