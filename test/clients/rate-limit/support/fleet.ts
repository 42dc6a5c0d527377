import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { Operation, RateLimit } from '../../../../src/clients/http/operation.ts'
import { createSharedBudget } from '../../../../src/clients/rate-limit/shared-budget.ts'
import { createMemoryStore, type RateLimitStore } from '../../../../src/clients/rate-limit/store.ts'

/** A store in memory, on a clock of its own. `isAway`: it answers nobody. `onTheWay`: half of the way to it, or back. */
export const testStore = (
  nowMs: () => number,
  onTheWay: () => Promise<void> = () => Promise.resolve(),
): RateLimitStore & { isAway: boolean; calls: number; lose(): void } => {
  let memory = createMemoryStore(nowMs)
  const reach =
    <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      store.calls += 1
      await onTheWay()
      if (store.isAway) throw new Error('the store is away')
      const answer = await ask(...given)
      await onTheWay()
      return answer
    }
  const store = {
    isAway: false,
    calls: 0,
    /** As a Redis that keeps nothing on disk and is started again. */
    lose: () => {
      memory = createMemoryStore(nowMs)
    },
    nowMs: reach(() => memory.nowMs()),
    swap: reach((writes: Parameters<RateLimitStore['swap']>[0]) => memory.swap(writes)),
  }
  return store
}

/** What happened in a run. */
export interface FleetResult {
  readonly sent: number
  readonly refused: number
  /** When each was sent, in virtual ms from the start, and by which process. */
  readonly requests: readonly { readonly atMs: number; readonly process: number; readonly refused: boolean }[]
  /** Calls of the store. */
  readonly storeCalls: number
  /** Requests that the marketplace would have let through. */
  readonly allowed: number
}

/** How a fleet is to run. */
export interface FleetOptions {
  readonly processes: number
  readonly durationMs: number
  /** What the marketplace really allows; from a moment on something else. */
  readonly allows: (atMs: number) => RateLimit
  /** What the processes believe. */
  readonly believed?: RateLimit
  /** It says what is left and when there is more. */
  readonly tells: boolean
  /** It refuses everything at such a moment, and says nothing of why, nor of what is left. */
  readonly storms?: (atMs: number) => boolean
  /** Workers of each process that always have something to do. */
  readonly workers?: number
  /** Each request is answered after so long. */
  readonly latencyMs?: number
  /** So long a call of the store takes. */
  readonly storeMs?: number
  /** Requests a minute that another application sends, for so long. */
  readonly foreignPerMinute?: number
  readonly foreignForMs?: number
  /** Told of each second of the run; may stop the store or a process. */
  readonly each?: (
    second: number,
    fleet: { readonly store: ReturnType<typeof testStore>; kill(process: number): void; start(process: number): void },
  ) => void
  /** Processes that are there from the beginning; all of them when left out. */
  readonly atStart?: readonly number[]
}

