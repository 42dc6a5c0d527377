import type { Log } from '../core/log.ts'
import type { FaultControl } from '../faults/faults.ts'
import type { Life } from '../life/live.ts'
import type { World } from '../world.ts'
import { readForm } from './form.ts'
import type { Delivery } from './model.ts'
import { isDelivered, sendNotification, type Tokens } from './send.ts'

/** Sends the deliveries that are due, until it is closed. */
export interface Notifier {
  close(): Promise<void>
}

/** In all, unless one is answered with 2xx (public facts, section 9.1). */
const maxAttempts = 3
const maxConcurrent = 16
/** How often what is due by the virtual clock is looked for while nobody calls. */
const lifeIntervalMs = 500
const maxTimerMs = 60_000

/** Draws the faults of a delivery before its first attempt. */
const plan = ({ notifications, database }: World, faults: FaultControl, delivery: Delivery): void =>
  database.transaction(() => {
    const { dropped, copies, delayMs, forged } = faults.planNotification(delivery.id)
    for (let copy = 0; copy < copies; copy += 1) notifications.repeat(delivery)
    const state = dropped ? 'dropped' : 'waiting'
    notifications.update(delivery.id, { planned: true, state, forged, dueAt: delivery.dueAt + delayMs })
  })

/** Begins to send. Deliveries of a stopped sandbox continue after its start, so a receiver may get one again. */
export const createNotifier = (world: World, life: Life, faults: FaultControl, log: Log): Notifier => {
  const { notifications } = world
  const sending = new Map<number, Promise<void>>()
  const tokens: Tokens = new Map()
  const closing = new AbortController()
  let timer: NodeJS.Timeout | null = null

  const send = async (delivery: Delivery): Promise<void> => {
    const subscription = notifications.find(delivery.subscriptionId)
    if (subscription === null)
      return notifications.update(delivery.id, { state: 'dropped', error: 'its subscription was deleted' })
    const form = readForm(world)
    const outcome = await sendNotification(subscription, delivery.body, {
      form,
      prefix: world.settings.dialect.headerPrefix,
      tokens,
      forged: delivery.forged,
      signal: closing.signal,
    })
    // Interrupted by the end of the sandbox: it is sent again after the start.
    if (closing.signal.aborted) return
    const attempts = delivery.attempts + 1
    const { httpStatus, error } = outcome
    if (isDelivered(outcome)) return notifications.update(delivery.id, { state: 'delivered', attempts, httpStatus, error })
    const state = attempts < maxAttempts ? 'waiting' : 'failed'
    notifications.update(delivery.id, { state, attempts, httpStatus, error, dueAt: Date.now() + form.retryMs })
  }

  const start = (delivery: Delivery): void => {
    const ended = send(delivery)
      .catch((error: unknown) => log('error', 'delivery failed', { err: error instanceof Error ? error.stack : String(error) }))
      .then(() => {
        sending.delete(delivery.id)
        work()
      })
    sending.set(delivery.id, ended)
  }

  // What is due and finds no place is started when another delivery ends.
  const work = (): void => {
    if (closing.signal.aborted) return
    const now = Date.now()
    const findDue = () => notifications.due(now, maxConcurrent + sending.size).filter(({ id }) => !sending.has(id))
    let due = findDue()
    for (; due.some(({ planned }) => !planned); due = findDue())
      for (const delivery of due) if (!delivery.planned) plan(world, faults, delivery)
    for (const delivery of due.slice(0, maxConcurrent - sending.size)) start(delivery)
    if (timer !== null) clearTimeout(timer)
    const nextDueAt = notifications.nextDueAt(now)
    timer = nextDueAt === null ? null : setTimeout(work, Math.min(maxTimerMs, nextDueAt - now)).unref()
  }

  // The event is stored once its transaction has ended.
  notifications.onAnnounced(() => void setImmediate(work))
  const living = setInterval(() => {
    if (notifications.any()) life.catchUp().catch((error: unknown) => log('error', 'life failed', { err: String(error) }))
  }, lifeIntervalMs)
  living.unref()
  work()
  return {
    async close() {
      closing.abort()
      clearInterval(living)
      if (timer !== null) clearTimeout(timer)
      await Promise.all(sending.values())
    },
  }
}
