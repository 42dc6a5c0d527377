import { PrismaPg } from '@prisma/adapter-pg'
import { DriverAdapterError } from '@prisma/driver-adapter-utils'
import type { ChangeRecord } from '../domain/changes/catalogue.ts'
import type { VocabularyOf } from '../domain/vocabulary.ts'
import { SteadyClient } from '../steady-client.ts'
import { beginningWith, committingWith } from './commit.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import { preparedName } from './prepared.ts'
import { boundSession, boundTransactions, type SessionBounds } from './session.ts'
import { createFreeGathering, type Gathering } from './together.ts'

/**
 * Asks Postgres, inside or outside of a transaction: by typed queries, or by SQL with positional parameters (`$1`) where those cannot say it
 * (docs/decisions/0020-typed-or-by-hand.md). For `store` only.
 */
export interface SqlRunner {
  readonly prisma: Prisma.TransactionClient
  /** Rows of a query. The caller names their shape; bigint columns arrive as `bigint`, numeric as `Decimal`. */
  query<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>
  /** Number of rows that a statement touched. */
  execute(sql: string, ...parameters: readonly unknown[]): Promise<number>
  /** In whose words the data of a seller is. */
  readonly vocabularyOf: VocabularyOf
  /** What is asked through it at the same time is asked together (`together.ts`). Left out: each asks for itself. */
  readonly gathering?: Gathering
}

/** A transaction under way. Changes recorded through it are appended as its last statement, in one message with the commit. */
export interface Transaction extends SqlRunner {
  /** Appends one row to `warehouse.changes`. */
  record(change: ChangeRecord): void
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

/** Limits of one transaction, in milliseconds. */
export interface TransactionOptions {
  /** Longest wait for a connection. */
  readonly maxWaitMs?: number
  /** Longest life of the transaction. */
  readonly timeoutMs?: number
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

/** A statement failed where nobody had asked for it: as part of the commit. `code` is the SQLSTATE. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed'
  readonly code: string
  constructor(code: string, message: string, options: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

const runner = (client: Prisma.TransactionClient, vocabularyOf: VocabularyOf): SqlRunner => ({
  prisma: client,
  query: <Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]> =>
    client.$queryRawUnsafe<Row[]>(sql, ...parameters),
  execute: (sql, ...parameters) => client.$executeRawUnsafe(sql, ...parameters),
  vocabularyOf,
})

// The counter's row lock is held until commit, so numbers follow the order of commits. It must be the last lock that a
// transaction takes: two transactions that each append and then lock orders could wait for each other. The statement goes with the COMMIT
// in one message, so that no process can keep the lock by not going on.
const appendChanges = `
  WITH told AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(ordinal int, seller_id text, type text, purchase_order_id text,
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

const append = async (sql: SqlRunner, changes: readonly ChangeRecord[]): Promise<void> => {
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
  await sql.execute(appendChanges, JSON.stringify(rows))
}

/** An error of the commit as others come: with its SQLSTATE, where there is one. */
const asStatementError = (error: unknown): unknown => {
  if (!(error instanceof DriverAdapterError)) return error
  const { originalCode, originalMessage = error.message } = error.cause
  return originalCode === undefined ? error : new CommitFailed(originalCode, originalMessage, { cause: error })
}

/** Opens a pool; connects on first use. */
export const openDatabase = ({
  url,
  vocabularyOf,
  connections = 10,
  onError,
  bounds,
  prepare = true,
  pooled = false,
}: DatabaseOptions): Database => {
  const inTransactions = pooled ? boundTransactions(bounds) : null
  const pool = new PrismaPg(
    {
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'tallyman',
      Client: SteadyClient,
      onConnect: (client) => (inTransactions === null ? boundSession(client, bounds) : inTransactions.bound(client)),
    },
    {
      onPoolError: (error) => onError?.(error),
      onConnectionError: (error) => onError?.(error),
      ...(prepare ? { statementNameGenerator: ({ sql }) => preparedName(sql) } : {}),
    },
  )
  const begun = inTransactions === null ? pool : beginningWith(pool, inTransactions.statement)
  // Its other forms of an error quote the call with its arguments, a buyer's among them.
  const prisma = new PrismaClient({ adapter: committingWith(begun, appendChanges), errorFormat: 'minimal' })
  return {
    ...runner(prisma, vocabularyOf),
    prisma,
    gathering: createFreeGathering(),
    transaction: async (work, { maxWaitMs = 10_000, timeoutMs = 30_000 } = {}) => {
      try {
        return await prisma.$transaction(
          async (client) => {
            const told: ChangeRecord[] = []
            const sql = runner(client, vocabularyOf)
            const result = await work({ ...sql, record: (change) => told.push(change) })
            if (told.length > 0) await append(sql, told)
            return result
          },
          { maxWait: maxWaitMs, timeout: timeoutMs },
        )
      } catch (error) {
        throw asStatementError(error)
      }
    },
    close: () => prisma.$disconnect(),
  }
}
