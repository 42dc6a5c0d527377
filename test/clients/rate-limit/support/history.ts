import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { RateLimit } from '../../../../src/clients/http/operation.ts'
import { giveBack } from '../../../../src/clients/rate-limit/budget.ts'
import { createSharedBudget, type SharedBudget } from '../../../../src/clients/rate-limit/shared-budget.ts'
import type { RateLimitStore } from '../../../../src/clients/rate-limit/store.ts'
import { buildRandom } from '../../../support/random.ts'
import { testStore } from './fleet.ts'

/** What may happen to the processes of a history, and to their store. */
export type Trouble = 'kill' | 'close' | 'sleep' | 'step' | 'outage' | 'slow'

/** What became of a history. */
export interface BudgetHistory {
  /** What was played, to name it. */
  readonly told: string
  readonly sent: number
  /** Calls that the marketplace has refused. */
  readonly refused: number
  /** So many more than the limit in one of its periods, where the marketplace says nothing; 0 and less: none. */
  readonly excess: number
  /** What rejected or threw. */
  readonly failures: readonly unknown[]
}

const limits: readonly RateLimit[] = [
  { tokens: 1, perMs: 3_600_000 },
  { tokens: 20, perMs: 3_600_000 },
  { tokens: 1, perMs: 60_000 },
  { tokens: 2, perMs: 60_000 },
  { tokens: 10, perMs: 60_000 },
  { tokens: 60, perMs: 60_000 },
  { tokens: 5_000, perMs: 60_000 },
]
const startMs = Date.UTC(2026, 10, 22)
const storeDeadlineMs = 3_000

interface Process {
  readonly id: string
  readonly budget: SharedBudget
  isAlive: boolean
  isEnding: boolean
  /** Its clock is ahead by so much. */
  aheadMs: number
  /** The clock that nobody sets began then, and stands still while it sleeps. */
  bornMs: number
  asleepUntilMs: number
}

/** Work by the time at which it is due; of the same time what was asked for first. */
const agenda = () => {
  const due: { readonly atMs: number; readonly work: () => unknown }[] = []
  return {
    at(atMs: number, work: () => unknown) {
      let [low, high] = [0, due.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((due[middle]?.atMs ?? 0) <= atMs) low = middle + 1
        else high = middle
      }
      due.splice(low, 0, { atMs, work })
    },
    next: () => due.shift(),
  }
}

