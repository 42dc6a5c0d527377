/** Decides when the requests that were collected for a statement are sent; see {@link batchQuery}. */
export interface QueryBatcher {
  /**
   * A caller waits for the result of a statement. `send` sends the collected requests, and resolves to a function that settles their callers; null:
   * the request joined a batch that is registered already.
   */
  waits(statement: object, send: (() => Promise<SettleCallers>) | null): void
  /** A waiting caller continues, or a caller joins. */
  continues(): void
  /** A caller will send no more requests. */
  ended(): void
  /** Whether a batch is being sent: a query from within it is part of that batch. */
  isSending(): boolean
  /** Whether the requests of a failed batch may be sent one by one. */
  readonly mayRetrySingly: boolean
}

/** Resolves or rejects all requests of a batch. */
export type SettleCallers = () => void

interface BatchedRequest<Request, Result> {
  readonly request: Request
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Turns a statement for many requests into a function for one request. Concurrent requests through one `sql.batcher` share one statement; without a
 * batcher each request sends its own.
 *
 * @param queryAll returns one result for each request, in their order
 */
export const batchQuery = <Runner extends { readonly batcher?: QueryBatcher }, Request, Result>(
  queryAll: (sql: Runner, requests: readonly Request[]) => Promise<readonly Result[]>,
): ((sql: Runner, request: Request) => Promise<Result>) => {
  const open = new WeakMap<QueryBatcher, BatchedRequest<Request, Result>[]>()

  const queryChecked = async (sql: Runner, requests: readonly Request[]): Promise<readonly Result[]> => {
    const results = await queryAll(sql, requests)
    if (results.length === requests.length) return results
    throw new Error(`a statement returned ${results.length} results for ${requests.length} requests`)
  }
  const querySingle = async (sql: Runner, request: Request): Promise<Result> => {
    for (const result of await queryChecked(sql, [request])) return result
    throw new Error('a statement returned no result')
  }

  /** The outcome of each request; never rejects. */
  const settleAll = async (
    sql: Runner,
    batcher: QueryBatcher,
    requests: readonly Request[],
  ): Promise<readonly PromiseSettledResult<Result>[]> => {
    try {
      return (await queryChecked(sql, requests)).map((value) => ({ status: 'fulfilled', value }))
    } catch (reason) {
      if (!batcher.mayRetrySingly || requests.length === 1) return requests.map(() => ({ status: 'rejected', reason }))
      return Promise.allSettled(requests.map((request) => querySingle(sql, request)))
    }
  }

  const sendBatch = async (
    sql: Runner,
    batcher: QueryBatcher,
    batch: readonly BatchedRequest<Request, Result>[],
  ): Promise<SettleCallers> => {
    const outcomes = await settleAll(
      sql,
      batcher,
      batch.map(({ request }) => request),
    )
    return () => {
      for (const [index, outcome] of outcomes.entries()) {
        batcher.continues()
        if (outcome.status === 'fulfilled') batch[index]?.resolve(outcome.value)
        else batch[index]?.reject(outcome.reason)
      }
    }
  }

  return async (sql, request) => {
    const { batcher } = sql
    if (batcher === undefined || batcher.isSending()) return querySingle(sql, request)
    return new Promise<Result>((resolve, reject) => {
      const entry = { request, resolve, reject }
      const batch = open.get(batcher)
      if (batch !== undefined) {
        batch.push(entry)
        batcher.waits(open, null)
        return
      }
      const newBatch = [entry]
      open.set(batcher, newBatch)
      batcher.waits(open, () => {
        open.delete(batcher)
        return sendBatch(sql, batcher, newBatch)
      })
    })
  }
}

/**
 * Runs two queries concurrently, in one round trip. On one connection Postgres runs the first to its end before the second. In lockstep the two count
 * as one waiting caller only when both wait.
 */
export const runPipelined = async <First, Second>(
  { batcher }: { readonly batcher?: QueryBatcher },
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> => {
  batcher?.continues()
  let running = 2
  const run = async <Result>(query: () => Promise<Result>): Promise<Result> => {
    try {
      return await query()
    } finally {
      running -= 1
      // The caller itself continues after the second result.
      if (running > 0) batcher?.ended()
    }
  }
  const [one, other] = await Promise.allSettled([run(first), run(second)])
  if (one.status === 'rejected') throw one.reason
  if (other.status === 'rejected') throw other.reason
  return [one.value, other.value]
}

/**
 * Batches queries outside of transactions: while a statement runs, requests for the same statement wait for its next run. No request waits for
 * others to arrive.
 */
export const createQueryBatcher = (): QueryBatcher => {
  /** The next batch of each running statement. */
  const next = new Map<object, (() => Promise<SettleCallers>) | null>()

  const run = async (statement: object, first: () => Promise<SettleCallers>): Promise<void> => {
    for (let send: (() => Promise<SettleCallers>) | null = first; send !== null; send = next.get(statement) ?? null) {
      next.set(statement, null)
      const settleCallers = await send()
      settleCallers()
    }
    next.delete(statement)
  }
  return {
    waits: (statement, send) => {
      if (send === null) return
      if (next.has(statement)) {
        next.set(statement, send)
        return
      }
      next.set(statement, null)
      // Requests of the same turn of the event loop join this batch. `send` never rejects.
      setImmediate(() => void run(statement, send))
    },
    continues: () => undefined,
    ended: () => undefined,
    isSending: () => false,
    mayRetrySingly: true,
  }
}
