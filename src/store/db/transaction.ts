import type pg from 'pg'
import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import { insertUnnumbered, serializeChanges } from '../changes/change-numbers.ts'
import type { Prisma, PrismaClient } from '../generated/client.ts'
import { findSqlState } from './errors.ts'
import { lendConnection, type SharedPool } from './pool.ts'
import { asStatementFailed, buildQueryMethods, StatementFailed, type StatementResult, sendStatement } from './statement.ts'

/** The error of Postgres for a transaction that exceeded its timeout. */
const buildTimeoutError = (timeoutMs: number): StatementFailed =>
  new StatementFailed('25P04', `the transaction took longer than ${timeoutMs} ms`)

/** Whether a statement failed only because an earlier one of its transaction failed. */
const isConsequence = (error: unknown): boolean => findSqlState(error) === '25P02'

/** Gets a connection of the pool; a connection that arrives after `maxWaitMs` is released. */
const acquireConnection = async (pool: SharedPool, maxWaitMs: number | undefined): Promise<pg.PoolClient> => {
  const acquired = pool.connect()
  if (maxWaitMs === undefined) return acquired
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), maxWaitMs)
  })
  const connection = await Promise.race([acquired, late]).finally(() => clearTimeout(timer))
  if (connection !== null) return connection
  acquired.then(
    (unused) => unused.release(),
    () => undefined,
  )
  throw new Error('timeout exceeded when trying to connect')
}

