import type { RateLimitSnapshot } from '../../domain/values/rate-limit-snapshot.ts'
import { systemClock } from '../../util/clock.ts'
import { type CallLane, callLanes } from '../http/lane.ts'
import type { Operation, RateLimits } from '../http/operation.ts'
import {
  availableIn,
  type Bucket,
  type BucketSignal,
  createBucket,
  drawFrom,
  learnFrom,
  parseBucket,
  shapeOfBucket,
  undoDraw,
} from './bucket.ts'
import {
  type BucketKey,
  type BudgetSignal,
  bucketName,
  DrawnGrant,
  type FindLimit,
  type Grant,
  type RateBudget,
  type Wait,
} from './budget.ts'
import { createMemoryStore, type RateLimitStore, type StateWrite, type StoredState } from './store.ts'
import { StoreClock } from './store-clock.ts'

/** Options of a shared budget. */
export interface SharedBudgetOptions {
  readonly store: RateLimitStore
  /** Identifies this process; unique. */
  readonly id: string
  readonly findLimit: FindLimit
  /** Our own clock, epoch ms, and a monotonic one. */
  readonly wallMs?: () => number
  readonly monotonicMs?: () => number
  /** A number in [0, 1). */
  readonly random?: () => number
  /** Runs work at the end of a tick: the requests of one tick are written together. Default: `setImmediate`. */
  readonly defer?: (work: () => void) => void
  /** Longest wait for the store; null: unlimited. */
  readonly timeoutMs?: number | null
  readonly report?: { unavailable(error: unknown): void; recovered(): void }
}

/** A budget that several processes share through a store. */
export interface SharedBudget extends RateBudget {
  /** Writes the changes that are not written yet. Never rejects. */
  close(): Promise<void>
}

/** A request for a permit that waits for the next write. */
interface PermitRequest {
  readonly lane: CallLane
  readonly settle: (result: Grant | Wait) => void
}

/** A change that waits for the next write. */
interface Change {
  readonly apply: (bucket: Bucket, nowMs: number) => Bucket
  /** It may be written again if the result of the first write is unknown. */
  readonly isRepeatable: boolean
  readonly settle: () => void
}

/** A bucket as this process knows it. */
interface Entry {
  readonly name: string
  readonly key: BucketKey
  /** The state that this process read last; null: none. */
  stored: { readonly version: number; readonly bucket: Bucket } | null
  requests: PermitRequest[]
  changes: Change[]
  isBusy: boolean
}

/** The requests and changes of an entry that one write applies. */
interface Batch {
  readonly entry: Entry
  readonly requests: readonly PermitRequest[]
  readonly changes: readonly Change[]
}

/** A write in progress. */
interface PendingWrite extends Batch {
  readonly write: StateWrite
  /** Called when the write has succeeded. */
  readonly settle: () => void
}

const defaultTimeoutMs = 3_000
/** After an error the store is not called for this time. */
const pauseMs = 1_000
/** Callers ask again after this time, and at most twice of it, while the store is unavailable. */
const unavailableWaitMs = 1_000
/** An answer that takes longer says nothing about later requests. */
const lateAfterMs = 9_000

