import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { readOrderWork } from '../../src/store/commands/command-ledgers.ts'
import { lockCommand } from '../../src/store/commands/command-steps.ts'
import { commitTogether, type GroupLocks } from '../../src/store/commit/commit-group.ts'
import { runInLockstep } from '../../src/store/commit/lockstep.ts'
import { batchQuery, runPipelined } from '../../src/store/commit/query-batching.ts'
import { type Database, openDatabase, type SqlRunner, type Transaction } from '../../src/store/db/database.ts'
import { isDatabaseUnavailable } from '../../src/store/db/errors.ts'
import { lockOrder } from '../../src/store/orders/orders.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import { numbered } from '../support/changes.ts'
import { acknowledgement, storeCommand } from '../support/commands.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { findVocabulary } from '../support/vocabulary.ts'

const sellerId = 's-1'
const orders = ['1', '2', '3', '4', '5']
const stage = withDatabase({ each: 'test', connections: 8 })
let locks: GroupLocks[]

beforeEach(async () => {
  locks = []
  for (const purchaseOrderId of orders) {
    await seedOrder(stage.database, sellerId, purchaseOrder(purchaseOrderId, [orderLine('1', 'A', 1)]))
    const commandId = await storeCommand(stage.database, { sellerId, purchaseOrderId }, acknowledgement)
    locks.push({ sellerId, purchaseOrderId, commandId })
  }
})

const buildLocks = (order: string): GroupLocks => {
  const found = locks.find(({ purchaseOrderId }) => purchaseOrderId === order)
  if (found === undefined) throw new Error(`there is no order ${order}`)
  return found
}

/** The number of the transaction in which it was done; leaves a change of the order behind. */
const noting =
  (order: string) =>
  async (tx: Transaction): Promise<string> => {
    tx.record({ sellerId, type: 'order.missing', purchaseOrderId: order, data: {} })
    const [row] = await tx.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid')
    return row?.xid ?? ''
  }

const noted = async (): Promise<readonly (string | null)[]> =>
  (
    await (await numbered(stage.database)).prisma.change.findMany({ where: { type: 'order.missing' }, orderBy: { seq: 'asc' } })
  ).map(({ purchaseOrderId }) => purchaseOrderId)

/** Numbers of the feed, which must have no gap. */
const expectNoGap = async (): Promise<void> => {
  const numbers = (await (await numbered(stage.database)).prisma.change.findMany({ orderBy: { seq: 'asc' } })).map(
    ({ seq }) => seq,
  )
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0n) + BigInt(index)))
}

const commit = (order: string, work: (tx: Transaction) => Promise<string> = noting(order), database = stage.database) =>
  commitTogether(database, 'results', buildLocks(order), work)

