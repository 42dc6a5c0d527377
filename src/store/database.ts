import { PrismaPg } from '@prisma/adapter-pg'
import type { VocabularyOf } from '../domain/vocabulary.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import { SharedPool } from './pool.ts'
import { valueTypes } from './postgres-values.ts'
import { boundSession, boundTransactions, type SessionBounds, UtcClient } from './session.ts'
import { askingBy, sendStatement } from './statement.ts'
import { createFreeGathering, type Gathering } from './together.ts'
import { runTransaction, type TransactionOptions, type TransactionScope } from './transaction.ts'

/**
 * Asks Postgres, inside or outside of a transaction: by typed queries, or by SQL with positional parameters (`$1`) where those cannot say it
 * (docs/decisions/0020-typed-or-by-hand.md). For `store` only.
 */
export interface SqlRunner {
  readonly prisma: Prisma.TransactionClient
  /** Rows of a query. The caller names their shape; values arrive as `postgres-values.ts` says: bigint columns as `bigint`, numeric as text. */
  query<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>
  /** Number of rows that a statement touched. */
  execute(sql: string, ...parameters: readonly unknown[]): Promise<number>
  /** In whose words the data of a seller is. */
  readonly vocabularyOf: VocabularyOf
  /** What is asked through it at the same time is asked together (`together.ts`). Left out: each asks for itself. */
  readonly gathering?: Gathering
}

/** A transaction under way. Changes recorded through it are appended as its last statement, in one message with the commit. */
export interface Transaction extends SqlRunner, TransactionScope {
  /** The order whose row is locked already. Left out: whoever needs its lock takes it. */
  readonly held?: HeldOrder
}

/** An order that is stored, and whose row a transaction has locked for a piece of work before it began. */
export interface HeldOrder {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** The connection pool and its transactions; the only way to Postgres but for LISTEN (`listener.ts`). */
export interface Database extends SqlRunner {
  readonly prisma: PrismaClient
  /** Commits when `work` resolves, rolls back when it throws. `work` may run only once and must not swallow errors of statements. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  close(): Promise<void>
}

/** How to reach Postgres. */
export interface DatabaseOptions {
  readonly url: string
  /** What statements need of the words of a seller's marketplace. */
  readonly vocabularyOf: VocabularyOf
  /** Size of the pool. */
  readonly connections?: number
  /** Told of errors on idle connections, which nobody awaits. */
  readonly onError?: (error: Error) => void
  /** How long the server lets a session block others; the bounds of the daemon by default. */
  readonly bounds?: SessionBounds
  /** Whether statements that are sent often stay planned on the server; by default they do. A pooler may refuse that. */
  readonly prepare?: boolean
  /** Whether a pooler in transaction mode is between: the bounds then hold for each transaction, and nothing is set in a session. */
  readonly pooled?: boolean
}

/** A connection that does not come is waited for no longer than this, in milliseconds. */
const longestWaitMs = 10_000

/** Opens a pool; connects on first use. */
export const openDatabase = ({
  url,
  vocabularyOf,
  connections = 10,
  onError = () => undefined,
  bounds,
  prepare = true,
  pooled = false,
}: DatabaseOptions): Database => {
  const inTransactions = pooled ? boundTransactions(bounds) : null
  const pool = new SharedPool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: longestWaitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'tallyman',
    Client: UtcClient,
    types: valueTypes,
    // What is asked of a connection at once is sent at once, and answered in its order.
    pipeline: true,
    onConnect: (client) => (inTransactions === null ? boundSession(client, bounds) : inTransactions.bound(client)),
  })
  // The typed client takes its own listener away when it is closed, and a connection may fail after that.
  pool.on('error', onError)
  // Its other forms of an error quote the call with its arguments, a buyer's among them.
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' })
  let closed: Promise<void> | null = null
  const send = <Row>(sql: string, parameters: readonly unknown[]) => sendStatement<Row>(pool, sql, parameters, { prepare })
  return {
    ...askingBy(send),
    prisma,
    vocabularyOf,
    gathering: createFreeGathering(),
    transaction: (work, options = {}) =>
      runTransaction(
        { pool, prisma, prepare, beginning: inTransactions?.statement ?? (() => ''), onError },
        (scope) => work({ ...scope, vocabularyOf }),
        options,
      ),
    close: () => {
      closed ??= prisma.$disconnect().then(() => pool.end())
      return closed
    },
  }
}
