import type { BudgetStore } from '../budget-store.ts'
import { type Clock, systemClock, watchSteps } from '../clock.ts'
import { createInTurn, endOf, type InTurn } from '../in-turn.ts'
import {
  allowedAtMs,
  type BucketMemory,
  type BudgetSignal,
  bucketShape,
  easedBy,
  fullBucket,
  intervalOf,
  learnFrom,
  leftByLane,
  lessUsed,
  merged,
  recovers,
  shifted,
  sureOf,
  takeFrom,
  underLimit,
} from './bucket.ts'
import {
  type BucketKey,
  createInProcessBudget,
  type Grant,
  giveBack,
  grantThat,
  holdTo,
  type LimitOf,
  type LocalBucket,
  localBucket,
  nameOfBucket,
  noteAnswer,
  noteGrant,
  type RateBudget,
  shiftLocally,
  stateOfBucket,
  takeLocally,
  type Wait,
} from './budget.ts'
import { drawFrom, type Lease, leftOf, useLease } from './budget-lease.ts'
import { type CallLane, callLanes } from './lane.ts'
import type { RateLimit } from './operation.ts'
import { aheadOf, noPromises, type Promises, shiftedPromises, withAnother, withoutFirst } from './promises.ts'
import { drawnLately, type RecentDraws, shiftedDraws, unknownDraws, withDraws } from './recent-draws.ts'
import { rememberingStore } from './remembering-store.ts'
import { drawsOf, memoryOf, storedText } from './stored-memory.ts'

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

/** A budget that several processes share. */
export interface SharedBudget extends RateBudget {
  /** Announces this process again and learns who else draws; call it every {@link beatEveryMs}. Never rejects. */
  beat(): Promise<void>
  /** Gives back what it holds. Never rejects. */
  close(): Promise<void>
}

/** How often a process announces itself, in milliseconds. */
export const beatEveryMs = 1_000
/** So long an announcement holds. */
const memberForMs = 6_000
/** A process believes its own announcement for less, by a clock that nobody sets. */
const believedForMs = 4_500
/** Who draws nothing for so long leaves. */
const idleAfterMs = 30_000
/** What a bucket has back sooner than this need not be remembered for a process that is killed: nobody takes its place before it has it back. */
const shortMemoryMs = 1_200
/** What a sole process stores of a bucket in use covers what it uses for so long after that, unless one call comes back later than that. */
const snapshotHoldsMs = 5_000
/** A call that is stored before it leaves may take so much longer than the last one did, at least. */
const leastStoringMs = 100
/** A lease is for what was used within so long. */
const leaseForMs = 500
/** Longest wait that is named while the store is away, in milliseconds. */
const awayPatienceMs = 5_000
/** Those who wait first in different processes are told moments that differ by this at most, in milliseconds. */
const mostChanceMs = 250
const mostSwaps = 20
/** Whoever came too late for so many leases waits a moment. */
const mostDraws = 20
/** Share of a process that has never reached the store. */
const strangersShare = 1 / 4

/**
 * How this process stands to the others. Out: it draws nothing and has not announced itself. Sole: nobody else draws, so its own memory is
 * the budget. Yielding: somebody has come, and it stores what it remembers. Shared: it draws on what is stored. Away: the store does not
 * answer.
 */
type Mode = 'out' | 'sole' | 'yielding' | 'shared' | 'away'

interface SharedBucket extends LocalBucket {
  lease: Lease | null
  /** What was stored before a single request was drawn, and the version in which it was; null: several were, or none. */
  beforeDraw: { readonly version: number; readonly text: string } | null
  drawing: Promise<void> | null
  /** One after another what this process does about it in the store: two at once would only have to do it again. */
  readonly inTurn: InTurn
  /** Answers that are to be stored, and who stores them next. */
  readonly news: BudgetSignal[]
  learning: Promise<boolean> | null
  /** Requests that were asked for lately, and since when. */
  asked: number
  askedSinceMs: number
  /** Answers that raise the rate and are not stored yet. */
  eased: number
  /** Not before this moment (own clock) the stored bucket lets a request through, to a command. */
  notBeforeMs: number
  /** What all processes had drawn when the stored bucket was seen last, on the clock of the store; null: it was not seen yet. */
  drawsOfAll: RecentDraws | null
  /** The moments that were named while it was shared. */
  promises: Promises
  /** A sole process has learned something since it stored it last. */
  isDirty: boolean
  /** A sole process has drawn on it since then, which what is stored covers. */
  isDrawn: boolean
  /** As full as this the bucket is for whoever takes over from a sole process: its arrival (own clock) as it is stored. */
  coveredMs: number
  /** Calls of a sole process that wait for being covered. */
  uncovered: number
  /** The part of it that is this process's while the store is away, and what this process has used of the whole since then. */
  away: { readonly part: LocalBucket; used: BucketMemory } | null
}

/** A bucket as it was read from the store, with what this process knows of it besides. On the clock of the store. */
interface Read {
  readonly memory: BucketMemory
  readonly draws: RecentDraws
  readonly storeMs: number
}

/** What becomes of it. */
interface Rewritten<Result> extends Pick<Read, 'memory' | 'draws'> {
  readonly isNew: boolean
  readonly result: Result
}

