import { PrismaPg } from '@prisma/adapter-pg'
import type { FindVocabulary } from '../../domain/values/vocabulary.ts'
import { createNumbering, numberChanges } from '../changes/change-numbers.ts'
import { createQueryBatcher, type QueryBatcher } from '../commit/query-batching.ts'
import { type Prisma, PrismaClient } from '../generated/client.ts'
import { SharedPool } from './pool.ts'
import { valueTypes } from './postgres-values.ts'
import { boundSession, boundTransactions, type SessionBounds, UtcClient } from './session.ts'
import { buildQueryMethods, sendStatement } from './statement.ts'
import { runTransaction, type TransactionOptions, type TransactionScope } from './transaction.ts'

/**
 * Queries Postgres, inside or outside of a transaction: by typed queries, or by SQL with positional parameters (`$1`) where typed queries cannot
 * express it (docs/decisions/0011-postgres-has-one-pool-for-typed-queries-and-sql.md). For `store` only.
 */
export interface SqlRunner {
  readonly prisma: Prisma.TransactionClient
  /** Rows of a query. The caller declares their type; `postgres-values.ts` parses values: bigint columns as `bigint`, numeric as text. */
  query<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>
  /** The number of rows that a statement affected. */
  execute(sql: string, ...parameters: readonly unknown[]): Promise<number>
  /** The vocabulary of a seller's marketplace. */
  readonly findVocabulary: FindVocabulary
  /** Batches concurrent queries (`query-batching.ts`). Without it every query is sent on its own. */
  readonly batcher?: QueryBatcher
}

/** An open transaction. Changes recorded through it are stored with the commit, and numbered after it. */
export interface Transaction extends SqlRunner, TransactionScope {
  /** The order whose row is locked already. Without it, code that needs the lock acquires it. */
  readonly held?: HeldOrder
}

/** A stored order whose row the transaction locked before its work began. */
export interface HeldOrder {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** The connection pool and its transactions; the only access to Postgres except LISTEN (`listener.ts`). */
export interface Database extends SqlRunner {
  readonly prisma: PrismaClient
  /** Commits when `work` resolves, rolls back when it throws. `work` may run only once and must not swallow errors of statements. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  close(): Promise<void>
}

/** Options of {@link openDatabase}. */
export interface DatabaseOptions {
  readonly url: string
  /** The vocabulary of a seller's marketplace, for statements that compare its terms. */
  readonly findVocabulary: FindVocabulary
  /** Size of the pool. */
  readonly connections?: number
  /** Called with errors of idle connections, which no query reports. */
  readonly onError?: (error: Error) => void
  /** Interval for numbering recorded changes, besides after each commit: a process may die between the two. In milliseconds; default: never. */
  readonly numberEveryMs?: number
  /** Called when changes could not be numbered yet. */
  readonly onUnnumbered?: (error: unknown) => void
  /** Timeouts of sessions; default: those of the daemon. */
  readonly bounds?: SessionBounds
  /** Whether to use prepared statements; default: true. A pooler may reject them. */
  readonly prepare?: boolean
  /** Whether connections go through a pooler in transaction mode: timeouts are then set for each transaction, and nothing is set for a session. */
  readonly pooled?: boolean
}

const connectionTimeoutMs = 10_000

/** Opens a pool; connects on first use. */
export const openDatabase = ({
  url,
  findVocabulary,
  connections = 10,
  onError = () => undefined,
  numberEveryMs,
  onUnnumbered = () => undefined,
  bounds,
  prepare = true,
  pooled = false,
}: DatabaseOptions): Database => {
  const inTransactions = pooled ? boundTransactions(bounds) : null
  const pool = new SharedPool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectionTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'tallyman',
    Client: UtcClient,
    types: valueTypes,
    // Statements are sent without waiting for the result of the statement before.
    pipeline: true,
    onConnect: (client) => (inTransactions === null ? boundSession(client, bounds) : inTransactions.bound(client)),
  })
  // The typed client removes its own listener when it is closed, and a connection may fail after that.
  pool.on('error', onError)
  // The other error formats quote the call with its arguments, which may contain a buyer's data.
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' })
  let closed: Promise<void> | null = null
  const send = <Row>(sql: string, parameters: readonly unknown[]) => sendStatement<Row>(pool, sql, parameters, { prepare })
  const queryMethods = buildQueryMethods(send)
  const numbering = createNumbering(() => numberChanges(queryMethods), { everyMs: numberEveryMs ?? null, onError: onUnnumbered })
  return {
    ...queryMethods,
    prisma,
    findVocabulary,
    batcher: createQueryBatcher(),
    transaction: (work, options = {}) =>
      runTransaction(
        { pool, prisma, prepare, beginning: inTransactions?.statement ?? (() => ''), onError, onRecorded: numbering.recorded },
        (scope) => work({ ...scope, findVocabulary }),
        options,
      ),
    close: () => {
      closed ??= numbering
        .close()
        .then(() => prisma.$disconnect())
        .then(() => pool.end())
      return closed
    },
  }
}
