import type { Database, HeldOrder, SqlRunner, Transaction } from './database.ts'
import { isDatabaseAway } from './faults.ts'
import { inStep } from './in-step.ts'
import { prepared } from './prepared.ts'
import { createTurns } from './turns.ts'

/** What is committed together: intents with intents, results with results. */
export type CommitLane = 'intents' | 'results'

/** What a member of a group locks before it begins. */
export interface GroupLocks extends HeldOrder {
  readonly commandId: string
}

/** Work that wants to be committed with that of others, whatever its result. */
interface Member {
  readonly locks: GroupLocks
  /** Does the work, and keeps its result until it is committed. */
  readonly work: (transaction: Transaction) => Promise<void>
  /** The work was committed. */
  readonly committed: () => void
  readonly failed: (error: unknown) => void
  /** How often somebody else held its order or command. */
  readonly passedOver: number
}

/** Who is not done with its group. */
interface Rest {
  /** Its order or command is held by somebody else. */
  readonly passOver: (member: Member) => void
  /** It fails in company, and by itself. */
  readonly leaveAlone: (member: Member) => void
  /** Does without company what is of a seller of whom something has just failed so; whether it is. */
  readonly keepApart: (member: Member) => boolean
}

/** More than these would keep their locks for long, and one that fails costs the others more. */
const mostMembers = 64

/** Groups of a lane that are under way at once: while Postgres works on one the process works on another. */
const mostGroups = 3

/** Members that run alone, each on a connection of its own, which waits for a lock: no more of a lane at once, and of a seller one. */
const mostAlone = 4

/** Whoever was passed over asks again after so long, twice as long each time, up to the longest. */
const firstAgainMs = 10
const longestAgainMs = 320
/** After so many times, or 2.5 s, it waits in the queue of its lock, where nobody overtakes it. */
const mostPassedOver = 12

/**
 * After something of a seller has failed by itself, what else it commits is done alone for so long: of a marketplace whose answers cannot be stored
 * each would break up a group of others.
 */
const apartMs = 10_000

/** Another group beside one that is under way has at least so many: small ones share little. */
const leastBeside = 32

// A row that somebody else holds is passed over: a group never waits for the order of one of its members. Who orders come to wait for each other
// cannot depend on the order in which they are locked here.
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

/** Those who do without company. The locks that one seller's members wait for must not take the connections of all. */
const createAlone = (database: Database) => {
  const turns = createTurns(mostAlone)
  const run = async (member: Member): Promise<void> => {
    const endTurn = await turns.take(member.locks.sellerId)
    await commitAlone(database, member)
    endTurn?.()
  }
  return { add: (member: Member): void => void run(member) }
}

/** Commits what can be, together; answers once everybody of them has been told. */
const commitGroup = async (database: Database, wanted: readonly Member[], rest: Rest): Promise<void> => {
  const members = wanted.filter((member) => !rest.keepApart(member))
  if (members.length === 0) return
  let grouped: readonly Member[] = members
  try {
    await database.transaction(
      async (transaction) => {
        const locked = await lockAll(transaction, members)
        grouped = members.filter(({ locks }) => locked.has(locks.commandId))
        // Who has to wait for a lock keeps nobody from the next group.
        for (const member of members) if (!locked.has(member.locks.commandId)) rest.passOver(member)
        await inStep(
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
    // Postgres is away for all of them. After a COMMIT whose answer is lost nothing may be done again blindly: the state of each command decides.
    if (isDatabaseAway(error)) {
      for (const { failed } of grouped) failed(error)
      return
    }
    await commitHalves(database, grouped, rest)
    return
  }
  for (const { committed } of grouped) committed()
}

/** One member must not fail the others, and is found in a few steps. */
const commitHalves = async (database: Database, members: readonly Member[], rest: Rest): Promise<void> => {
  const [only] = members
  if (only === undefined) return
  if (members.length === 1) {
    // It may have to wait for a lock now.
    rest.leaveAlone(only)
    return
  }
  const middle = Math.ceil(members.length / 2)
  await commitGroup(database, members.slice(0, middle), rest)
  await commitGroup(database, members.slice(middle), rest)
}

/** Gathers work while the groups before it commit; never waits for more to come. */
const createLane = (database: Database) => {
  let waiting: Member[] = []
  let under = 0
  const alone = createAlone(database)
  const apartUntilMs = new Map<string, number>()
  const rest: Rest = {
    passOver: (member) => {
      if (member.passedOver >= mostPassedOver) return alone.add(member)
      const againMs = Math.min(longestAgainMs, firstAgainMs * 2 ** member.passedOver)
      setTimeout(() => add({ ...member, passedOver: member.passedOver + 1 }), againMs)
    },
    leaveAlone: (member) => {
      apartUntilMs.set(member.locks.sellerId, performance.now() + apartMs)
      alone.add(member)
    },
    keepApart: (member) => {
      const isApart = performance.now() < (apartUntilMs.get(member.locks.sellerId) ?? 0)
      if (isApart) alone.add(member)
      return isApart
    },
  }

  /** Of one order only the first: they would not wait for each other within one transaction. */
  const takeNext = (): readonly Member[] => {
    const orders = new Set<string>()
    const next: Member[] = []
    const left: Member[] = []
    for (const member of waiting) {
      const order = JSON.stringify([member.locks.sellerId, member.locks.purchaseOrderId])
      if (next.length === mostMembers || orders.has(order)) left.push(member)
      else next.push(member)
      orders.add(order)
    }
    waiting = left
    return next
  }
  const run = async (): Promise<void> => {
    while (waiting.length >= (under === 1 ? 1 : leastBeside)) await commitGroup(database, takeNext(), rest)
    under -= 1
  }
  const add = (member: Member): void => {
    waiting.push(member)
    if (under === mostGroups || (under > 0 && waiting.length < leastBeside)) return
    under += 1
    // Whoever comes in the same turn of the event loop comes along. `commitGroup` tells its failures to the members.
    setImmediate(() => void run())
  }
  return { add }
}

type Lanes = Readonly<Record<CommitLane, ReturnType<typeof createLane>>>

const lanesOf = new WeakMap<Database, Lanes>()

const lanesFor = (database: Database): Lanes => {
  const made = lanesOf.get(database) ?? { intents: createLane(database), results: createLane(database) }
  lanesOf.set(database, made)
  return made
}

/**
 * Does work on one order and one command in a transaction, as `database.transaction` does, but together with what others want to commit at the
 * same time: their statements are sent once for all of them (`inStep`). What cannot be locked at once is tried again; what never can be, or fails in
 * company, is done alone, and so is for a moment what else its seller commits. The work may therefore run more than once, and never has an effect
 * without its commit.
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
        if (result === null) reject(new Error(`nothing was done for command ${locks.commandId} before the commit`))
        else resolve(result.value)
      },
      failed: reject,
      passedOver: 0,
    })
  })