/** What is known of a bucket and not stored: it is merged into the first text of it that is read. */
interface Carried {
  readonly memory: BucketMemory
  /** The limit under which it stands so. */
  readonly limit: RateLimit
  /** What was used while the store was away, counted from a full bucket on. */
  readonly used: BucketMemory
}

/** As it is on a clock that was set by so many ms. */
const shiftedCarried = ({ memory, limit, used }: Carried, stepMs: number): Carried => ({
  memory: shifted(memory, stepMs),
  limit,
  used: shifted(used, stepMs),
})

/** As it is under another limit. */
const carriedUnder = (limit: RateLimit, known: Carried, nowMs: number): Carried => ({
  memory: underLimit(known.memory, known.limit, limit, nowMs),
  limit,
  used: underLimit(known.used, known.limit, limit, nowMs),
})

/** A part of a limit; never more than that part in the long run. */
const partOf = ({ tokens, perMs, ...limit }: RateLimit, part: number): RateLimit =>
  tokens * part >= 1
    ? { ...limit, tokens: Math.floor(tokens * part), perMs }
    : { ...limit, tokens: 1, perMs: Math.ceil(perMs / (tokens * part)) }

/**
 * A rate budget that any number of processes share through a store (docs/decisions/0022-shared-budget.md). While a process is alone it asks the
 * store once a second and not for each call. Several never let more through than one would. Without the store each goes on with a part.
 */
