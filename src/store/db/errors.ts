import { setTimeout as pause } from 'node:timers/promises'
import { socketCodes } from '../../util/net/socket-codes.ts'
import { describeTlsError } from '../../util/net/tls-errors.ts'
import { Prisma } from '../generated/client.ts'
import { StatementFailed } from './statement.ts'

const maxTries = 5
const maxPauseMs = 50

// Prisma's codes for an unreachable server, network timeouts, failed TLS, a closed connection, a pool without a free connection, and a transaction
// that could not begin or was closed too early (P2028).
const unavailableCodes = new Set(['P1001', 'P1002', 'P1008', 'P1011', 'P1017', 'P2024', 'P2028'])
const unavailableKinds = new Set([
  'DatabaseNotReachable',
  'TlsConnectionError',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
])
// SQLSTATE classes 08 (connection), 57P (shutdown, startup, terminated session), 53 (out of disk, memory, connections) and 58 (system error, such as of
// the disk); timeouts of the server: statement (57014), lock (55P03), idle transaction (25P03), transaction (25P04); and a read-only server (25006),
// such as a replica that is being promoted.
const unavailableStates = /^(08...|57P..|57014|53...|58...|55P03|25P0[34]|25006)$/
const unavailableSocketCodes: ReadonlySet<string> = new Set(socketCodes)
// Messages of the pool and its connections, whose errors have no code. The last one is ours (session.ts).
const unavailableMessages =
  /^(timeout exceeded when trying to connect|client has encountered a connection error|connection terminated|query read timeout|cannot use a pool after calling end|postgres has not answered)/i

/** A member of a thrown value; undefined: it has no such member. */
export const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** The error of the driver within an error of a typed query. */
const findCause = (error: unknown): unknown =>
  property(property(property(error, 'meta'), 'driverAdapterError'), 'cause') ?? property(error, 'cause')

/** The SQLSTATE of an error, of SQL or of a typed query; empty: it has none. */
export const findSqlState = (error: unknown): string => {
  const state = property(findCause(error), 'originalCode')
  if (typeof state === 'string') return state
  // Prisma's own codes look like SQLSTATEs.
  const code = error instanceof Prisma.PrismaClientKnownRequestError ? null : property(error, 'code')
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : ''
}

/**
 * Whether an error of a statement or a transaction means that Postgres is unavailable (unreachable, session terminated, out of a resource, timeout,
 * read-only), as opposed to an error of the statement. The operation may be retried later. Nothing is partly committed; a COMMIT in progress may have
 * succeeded.
 */
export const isDatabaseUnavailable = (error: unknown): boolean => {
  if (error instanceof Prisma.PrismaClientInitializationError) return true
  if (error instanceof Prisma.PrismaClientKnownRequestError && unavailableCodes.has(error.code)) return true
  if (unavailableStates.test(findSqlState(error))) return true
  const kind = property(findCause(error), 'kind')
  if (typeof kind === 'string' && unavailableKinds.has(kind)) return true
  if (!(error instanceof Error)) return false
  const code = property(error, 'code')
  return (typeof code === 'string' && unavailableSocketCodes.has(code)) || unavailableMessages.test(error.message)
}

/**
 * Describes why Postgres is unavailable, from an error of any part of the daemon; null: the error has another cause. A socket error counts only if a
 * statement caused it, since it may come from Redis or the marketplace.
 */
export const postgresOutage = (error: unknown): string | null => {
  if (!(error instanceof Error) || !isDatabaseUnavailable(error)) return null
  const code = property(error, 'code')
  const isOfStatement = error instanceof Prisma.PrismaClientKnownRequestError || error instanceof StatementFailed
  const isSocket = typeof code === 'string' && unavailableSocketCodes.has(code) && !isOfStatement
  return isSocket && property(findCause(error), 'kind') === undefined ? null : describeUnavailable(error)
}

const descriptions: readonly (readonly [states: RegExp, description: string])[] = [
  [/^25006$/, 'Postgres takes no writes: it is read-only'],
  [/^53100$/, 'the disk of Postgres is full'],
  [/^53200$/, 'Postgres is out of memory'],
  [/^53300$/, 'Postgres takes no more connections'],
  [/^53...$/, 'Postgres is out of a resource'],
  [/^58...$/, 'Postgres reports a system error, such as of its disk'],
  [/^28...$/, 'Postgres rejects the credentials of DATABASE_URL'],
  [/^3D000$/, 'the database that DATABASE_URL names does not exist'],
  [/^(57014|55P03)$/, 'Postgres does not answer in time'],
]

/** The terms of messages about TLS with Postgres. */
const postgresServer = {
  name: 'Postgres',
  authority: 'sslrootcert of DATABASE_URL',
  own: 'sslcert and sslkey of DATABASE_URL',
} as const

/** Describes the setting that prevents TLS with Postgres; null: the error has another cause. */
export const findConnectionSettingsError = (error: unknown): string | null => {
  const reason = property(findCause(error), 'reason')
  const message = typeof reason === 'string' ? reason : error instanceof Error ? error.message : ''
  if (/^no pg_hba\.conf entry .*, no encryption$/.test(message))
    return 'Postgres requires TLS: add sslmode=verify-full to DATABASE_URL'
  return describeTlsError(message, postgresServer)
}

/** Whether Postgres is reachable and rejects us: wrong credentials (28xxx), no such database (3D000), or failed TLS. */
export const isAccessRefused = (error: unknown): boolean =>
  findConnectionSettingsError(error) !== null || /^(28...|3D000)$/.test(findSqlState(error))

/** Describes why Postgres is unavailable, without names or values. */
export const describeUnavailable = (error: unknown): string => {
  const settingsError = findConnectionSettingsError(error)
  if (settingsError !== null) return settingsError
  const state = findSqlState(error)
  const known = descriptions.find(([states]) => states.test(state))
  if (known !== undefined) return known[1]
  return state === '' || isDatabaseUnavailable(error) ? 'Postgres cannot be reached' : `Postgres fails with ${state}`
}

/** Postgres aborted this transaction because of a deadlock (40P01) or a serialization failure (40001). */
const isRetryable = (error: unknown): boolean =>
  (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2034') || /^(40P01|40001)$/.test(findSqlState(error))

/** Runs a transaction again when Postgres aborted it because of a deadlock or a serialization failure; at most 5 times. */
export const retryOnDeadlock = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      if (tries >= maxTries || !isRetryable(error)) throw error
      // Random, so that the two transactions do not collide again.
      await pause(Math.random() * maxPauseMs * tries)
    }
  }
}
