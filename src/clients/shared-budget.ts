import { endOf } from '../in-turn.ts'
import { createAwayBudget } from './away-budget.ts'
import type { BudgetSignal } from './bucket.ts'
import {
  type BucketKey,
  createInProcessBudget,
  type Grant,
  pointOf,
  type RateBudget,
  stateOfBucket,
  type Wait,
  waitUntil,
} from './budget.ts'
import { createStanding, type SharedBudgetOptions } from './budget-standing.ts'
import { createCarriedStoring } from './carried-storing.ts'
import { createDrawnBudget } from './drawn-budget.ts'
import type { CallLane } from './lane.ts'
import { createSoleBudget, shortMemoryMs } from './sole-budget.ts'

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

/**
 * A rate budget that any number of processes share through a store (docs/decisions/0022-shared-budget.md). While a process is alone it asks the
 * store once a second and not for each call. Several never let more through than one would. Without the store each goes on with a part.
 */
export const createSharedBudget = (options: SharedBudgetOptions): SharedBudget => {
  const standing = createStanding(options)
  const { id, store, clock, limitOf, buckets, carried } = standing
  const storing = createCarriedStoring(standing)
  const sole = createSoleBudget(standing, storing)
  const drawn = createDrawnBudget(standing)
  const away = createAwayBudget(standing)
  /** Of the operations that each process calls for itself. */
  const own = createInProcessBudget({ limitOf, now: clock.wallMs, monotonicMs: clock.monotonicMs, random: standing.random })
  let othersAreReady = false
  let lastTakeAtMs = Number.NEGATIVE_INFINITY
  let joining: Promise<void> | null = null
  /** Since when the store answers again to one that was not alone, on a clock that nobody sets. */
  let backSinceMs: number | null = null
  /** The last announcement while it gives its buckets away. */
  let keeping: Promise<unknown> = Promise.resolve()
  /** Since when sole processes are known to have ended, on a clock that nobody sets. */
  const endedSinceMs = new Map<string, number>()

  const announce = async (as: 'claim' | 'keep' | 'yield'): Promise<{ readonly isSole: boolean; readonly others: number }> => {
    // What is noticed of the clock now is about the last announcement.
    standing.now()
    const sentAtMs = clock.monotonicMs()
    let askedAtMs = sentAtMs
    let answer = await store.announce(id, { sole: as, forMs: memberForMs })
    // One that was sole has owed something, maybe, that it has stored nowhere: until that is back nobody takes its place.
    const ended = answer.value.others.filter(({ id: other, isSole }) => {
      if (options.hasEnded?.(other) !== true) return false
      if (!isSole) return true
      const sinceMs = endedSinceMs.get(other) ?? sentAtMs
      endedSinceMs.set(other, sinceMs)
      return sentAtMs >= sinceMs + shortMemoryMs
    })
    if (ended.length > 0) {
      for (const other of ended) await store.leave(other.id)
      askedAtMs = clock.monotonicMs()
      answer = await store.announce(id, { sole: as, forMs: memberForMs })
    }
    const { value, storeMs } = answer
    for (const other of endedSinceMs.keys()) if (!value.others.some(({ id: it }) => it === other)) endedSinceMs.delete(other)
    standing.believedUntilMs = sentAtMs + believedForMs
    standing.hear(storeMs, askedAtMs)
    standing.members = value.others.length + 1
    othersAreReady = value.others.every((other) => !other.isSole)
    return { isSole: value.isSole, others: value.others.length }
  }

  const join = async (isLeaving = false): Promise<void> => {
    const { members: before } = standing
    const { isSole } = await announce('claim')
    const wasAway = standing.mode === 'away'
    if (wasAway && isSole && before > 1 && !isLeaving) {
      backSinceMs ??= clock.monotonicMs()
      if (clock.monotonicMs() < backSinceMs + 1.5 * beatEveryMs) {
        // The others come back as well, each by its next announcement, and use their parts until then.
        standing.members = before
        return
      }
    }
    backSinceMs = null
    standing.carryAll()
    standing.stand(isSole ? 'sole' : 'shared')
    if (wasAway) options.report?.back()
  }

  const yieldToOthers = async (): Promise<void> => {
    standing.stand('yielding')
    await sole.handOver()
    await announce('yield')
    // It may have gone away meanwhile, and then comes back with what it has used.
    if (standing.mode === 'yielding') standing.stand('shared')
  }

  /** Nobody else draws any more, or the store knows of nobody: what answers have said and is not stored yet is kept. */
  const becomeSole = async (): Promise<void> => {
    await store.restore()
    await drawn.storeEased()
    if (standing.mode !== 'shared') return
    standing.carryNews()
    standing.stand('sole')
  }

  /** Stores what nobody else would know, and leaves. No call leaves meanwhile. */
  const leave = async (): Promise<void> => {
    const wasSole = standing.mode === 'sole'
    standing.stand('yielding')
    if (wasSole) await sole.handOver()
    else {
      await drawn.storeEased()
      await storing.storeAll()
    }
    // An announcement that arrives later would stand for nobody.
    await Promise.allSettled([keeping])
    await store.leave(id)
    if (standing.mode !== 'yielding') return
    buckets.clear()
    standing.stand('out')
  }

  const beat = async (): Promise<void> => {
    if (standing.mode === 'out' || joining !== null) return
    standing.now()
    const { mode } = standing
    try {
      const isIdle = clock.monotonicMs() - lastTakeAtMs > idleAfterMs
      if (mode === 'yielding') {
        // Giving many buckets away takes long, and nobody may take its place before it has.
        keeping = announce('keep')
        await keeping
      } else if (isIdle && mode !== 'away') {
        await leave()
      } else if (mode === 'away' || !standing.isBelieved()) {
        await join()
      } else {
        // A store that has lost its content knows of nobody: the others say within a beat that they are there.
        const { isSole, others } = await announce(mode === 'sole' ? 'keep' : standing.members > 1 ? 'yield' : 'claim')
        // While nobody answered it may have gone away, and then comes back by the next announcement.
        if (standing.mode !== mode) return
        if (mode === 'shared') {
          if (isSole) await becomeSole()
        } else if (!isSole) await join()
        else if (others > 0) await yieldToOthers()
        else sole.storeMeanwhile()
      }
    } catch (error) {
      backSinceMs = null
      standing.bear(error)
      return
    }
    // Of many buckets this takes long, and the next announcement must not wait for it. What is stored beside a sole process it would write over.
    if (carried.size > 0 && (standing.mode === 'sole' || (standing.mode === 'shared' && othersAreReady)))
      void storing.storeOnce().catch(standing.bear)
  }

  const take = async (key: BucketKey, lane: CallLane): Promise<Grant | Wait> => {
    standing.doubt()
    lastTakeAtMs = clock.monotonicMs()
    try {
      if (standing.mode === 'out') {
        joining ??= join().finally(() => {
          joining = null
        })
        await joining
      }
      if (standing.mode === 'sole') return await sole.take(key, lane)
      if (standing.mode === 'shared')
        return othersAreReady ? await drawn.take(key, lane) : waitUntil(standing.now() + beatEveryMs / 4)
      if (standing.mode === 'yielding') return waitUntil(standing.now() + beatEveryMs / 10)
    } catch (error) {
      standing.bear(error)
      if (standing.mode !== 'away') return waitUntil(standing.now() + beatEveryMs / 4)
    }
    return away.take(key, lane)
  }

  /** Where the store is away. An answer may also come while this process neither draws nor owns. */
  const learnAlone = (key: BucketKey, signal: BudgetSignal): void => {
    if (standing.mode === 'away') away.learn(key, signal)
    else standing.carryForbidden(key, signal)
  }

  return {
    take: (sellerId, operation, scope, lane) =>
      operation.ofEachProcess === true
        ? own.take(sellerId, operation, scope, lane)
        : take({ sellerId, operation, scope: scope ?? null }, lane ?? 'command'),
    async learn(sellerId, operation, signal, scope, grant) {
      if (operation.ofEachProcess === true) return await own.learn(sellerId, operation, signal, scope, grant)
      const key: BucketKey = { sellerId, operation, scope: scope ?? null }
      try {
        if (standing.mode === 'shared' && othersAreReady) await drawn.learn(key, signal, pointOf(grant))
        else if (standing.mode === 'sole') await sole.learn(key, signal, grant)
        else learnAlone(key, signal)
      } catch (error) {
        standing.bear(error)
        learnAlone(key, signal)
      }
    },
    snapshot() {
      const nowMs = standing.now()
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
        if (standing.mode === 'away' || (standing.mode === 'out' && carried.size > 0)) await join(true)
        if (standing.mode === 'sole' || standing.mode === 'shared') await leave()
        await store.restore()
      } catch (error) {
        options.report?.away(error)
      }
      standing.stand('out')
    },
  }
}
