import type { Database, HeldOrder, SqlRunner, Transaction } from '../db/database.ts'
import { isDatabaseUnavailable } from '../db/errors.ts'
import { prepared } from '../db/prepared-statements.ts'
import { createKeyedSemaphore } from './keyed-semaphore.ts'
import { runInLockstep } from './lockstep.ts'

/** Work is grouped with work of the same lane: intents with intents, results with results. */
export type CommitLane = 'intents' | 'results'

/** The rows that a member of a group locks first. */
export interface GroupLocks extends HeldOrder {
  readonly commandId: string
}

/** Work to commit in a group, with any result type. */
interface Member {
  readonly locks: GroupLocks
  /** Does the work, and keeps its result until it is committed. */
  readonly work: (transaction: Transaction) => Promise<void>
  /** The work was committed. */
  readonly committed: () => void
  readonly failed: (error: unknown) => void
  /** How many times another transaction held its order or command. */
  readonly skipped: number
}

/** What happens to members that do not commit with their group. */
interface Deferral {
  /** Its order or command is locked by another transaction: try again later. */
  readonly retryLater: (member: Member) => void
  /** It is the member that makes the group fail: run it alone, and isolate its seller for a while. */
  readonly isolate: (member: Member) => void
  /** Runs the member alone if its seller is isolated; whether it is. */
  readonly runAloneIfIsolated: (member: Member) => boolean
}

/** Larger groups would hold their locks for long, and a failing member would cost the others more. */
const maxMembers = 64

/** Concurrent groups of a lane: while Postgres works on one, the process works on another. */
const maxGroups = 3

/** Concurrent members of a lane that run alone, each on a connection of its own, which waits for a lock; at most one for each seller. */
const maxAlone = 4

/** A member whose locks are held is tried again after this wait, doubled each time up to the maximum. */
const firstRetryMs = 10
const maxRetryMs = 320
/** After this many tries (2.5 s) it waits in the queue of its lock, where no other transaction overtakes it. */
const maxSkipped = 12

/**
 * How long a seller is isolated, that is its commits run alone, after one of its members failed: where the answers of a marketplace cannot be stored,
 * each would break up a group of others.
 */
const isolationMs = 10_000

/** A further concurrent group needs at least this many waiting members: small groups save little. */
const minConcurrentGroup = 32

// SKIP LOCKED: a group never waits for the order of one of its members, so the order in which rows are locked here cannot cause a deadlock.
const lockMembers = prepared(
  `SELECT c.id FROM unnest($1::text[], $2::text[], $3::text[]) AS k(seller_id, purchase_order_id, command_id)
   CROSS JOIN LATERAL (SELECT o.purchase_order_id FROM warehouse.orders o
     WHERE o.seller_id = k.seller_id AND o.purchase_order_id = k.purchase_order_id FOR UPDATE SKIP LOCKED) o
   CROSS JOIN LATERAL (SELECT c.id FROM tallyman.commands c WHERE c.id = k.command_id FOR UPDATE SKIP LOCKED) c`,
)

const lockAll = async (sql: SqlRunner, members: readonly Member[]): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ id: string }>(
    lockMembers,
    members.map(({ locks }) => locks.sellerId),
    members.map(({ locks }) => locks.purchaseOrderId),
    members.map(({ locks }) => locks.commandId),
  )
  return new Set(rows.map(({ id }) => id))
}

const commitAlone = async (database: Database, { work, committed, failed }: Member): Promise<void> => {
  try {
    await database.transaction(work)
  } catch (error) {
    failed(error)
    return
  }
  committed()
}

/** Runs members outside of groups. The locks that one seller's members wait for must not take all connections. */
const createAloneRunner = (database: Database) => {
  const semaphore = createKeyedSemaphore(maxAlone)
  const run = async (member: Member): Promise<void> => {
    const release = await semaphore.acquire(member.locks.sellerId)
    await commitAlone(database, member)
    release?.()
  }
  return { add: (member: Member): void => void run(member) }
}

