import { socketCodes } from '../util/net/socket-codes.ts'

/** The store of the queues (Redis or Postgres) does not answer. The relay derives the jobs again later. */
export class QueuesUnavailable extends Error {
  override readonly name = 'QueuesUnavailable'
  readonly code = 'QUEUES_UNAVAILABLE'
}

/** Fields of a log line about an error. Unavailable queues need no stack: that is a state, not a bug. */
export const buildErrorFields = (error: unknown): object =>
  error instanceof QueuesUnavailable ? { reason: error.message } : { err: error }

/** Why a running job's signal was aborted: the process must end now. The job returns to its queue and does not count as an attempt. */
export class StoppedHard extends Error {
  override readonly name = 'StoppedHard'
}

/** Why a running job's signal was aborted: another worker may run the job by now. Its further effects must not count. */
export class LockLost extends Error {
  override readonly name = 'LockLost'
}

/** Any thrown value as an Error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

const unavailableCodes: ReadonlySet<string> = new Set([...socketCodes, 'ENOENT', 'QUEUES_UNAVAILABLE'])
// Postgres's classes 08 (connection), 57P (shutting down, starting up) and 53300 (too many connections).
const sqlstates = /^(08...|57P..|53300)$/
// Errors of the libraries without a code can only be recognised by their messages.
const messages =
  /connection (is closed|terminated|ended|timeout)|stream isn't writeable|client has encountered a connection error|timeout exceeded when trying to connect|not queryable|failed to refresh slots cache|clusterallfailed|all sentinels are unreachable|^LOADING /i

/** True when the store of the queues cannot be reached; false for an error that the store answers with. */
export const isConnectionError = (thrown: unknown): boolean => {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const code = 'code' in error ? error.code : undefined
    if (typeof code === 'string' && (unavailableCodes.has(code) || sqlstates.test(code))) return true
    if (messages.test(error.message)) return true
    if (error instanceof AggregateError && error.errors.some(isConnectionError)) return true
  }
  return false
}

/**
 * Waits for `work`, but no longer than `timeoutMs`; after that the work continues unobserved.
 * @throws QueuesUnavailable after `timeoutMs`
 */
export const withDeadline = async <Result>(work: Promise<Result>, timeoutMs: number, what: string): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new QueuesUnavailable(`${what}: no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
