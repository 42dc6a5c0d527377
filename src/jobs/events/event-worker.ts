import type { QueueRuntime } from '../../queues/runtime.ts'
import { createSlots, postponeForSlot } from '../../queues/slots.ts'
import { readWaitingSubject } from '../../store/events/events.ts'
import { dueJobBackoff, eventsAtOnce, relayIntervalMs } from '../dispatch/capacity.ts'
import { requeue } from '../dispatch/requeue.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import type { AcceptParts } from './parts.ts'
import { processReceivedEvent } from './process.ts'

/** Delay of an event while another one about the same order is being decided: the run of that one may decide both. */
const sameOrderDelayMs = 250

/** Dependencies of deciding events that wait. */
export interface EventWorkerParts {
  readonly intake: AcceptParts
  readonly sellers: Pick<SellerRegistry, 'has' | 'worksFor'>
  readonly runtime: Pick<QueueRuntime, 'register'>
  /** Called when a run of an event has ended for good. */
  ended(name: 'event.process'): void
}

/** Registers the handler of the jobs `event.process`; before the queues start. */
export const registerEventWorker = ({ intake, sellers, runtime, ended }: EventWorkerParts): void => {
  const { database } = intake
  const slots = createSlots({ total: eventsAtOnce })
  /** Subjects of which this process decides an event now. */
  const inProgress = new Set<string>()
  runtime.register(
    'event.process',
    async ({ data, signal, starts, setSeller }) => {
      const about = await readWaitingSubject(database, data)
      if (about === null) return { done: true }
      const { sellerId } = about
      setSeller(sellerId)
      // Only the process assigned to the seller decides the event; other processes requeue it without taking a slot.
      if (!sellers.worksFor(sellerId) && (about.isServed || sellers.has(sellerId))) {
        return requeue({ database }, sellerId, starts)
      }
      const subject = JSON.stringify([sellerId, about.purchaseOrderId])
      if (inProgress.has(subject)) {
        return {
          runAgainAt: new Date(Date.now() + sameOrderDelayMs),
          reason: 'another event about the same order is being decided',
        }
      }
      inProgress.add(subject)
      try {
        const release = await slots.take(sellerId, signal)
        if (release === null) return postponeForSlot(`seller ${sellerId}`, starts)
        const outcome = await processReceivedEvent(intake, data, signal).finally(release)
        if (outcome === 'settled') {
          ended('event.process')
          return { done: true }
        }
        if ('servedByOther' in outcome) return requeue({ database }, outcome.servedByOther, starts)
        // The relay adds an event that is due after its next derivation; only an earlier one needs this job.
        return outcome.dueInMs < relayIntervalMs
          ? { runAgainAt: new Date(Date.now() + outcome.dueInMs), reason: 'its order can be requested then' }
          : { done: true }
      } finally {
        inProgress.delete(subject)
      }
    },
    { concurrency: eventsAtOnce, backoff: dueJobBackoff },
  )
}