/** Commits those members that can be locked; resolves once every member is settled or deferred. */
const commitGroup = async (database: Database, candidates: readonly Member[], deferral: Deferral): Promise<void> => {
  const members = candidates.filter((member) => !deferral.runAloneIfIsolated(member))
  if (members.length === 0) return
  let grouped: readonly Member[] = members
  try {
    await database.transaction(
      async (transaction) => {
        const locked = await lockAll(transaction, members)
        grouped = members.filter(({ locks }) => locked.has(locks.commandId))
        for (const member of members) if (!locked.has(member.locks.commandId)) deferral.retryLater(member)
        await runInLockstep(
          transaction,
          grouped.map(
            ({ work, locks }) =>
              (own) =>
                work({ ...own, held: locks }),
          ),
        )
      },
      { locksFirst: true },
    )
  } catch (error) {
    // Not retried: the answer of a COMMIT may be lost, and then the state of each command decides what happens.
    if (isDatabaseUnavailable(error)) {
      for (const { failed } of grouped) failed(error)
      return
    }
    await commitHalves(database, grouped, deferral)
    return
  }
  for (const { committed } of grouped) committed()
}

/** Bisects a failed group, so that one member does not fail the others. */
const commitHalves = async (database: Database, members: readonly Member[], deferral: Deferral): Promise<void> => {
  const [only] = members
  if (only === undefined) return
  if (members.length === 1) {
    // Not awaited: it may have to wait for a lock.
    deferral.isolate(only)
    return
  }
  const middle = Math.ceil(members.length / 2)
  await commitGroup(database, members.slice(0, middle), deferral)
  await commitGroup(database, members.slice(middle), deferral)
}

/** Collects work while groups commit. No group waits to be filled. */
const createLane = (database: Database) => {
  let waiting: Member[] = []
  let running = 0
  const alone = createAloneRunner(database)
  const isolatedUntilMs = new Map<string, number>()
  const deferral: Deferral = {
    retryLater: (member) => {
      if (member.skipped >= maxSkipped) return alone.add(member)
      const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** member.skipped)
      setTimeout(() => add({ ...member, skipped: member.skipped + 1 }), waitMs)
    },
    isolate: (member) => {
      isolatedUntilMs.set(member.locks.sellerId, performance.now() + isolationMs)
      alone.add(member)
    },
    runAloneIfIsolated: (member) => {
      const isIsolated = performance.now() < (isolatedUntilMs.get(member.locks.sellerId) ?? 0)
      if (isIsolated) alone.add(member)
      return isIsolated
    },
  }

  /** At most one member for each order: within one transaction they would not wait for each other. */
  const takeNext = (): readonly Member[] => {
    const orders = new Set<string>()
    const next: Member[] = []
    const left: Member[] = []
    for (const member of waiting) {
      const order = JSON.stringify([member.locks.sellerId, member.locks.purchaseOrderId])
      if (next.length === maxMembers || orders.has(order)) left.push(member)
      else next.push(member)
      orders.add(order)
    }
    waiting = left
    return next
  }
  const run = async (): Promise<void> => {
    while (waiting.length >= (running === 1 ? 1 : minConcurrentGroup)) await commitGroup(database, takeNext(), deferral)
    running -= 1
  }
  const add = (member: Member): void => {
    waiting.push(member)
    if (running === maxGroups || (running > 0 && waiting.length < minConcurrentGroup)) return
    running += 1
    // Members of the same turn of the event loop join this group. `commitGroup` never rejects.
    setImmediate(() => void run())
  }
  return { add }
}

type Lanes = Readonly<Record<CommitLane, ReturnType<typeof createLane>>>

const lanesByDatabase = new WeakMap<Database, Lanes>()

const lanesFor = (database: Database): Lanes => {
  const lanes = lanesByDatabase.get(database) ?? { intents: createLane(database), results: createLane(database) }
  lanesByDatabase.set(database, lanes)
  return lanes
}

/**
 * Does work on one order and one command in a transaction, as `database.transaction` does, but in a group with concurrent work: batched statements are
 * sent once for the group (`runInLockstep`). Work whose rows are locked is retried, and later waits alone; work that fails its group runs alone, as does
 * all work of its seller for a while. The work may run more than once, and must have no effect outside of its transaction.
 *
 * @throws what the work throws, or the error of the commit
 */
export const commitTogether = <Result>(
  database: Database,
  lane: CommitLane,
  locks: GroupLocks,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    let result: { readonly value: Result } | null = null
    lanesFor(database)[lane].add({
      locks,
      work: async (transaction) => {
        result = { value: await work(transaction) }
      },
      committed: () => {
        if (result === null) reject(new Error(`no work was done for command ${locks.commandId} before the commit`))
        else resolve(result.value)
      },
      failed: reject,
      skipped: 0,
    })
  })
