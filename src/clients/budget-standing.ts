import type { BudgetStore, StoredBucket } from '../budget-store.ts'
import { type Clock, systemClock, watchSteps } from '../clock.ts'
import { type BudgetSignal, fullBucket, learnFrom } from './bucket.ts'
import { type BucketKey, holdTo, type LimitOf, nameOfBucket } from './budget.ts'
import { type Carried, type CarriedBuckets, type CarriedEntry, createCarriedBuckets, withCarried } from './carried-buckets.ts'
import { learnOffset, type OffsetEstimate, shiftedOffset } from './clock.ts'
import type { RateLimit } from './operation.ts'
import { nothingOwed } from './owed-requests.ts'
import { noPromises } from './promises.ts'
import { unknownDraws } from './recent-draws.ts'
import { type RememberingStore, rememberingStore } from './remembering-store.ts'
import { type SharedBucket, sharedBucket, shiftShared } from './shared-bucket.ts'
import { readStored, type StoredMemory } from './stored-memory.ts'

/** What a budget shared by several processes needs. */
export interface SharedBudgetOptions {
  readonly store: BudgetStore
  /** Names this process among those that share; unique. */
  readonly id: string
  readonly limitOf: LimitOf
  readonly clock?: Clock
  /** A number in [0, 1). */
  readonly random?: () => number
  /** Whether a process, by its name, has surely ended: nobody waits for its announcement to run out. */
  readonly hasEnded?: (id: string) => boolean
  /** Told when the store stops answering, with why, and when it answers again. */
  readonly report?: { away(error: unknown): void; back(): void }
}

/**
 * How this process stands to the others. Out: it draws nothing and has not announced itself. Sole: nobody else draws, so its own memory is
 * the budget. Yielding: somebody has come, and it stores what it remembers. Shared: it draws on what is stored. Away: the store does not
 * answer.
 */
export type Mode = 'out' | 'sole' | 'yielding' | 'shared' | 'away'

/** What is stored of a bucket, as it was read. */
export interface StoredReading extends StoredBucket {
  /** When, on the clock of the store. */
  readonly storeMs: number
  /** When it was asked for, on a clock that nobody sets. */
  readonly askedAtMs: number
}

/** What a process knows that shares its budget: how it stands to the others, the clocks, its buckets, and what of them is not stored. */
export interface Standing {
  readonly id: string
  readonly store: RememberingStore
  readonly clock: Clock
  readonly random: () => number
  readonly limitOf: LimitOf
  readonly mode: Mode
  /** Counts how often it has begun to stand to the others as it does: what was read before that may be out of date. */
  readonly term: number
  /** Processes that draw, this one among them; 0: it has never reached the store. */
  members: number
  /** Its last announcement is believed until then, by a clock that nobody sets. */
  believedUntilMs: number
  /** By so much the clock of the store is ahead of ours, as far as is known. */
  readonly aheadMs: number
  readonly buckets: Map<string, SharedBucket>
  readonly carried: CarriedBuckets
  /** Stands to the others in this way from now on. */
  stand(mode: Mode): void
  /** Our own clock; where it was set, all that is known has moved with it. */
  now(): number
  /** Whether the last announcement is still believed. */
  isBelieved(): boolean
  /** Learns from an answer of the store what its clock says. It was asked at that moment of a clock that nobody sets. */
  hear(storeMs: number, askedAtMs: number): void
  /** Reads a bucket from the store. */
  read(name: string): Promise<StoredReading>
  bucketOf(key: BucketKey): SharedBucket
  /** The limit that holds now. Where another one held, what was named by it is void. */
  limitOfBucket(bucket: SharedBucket): RateLimit
  /** What was read of a bucket, with what this process knows of it besides. On the clock of the store. */
  readingOf(name: string, stored: StoredReading, limit: RateLimit): StoredMemory
  /** Keeps what is known of a bucket for when it is read next. */
  carry(name: string, known: Carried): CarriedEntry
  /** Keeps so what this process knows of all its buckets, and has none any more. */
  carryAll(): void
  /** Keeps so only what answers have said and nobody has stored yet, and has no buckets any more. */
  carryNews(): void
  /** Keeps what an answer forbids that comes while this process neither draws nor owns: it holds for whoever reads the bucket next. */
  carryForbidden(key: BucketKey, signal: BudgetSignal): void
  /** A store that does not answer is borne as long as the last announcement holds; a process that was giving its share away has none. */
  bear(error: unknown): void
  /** A process of which nothing was heard for too long must not think that it is alone, or that all others are known. */
  doubt(): void
}