/** A typed client that makes each call through `call`, which chooses the client to use. */
const interceptCalls = (
  prisma: PrismaClient,
  call: (operation: (client: Prisma.TransactionClient) => Promise<unknown>) => Promise<unknown>,
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

/** Options of one transaction; times in milliseconds. */
export interface TransactionOptions {
  /** Maximum wait for a connection. */
  readonly maxWaitMs?: number
  /** Maximum duration of the transaction; default: 30 s. */
  readonly timeoutMs?: number
  /**
   * The first statement only reads or locks. It is sent together with BEGIN, which saves a round trip. If BEGIN fails, the statement may have run outside
   * of the transaction.
   */
  readonly locksFirst?: boolean
  /** Maximum wait for one lock, a whole number; default: that of the session. */
  readonly lockWaitMs?: number
}

/** A parameter whose serialization cannot fail. */
type Sendable = string | number | null | readonly string[]

/** A result that is available once the transaction is committed. */
export interface Later<Result> {
  /** Rejects only if the transaction fails too. */
  readonly onceCommitted: () => Promise<Result>
}

/** Queries and statements within a transaction. */
export interface TransactionScope {
  readonly prisma: Prisma.TransactionClient
  query<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>
  execute(sql: string, ...parameters: readonly unknown[]): Promise<number>
  /** Sends a statement without waiting for its result; if it fails, the commit fails. */
  send(sql: string, ...parameters: readonly Sendable[]): void
  /** As `send`, for a statement whose rows are needed after the commit; they must not be awaited before that. */
  sendForLater<Row>(sql: string, ...parameters: readonly Sendable[]): Later<readonly Row[]>
  /** Appends one row to `warehouse.changes`, once the transaction is committed (`change-numbers.ts`). */
  record(change: ChangeRecord): void
}

interface Parts {
  readonly pool: SharedPool
  readonly prisma: PrismaClient
  /** Whether to use prepared statements. */
  readonly prepare: boolean
  /** The first statements of each transaction, known once there is a connection; empty: none. */
  readonly beginning: () => string
  /** Called with errors of the connection, which no query reports. */
  readonly onError: (error: Error) => void
  /** Called when changes were committed. */
  readonly onRecorded: () => void
}

/**
 * Commits when `work` resolves, rolls back when it throws.
 *
 * @throws what `work` throws; StatementFailed if the transaction cannot begin, exceeds its timeout or cannot be committed
 */
export const runTransaction = async <Result>(
  { pool, prisma, prepare, beginning, onError, onRecorded }: Parts,
  work: (scope: TransactionScope) => Promise<Result>,
  { maxWaitMs, timeoutMs = 30_000, locksFirst = false, lockWaitMs }: TransactionOptions,
): Promise<Result> => {
  const connection = await acquireConnection(pool, maxWaitMs).catch((error: unknown) => {
    throw asStatementFailed(error)
  })
  const sendSimple = (sql: string) => sendStatement(connection, sql, [], { prepare: false })
  /** The error of further statements once the transaction has ended, the ROLLBACK, and the first error of a statement. */
  const end: { rejection: Error | null; rolledBack: Promise<void> | null; cause: unknown } = {
    rejection: null,
    rolledBack: null,
    cause: null,
  }
  let isReleased = false
  let isStale = false
  const release = (isBroken: boolean): void => {
    if (isReleased) return
    isReleased = true
    connection.removeListener('error', onError)
    connection.release(isBroken || isStale)
  }
  const onStalePrepared = (): void => {
    isStale = true
  }
  const rollBack = async (): Promise<void> => {
    try {
      await sendSimple('ROLLBACK')
      release(false)
    } catch {
      // The connection is lost: the server rolls back by itself, and the pool drops the connection.
      release(true)
    }
  }
  const expiry = setTimeout(() => {
    end.rejection = buildTimeoutError(timeoutMs)
    end.rolledBack = rollBack()
  }, timeoutMs)
  connection.on('error', onError)
  try {
    const lockWait = lockWaitMs === undefined ? '' : `SET LOCAL lock_timeout = ${lockWaitMs}`
    const begun = sendSimple(['BEGIN', beginning(), lockWait].filter((statement) => statement !== '').join('; '))
    if (locksFirst) begun.catch(() => undefined)
    else await begun
    let maySendWithBegin = locksFirst
    const inside = async <Queried>(query: () => Promise<Queried>): Promise<Queried> => {
      if (!maySendWithBegin) await begun
      maySendWithBegin = false
      if (end.rejection !== null) throw end.rejection
      try {
        const [queried] = await Promise.all([query(), begun])
        return queried
      } catch (error) {
        if (!isConsequence(error)) end.cause ??= error
        throw error
      }
    }
    const send = <Row>(sql: string, parameters: readonly unknown[]) =>
      inside(() => sendStatement<Row>(connection, sql, parameters, { prepare, onStalePrepared }))
    const unawaited: Promise<unknown>[] = []
    const changes: ChangeRecord[] = []
    const sendUnawaited = <Row>(sql: string, parameters: readonly unknown[]): Promise<StatementResult<Row>> => {
      const sent = send<Row>(sql, parameters)
      // The commit reports its failure.
      sent.catch(() => undefined)
      unawaited.push(sent)
      return sent
    }
    const result = await work({
      ...buildQueryMethods(send),
      send: (sql, ...parameters) => void sendUnawaited(sql, parameters),
      sendForLater: <Row>(sql: string, ...parameters: readonly Sendable[]) => {
        const sent = sendUnawaited<Row>(sql, parameters)
        return { onceCommitted: async () => (await sent).rows }
      },
      prisma: interceptCalls(prisma, (operation) =>
        inside(() =>
          lendConnection(
            connection,
            () => end.rejection,
            () => prisma.$transaction(operation, { timeout: timeoutMs }),
          ),
        ),
      ),
      record: (change) => changes.push(change),
    })
    await begun
    if (end.rejection !== null) throw end.rejection
    end.rejection = new Error('this transaction has ended')
    clearTimeout(expiry)
    // COMMIT does not wait for the unawaited statements: after a failed one it commits nothing.
    const appended =
      changes.length > 0
        ? [sendStatement(connection, insertUnnumbered, [serializeChanges(changes)], { prepare, onStalePrepared })]
        : []
    const commit = sendSimple('COMMIT')
    const outcomes = await Promise.allSettled([...unawaited, ...appended, commit])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    const { command } = await commit
    if (command !== 'COMMIT') throw new StatementFailed('', 'a statement of the transaction failed: nothing was committed')
    if (changes.length > 0) onRecorded()
    return result
  } catch (error) {
    end.rejection ??= new Error('this transaction has ended')
    end.rolledBack ??= rollBack()
    throw isConsequence(error) ? (end.cause ?? error) : error
  } finally {
    clearTimeout(expiry)
    await end.rolledBack
    release(false)
  }
}
