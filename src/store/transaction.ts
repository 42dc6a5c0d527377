import type pg from 'pg'
import type { ChangeRecord } from '../domain/changes/catalogue.ts'
import { sqlStateOf } from './faults.ts'
import type { Prisma, PrismaClient } from './generated/client.ts'
import { lending, type SharedPool } from './pool.ts'
import { type Answer, askingBy, asStatementFailed, StatementFailed, sendStatement } from './statement.ts'

// The counter's row lock is held until commit, so numbers follow the order of commits. It must be the last lock that a
// transaction takes: two transactions that each append and then lock orders could wait for each other. The statement goes with the COMMIT
// in one message, so that no process can keep the lock by not going on.
const appendChanges = (changes: string): string => `
  WITH told AS (
    SELECT * FROM jsonb_to_recordset(${changes}::jsonb) AS t(ordinal int, seller_id text, type text, purchase_order_id text,
      line_number text, return_order_id text, command_id text, data jsonb)
  ), counter AS (
    UPDATE tallyman.change_counter SET last_seq = last_seq + (SELECT count(*) FROM told) RETURNING last_seq
  ), written AS (
    INSERT INTO warehouse.changes (seq, seller_id, type, purchase_order_id, line_number, return_order_id, command_id, data, occurred_at)
    SELECT counter.last_seq - (SELECT count(*) FROM told) + told.ordinal, told.seller_id, told.type, told.purchase_order_id,
      told.line_number, told.return_order_id, told.command_id, told.data, now()
    FROM told, counter
    RETURNING 1
  )
  SELECT pg_notify('tallyman_changes', '') FROM counter`

/** A text as a literal of SQL, whatever the server takes backslashes for. `pg` has one too, which goes character by character: too slow for megabytes. */
const literalOf = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** What commits a transaction and appends its changes, in one message. */
const commitWith = (changes: readonly ChangeRecord[]): string => {
  if (changes.length === 0) return 'COMMIT'
  const rows = changes.map((change, index) => ({
    ordinal: index + 1,
    seller_id: change.sellerId,
    type: change.type,
    purchase_order_id: change.purchaseOrderId ?? null,
    line_number: change.lineNumber ?? null,
    return_order_id: change.returnOrderId ?? null,
    command_id: change.commandId ?? null,
    data: change.data,
  }))
  return `${appendChanges(literalOf(JSON.stringify(rows)))};\nCOMMIT`
}

/** As Postgres says it of a transaction that it has ended for its length. */
const tooLong = (timeoutMs: number): StatementFailed =>
  new StatementFailed('25P04', `the transaction took longer than ${timeoutMs} ms`)

/** A statement failed only because one before it had. */
const isConsequence = (error: unknown): boolean => sqlStateOf(error) === '25P02'

/** A connection of the pool; one that comes too late is given back. */
const takeConnection = async (pool: SharedPool, maxWaitMs: number | undefined): Promise<pg.PoolClient> => {
  const taken = pool.connect()
  if (maxWaitMs === undefined) return taken
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), maxWaitMs)
  })
  const connection = await Promise.race([taken, late]).finally(() => clearTimeout(timer))
  if (connection !== null) return connection
  taken.then(
    (unused) => unused.release(),
    () => undefined,
  )
  throw new Error('timeout exceeded when trying to connect')
}

/** The typed client, each of whose calls is made by `call` with the client that it shall use. */
const typedThrough = (
  prisma: PrismaClient,
  call: (ask: (client: Prisma.TransactionClient) => Promise<unknown>) => Promise<unknown>,
): Prisma.TransactionClient =>
  new Proxy(prisma, {
    get: (_, model) =>
      new Proxy(
        {},
        {
          get:
            (_nothing, operation) =>
            (...given: readonly unknown[]) =>
              call((client) => Reflect.apply(Reflect.get(Reflect.get(client, model), operation), undefined, given)),
        },
      ),
  })

/** Limits of one transaction, in milliseconds. */
export interface TransactionOptions {
  /** Longest wait for a connection. */
  readonly maxWaitMs?: number
  /** Longest life of the transaction. */
  readonly timeoutMs?: number
  /**
   * Its first statement writes nothing, it only reads or locks: it is sent together with BEGIN, which saves a round trip. Should BEGIN fail, that
   * statement may have been done alone.
   */
  readonly locksFirst?: boolean
  /** Longest wait for one lock; left out: that of the session. Whole milliseconds. */
  readonly lockWaitMs?: number
}

/** A parameter that can always be sent. */
type Sendable = string | number | null | readonly string[]

/** What a transaction answers once it is committed. */
export interface Later<Answer> {
  /** Rejects only where the transaction fails as well. */
  readonly onceCommitted: () => Promise<Answer>
}

/** What can be asked within a transaction. */
export interface TransactionScope {
  readonly prisma: Prisma.TransactionClient
  query<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>
  execute(sql: string, ...parameters: readonly unknown[]): Promise<number>
  /** Sends a statement whose answer nobody waits for; if it fails nothing is committed. Its parameters are such as can always be sent. */
  send(sql: string, ...parameters: readonly Sendable[]): void
  /** As `send`, of a statement whose rows count once the transaction is committed; before that they must not be waited for. */
  sendForLater<Row>(sql: string, ...parameters: readonly Sendable[]): Later<readonly Row[]>
  /** Appends one row to `warehouse.changes`, with the commit. */
  record(change: ChangeRecord): void
}