/** A process that has not announced itself yet. */
export const createStanding = (options: SharedBudgetOptions): Standing => {
  const { report, limitOf } = options
  const clock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  const stepOfClock = watchSteps(clock)
  const buckets = new Map<string, SharedBucket>()
  const carried = createCarriedBuckets()
  let offset: OffsetEstimate | null = null
  let mode: Mode = 'out'
  let term = 0

  const goAway = (error: unknown): void => {
    if (mode === 'away') return
    report?.away(error)
    standing.stand('away')
    standing.carryAll()
  }

  const carryThose = (which: (bucket: SharedBucket) => boolean): void => {
    for (const [name, bucket] of buckets) {
      if (!which(bucket)) continue
      const limit = standing.limitOfBucket(bucket)
      standing.carry(name, { memory: bucket.memory, limit, used: bucket.away?.used ?? nothingOwed })
    }
    buckets.clear()
  }

  const standing: Standing = {
    id: options.id,
    store: rememberingStore(options.store),
    clock,
    random,
    limitOf,
    get mode() {
      return mode
    },
    get term() {
      return term
    },
    members: 0,
    believedUntilMs: 0,
    get aheadMs() {
      return Math.round(offset?.offsetMs ?? 0)
    },
    buckets,
    carried,
    stand(as) {
      mode = as
      term += 1
    },
    now() {
      const stepMs = stepOfClock()
      if (stepMs !== 0) {
        // A clock that nobody sets may have stood still with the machine: the announcement runs out meanwhile, and somebody else may come.
        if (stepMs > 0) standing.believedUntilMs -= stepMs
        offset &&= shiftedOffset(offset, stepMs)
        for (const bucket of buckets.values()) shiftShared(bucket, stepMs)
        carried.shift(stepMs)
      }
      return clock.wallMs()
    },
    isBelieved: () => clock.monotonicMs() <= standing.believedUntilMs,
    hear(storeMs, askedAtMs) {
      const receivedMs = standing.now()
      const sentMs = receivedMs - (clock.monotonicMs() - askedAtMs)
      // An answer that was long on its way says little, and must not spoil what a quick one has said.
      offset = learnOffset(offset, { momentMs: storeMs, resolutionMs: 0, sentMs, receivedMs })
    },
    async read(name) {
      const askedAtMs = clock.monotonicMs()
      const { value, storeMs } = await standing.store.read(name)
      standing.hear(storeMs, askedAtMs)
      return { ...value, storeMs, askedAtMs }
    },
    bucketOf(key) {
      const name = nameOfBucket(key)
      const bucket = buckets.get(name) ?? sharedBucket(key)
      buckets.set(name, bucket)
      return bucket
    },
    limitOfBucket(bucket) {
      const limit = limitOf(bucket.key.sellerId, bucket.key.operation)
      if (holdTo(bucket, limit, standing.now())) {
        bucket.lease = null
        bucket.notBeforeMs = 0
        bucket.coveredMs = Number.NEGATIVE_INFINITY
        bucket.promises = noPromises
      }
      return limit
    },
    readingOf(name, { text, storeMs }, limit) {
      const known = carried.get(name)?.known
      const { memory, draws, isSetBack } = readStored(text, limit, storeMs)
      return {
        memory: withCarried(memory, known, limit, { storeMs, aheadMs: standing.aheadMs }),
        // What was drawn while this process did not reach the store nobody has counted.
        draws: known === undefined ? draws : unknownDraws(storeMs),
        isSetBack,
      }
    },
    carry: (name, known) => carried.add(name, known, standing.now()),
    carryAll: () => carryThose(() => true),
    carryNews: () => carryThose(({ news }) => news.length > 0),
    carryForbidden(key, signal) {
      const isForbidding = signal.status === 429 || signal.retryAfter !== null || signal.remaining === 0
      if (!isForbidding) return
      const limit = limitOf(key.sellerId, key.operation)
      const memory = learnFrom(limit, fullBucket, signal, { nowMs: standing.now(), random: random() })
      standing.carry(nameOfBucket(key), { memory, limit, used: nothingOwed })
    },
    bear(error) {
      if ((mode === 'sole' || mode === 'shared') && standing.isBelieved()) return
      goAway(error)
    },
    doubt() {
      standing.now()
      if ((mode === 'sole' || mode === 'shared') && !standing.isBelieved())
        goAway(new Error('the rate budget could not be announced in time'))
    },
  }
  return standing
}
