import { setTimeout as pause } from 'node:timers/promises'
import { Prisma } from './generated/client.ts'

const maxTries = 5
const longestPauseMs = 50

// Prisma's codes for an unreachable server, time-outs on the way to it, a closed connection, and a pool without a free one.
const awayCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024'])
const awayKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'])
// Postgres's classes 08 (connection), 57P (going down, starting up) and 53300 (too many connections).
const awayStates = /^(08...|57P0[123]|53300)$/

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const causeOf = (error: unknown): unknown => property(property(property(error, 'meta'), 'driverAdapterError'), 'cause')

const sqlStateOf = (error: unknown): string => {
  const state = property(causeOf(error), 'originalCode')
  return typeof state === 'string' ? state : ''
}

/** Whether an error of a statement says that Postgres cannot be reached now, as opposed to an answer that we do not like. */
export const isDatabaseAway = (error: unknown): boolean => {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error instanceof Prisma.PrismaClientInitializationError
  if (awayCodes.has(error.code) || awayStates.test(sqlStateOf(error))) return true
  const kind = property(causeOf(error), 'kind')
  return typeof kind === 'string' && awayKinds.has(kind)
}

/** Postgres chose this transaction to end a deadlock (40P01) or a serialization failure (40001): it may simply run again. */
const mayRunAgain = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && (error.code === 'P2034' || /^(40P01|40001)$/.test(sqlStateOf(error)))

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
