/** The identity of an order over all sellers. */
export interface OrderName {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** One order that the demonstration works on. Moments are epoch milliseconds. */
export interface Errand extends OrderName {
  /** When to look at the order. */
  dueAtMs: number
  /** The next event and its earliest time; null: not decided. */
  next: { readonly eventId: string; readonly notBeforeMs: number } | null
  /** Ids of events with a final answer of the daemon. */
  readonly answered: Set<string>
}

/** The orders in progress, up to a maximum. */
export interface Agenda {
  /** Check the order at `atMs` at the latest. A new order is added unless the agenda is full: then it is skipped. */
  note(order: OrderName, atMs: number): void
  /** The errand that is due first, if one is due now. */
  due(nowMs: number): Errand | null
  /** When the next errand is due; null when there is none. */
  nextAtMs(): number | null
  finish(errand: Errand): void
  hasRoom(): boolean
  /** Whether orders have been skipped since the last call. */
  takeLeftOut(): boolean
  /** Resolves when the condition holds after a change of the agenda, at `untilMs`, or when the signal is aborted. */
  until(condition: () => boolean, untilMs: number, signal: AbortSignal): Promise<void>
}

/** An empty agenda for at most `most` orders. */
export const createAgenda = (most: number): Agenda => {
  const errands = new Map<string, Errand>()
  const watchers = new Set<() => void>()
  let leftOut = false
  const buildKey = ({ sellerId, purchaseOrderId }: OrderName): string => `${sellerId} ${purchaseOrderId}`
  const changed = (): void => {
    for (const watcher of watchers) watcher()
  }
  const first = (): Errand | null => {
    let found: Errand | null = null
    for (const errand of errands.values()) if (found === null || errand.dueAtMs < found.dueAtMs) found = errand
    return found
  }
  return {
    note({ sellerId, purchaseOrderId }, atMs) {
      const known = errands.get(buildKey({ sellerId, purchaseOrderId }))
      if (known !== undefined) known.dueAtMs = Math.min(known.dueAtMs, atMs)
      else if (errands.size >= most) leftOut = true
      else {
        const errand: Errand = { sellerId, purchaseOrderId, dueAtMs: atMs, next: null, answered: new Set() }
        errands.set(buildKey(errand), errand)
      }
      changed()
    },
    due(nowMs) {
      const errand = first()
      return errand !== null && errand.dueAtMs <= nowMs ? errand : null
    },
    nextAtMs: () => first()?.dueAtMs ?? null,
    finish(errand) {
      errands.delete(buildKey(errand))
      changed()
    },
    hasRoom: () => errands.size < most,
    takeLeftOut() {
      const were = leftOut
      leftOut = false
      return were
    },
    until: (condition, untilMs, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          watchers.delete(look)
          signal.removeEventListener('abort', done)
          resolve()
        }
        const look = (): void => {
          if (condition()) done()
        }
        const timer = setTimeout(done, Math.max(0, untilMs - Date.now()))
        watchers.add(look)
        signal.addEventListener('abort', done, { once: true })
        if (signal.aborted) done()
        else look()
      }),
  }
}