describe('what is committed at the same time', () => {
  test('shares one transaction, and each gets its own answer', async () => {
    const answers = await Promise.all(
      orders.map((order) =>
        commit(order, async (tx) => {
          const xid = await noting(order)(tx)
          const locked = await lockOrder(tx, sellerId, order)
          return `${xid} ${locked?.value.purchaseOrderId}`
        }),
      ),
    )
    const [xid = ''] = answers[0]?.split(' ') ?? []
    expect(answers).toEqual(orders.map((order) => `${xid} ${order}`))
    expect(await noted()).toEqual(orders)
    await expectNoGap()
  })

  test('is gathered while a group before commits, and never waits for more to come', async () => {
    const held = Promise.withResolvers<void>()
    const first = commit('1', async (tx) => {
      const xid = await noting('1')(tx)
      await held.promise
      return xid
    })
    await eventually(async () => {
      const open = await stage.database.query(
        `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
      )
      expect(open).toHaveLength(1)
    })
    const others = ['2', '3'].map((order) => commit(order))
    held.resolve()
    const [xid, second, third] = await Promise.all([first, ...others])
    expect(second).not.toBe(xid)
    expect(third).toBe(second)
  })

  test('leaves connections to others while another transaction holds the orders of one seller', async () => {
    const greedy = 's-greedy'
    const many: GroupLocks[] = []
    for (let number = 100; number < 120; number += 1) {
      const purchaseOrderId = `${number}`
      await seedOrder(stage.database, greedy, purchaseOrder(purchaseOrderId, [orderLine('1', 'A', 1)]))
      const commandId = await storeCommand(stage.database, { sellerId: greedy, purchaseOrderId }, acknowledgement)
      many.push({ sellerId: greedy, purchaseOrderId, commandId })
    }
    const holder = new pg.Client({ connectionString: stage.url })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM warehouse.orders WHERE seller_id = $1 FOR UPDATE', [greedy])
    const shown = async (tx: Transaction, order: string): Promise<string> => {
      await lockOrder(tx, greedy, order)
      return noting(order)(tx)
    }
    const held = Promise.all(
      many.map((own) => commitTogether(stage.database, 'results', own, (tx) => shown(tx, own.purchaseOrderId))),
    )
    // Until one of them waits in the queue of its lock: the others have asked again and again by then.
    await eventually(async () => {
      const waiting = await stage.database.query(
        `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      expect(waiting).toHaveLength(1)
    })
    await commit('1')
    await holder.query('COMMIT')
    await holder.end()
    await held
    expect(await noted()).toHaveLength(many.length + 1)
    await expectNoGap()
  })

  test('does not wait for a running group when many wait; few do', async () => {
    const many: string[] = []
    for (let number = 100; number < 150; number += 1) {
      const purchaseOrderId = `${number}`
      await seedOrder(stage.database, sellerId, purchaseOrder(purchaseOrderId, [orderLine('1', 'A', 1)]))
      const commandId = await storeCommand(stage.database, { sellerId, purchaseOrderId }, acknowledgement)
      locks.push({ sellerId, purchaseOrderId, commandId })
      many.push(purchaseOrderId)
    }
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const slow = commit('1', async (tx) => {
      begun.resolve()
      await held.promise
      return noting('1')(tx)
    })
    await begun.promise
    const answers = await Promise.all(many.slice(0, 40).map((order) => commit(order)))
    expect(new Set(answers).size).toBe(1)
    const few = Promise.all(many.slice(40).map((order) => commit(order)))
    expect(await Promise.race([few, stage.database.query('SELECT 1 AS one')])).toEqual([{ one: 1 }])
    held.resolve()
    expect(new Set([...(await few), await slow]).size).toBe(2)
    await expectNoGap()
  })

  test('of the same order comes one after another', async () => {
    const [a, b, other] = await Promise.all([commit('1'), commit('1'), commit('2')])
    expect(b).not.toBe(a)
    expect(other).toBe(a)
    expect((await noted()).toSorted()).toEqual(['1', '1', '2'])
  })

  test.each([
    ['a statement of it fails', (tx: Transaction) => tx.query('SELECT 1 / 0').then(String)],
    ['it throws', () => Promise.reject(new Error('division by zero'))],
  ])('does not fail for the others when of one %s', async (_what, fails) => {
    const ends = await Promise.allSettled(
      orders.map((order) =>
        commit(order, async (tx) => {
          const xid = await noting(order)(tx)
          if (order === '3') await fails(tx)
          return xid
        }),
      ),
    )
    expect(ends.map(({ status }) => status)).toEqual(orders.map((order) => (order === '3' ? 'rejected' : 'fulfilled')))
    const failed = ends[2]
    expect(failed?.status === 'rejected' && String(failed.reason)).toContain('division by zero')
    expect((await noted()).toSorted()).toEqual(['1', '2', '4', '5'])
    await expectNoGap()
  })

  test('is kept apart from what a seller commits that has just failed by itself', async () => {
    const failing = 's-failing'
    const many: GroupLocks[] = []
    for (let number = 100; number < 120; number += 1) {
      const purchaseOrderId = `${number}`
      await seedOrder(stage.database, failing, purchaseOrder(purchaseOrderId, [orderLine('1', 'A', 1)]))
      const commandId = await storeCommand(stage.database, { sellerId: failing, purchaseOrderId }, acknowledgement)
      many.push({ sellerId: failing, purchaseOrderId, commandId })
    }
    const runs = { failing: 0, others: 0 }
    // What Postgres cannot store.
    const unstorable = (tx: Transaction): Promise<unknown> => {
      runs.failing += 1
      return tx.query('SELECT $1::text AS text', '\u0000')
    }
    const round = async (): Promise<readonly string[]> => {
      const failed = many.map((own) => commitTogether(stage.database, 'results', own, unstorable))
      const done = orders.map((order) =>
        commit(order, (tx) => {
          runs.others += 1
          return noting(order)(tx)
        }),
      )
      for (const { status } of await Promise.allSettled(failed)) expect(status).toBe('rejected')
      return Promise.all(done)
    }
    await round()
    // One is found by halves; the others of its seller are not tried in company any more.
    expect(runs.failing).toBeLessThan(4 * many.length)
    runs.failing = 0
    runs.others = 0
    const [xid = '', ...others] = await round()
    expect(others).toEqual(Array(others.length).fill(xid))
    expect(runs).toEqual({ failing: many.length, others: orders.length })
    await expectNoGap()
  })

  test('fails for all when the connection is lost, and nothing is done again', async () => {
    let runs = 0
    const ends = await Promise.allSettled(
      orders.map((order) =>
        commit(order, async (tx) => {
          runs += 1
          const xid = await noting(order)(tx)
          if (order === '3') await tx.query('SELECT pg_terminate_backend(pg_backend_pid())')
          return xid
        }),
      ),
    )
    expect(ends.map((end) => end.status === 'rejected' && isDatabaseUnavailable(end.reason))).toEqual(orders.map(() => true))
    expect(runs).toBe(orders.length)
    expect(await noted()).toEqual([])
  })

  test('does not wait for an order that another transaction holds', async () => {
    const holder = new pg.Client({ connectionString: stage.url })
    await holder.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('SELECT 1 FROM warehouse.orders WHERE purchase_order_id = $1 FOR UPDATE', ['2'])
      const waiting = commit('2', async (tx) => {
        await lockOrder(tx, sellerId, '2')
        return noting('2')(tx)
      })
      const others = await Promise.all(['1', '3', '4'].map((order) => commit(order)))
      expect(new Set(others).size).toBe(1)
      expect((await noted()).toSorted()).toEqual(['1', '3', '4'])
      // And no later group either.
      expect(await commit('5')).not.toBe(others[0])
      await holder.query('COMMIT')
      expect(others).not.toContain(await waiting)
      expect((await noted()).toSorted()).toEqual(orders)
    } finally {
      await holder.end()
    }
  })

  test('on an order that is not stored is done alone', async () => {
    const unknown = { ...buildLocks('1'), purchaseOrderId: 'unknown' }
    const [alone, other] = await Promise.all([
      commitTogether(stage.database, 'results', unknown, noting('unknown')),
      commitTogether(stage.database, 'results', buildLocks('2'), noting('2')),
    ])
    expect(alone).not.toBe(other)
    expect((await noted()).toSorted()).toEqual(['2', 'unknown'])
  })

  test('by two processes concurrently is done once for each, without a deadlock', async () => {
    const other = openDatabase({ findVocabulary, url: stage.url, connections: 8 })
    try {
      const rounds = 12
      const claim = (database: Database, order: string) =>
        commitTogether(database, 'intents', buildLocks(order), async (tx) => {
          if ((await lockOrder(tx, sellerId, order)) === null) throw new Error('the order is gone')
          const command = { state: 'pending', attempts: 0, decisions: 0, leasedUntil: null } as const
          if (!(await lockCommand(tx, buildLocks(order).commandId, command))) return 'lost'
          const changed = await tx.execute(
            `UPDATE tallyman.commands SET reason = COALESCE(reason, '') || '.' WHERE id = $1`,
            buildLocks(order).commandId,
          )
          return changed === 1 ? 'won' : 'nothing'
        })
      for (let round = 0; round < rounds; round += 1) {
        // In opposite orders, so that locks that waited for each other would meet.
        const answers = await Promise.all([
          ...orders.map((order) => claim(stage.database, order)),
          ...orders.toReversed().map((order) => claim(other, order)),
        ])
        expect(new Set(answers)).toEqual(new Set(['won']))
      }
      const rows = await stage.database.prisma.command.findMany({ select: { reason: true } })
      expect(rows.map(({ reason }) => reason?.length)).toEqual(orders.map(() => 2 * rounds))
    } finally {
      await other.close()
    }
  })
})