export const createSharedBudget = (options: SharedBudgetOptions): SharedBudget => {
  const { id, limitOf, report } = options
  const store = rememberingStore(options.store)
  const clock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  /** Of the operations that each process calls for itself. */
  const own = createInProcessBudget({ limitOf, now: clock.wallMs, monotonicMs: clock.monotonicMs, random })
  const buckets = new Map<string, SharedBucket>()
  const carried = new Map<string, Carried>()
  let mode: Mode = 'out'
  let members = 0
  let othersAreReady = false
  let believedUntilMs = 0
  let askedAtMs = Number.NEGATIVE_INFINITY
  let storeAheadMs = 0
  let joining: Promise<void> | null = null
  /** One after another: what is computed later is stored later. */
  const puts = createInTurn()
  const toCover = new Set<SharedBucket>()
  /** A call that is stored leaves so much later at most, in ms. */
  let storingMs = leastStoringMs
  let isStoringSnapshots = false
  let storingCarried: Promise<void> | null = null
  /** Of which of them each is being stored now. */
  const storingKnown = new Map<string, Promise<void>>()
  let covering: Promise<void> | null = null
  /** Since when sole processes are known to have ended, on a clock that nobody sets. */
  const endedSinceMs = new Map<string, number>()

  const stepOfClock = watchSteps(clock)
  const now = (): number => {
    const stepMs = stepOfClock()
    if (stepMs !== 0) {
      // A clock that nobody sets may have stood still with the machine: the announcement runs out meanwhile, and somebody else may come.
      if (stepMs > 0) believedUntilMs -= stepMs
      storeAheadMs -= stepMs
      for (const bucket of buckets.values()) {
        bucket.notBeforeMs += stepMs
        bucket.coveredMs += stepMs
        shiftLocally(bucket, stepMs)
        bucket.promises = shiftedPromises(bucket.promises, stepMs)
        if (bucket.away === null) continue
        shiftLocally(bucket.away.part, stepMs)
        bucket.away.used = shifted(bucket.away.used, stepMs)
      }
      for (const [name, known] of carried) carried.set(name, shiftedCarried(known, stepMs))
    }
    return clock.wallMs()
  }

  const bucketOf = (key: BucketKey): SharedBucket => {
    const name = nameOfBucket(key)
    const bucket = buckets.get(name) ?? {
      ...localBucket(key),
      lease: null,
      beforeDraw: null,
      drawing: null,
      inTurn: createInTurn(),
      news: [],
      learning: null,
      asked: 0,
      askedSinceMs: 0,
      eased: 0,
      notBeforeMs: 0,
      drawsOfAll: null,
      promises: noPromises,
      isDirty: false,
      isDrawn: false,
      coveredMs: Number.NEGATIVE_INFINITY,
      uncovered: 0,
      away: null,
    }
    buckets.set(name, bucket)
    return bucket
  }

  const waitUntil = (ms: number): Wait => ({ granted: false, availableAt: new Date(Math.ceil(ms)) })
  /** The limit that holds now. Where another one held, what was named by it is void. */
  const limitOfBucket = (bucket: SharedBucket): RateLimit => {
    const limit = limitOf(bucket.key.sellerId, bucket.key.operation)
    if (holdTo(bucket, limit, now())) {
      bucket.lease = null
      bucket.notBeforeMs = 0
      bucket.coveredMs = Number.NEGATIVE_INFINITY
      bucket.promises = noPromises
    }
    return limit
  }
  /** What a sole process stores; left out what was drawn lately, it counts as unknown. */
  const textOf = (memory: BucketMemory, limit: RateLimit, draws: RecentDraws | null): string =>
    storedText(shifted(memory, storeAheadMs), limit, draws === null ? undefined : shiftedDraws(draws, storeAheadMs))

  /**
   * The arrival of a bucket as whoever takes over must take it: as if all were used that this process may use until it stores it again. Where one call comes
   * back later than that, only those that wait for it are counted in.
   */
  const arrivalToStore = (bucket: SharedBucket, limit: RateLimit, nowMs: number): number => {
    const shape = bucketShape(limit, bucket.memory.counted)
    const interval = intervalOf(shape, bucket.memory)
    const { arrivalMs } = bucket.memory
    if (interval > snapshotHoldsMs)
      return bucket.uncovered === 0
        ? arrivalMs
        : Math.max(arrivalMs, nowMs + storingMs) + Math.min(bucket.uncovered, shape.burst) * interval
    return Math.max(arrivalMs, nowMs + snapshotHoldsMs + shape.burst * interval)
  }

  /** Whether it owes something for so long that whoever takes over must know of it. */
  const owesLong = ({ memory }: SharedBucket): boolean =>
    Math.max(memory.arrivalMs, memory.blockedUntilMs) > now() + shortMemoryMs

  const forget = (): void => buckets.clear()

  /** A bucket as another limit, and later knowledge of it, have it. */
  const together = (older: Carried, { memory, limit, used }: Carried): Carried => {
    const nowMs = now()
    const was = carriedUnder(limit, older, nowMs)
    return { memory: merged(limit, memory, was.memory, nowMs), limit, used: lessUsed(limit, used, was.used, nowMs) }
  }

  const carry = (name: string, known: Carried): void => {
    const older = carried.get(name)
    carried.set(name, older === undefined ? known : together(older, known))
  }

  /** Keeps what this process knows of its buckets for when they are read next. */
  const carryAll = (): void => {
    for (const [name, bucket] of buckets) {
      const limit = limitOfBucket(bucket)
      carry(name, { memory: bucket.memory, limit, used: bucket.away?.used ?? fullBucket })
    }
    forget()
  }

  /** What was read of a bucket, with what this process knows of it besides. On the clock of the store. */
  const withCarried = (name: string, memory: BucketMemory, limit: RateLimit, storeMs: number): BucketMemory => {
    const known = carried.get(name)
    if (known === undefined) return memory
    const own = carriedUnder(limit, shiftedCarried(known, storeAheadMs), storeMs)
    return lessUsed(limit, merged(limit, memory, own.memory, storeMs), own.used, storeMs)
  }

  /** What was drawn lately by what was read; what was drawn while this process did not reach the store nobody has counted. */
  const drawsSeen = (known: Carried | undefined, text: string | null, storeMs: number): RecentDraws =>
    known === undefined ? drawsOf(text, storeMs) : unknownDraws(storeMs)

  const goAway = (error: unknown): void => {
    if (mode === 'away') return
    report?.away(error)
    mode = 'away'
    carryAll()
  }

  /** A store that does not answer is borne as long as the last announcement holds; a process that was giving its share away has none. */
  const bear = (error: unknown): void => {
    if ((mode === 'sole' || mode === 'shared') && clock.monotonicMs() <= believedUntilMs) return
    goAway(error)
  }

  const announce = async (sole: 'claim' | 'keep' | 'yield'): Promise<{ readonly isSole: boolean; readonly others: number }> => {
    // What is noticed of the clock now is about the last announcement.
    now()
    const sentAtMs = clock.monotonicMs()
    let answer = await store.announce(id, { sole, forMs: memberForMs })
    // One that was sole has owed something, maybe, that it has stored nowhere: until that is back nobody takes its place.
    const ended = answer.value.others.filter(({ id: other, isSole }) => {
      if (options.hasEnded?.(other) !== true) return false
      if (!isSole) return true
      const sinceMs = endedSinceMs.get(other) ?? sentAtMs
      endedSinceMs.set(other, sinceMs)
      return sentAtMs >= sinceMs + shortMemoryMs
    })
    if (ended.length > 0) {
      for (const other of ended) endedSinceMs.delete(other.id)
      for (const other of ended) await store.leave(other.id)
      answer = await store.announce(id, { sole, forMs: memberForMs })
    }
    const { value, storeMs } = answer
    believedUntilMs = sentAtMs + believedForMs
    storeAheadMs = storeMs - now()
    members = value.others.length + 1
    othersAreReady = value.others.every((other) => !other.isSole)
    return { isSole: value.isSole, others: value.others.length }
  }

  const join = async (): Promise<void> => {
    const wasAway = mode === 'away'
    const { isSole } = await announce('claim')
    carryAll()
    mode = isSole ? 'sole' : 'shared'
    if (wasAway) report?.back()
  }

  const storeKnown = async (name: string, known: Carried): Promise<void> => {
    const { value, storeMs } = await store.read(name)
    storeAheadMs = storeMs - now()
    if (carried.get(name) !== known) return
    const memory = withCarried(name, memoryOf(value.text, known.limit, storeMs), known.limit, storeMs)
    const isLast = await store.swap(name, value.version, storedText(memory, known.limit, unknownDraws(storeMs)))
    if (isLast && carried.get(name) === known) carried.delete(name)
  }

  /** Stores what is known of buckets that nobody has asked for since: the others would not know of it. */
  const storeCarried = (): Promise<void> => {
    const store = async (): Promise<void> => {
      for (const [name, known] of [...carried]) {
        const storing = storeKnown(name, known)
        storingKnown.set(name, storing)
        await storing.finally(() => storingKnown.delete(name))
      }
    }
    storingCarried ??= store().finally(() => {
      storingCarried = null
    })
    return storingCarried
  }

  /** As {@link storeCarried}, for who leaves: also what others have written over meanwhile. */
  const storeAllCarried = async (): Promise<void> => {
    for (let swap = 0; swap < mostSwaps && carried.size > 0; swap += 1) await storeCarried()
  }

  /** Stores exactly what it remembers, for whoever comes after. */
  const handOver = async (): Promise<void> => {
    await storeAllCarried()
    await puts(async () => {
      const known = [...buckets].map(([name, bucket]) => {
        const limit = limitOfBucket(bucket)
        return [name, { memory: bucket.memory, limit, used: fullBucket, draws: bucket.draws }] as const
      })
      forget()
      let isWritten = known.length === 0
      try {
        isWritten ||= await store.put(id, new Map(known.map(([name, of]) => [name, textOf(of.memory, of.limit, of.draws)])))
      } finally {
        if (!isWritten) for (const [name, of] of known) carry(name, of)
      }
    })
  }

  const yieldToOthers = async (): Promise<void> => {
    mode = 'yielding'
    await handOver()
    await announce('yield')
    mode = 'shared'
  }

  /** Stores buckets as a process that takes over must take them, and with that covers what this one draws next. Each after what was asked for before. */
  const storeUsedUp = (which: () => readonly SharedBucket[]): Promise<void> =>
    puts(async () => {
      const nowMs = now()
      const used = which().map((bucket) => {
        const limit = limitOfBucket(bucket)
        const arrivalMs = arrivalToStore(bucket, limit, nowMs)
        const text = textOf({ ...bucket.memory, arrivalMs }, limit, bucket.draws)
        // What is stored already may cover more, but not for long.
        bucket.coveredMs = Math.min(bucket.coveredMs, arrivalMs)
        return { bucket, storedMs: arrivalMs + storeAheadMs, text }
      })
      if (mode !== 'sole' || used.length === 0) return
      const sentMs = clock.monotonicMs()
      const isWritten = await store.put(id, new Map(used.map(({ bucket, text }) => [nameOfBucket(bucket.key), text])))
      storingMs = Math.max(leastStoringMs, storingMs / 2, 2 * (clock.monotonicMs() - sentMs))
      if (!isWritten) {
        // Somebody else has come, or may have.
        believedUntilMs = Number.NEGATIVE_INFINITY
        return
      }
      now()
      for (const { bucket, storedMs } of used) bucket.coveredMs = storedMs - storeAheadMs
    })

  /** What a sole process has used and learned since it was stored last. */
  const storeSnapshots = async (): Promise<void> => {
    const changed = [...buckets.values()].filter((bucket) => bucket.isDirty || (bucket.isDrawn && owesLong(bucket)))
    for (const bucket of buckets.values()) bucket.isDrawn = false
    for (const bucket of changed) bucket.isDirty = false
    try {
      if (changed.length > 0) await storeUsedUp(() => changed)
    } catch (error) {
      for (const bucket of changed) bucket.isDirty = true
      throw error
    }
  }

  /** Stores a bucket before a call leaves, with all others that are to be stored by then. */
  const cover = async (bucket: SharedBucket): Promise<void> => {
    toCover.add(bucket)
    bucket.uncovered += 1
    covering ??= storeUsedUp(() => {
      covering = null
      const some = [...toCover]
      toCover.clear()
      return some
    })
    try {
      await covering
    } finally {
      bucket.uncovered -= 1
    }
  }

  /** The next announcement does not wait for it. */
  const storeSnapshotsMeanwhile = (): void => {
    if (isStoringSnapshots) return
    isStoringSnapshots = true
    void storeSnapshots()
      .catch(bear)
      .finally(() => {
        isStoringSnapshots = false
      })
  }

  const beat = async (): Promise<void> => {
    if (mode === 'out' || mode === 'yielding' || joining !== null) return
    now()
    try {
      const isIdle = clock.monotonicMs() - askedAtMs > idleAfterMs
      if (isIdle && mode !== 'away') {
        if (mode === 'sole') {
          mode = 'yielding'
          await handOver()
        } else {
          await storeEased()
          await storeAllCarried()
        }
        mode = 'out'
        forget()
        await store.leave(id)
      } else if (mode === 'sole' && clock.monotonicMs() <= believedUntilMs) {
        const { isSole, others } = await announce('keep')
        if (!isSole) await join()
        else if (others > 0) await yieldToOthers()
        else storeSnapshotsMeanwhile()
      } else if (mode === 'shared' && clock.monotonicMs() <= believedUntilMs) {
        const { isSole } = await announce('claim')
        if (isSole) {
          // Whoever was there has gone, or the store knows of nobody any more.
          await store.restore()
          await storeEased()
          forget()
          mode = 'sole'
        }
      } else {
        await join()
      }
    } catch (error) {
      bear(error)
      return
    }
    // Of many buckets this takes long, and the next announcement must not wait for it.
    if (carried.size > 0 && (mode === 'sole' || mode === 'shared')) void storeCarried().catch(bear)
  }

  /** A process of which nothing was heard for too long must not think that it is alone, or that all others are known. */
  const doubt = (): void => {
    now()
    if ((mode === 'sole' || mode === 'shared') && clock.monotonicMs() > believedUntilMs)
      goAway(new Error('the rate budget could not be announced in time'))
  }

  /** The bucket of a sole process, as it was left by this or another one; null when the process is not sole any more. */
  const adopt = async (key: BucketKey): Promise<SharedBucket | null> => {
    const name = nameOfBucket(key)
    const known = buckets.get(name)
    if (known !== undefined) return known
    await storingKnown.get(name)
    const knownBefore = carried.get(name)
    const { value, storeMs } = await store.read(name)
    doubt()
    if (mode !== 'sole') return null
    const limit = limitOf(key.sellerId, key.operation)
    if (!buckets.has(name)) {
      // What is being stored meanwhile was not there yet when it was read.
      if (knownBefore !== undefined && !carried.has(name)) carried.set(name, knownBefore)
      const bucket = bucketOf(key)
      bucket.memory = shifted(withCarried(name, memoryOf(value.text, limit, storeMs), limit, storeMs), -storeAheadMs)
      bucket.limit = limit
      bucket.draws = shiftedDraws(drawsSeen(carried.get(name), value.text, storeMs), -storeAheadMs)
      bucket.isDirty = carried.delete(name)
    }
    return bucketOf(key)
  }

  /** Whether this process still owns the bucket: while it waited for the store somebody else may have come. */
  const isOwn = (bucket: SharedBucket): boolean => {
    doubt()
    return mode === 'sole' && buckets.get(nameOfBucket(bucket.key)) === bucket
  }

  const takeSole = async (key: BucketKey, lane: CallLane = 'command'): Promise<Grant | Wait> => {
    const bucket = await adopt(key)
    for (let covers = 0; bucket !== null && covers < mostDraws && isOwn(bucket); covers += 1) {
      const [limit, nowMs] = [limitOfBucket(bucket), now()]
      const { memory } = bucket
      const shape = bucketShape(limit, memory.counted)
      const arrivalMs = Math.max(memory.arrivalMs, nowMs) + intervalOf(shape, memory)
      const isShort = arrivalMs <= nowMs + shortMemoryMs
      if (!isShort && arrivalMs > bucket.coveredMs && takeFrom(shape, memory, nowMs, 0, lane).waitUntilMs === null) {
        // Whoever takes over after a crash must know of it before it leaves.
        await cover(bucket)
        continue
      }
      const leave = takeLocally(bucket, limit, nowMs, lane)
      if (!leave.granted || isShort) return leave
      bucket.isDrawn = true
      return grantThat(async () => {
        await giveBack(leave)
        bucket.isDirty = true
      })
    }
    return waitUntil(now())
  }

  const learnSole = async (key: BucketKey, signal: BudgetSignal): Promise<void> => {
    const bucket = await adopt(key)
    if (bucket === null || !isOwn(bucket)) return learnBetween(key, signal)
    const uncounted = noteAnswer(bucket, now())
    const limit = limitOfBucket(bucket)
    const before = bucket.memory
    bucket.memory = learnFrom(limit, before, signal, { nowMs: now(), random: random(), uncounted })
    bucket.isDirty ||= bucket.memory.rate !== before.rate || bucket.memory.blockedUntilMs !== before.blockedUntilMs
  }

  const limitAway = ({ sellerId, operation }: BucketKey): RateLimit =>
    partOf(limitOf(sellerId, operation), members === 0 ? strangersShare : 1 / (members + 1))

  /**
   * The bucket as it was known before nobody could be asked, and the part of it that is this process's meanwhile. The part begins empty, since
   * somebody else may have used it, and with all that was learned.
   */
  const bucketAway = (key: BucketKey): SharedBucket & { readonly away: NonNullable<SharedBucket['away']> } => {
    const bucket = bucketOf(key)
    const { away } = bucket
    if (away !== null) return Object.assign(bucket, { away })
    const known = carried.get(nameOfBucket(key))
    carried.delete(nameOfBucket(key))
    if (known !== undefined) {
      bucket.memory = known.memory
      bucket.limit = known.limit
    }
    const shape = bucketShape(limitAway(key), bucket.memory.counted)
    const arrivalMs = now() + shape.burst * intervalOf(shape, bucket.memory)
    const part = localBucket(key, { ...bucket.memory, arrivalMs, promises: noPromises })
    return Object.assign(bucket, { away: { part, used: known?.used ?? fullBucket } })
  }

  const takeAway = (key: BucketKey, lane?: CallLane): Grant | Wait => {
    const nowMs = now()
    const bucket = bucketAway(key)
    const limit = limitOfBucket(bucket)
    // The store may answer again at any moment: who is told of hours now would sleep through it.
    const soon = (ms: number): Wait => waitUntil(Math.min(ms, nowMs + awayPatienceMs))
    const allowedMs = allowedAtMs(bucketShape(limit, bucket.memory.counted), bucket.memory)
    if (allowedMs > nowMs) return soon(allowedMs)
    const leave = takeLocally(bucket.away.part, limitAway(key), nowMs, lane)
    if (!leave.granted) return soon(leave.availableAt.getTime())
    const { used } = bucket.away
    const shape = bucketShape(limit, used.counted)
    bucket.away.used = { ...used, arrivalMs: Math.max(used.arrivalMs, nowMs) + intervalOf(shape, used) }
    return leave
  }

  /** An answer that comes while this process neither draws nor owns: what it forbids holds for whoever reads the bucket next. */
  const learnBetween = (key: BucketKey, signal: BudgetSignal): void => {
    const isForbidding = signal.status === 429 || signal.retryAfter !== null || signal.remaining === 0
    if (!isForbidding) return
    const limit = limitOf(key.sellerId, key.operation)
    const memory = learnFrom(limit, fullBucket, signal, { nowMs: now(), random: random() })
    carry(nameOfBucket(key), { memory, limit, used: fullBucket })
  }

  const learnAway = (key: BucketKey, signal: BudgetSignal): void => {
    if (mode !== 'away') {
      learnBetween(key, signal)
      return
    }
    const bucket = bucketAway(key)
    const limit = limitOfBucket(bucket)
    const { part } = bucket.away
    const at = { nowMs: now(), random: random() }
    noteAnswer(part, at.nowMs)
    part.memory = learnFrom(limitAway(key), part.memory, signal, at)
    bucket.memory = learnFrom(limit, bucket.memory, signal, at)
  }

  /** How many to draw at once: what was asked for within the time that a lease is for, and a fair part of what is there. */
  const wanted = (bucket: SharedBucket, monotonicMs: number): number => {
    const overMs = Math.max(leaseForMs, monotonicMs - bucket.askedSinceMs)
    return Math.max(1, Math.ceil((bucket.asked * leaseForMs) / overMs / 2))
  }

  /** Whether the marketplace says that there is something sooner than anything is to be had here. */
  const saysMore = (bucket: SharedBucket, limit: RateLimit, signal: BudgetSignal): boolean => {
    if (signal.status >= 300 || leftOf(bucket.lease, clock.monotonicMs()) > 0) return false
    if (bucket.drawsOfAll === null) return (signal.remaining ?? 0) > 1
    const nowMs = now()
    const shape = bucketShape(limit, bucket.memory.counted)
    const soonMs = allowedAtMs(shape, bucket.memory) - shape.intervalMs / 2
    if (bucket.memory.blockedUntilMs > nowMs || soonMs <= nowMs) return false
    const uncounted = drawnLately(bucket.drawsOfAll, nowMs + storeAheadMs)
    return sureOf(limit, signal, uncounted, nowMs).some(({ atMs, requests }) => requests > 0 && atMs < soonMs)
  }

  /** What answers change of what was read. */
  const learnAll = (
    memory: BucketMemory,
    of: {
      readonly limit: RateLimit
      readonly news: readonly BudgetSignal[]
      readonly draws: RecentDraws
      readonly storeMs: number
    },
  ): BucketMemory => {
    const { limit, news, draws, storeMs } = of
    const onStoresClock = (moment: Date | null): Date | null => moment && new Date(moment.getTime() + storeAheadMs)
    return news.reduce((learned, signal) => {
      const moved = { ...signal, replenishAt: onStoresClock(signal.replenishAt), retryAfter: onStoresClock(signal.retryAfter) }
      return learnFrom(limit, learned, moved, { nowMs: storeMs, random: random(), uncounted: drawnLately(draws, storeMs) })
    }, memory)
  }

  /**
   * Reads what is stored, changes it, and stores it unless nothing has changed; again where somebody else has written meanwhile. What this process knows
   * besides is stored with it. Null: too many others wrote.
   */
  const rewrite = async <Result>(
    bucket: SharedBucket,
    limit: RateLimit,
    change: (read: Read) => Rewritten<Result>,
  ): Promise<{ readonly result: Result; readonly version: number } | null> => {
    const name = nameOfBucket(bucket.key)
    for (let swap = 0; swap < mostSwaps; swap += 1) {
      const { value, storeMs } = await store.read(name)
      storeAheadMs = storeMs - now()
      const eased = bucket.eased
      const known = carried.get(name)
      const whole = withCarried(name, memoryOf(value.text, limit, storeMs), limit, storeMs)
      const draws = drawsSeen(known, value.text, storeMs)
      const news = [...bucket.news]
      const memory = learnAll(easedBy(limit, whole, eased, storeMs), { limit, news, draws, storeMs })
      const { result, ...changed } = change({ memory, draws, storeMs })
      bucket.memory = shifted(changed.memory, -storeAheadMs)
      bucket.drawsOfAll = changed.draws
      if (!changed.isNew && eased === 0 && known === undefined && news.length === 0) return { result, version: value.version }
      if (!(await store.swap(name, value.version, storedText(changed.memory, limit, changed.draws)))) continue
      bucket.eased -= eased
      bucket.news.splice(0, news.length)
      if (carried.get(name) === known) carried.delete(name)
      return { result, version: value.version + 1 }
    }
    return null
  }

  /** Stores the answers that have raised a rate a little, which a later draw would have stored. */
  const storeEased = async (): Promise<void> => {
    for (const bucket of buckets.values()) {
      if (bucket.eased === 0) continue
      await bucket.inTurn(() =>
        rewrite(bucket, limitOfBucket(bucket), ({ memory, draws }) => ({ memory, draws, isNew: false, result: null })),
      )
    }
  }

  /** Draws on what is stored. */
  const draw = async (bucket: SharedBucket, lane: CallLane): Promise<void> => {
    const limit = limitOfBucket(bucket)
    const drawn = await rewrite(bucket, limit, ({ memory, draws, storeMs }) => {
      const shape = bucketShape(limit, memory.counted)
      const some = drawFrom(shape, memory, storeMs, { count: wanted(bucket, clock.monotonicMs()), lane })
      const result = { count: some.drawn, waitUntilMs: some.waitUntilMs, before: { memory, draws } }
      const isNew = some.drawn > 0 || some.memory.isForCommands !== memory.isForCommands
      return { memory: some.memory, draws: withDraws(draws, some.drawn, storeMs), isNew, result }
    })
    if (drawn === null) return
    const { count, waitUntilMs, before } = drawn.result
    bucket.notBeforeMs = waitUntilMs - storeAheadMs
    if (count === 0) return
    const { memory } = before
    bucket.beforeDraw = count === 1 ? { version: drawn.version, text: storedText(memory, limit, before.draws) } : null
    const intervalMs = intervalOf(bucketShape(limit, memory.counted), memory)
    bucket.lease = { count, used: 0, drawnAtMs: clock.monotonicMs(), intervalMs }
  }

  /** Stores what was there before one request was drawn, unless somebody has written since. Several drawn at once are of a limit that soon has more. */
  const undraw = async (bucket: SharedBucket, before: SharedBucket['beforeDraw']): Promise<void> => {
    noteAnswer(bucket, now())
    const name = nameOfBucket(bucket.key)
    if (before === null || buckets.get(name) !== bucket) return
    try {
      if (!(await store.swap(name, before.version, before.text))) return
      bucket.notBeforeMs = 0
      bucket.promises = noPromises
    } catch (error) {
      bear(error)
    }
  }

  /** So much later than the lane before it a lane comes, in all processes. One at a time it costs a hundredth of the rate at most. */
  const laneStepMs = (intervalMs: number, isOneAtATime: boolean): number =>
    Math.min(mostChanceMs, intervalMs / Math.max(1, members), isOneAtATime ? intervalMs / 25 : Number.POSITIVE_INFINITY) /
    callLanes.length

  const takeShared = async (key: BucketKey, lane: CallLane = 'command'): Promise<Grant | Wait> => {
    if (!othersAreReady) return waitUntil(now() + beatEveryMs / 4)
    const bucket = bucketOf(key)
    const monotonicMs = clock.monotonicMs()
    if (monotonicMs - bucket.askedSinceMs > 2 * leaseForMs) {
      bucket.askedSinceMs = monotonicMs
      bucket.asked = 0
    }
    bucket.asked += 1
    const limit = limitOfBucket(bucket)
    const intervalNow = (): number => intervalOf(bucketShape(limit, bucket.memory.counted), bucket.memory)
    /** Others of its process were told a moment before it, and it would have what is theirs. */
    const isBehind = (): boolean => aheadOf(bucket.promises, lane, now(), intervalNow()).firstMs < now() + intervalNow()
    /** When the bucket lets this lane have one. */
    const openMs = (): number => {
      const left = leftByLane(bucketShape(limit, bucket.memory.counted), bucket.memory, lane)
      return bucket.notBeforeMs + left * intervalNow()
    }
    // As long as something is left: a draw takes a fair part, and those who asked together may want more than that.
    for (let draws = 0; !isBehind(); draws += 1) {
      const next = bucket.lease === null ? null : useLease(bucket.lease, clock.monotonicMs())
      if (next !== null) {
        bucket.lease = next
        noteGrant(bucket, now())
        bucket.promises = withoutFirst(bucket.promises, lane, now(), intervalNow())
        const { beforeDraw } = bucket
        return grantThat(() => undraw(bucket, beforeDraw))
      }
      bucket.lease = null
      if (now() < openMs() || draws === mostDraws) break
      bucket.drawing ??= bucket
        .inTurn(() => draw(bucket, lane))
        .finally(() => {
          bucket.drawing = null
        })
      await bucket.drawing
      doubt()
      if (mode !== 'shared') return waitUntil(now())
    }
    // Those who wait here are told different moments. The first one is a little late by chance, or all processes would ask together, and later
    // lanes a little more, so that those of other processes come before them.
    const [nowMs, intervalMs] = [now(), intervalNow()]
    const { lastMs } = aheadOf(bucket.promises, lane, nowMs, intervalMs)
    // What is left to commands is not there for the other lanes.
    const shapeNow = bucketShape(limit, bucket.memory.counted)
    const isOneAtATime = shapeNow.burst - leftByLane(shapeNow, bucket.memory, lane) === 1
    const stepMs = laneStepMs(intervalMs, isOneAtATime)
    const behindMs = callLanes.indexOf(lane) * stepMs
    const { promises, atMs } = withAnother(bucket.promises, lane, {
      nowMs,
      // One at a time: who comes late makes the next one late, so that each has to leave the others their time anew.
      intervalMs: intervalMs + (isOneAtATime ? behindMs : 0),
      firstMs: Math.max(openMs(), nowMs + 1, lastMs + intervalMs),
      spreadMs: key.operation.isShared === true ? 0 : limit.perMs,
      chanceMs: behindMs + random() * stepMs,
      isOneAtATime,
    })
    bucket.promises = promises
    return waitUntil(atMs)
  }

  /** Stores what the answers say that have come, unless a draw has done it meanwhile; false where too many others wrote. */
  const learnStored = async (bucket: SharedBucket, limit: RateLimit): Promise<boolean> => {
    bucket.learning = null
    if (bucket.news.length === 0) return true
    const learnt = await rewrite(bucket, limit, ({ memory, draws }) => ({
      memory,
      draws,
      isNew: false,
      result: allowedAtMs(bucketShape(limit, memory.counted), memory),
    }))
    if (learnt === null) return false
    const allowedMs = learnt.result - storeAheadMs
    // More is there than was thought: whoever asks now need not stand behind those who were told of less.
    if (allowedMs < bucket.notBeforeMs) bucket.promises = noPromises
    bucket.notBeforeMs = allowedMs
    return true
  }

  const storeNews = async (bucket: SharedBucket, limit: RateLimit, signal: BudgetSignal): Promise<void> => {
    bucket.news.push(signal)
    bucket.learning ??= bucket.inTurn(() => learnStored(bucket, limit))
    let isStored = false
    try {
      isStored = await bucket.learning
    } finally {
      if (!isStored) {
        const at = bucket.news.indexOf(signal)
        if (at >= 0) bucket.news.splice(at, 1)
        carry(nameOfBucket(bucket.key), { memory: bucket.memory, limit, used: fullBucket })
      }
    }
  }

  const learnShared = async (key: BucketKey, signal: BudgetSignal): Promise<void> => {
    const bucket = bucketOf(key)
    const limit = limitOfBucket(bucket)
    noteAnswer(bucket, now())
    const believed = learnFrom(limit, bucket.memory, signal, { nowMs: now(), random: 0 })
    const interval = intervalOf(bucketShape(limit, believed.counted), believed)
    const saysNothingNew =
      signal.status !== 429 &&
      !saysMore(bucket, limit, signal) &&
      !recovers(bucket.memory, believed) &&
      believed.counted === bucket.memory.counted &&
      believed.blockedUntilMs === bucket.memory.blockedUntilMs &&
      believed.arrivalMs <= bucket.memory.arrivalMs + leftOf(bucket.lease, clock.monotonicMs()) * interval
    if (saysNothingNew) {
      if (bucket.memory.rate < 1 || bucket.memory.strikes > 0) bucket.eased += 1
      return
    }
    // Known here at once, be the store there or not.
    bucket.memory = believed
    bucket.notBeforeMs = Math.max(bucket.notBeforeMs, believed.blockedUntilMs)
    if (signal.status === 429 || signal.remaining === 0) bucket.lease = null
    const storing = storeNews(bucket, limit, signal)
    // What is good to know may come to the others while this caller goes on.
    if (signal.status < 300 && signal.remaining !== 0) storing.catch(bear)
    else await storing
  }

  const take = async (key: BucketKey, lane?: CallLane): Promise<Grant | Wait> => {
    doubt()
    askedAtMs = clock.monotonicMs()
    try {
      if (mode === 'out') {
        joining ??= join().finally(() => {
          joining = null
        })
        await joining
      }
      if (mode === 'sole') return await takeSole(key, lane)
      if (mode === 'shared') return await takeShared(key, lane)
      if (mode === 'yielding') return waitUntil(now() + beatEveryMs / 10)
    } catch (error) {
      bear(error)
      if (mode !== 'away') return waitUntil(now() + beatEveryMs / 4)
    }
    return takeAway(key, lane)
  }

  return {
    take: (sellerId, operation, scope, lane) =>
      operation.ofEachProcess === true
        ? own.take(sellerId, operation, scope, lane)
        : take({ sellerId, operation, scope: scope ?? null }, lane),
    async learn(sellerId, operation, signal, scope) {
      if (operation.ofEachProcess === true) return await own.learn(sellerId, operation, signal, scope)
      const key: BucketKey = { sellerId, operation, scope: scope ?? null }
      try {
        if (mode === 'shared') await learnShared(key, signal)
        else if (mode === 'sole') await learnSole(key, signal)
        else learnAway(key, signal)
      } catch (error) {
        bear(error)
        learnAway(key, signal)
      }
    },
    snapshot() {
      const nowMs = now()
      return [
        ...own.snapshot(),
        ...[...buckets.values()].map((bucket) =>
          stateOfBucket(bucket.away?.part ?? bucket, limitOf(bucket.key.sellerId, bucket.key.operation), nowMs),
        ),
      ]
    },
    beat,
    async close() {
      try {
        // What has come is stored, though nobody waits for it.
        for (const { inTurn } of buckets.values()) await endOf(inTurn)
        if (mode === 'sole') {
          mode = 'yielding'
          await handOver()
        } else if (mode === 'shared') {
          await storeEased()
          await storeAllCarried()
        }
        await store.restore()
        if (mode !== 'out') await store.leave(id)
      } catch (error) {
        report?.away(error)
      }
      mode = 'out'
    },
  }
}