interface Parts {
  readonly pool: SharedPool
  readonly prisma: PrismaClient
  /** Whether statements that are sent often stay planned on the server. */
  readonly prepare: boolean
  /** Statements with which each transaction begins, known once there is a connection; empty: none. */
  readonly beginning: () => string
  /** Told of errors of the connection, which nobody awaits. */
  readonly onError: (error: Error) => void
}

/**
 * Commits when `work` resolves, rolls back when it throws.
 *
 * @throws what `work` throws; StatementFailed where the transaction cannot begin, takes too long or cannot be committed
 */
export const runTransaction = async <Result>(
  { pool, prisma, prepare, beginning, onError }: Parts,
  work: (scope: TransactionScope) => Promise<Result>,
  { maxWaitMs, timeoutMs = 30_000, locksFirst = false, lockWaitMs }: TransactionOptions,
): Promise<Result> => {
  const connection = await takeConnection(pool, maxWaitMs).catch((error: unknown) => {
    throw asStatementFailed(error)
  })
  const simply = (sql: string) => sendStatement(connection, sql, [], { prepare: false })
  /** Why nothing more may be asked, what undoes the rest, and what failed first. */
  const ending: { over: Error | null; rolledBack: Promise<void> | null; cause: unknown } = {
    over: null,
    rolledBack: null,
    cause: null,
  }
  let given = false
  let isOutOfStep = false
  const giveBack = (broken: boolean): void => {
    if (given) return
    given = true
    connection.removeListener('error', onError)
    connection.release(broken || isOutOfStep)
  }
  const onOutOfStep = (): void => {
    isOutOfStep = true
  }
  const rollBack = async (): Promise<void> => {
    try {
      await simply('ROLLBACK')
      giveBack(false)
    } catch {
      // The connection is lost: the server rolls back by itself, and the pool drops it.
      giveBack(true)
    }
  }
  const expiry = setTimeout(() => {
    ending.over = tooLong(timeoutMs)
    ending.rolledBack = rollBack()
  }, timeoutMs)
  connection.on('error', onError)
  try {
    const lockWait = lockWaitMs === undefined ? '' : `SET LOCAL lock_timeout = ${lockWaitMs}`
    const begun = simply(['BEGIN', beginning(), lockWait].filter((statement) => statement !== '').join('; '))
    if (locksFirst) begun.catch(() => undefined)
    else await begun
    let mayGoAhead = locksFirst
    const inside = async <Answered>(ask: () => Promise<Answered>): Promise<Answered> => {
      if (!mayGoAhead) await begun
      mayGoAhead = false
      if (ending.over !== null) throw ending.over
      try {
        const [answered] = await Promise.all([ask(), begun])
        return answered
      } catch (error) {
        if (!isConsequence(error)) ending.cause ??= error
        throw error
      }
    }
    const ask = <Row>(sql: string, parameters: readonly unknown[]) =>
      inside(() => sendStatement<Row>(connection, sql, parameters, { prepare, onOutOfStep }))
    const sent: Promise<unknown>[] = []
    const told: ChangeRecord[] = []
    const sendUnawaited = <Row>(sql: string, parameters: readonly unknown[]): Promise<Answer<Row>> => {
      const answer = ask<Row>(sql, parameters)
      // Its failure is that of the commit.
      answer.catch(() => undefined)
      sent.push(answer)
      return answer
    }
    const result = await work({
      ...askingBy(ask),
      send: (sql, ...parameters) => void sendUnawaited(sql, parameters),
      sendForLater: <Row>(sql: string, ...parameters: readonly Sendable[]) => {
        const answer = sendUnawaited<Row>(sql, parameters)
        return { onceCommitted: async () => (await answer).rows }
      },
      prisma: typedThrough(prisma, (typed) =>
        inside(() =>
          lending(
            connection,
            () => ending.over,
            () => prisma.$transaction(typed, { timeout: timeoutMs }),
          ),
        ),
      ),
      record: (change) => told.push(change),
    })
    await begun
    if (ending.over !== null) throw ending.over
    ending.over = new Error('this transaction has ended')
    clearTimeout(expiry)
    // A COMMIT after a statement that failed commits nothing, so it goes without waiting for what was sent.
    const commit = simply(commitWith(told))
    const ends = await Promise.allSettled([...sent, commit])
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    const { command } = await commit
    if (command !== 'COMMIT') throw new StatementFailed('', 'a statement of the transaction had failed: nothing was committed')
    return result
  } catch (error) {
    ending.over ??= new Error('this transaction has ended')
    ending.rolledBack ??= rollBack()
    throw isConsequence(error) ? (ending.cause ?? error) : error
  } finally {
    clearTimeout(expiry)
    await ending.rolledBack
    giveBack(false)
  }
}