/** Runs processes that share a budget against a marketplace that holds a token bucket, in virtual time. */
export const runFleet = async (options: FleetOptions): Promise<FleetResult> => {
  const { processes, durationMs, allows, tells, workers = 4, latencyMs = 40, storeMs = 0, foreignPerMinute = 0 } = options
  const startMs = Date.UTC(2026, 10, 22)
  let nowMs = startMs
  const store = testStore(
    () => nowMs,
    () => (storeMs === 0 ? Promise.resolve() : new Promise((resolve) => later(nowMs + storeMs / 2, resolve))),
  )
  const operation: Operation = { name: 'orders.ship', limit: options.believed ?? allows(0), payloadKeys: [] }
  let seed = 7
  const random = (): number => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }

  const left = { tokens: allows(0).tokens, atMs: startMs }
  let allowed = left.tokens
  const replenish = (): RateLimit => {
    const limit = allows(nowMs - startMs)
    const gained = ((nowMs - left.atMs) * limit.tokens) / limit.perMs
    left.tokens = Math.min(limit.tokens, left.tokens + gained)
    left.atMs = nowMs
    return limit
  }

  const failures: unknown[] = []
  type Event = { readonly atMs: number; readonly order: number; readonly run: () => Promise<void> | void }
  const events: Event[] = []
  let order = 0
  const later = (atMs: number, run: Event['run']): void => {
    const event = { atMs: Math.max(atMs, nowMs), order: order++, run }
    let [low, high] = [0, events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = events[middle]
      if (other !== undefined && (other.atMs < event.atMs || (other.atMs === event.atMs && other.order < event.order)))
        low = middle + 1
      else high = middle
    }
    events.splice(low, 0, event)
  }

  const requests: { atMs: number; process: number; refused: boolean }[] = []
  const lives = new Map<number, number>()
  const start = (process: number): void => {
    const life = (lives.get(process) ?? 0) + 1
    lives.set(process, life)
    const isAlive = (): boolean => lives.get(process) === life
    const bornMs = nowMs
    const budget = createSharedBudget({
      ...{ store, id: `p${process}-${life}`, findLimit: () => operation.limit, random },
      ...{ wallMs: () => nowMs, monotonicMs: () => nowMs - bornMs, defer: queueMicrotask, timeoutMs: null },
    })
    const work = async (): Promise<void> => {
      if (!isAlive()) return
      const leave = await budget.take('S', operation)
      if (!leave.granted) return later(Math.max(nowMs + 1, leave.availableAt.getTime()), work)
      later(nowMs + latencyMs * (0.25 + random() / 2), () => {
        const limit = replenish()
        const storms = options.storms?.(nowMs - startMs) === true
        const granted = left.tokens >= 1 && !storms
        if (granted) left.tokens -= 1
        requests.push({ atMs: nowMs - startMs, process, refused: !granted })
        const nextMs = nowMs + ((Math.floor(left.tokens) + 1 - left.tokens) * limit.perMs) / limit.tokens
        const told =
          tells && !storms
            ? { remaining: Math.floor(left.tokens), replenishAt: new Date(Math.ceil(nextMs)) }
            : { remaining: null, replenishAt: null }
        later(nowMs + latencyMs / 2, async () => {
          if (!isAlive()) return
          await budget.learn('S', operation, { status: granted ? 200 : 429, retryAfter: null, ...told }, undefined, leave)
          await work()
        })
      })
    }
    for (let worker = 0; worker < workers; worker += 1) later(nowMs + worker, work)
  }
  for (const process of options.atStart ?? Array.from({ length: processes }, (_, index) => index)) start(process)
  for (let second = 0; second * 1_000 < durationMs; second += 1) {
    later(startMs + second * 1_000, () => {
      allowed += second === 0 ? 0 : allows(second * 1_000).tokens / (allows(second * 1_000).perMs / 1_000)
      options.each?.(second, { store, start, kill: (process) => void lives.set(process, (lives.get(process) ?? 0) + 1) })
    })
  }
  if (foreignPerMinute > 0) {
    const steal = (): void => {
      replenish()
      if (left.tokens >= 1) left.tokens -= 1
      if (nowMs - startMs < (options.foreignForMs ?? durationMs)) later(nowMs + 60_000 / foreignPerMinute, steal)
    }
    later(startMs, steal)
  }

  for (;;) {
    const next = events.shift()
    if (next === undefined || next.atMs > startMs + durationMs) break
    nowMs = next.atMs
    // What waits for the store goes on while others run.
    Promise.resolve(next.run()).catch((error: unknown) => failures.push(error))
    await letOthersRun()
  }
  if (failures.length > 0) throw new AggregateError(failures, 'a process of the fleet has failed')
  const refused = requests.filter((request) => request.refused).length
  return { sent: requests.length - refused, refused, requests, storeCalls: store.calls, allowed: Math.floor(allowed) }
}