/** Plays processes that share a budget, and these troubles, against a marketplace that holds a bucket, in virtual time. */
export const playBudget = async (seed: number, troubles: readonly Trouble[]): Promise<BudgetHistory> => {
  const random = buildRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('there is nothing to pick from')
    return item
  }
  const limit = pick(limits)
  const { tokens, perMs } = limit
  const isTold = random() < 0.5
  const intervalMs = perMs / tokens
  const durationMs = Math.min(Math.max(120_000, intervalMs * 12), 12 * 3_600_000) / (tokens === 5_000 ? 4 : 1)
  const processes = 1 + Math.floor(random() * 4)
  const workers = tokens === 5_000 ? 30 : 1 + Math.floor(random() * 4)

  let nowMs = startMs
  const { at, next } = agenda()
  const after = (delayMs: number, work: () => unknown): void => at(nowMs + Math.max(0, delayMs), work)
  const passed = (delayMs: number): Promise<void> => new Promise((resolve) => after(delayMs, resolve))
  const failures: unknown[] = []

  const store = testStore(() => nowMs)
  let isSlow = false
  const storeFor = (isAlive: () => boolean): RateLimitStore => {
    const far =
      <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
      async (...given: Given): Promise<Answer> => {
        // What has left arrives, whether or not somebody waits for it still.
        const answer = passed(random() * (isSlow ? storeDeadlineMs : 5)).then(() => ask(...given))
        const late = passed(storeDeadlineMs).then((): never => {
          throw new Error('the store does not answer in time')
        })
        // The one that comes second has nobody who waits for it.
        void Promise.allSettled([answer, late])
        const first = await Promise.race([answer, late])
        if (!isAlive()) await new Promise(() => undefined)
        return first
      }
    return { nowMs: far(store.nowMs), swap: far(store.swap) }
  }

  const left = { tokens, atMs: startMs }
  const sentAtMs: number[] = []
  let [refused, excess, first] = [0, -tokens, 0]
  /** A call arrives at the marketplace: whether it is let through, what is left, and when there is one more. */
  const arrive = (): { readonly isGranted: boolean; readonly remaining: number; readonly replenishMs: number } => {
    left.tokens = Math.min(tokens, left.tokens + ((nowMs - left.atMs) * tokens) / perMs)
    left.atMs = nowMs
    sentAtMs.push(nowMs)
    while ((sentAtMs[first] ?? 0) <= nowMs - perMs) first += 1
    excess = Math.max(excess, sentAtMs.length - first - tokens)
    const isGranted = left.tokens >= 1 - 1e-6
    if (isGranted) left.tokens -= 1
    else refused += 1
    const remaining = Math.floor(left.tokens + 1e-9)
    return { isGranted, remaining, replenishMs: Math.ceil(nowMs + ((remaining + 1 - left.tokens) * perMs) / tokens) }
  }

  const operation = { name: 'orders.list', limit, payloadKeys: [] }
  const running = new Map<number, Process>()
  let lives = 0

  const begin = (place: number): void => {
    lives += 1
    const id = `p${place}-${lives}`
    const state = { isAlive: true, isEnding: false, aheadMs: (random() - 0.5) * 10_000, bornMs: nowMs, asleepUntilMs: 0 }
    const wallMs = (): number => Math.round(nowMs + state.aheadMs)
    const isAlive = (): boolean => state.isAlive
    const budget = createSharedBudget({
      ...{ store: storeFor(isAlive), id, findLimit: () => limit, random },
      ...{ wallMs, monotonicMs: () => nowMs - state.bornMs, defer: queueMicrotask, timeoutMs: null },
    })
    const process: Process = Object.assign(state, { id, budget })
    running.set(place, process)
    const afterAwake = (delayMs: number, work: () => unknown): void =>
      after(delayMs, () => {
        if (!process.isAlive) return undefined
        return nowMs < process.asleepUntilMs ? afterAwake(process.asleepUntilMs - nowMs, work) : work()
      })
    const work = async (): Promise<void> => {
      if (process.isEnding) return
      const leave = await budget.take('S', operation)
      if (!process.isAlive) return
      if (!leave.granted) return afterAwake(Math.max(1, leave.availableAt.getTime() - wallMs()), work)
      if (random() < 0.05) {
        return afterAwake(random() * 2_000, async () => {
          await giveBack(leave)
          afterAwake(1, work)
        })
      }
      after(20, () => {
        const { isGranted, remaining, replenishMs } = arrive()
        afterAwake(20, async () => {
          const said = isTold
            ? { remaining, replenishAt: new Date(Math.round(replenishMs + process.aheadMs)) }
            : { remaining: null, replenishAt: null }
          await budget.learn('S', operation, { status: isGranted ? 200 : 429, retryAfter: null, ...said }, undefined, leave)
          afterAwake(random() < 0.02 ? random() * 45_000 : 1, work)
        })
      })
    }
    for (let worker = 0; worker < workers; worker += 1) afterAwake(random() * 100, work)
  }

  const happenings: Readonly<Record<Trouble, (process: Process, place: number) => unknown>> = {
    kill(process, place) {
      process.isAlive = false
      running.delete(place)
      after(random() * 3_000, () => begin(place))
    },
    async close(process, place) {
      process.isEnding = true
      running.delete(place)
      await process.budget.close()
      process.isAlive = false
      after(random() * 20_000, () => begin(place))
    },
    sleep(process) {
      const forMs = pick([1_000, 2_500, 4_000, 7_000, 20_000])
      process.asleepUntilMs = nowMs + forMs
      after(forMs, () => {
        process.bornMs += forMs
      })
    },
    step(process) {
      process.aheadMs += pick([2_500, 3_000, 30_000, 3_600_000]) * pick([1, -1])
    },
    outage() {
      if (store.isAway) return
      store.isAway = true
      after(500 + random() * 30_000, () => {
        store.isAway = false
      })
    },
    slow() {
      if (isSlow) return
      isSlow = true
      after(random() * 20_000, () => {
        isSlow = false
      })
    },
  }
  const everyMs = Math.max(4_000, durationMs / (10 + random() * 30))
  const disturb = (): unknown => {
    after(random() * 2 * everyMs, disturb)
    const place = Math.floor(random() * processes)
    const process = running.get(place)
    return process === undefined ? undefined : happenings[pick(troubles)](process, place)
  }
  for (let place = 0; place < processes; place += 1) begin(place)
  after(5_000, disturb)

  for (;;) {
    const event = next()
    if (event === undefined || event.atMs > startMs + durationMs) break
    nowMs = event.atMs
    Promise.resolve(event.work()).catch((error: unknown) => failures.push(error))
    await letOthersRun()
  }
  const said = isTold ? 'told' : 'blind'
  const told = `seed ${seed}: ${tokens} in ${perMs} ms, ${said}, ${processes} processes with ${workers} workers, ${sentAtMs.length} sent`
  return { told, sent: sentAtMs.length, refused, excess: isTold ? 0 : excess, failures }
}