describe('questions that are asked at the same time', () => {
  const watching = (sql: Transaction, seen: string[]): Transaction => ({
    ...sql,
    query: <Row>(text: string, ...parameters: readonly unknown[]) => {
      seen.push(text)
      return sql.query<Row>(text, ...parameters)
    },
  })

  test('are one statement within a transaction that is shared', async () => {
    const seen: string[] = []
    const read = await stage.database.transaction((tx) =>
      runInLockstep(
        watching(tx, seen),
        [...orders, 'unknown'].map((order) => async (own) => {
          const before = await readOrder(own, sellerId, order)
          const again = await readOrder(own, sellerId, order)
          return [before?.purchaseOrderId ?? null, again?.purchaseOrderId ?? null]
        }),
      ),
    )
    expect(read).toEqual([...orders.map((order) => [order, order]), [null, null]])
    expect(seen).toHaveLength(2)
  })

  test('are one statement also where some of them ask something else before', async () => {
    const seen: string[] = []
    await stage.database.transaction((tx) =>
      runInLockstep(
        watching(tx, seen),
        orders.map((order, index) => async (own) => {
          for (let times = 0; times < index; times += 1) await own.query('SELECT 1 AS one')
          await readOrder(own, sellerId, order)
        }),
      ),
    )
    expect(seen.filter((text) => text.includes('warehouse.orders'))).toHaveLength(1)
  })

  test('are one statement each where every task sends two concurrently, and then another', async () => {
    const seen: string[] = []
    const read = await stage.database.transaction((tx) =>
      runInLockstep(
        watching(tx, seen),
        orders.map((order) => async (own) => {
          const [stored, work] = await runPipelined(
            own,
            () => readOrder(own, sellerId, order),
            () => readOrderWork(own, sellerId, order),
          )
          const again = await readOrder(own, sellerId, order)
          return [stored?.purchaseOrderId, work.ledgerCommands.length, again?.purchaseOrderId]
        }),
      ),
    )
    expect(read).toEqual(orders.map((order) => [order, 1, order]))
    expect(seen).toHaveLength(3)
  })

  test('of two concurrent queries, the one that fails ends the other, and keeps no task waiting', async () => {
    const failing = stage.database.transaction((tx) =>
      runInLockstep(
        tx,
        orders.map((order, index) => async (own) => {
          await runPipelined(
            own,
            () => readOrder(own, sellerId, order),
            async () => {
              if (index === 2) throw new Error('it has no second')
            },
          )
          return readOrder(own, sellerId, order)
        }),
      ),
    )
    await expect(failing).rejects.toThrow('it has no second')
    const thrownAtOnce = stage.database.transaction((tx) =>
      runInLockstep(
        tx,
        orders.map((order, index) => async (own) => {
          const neither = (): Promise<null> => {
            throw new Error('it asks nothing')
          }
          if (index === 2) await runPipelined(own, neither, () => readOrder(own, sellerId, order))
          return readOrder(own, sellerId, order)
        }),
      ),
    )
    await expect(thrownAtOnce).rejects.toThrow('it asks nothing')
  })

  test('end for each by themselves when one of them cannot be asked', async () => {
    let statements = 0
    const inverse = batchQuery(async (sql: SqlRunner, numbers: readonly number[]) => {
      statements += 1
      const rows = await sql.query<{ inverse: number }>(
        'SELECT (1 / n)::int AS inverse FROM unnest($1::int[]) WITH ORDINALITY AS t(n, place) ORDER BY place',
        numbers,
      )
      return rows.map((row) => row.inverse)
    })
    expect(await Promise.all([1, 1, -1].map((number) => inverse(stage.database, number)))).toEqual([1, 1, -1])
    expect(statements).toBe(1)
    const ends = await Promise.allSettled([1, 0, -1].map((number) => inverse(stage.database, number)))
    expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : 'failed'))).toEqual([1, 'failed', -1])
  })
})
