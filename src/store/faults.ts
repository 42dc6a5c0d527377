import { setTimeout as pause } from 'node:timers/promises'
import { socketCodes } from '../socket-codes.ts'
import { tlsSaying } from '../tls-faults.ts'
import { Prisma } from './generated/client.ts'
import { StatementFailed } from './statement.ts'

const maxTries = 5
const longestPauseMs = 50

// Prisma's codes for an unreachable server, time-outs on the way to it, TLS that does not come about, a closed connection, a pool without a free
// one, and a transaction that could not begin or was over before its end (P2028).
const awayCodes = new Set(['P1001', 'P1002', 'P1008', 'P1011', 'P1017', 'P2024', 'P2028'])
const awayKinds = new Set([
  'DatabaseNotReachable',
  'TlsConnectionError',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
])
// Postgres's classes 08 (connection), 57P (going down, starting up, session ended), 53 (out of disk, memory, connections) and 58 (a
// disk that does not answer); the server's own time-outs: statement (57014), lock (55P03), idle transaction (25P03), transaction (25P04);
// and a server that takes no writes now (25006), as one that was a replica a moment ago.
const awayStates = /^(08...|57P..|57014|53...|58...|55P03|25P0[34]|25006)$/
const awaySocketCodes: ReadonlySet<string> = new Set(socketCodes)
// What the pool and its connections say; these errors carry no code. The last one is ours (session.ts).
const awaySentences =
  /^(timeout exceeded when trying to connect|client has encountered a connection error|connection terminated|query read timeout|cannot use a pool after calling end|postgres has not answered)/i

/** A member of anything that was thrown; undefined where there is none. */
export const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** What the driver said, within an error of a typed query. */
const causeOf = (error: unknown): unknown =>
  property(property(property(error, 'meta'), 'driverAdapterError'), 'cause') ?? property(error, 'cause')

/** The SQLSTATE of an error, of SQL or of a typed query; empty where there is none. */
export const sqlStateOf = (error: unknown): string => {
  const state = property(causeOf(error), 'originalCode')
  if (typeof state === 'string') return state
  // Prisma's own codes look like SQLSTATEs.
  const code = error instanceof Prisma.PrismaClientKnownRequestError ? null : property(error, 'code')
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : ''
}

/**
 * Whether an error of a statement or a transaction says that Postgres cannot do its work now, as opposed to an answer that we do not like:
 * it cannot be reached, has ended the session, is out of something, or takes no writes. What was asked for may be asked again later.
 * Nothing is half done; only when a COMMIT was under way it may be done wholly.
 */
export const isDatabaseAway = (error: unknown): boolean => {
  if (error instanceof Prisma.PrismaClientInitializationError) return true
  if (error instanceof Prisma.PrismaClientKnownRequestError && awayCodes.has(error.code)) return true
  if (awayStates.test(sqlStateOf(error))) return true
  const kind = property(causeOf(error), 'kind')
  if (typeof kind === 'string' && awayKinds.has(kind)) return true
  if (!(error instanceof Error)) return false
  const code = property(error, 'code')
  return (typeof code === 'string' && awaySocketCodes.has(code)) || awaySentences.test(error.message)
}

/**
 * The state of Postgres that an error of any part tells of, as a sentence; null: it tells of none. A socket that fails may be that of Redis or
 * of the marketplace, so it says nothing unless it was met by a statement.
 */
export const postgresOutage = (error: unknown): string | null => {
  if (!(error instanceof Error) || !isDatabaseAway(error)) return null
  const code = property(error, 'code')
  const isOfStatement = error instanceof Prisma.PrismaClientKnownRequestError || error instanceof StatementFailed
  const isSocket = typeof code === 'string' && awaySocketCodes.has(code) && !isOfStatement
  return isSocket && property(causeOf(error), 'kind') === undefined ? null : describeAway(error)
}

const awaySayings: readonly (readonly [states: RegExp, saying: string])[] = [
  [/^25006$/, 'Postgres takes no writes: it is read-only'],
  [/^53100$/, 'the disk of Postgres is full'],
  [/^53200$/, 'Postgres is out of memory'],
  [/^53300$/, 'Postgres takes no more connections'],
  [/^53...$/, 'Postgres is out of something that it needs'],
  [/^58...$/, 'the disk of Postgres does not do its work'],
  [/^28...$/, 'Postgres refuses the credentials of DATABASE_URL'],
  [/^3D000$/, 'the database that DATABASE_URL names does not exist'],
  [/^(57014|55P03)$/, 'Postgres does not answer in time'],
]

/** Postgres as messages name it. */
const postgresServer = {
  name: 'Postgres',
  authority: 'sslrootcert of DATABASE_URL',
  own: 'sslcert and sslkey of DATABASE_URL',
} as const

/** What has to be set otherwise for TLS with Postgres to come about, as a sentence; null where the error is about something else. */
export const settingsFault = (error: unknown): string | null => {
  const reason = property(causeOf(error), 'reason')
  const message = typeof reason === 'string' ? reason : error instanceof Error ? error.message : ''
  if (/^no pg_hba\.conf entry .*, no encryption$/.test(message))
    return 'Postgres lets nobody in without TLS: add sslmode=verify-full to DATABASE_URL'
  return tlsSaying(message, postgresServer)
}

/** Whether Postgres answers and does not let us in: wrong credentials (28xxx), no such database (3D000), or TLS that does not come about. */
export const isTurnedAway = (error: unknown): boolean =>
  settingsFault(error) !== null || /^(28...|3D000)$/.test(sqlStateOf(error))

/** Why Postgres cannot do its work now, as a sentence for a person: what it said of itself, without a name or a value. */
export const describeAway = (error: unknown): string => {
  const fault = settingsFault(error)
  if (fault !== null) return fault
  const state = sqlStateOf(error)
  const known = awaySayings.find(([states]) => states.test(state))
  if (known !== undefined) return known[1]
  return state === '' || isDatabaseAway(error) ? 'Postgres cannot be reached' : `Postgres fails with ${state}`
}

/** Postgres chose this transaction to end a deadlock (40P01) or a serialization failure (40001): it may simply run again. */
const mayRunAgain = (error: unknown): boolean =>
  (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2034') || /^(40P01|40001)$/.test(sqlStateOf(error))

/** Runs a transaction again when Postgres ended it for the sake of others; it leaves no trace of the first run. */
export const retryOnDeadlock = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      if (tries >= maxTries || !mayRunAgain(error)) throw error
      // Both at once again would only meet again.
      await pause(Math.random() * longestPauseMs * tries)
    }
  }
}