const withTimeout = async <Result>(work: Promise<Result>, timeoutMs: number | null): Promise<Result> => {
  if (timeoutMs === null) return await work
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the store of the rate limits: no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  return await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

class StoredBudget implements SharedBudget {
  readonly #options: SharedBudgetOptions
  readonly #wallMs: () => number
  readonly #monotonicMs: () => number
  readonly #random: () => number
  readonly #timeoutMs: number | null
  readonly #clock: StoreClock
  readonly #entries = new Map<string, Entry>()
  /** Entries with requests or changes to be written. */
  readonly #waiting = new Set<Entry>()
  #isFlushScheduled = false
  /** Monotonic clock. */
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #isUnavailable = false
  #writeCount = 0

  constructor(options: SharedBudgetOptions) {
    const { wallMs = systemClock.wallMs, monotonicMs = systemClock.monotonicMs } = options
    const { random = Math.random, timeoutMs = defaultTimeoutMs } = options
    this.#options = options
    this.#wallMs = wallMs
    this.#monotonicMs = monotonicMs
    this.#random = random
    this.#timeoutMs = timeoutMs
    this.#clock = new StoreClock({ wallMs, monotonicMs })
  }

  take(sellerId: string, operation: Operation, scope?: string, lane: CallLane = 'command'): Promise<Grant | Wait> {
    return new Promise((settle) => {
      if (this.#isPaused()) return settle(this.#waitForStore())
      const entry = this.#getEntry({ sellerId, operation, scope: scope ?? null })
      entry.requests.push({ lane, settle })
      this.#schedule(entry)
    })
  }

  async learn(sellerId: string, operation: Operation, signal: BudgetSignal, scope?: string, grant?: Grant): Promise<void> {
    const entry = this.#getEntry({ sellerId, operation, scope: scope ?? null })
    const atMs = this.#clock.nowMs()
    const random = this.#random()
    const received: BucketSignal = {
      status: signal.status,
      remaining: signal.remaining,
      replenishAtMs: signal.replenishAt === null ? null : this.#clock.toStoreMs(signal.replenishAt),
      retryAtMs: signal.retryAfter === null ? null : this.#clock.toStoreMs(signal.retryAfter),
      isLate: grant instanceof DrawnGrant && this.#monotonicMs() - grant.drawnAtMs > lateAfterMs,
    }
    const apply: Change['apply'] = (bucket, nowMs) =>
      learnFrom(bucket, this.#options.findLimit(sellerId, operation), received, { atMs, nowMs, random })
    const before = entry.stored?.bucket ?? createBucket(atMs)
    const after = apply(before, atMs)
    if (after === before) return
    // A correction of the count is written with the next draw. What concerns waiting callers of other processes is written immediately.
    const isUrgent = after.blockedUntilMs > before.blockedUntilMs || after.reportsRemaining !== before.reportsRemaining
    await this.#change(entry, apply, { isRepeatable: true, isUrgent })
  }

  snapshot(): readonly RateLimitSnapshot[] {
    const nowMs = this.#clock.nowMs()
    return [...this.#entries.values()].map(({ key: { sellerId, operation, scope }, stored, changes }) => {
      const bucket = changes.reduce((before, { apply }) => apply(before, nowMs), stored?.bucket ?? createBucket(nowMs))
      const limit = this.#options.findLimit(sellerId, operation)
      return {
        ...{ sellerId, operation: operation.name, scope },
        available: availableIn(bucket, limit, nowMs),
        perMinute: 60_000 / shapeOfBucket(limit, bucket).intervalMs,
        blockedUntil: bucket.blockedUntilMs > nowMs ? this.#clock.toOwnTime(bucket.blockedUntilMs) : null,
      }
    })
  }

  async close(): Promise<void> {
    const unwritten = [...this.#entries.values()].filter(({ changes }) => changes.length > 0)
    const noChange: Change['apply'] = (bucket) => bucket
    await Promise.all(unwritten.map((entry) => this.#change(entry, noChange, { isRepeatable: false, isUrgent: true })))
  }

  #getEntry(key: BucketKey): Entry {
    const name = bucketName(key)
    const entry = this.#entries.get(name) ?? { name, key, stored: null, requests: [], changes: [], isBusy: false }
    this.#entries.set(name, entry)
    return entry
  }

  #isPaused(): boolean {
    return this.#monotonicMs() < this.#pausedUntilMs
  }

  #waitForStore(): Wait {
    return { granted: false, availableAt: new Date(Math.ceil(this.#wallMs() + unavailableWaitMs * (1 + this.#random()))) }
  }

  #schedule(entry: Entry): void {
    this.#waiting.add(entry)
    if (this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    const { defer = setImmediate } = this.#options
    defer(() => void this.#flush())
  }

  /** Adds a change. Resolves when an urgent one is written; others are written with the next draw. */
  #change(
    entry: Entry,
    apply: Change['apply'],
    { isRepeatable, isUrgent }: { readonly isRepeatable: boolean; readonly isUrgent: boolean },
  ): Promise<void> {
    return new Promise((resolve) => {
      const isAwaited = isUrgent && !this.#isPaused()
      entry.changes.push({ apply, isRepeatable, settle: isAwaited ? resolve : () => undefined })
      if (isAwaited) this.#schedule(entry)
      else resolve()
    })
  }

  /** Writes the entries that wait. Entries with a write in progress are scheduled again when it ends. */
  async #flush(): Promise<void> {
    if (!this.#clock.isKnown) {
      try {
        this.#clock.observe(await withTimeout(this.#options.store.nowMs(), this.#timeoutMs))
      } catch (error) {
        this.#isFlushScheduled = false
        const failed = [...this.#waiting].map((entry) => this.#takeBatch(entry))
        this.#waiting.clear()
        this.#fail(error, failed)
        return
      }
    }
    this.#isFlushScheduled = false
    const idle = [...this.#waiting].filter(({ isBusy }) => !isBusy)
    this.#waiting.clear()
    const writes = idle.map((entry) => this.#prepareWrite(entry)).filter((each) => each !== null)
    if (writes.length > 0) await this.#write(writes)
  }

  #takeBatch(entry: Entry): Batch {
    return { entry, requests: entry.requests.splice(0), changes: entry.changes.splice(0) }
  }

  /** Applies the changes of an entry, then its requests by lane. Null: nothing has to be written. */
  #prepareWrite(entry: Entry): PendingWrite | null {
    const nowMs = this.#clock.nowMs()
    const { version, bucket: stored } = entry.stored ?? { version: 0, bucket: createBucket(nowMs) }
    const limit = this.#options.findLimit(entry.key.sellerId, entry.key.operation)
    const batch = this.#takeBatch(entry)
    const settles = batch.changes.map(({ settle }) => settle)
    let bucket = batch.changes.reduce((before, { apply }) => apply(before, nowMs), stored)
    for (const lane of callLanes) {
      for (const request of batch.requests.filter((other) => other.lane === lane)) {
        const draw = drawFrom(bucket, limit, lane, nowMs, entry.key.operation.isShared)
        bucket = draw.bucket
        const { drawn } = bucket
        settles.push(() => request.settle(this.#buildResult(entry, draw.waitUntilMs, drawn)))
      }
    }
    const settle = (): void => {
      for (const each of settles) each()
    }
    if (bucket === stored) {
      settle()
      return null
    }
    this.#writeCount += 1
    const text = JSON.stringify({ ...bucket, writtenAtMs: nowMs, writer: `${this.#options.id} ${this.#writeCount}` })
    return { ...batch, write: { name: entry.name, version, text }, settle }
  }

  #buildResult(entry: Entry, waitUntilMs: number | null, drawn: number): Grant | Wait {
    if (waitUntilMs !== null) return { granted: false, availableAt: this.#clock.toOwnTime(waitUntilMs) }
    const undo: Change['apply'] = (bucket) => undoDraw(bucket, drawn)
    return new DrawnGrant(this.#monotonicMs(), () => this.#change(entry, undo, { isRepeatable: false, isUrgent: true }))
  }

  async #write(writes: readonly PendingWrite[]): Promise<void> {
    for (const { entry } of writes) entry.isBusy = true
    try {
      const states = await withTimeout(this.#options.store.swap(writes.map(({ write }) => write)), this.#timeoutMs)
      this.#recover()
      for (const [index, pending] of writes.entries()) this.#settleWrite(pending, states[index])
    } catch (error) {
      const failed = writes.filter(({ entry }) => entry.isBusy)
      for (const { entry } of failed) entry.isBusy = false
      this.#fail(error, failed)
    }
    for (const { entry } of writes) if (entry.requests.length > 0) this.#schedule(entry)
  }

  /** If another process has written first, the batch is applied again to its state. */
  #settleWrite({ entry, requests, changes, write, settle }: PendingWrite, state: StoredState | undefined): void {
    if (state === undefined) throw new Error('the store of the rate limits did not return each state')
    this.#clock.observe(state.storeMs)
    entry.stored = { version: state.version, bucket: parseBucket(state.text, state.storeMs) }
    entry.isBusy = false
    if (state.text === write.text) {
      settle()
      return
    }
    entry.requests.unshift(...requests)
    entry.changes.unshift(...changes)
    this.#schedule(entry)
  }

  #recover(): void {
    if (this.#isUnavailable) this.#options.report?.recovered()
    this.#isUnavailable = false
  }

  #fail(error: unknown, failed: readonly Batch[]): void {
    this.#isUnavailable = true
    this.#pausedUntilMs = this.#monotonicMs() + pauseMs
    this.#options.report?.unavailable(error)
    for (const { entry, requests, changes } of failed) {
      entry.changes.unshift(...changes.filter(({ isRepeatable }) => isRepeatable))
      for (const { settle } of changes) settle()
      for (const { settle } of requests) settle(this.#waitForStore())
    }
  }
}

/** A budget with a store in the memory of this process. */
const createLocalBudget = (options: Omit<SharedBudgetOptions, 'store'>): SharedBudget => {
  const { wallMs = systemClock.wallMs, monotonicMs = systemClock.monotonicMs } = options
  const aheadMs = wallMs() - monotonicMs()
  return new StoredBudget({
    ...options,
    store: createMemoryStore(() => aheadMs + monotonicMs()),
    defer: queueMicrotask,
    timeoutMs: null,
  })
}

/**
 * Rate limits that any number of processes share (docs/decisions/0006-rate-limits-are-shared-by-compare-and-set.md). The requests of one tick are
 * applied to the states that this process read last, and written if no other process has written meanwhile; otherwise they are applied again to the newer
 * state, which the store returns. While the store is unavailable, callers wait.
 */
export const createSharedBudget = (options: SharedBudgetOptions): SharedBudget => {
  const shared = new StoredBudget(options)
  const local = createLocalBudget(options)
  const budgetFor = ({ ofEachProcess }: Operation): SharedBudget => (ofEachProcess === true ? local : shared)
  return {
    take: (sellerId, operation, ...more) => budgetFor(operation).take(sellerId, operation, ...more),
    learn: (sellerId, operation, ...more) => budgetFor(operation).learn(sellerId, operation, ...more),
    snapshot: () => [...shared.snapshot(), ...local.snapshot()],
    close: () => shared.close(),
  }
}

/** Options of an in-process budget. */
export interface InProcessBudgetOptions {
  /** Limits in place of the operations' own, by operation name. */
  readonly limits?: RateLimits
  /** The limit of a seller, in place of `limits`. */
  readonly findLimit?: FindLimit
  /** Our own clock, epoch ms. */
  readonly now?: () => number
  /** Monotonic clock; default: `now`. */
  readonly monotonicMs?: () => number
  readonly random?: () => number
}

/** A budget in the memory of this process. */
export const createInProcessBudget = ({ limits, findLimit, now, monotonicMs, random }: InProcessBudgetOptions): RateBudget => {
  const monotonic = monotonicMs ?? now
  const budget = createLocalBudget({
    id: 'this process',
    findLimit: findLimit ?? ((_sellerId, { name, limit }) => limits?.[name] ?? limit),
    ...(now === undefined ? {} : { wallMs: now }),
    ...(monotonic === undefined ? {} : { monotonicMs: monotonic }),
    ...(random === undefined ? {} : { random }),
  })
  return {
    take: (...request) => budget.take(...request),
    learn: (...answer) => budget.learn(...answer),
    snapshot: () => budget.snapshot(),
  }
}
