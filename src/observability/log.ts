import {
  type DestinationStream,
  type LoggerOptions as LoggerOptionsOfPino,
  type Logger as PinoLogger,
  pino,
  stdTimeFunctions,
} from 'pino'
import { build as prettyStream } from 'pino-pretty'
import { escapeControlCharacters, escapeControlCharactersInJson } from './control-characters.ts'
import { createRedactor, type Redactor, scrub } from './redaction.ts'
import { activeTraceIds } from './trace.ts'

/** Structured log of the daemon. Fields in snake case; never bodies or personal data. */
export type Logger = PinoLogger

/** Settings of the log. */
export interface LoggerOptions {
  /** One of pino's levels: `trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`. */
  readonly level: string
  /** `json`: one object per line; `pretty`: for a terminal. */
  readonly format: 'json' | 'pretty'
  /** Destination of the lines; standard output by default. */
  readonly destination?: DestinationStream
  /** The outage that an error is about, as a sentence; null: none. Each outage is logged once, for all lines about it. */
  readonly findOutage?: (error: unknown) => string | null
  /** Names of headers with secrets, in addition to common ones. */
  readonly secretHeaders?: readonly string[]
  /** Called with each line, as JSON, before it is written. */
  readonly onLine?: (line: string) => void
}

// Names of members with secrets or personal data of buyers, in our objects and in the marketplace's records.
const secretNames = [
  'authorization',
  'token',
  'accessToken',
  'access_token',
  'refreshToken',
  'refresh_token',
  'clientSecret',
  'client_secret',
  'password',
  'secret',
  'secrets',
  'apiKey',
  'api_key',
  'signature',
  'notificationsSecret',
  'privateKey',
  'private_key',
  'cookie',
  'phone',
  'email',
  'customerEmailId',
  'postalAddress',
  'shippingInfo',
  'address',
  'address1',
  'address2',
]
const commonSecretHeaders = ['webhook-signature', 'set-cookie']

/** An error as logged. */
export interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly cause?: LoggedError
  readonly errors?: readonly LoggedError[]
  readonly [field: string]: unknown
}

// An allow-list: libraries attach requests, responses, parameters and row values (`detail` of Postgres) to their errors.
const errorFields = [
  'code',
  'errno',
  'syscall',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'kind',
  'operation',
  'sellerId',
  'correlationId',
  'sent',
  'httpStatus',
  'retryAt',
  'credentialsDead',
]
/** All fields of the log are in snake case; members of errors are in camel case. */
const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const maxCauseDepth = 5

/** Converts any thrown value for the log: type, message, stack, codes and causes; no request, no response, no row values. */
export const describeError = (thrown: unknown, depth = 0): LoggedError => {
  if (!(thrown instanceof Error)) return describeOther(thrown)
  const entries = new Map<string, unknown>(Object.entries(thrown))
  const fields = errorFields.flatMap((name): [string, unknown][] => {
    const value = entries.get(name)
    const field = toSnakeCase(name)
    if (typeof value === 'string') return [[field, scrub(value)]]
    return typeof value === 'number' || typeof value === 'boolean' || value instanceof Date ? [[field, value]] : []
  })
  const deeper = depth < maxCauseDepth
  return {
    type: thrown.name === 'Error' ? thrown.constructor.name : thrown.name,
    message: scrub(thrown.message),
    ...(thrown.stack === undefined || depth > 0 ? {} : { stack: scrub(thrown.stack) }),
    ...Object.fromEntries(fields),
    ...(deeper && thrown.cause !== undefined && thrown.cause !== null ? { cause: describeError(thrown.cause, depth + 1) } : {}),
    ...(deeper && thrown instanceof AggregateError
      ? { errors: thrown.errors.slice(0, 5).map((error: unknown) => describeError(error, depth + 1)) }
      : {}),
  }
}

/** A thrown value that is not an error: its message, or the names of its members. */
const describeOther = (thrown: unknown): LoggedError => {
  if (typeof thrown !== 'object' || thrown === null) return { type: typeof thrown, message: scrub(String(thrown)) }
  const { message }: { message?: unknown } = thrown
  const names = Object.keys(thrown).slice(0, 10).join(', ')
  return {
    type: typeof thrown,
    message:
      typeof message === 'string' ? scrub(message) : names === '' ? 'an object without members' : `an object with ${names}`,
  }
}

/** An outage is over when no error about it was logged for this time. Callers that wait for Postgres retry more often. */
const outageOverMs = 30_000

const findError = (fields: unknown): unknown =>
  typeof fields === 'object' && fields !== null && 'err' in fields ? fields.err : undefined

/** Logs one line for each outage, without its stack: all jobs, requests and checks that fail during an outage have the same reason. */
const createOutageFilter = (findOutage: (error: unknown) => string | null): LineFilter => {
  const lastErrorAtMs = new Map<string, number>()
  return (args, level) => {
    const error = findError(args[0])
    const outage = error === undefined || level < levels.warn || level > levels.error ? null : findOutage(error)
    if (outage === null) return args
    const now = performance.now()
    const last = lastErrorAtMs.get(outage)
    lastErrorAtMs.set(outage, now)
    if (last !== undefined && now - last < outageOverMs) return null
    return [{ first_noticed: String(args[1] ?? '') }, `${outage}; affected work waits, and further lines about it are omitted`]
  }
}
const levels = { warn: 40, error: 50 } as const

/** Arguments of a log method, changed or unchanged; null: nothing is logged. */
type LineFilter = (args: LogArguments, level: number) => LogArguments | null
type LogArguments = Parameters<LogMethod>[0]
type LogMethod = NonNullable<NonNullable<LoggerOptionsOfPino['hooks']>['logMethod']>

/** pino's formatter redacts the fields of a line, but not the bindings of a child logger; this redacts them. */
const redactBindings = (logger: Logger, redact: Redactor): Logger => {
  const { child, setBindings } = logger
  return Object.defineProperties(logger, {
    child: {
      value(this: Logger, bindings: object, ...options: readonly unknown[]) {
        return Reflect.apply(child, this, [redact.fields(bindings), ...options])
      },
    },
    setBindings: {
      value(this: Logger, bindings: object) {
        return Reflect.apply(setBindings, this, [redact.fields(bindings)])
      },
    },
  })
}

/** Creates the daemon's log: ISO time, level as a word, errors without bodies, secrets and personal data redacted, trace ids added. */
export const createLogger = ({ level, format, destination, findOutage, secretHeaders = [], onLine }: LoggerOptions): Logger => {
  const redact = createRedactor(new Set([...secretNames, ...commonSecretHeaders, ...secretHeaders]), (error) =>
    describeError(error),
  )
  const escapeLine = format === 'pretty' ? escapeControlCharactersInJson : escapeControlCharacters
  const filterLine: LineFilter = findOutage === undefined ? (args) => args : createOutageFilter(findOutage)
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      // pino's own redaction needs whole paths of each depth, and takes a twentieth of a command's time.
      formatters: { level: (label) => ({ level: label }), log: redact.fields },
      serializers: { err: (thrown: unknown) => describeError(thrown) },
      mixin: activeTraceIds,
      hooks: {
        // Both formats are read at terminals; one prints texts unchanged, the other as JSON.
        streamWrite: (line) => {
          onLine?.(line)
          return escapeLine(line)
        },
        logMethod(args, method, methodLevel) {
          const [first, ...inMessage] = filterLine(args, methodLevel) ?? []
          if (first !== undefined) Reflect.apply(method, this, [first, ...inMessage.map(redact.value)])
        },
      },
    },
    format === 'pretty'
      ? prettyStream({
          ignore: 'pid,hostname,job,job_id',
          singleLine: true,
          translateTime: 'HH:MM:ss.l',
          ...(destination === undefined ? {} : { destination }),
        })
      : (destination ?? pino.destination({ fd: 1, sync: true })),
  )
  return redactBindings(logger, redact)
}

/** A log for errors that repeat during an outage: each key is logged at most once an interval. */
export interface QuietLog {
  warn(key: string, fields: object, message: string): void
  error(key: string, fields: object, message: string): void
  /** The error of `key` is over: logs it once, if the error was logged. The next error is logged immediately. */
  recovered(key: string, message: string): void
}

/** Settings of a quiet log. */
export interface QuietLogOptions {
  /** Minimum time between two lines of one key, in milliseconds. */
  readonly intervalMs?: number
  /** Clock in milliseconds. */
  readonly nowMs?: () => number
  /** Maximum number of keys; the one logged longest ago is dropped first. */
  readonly maxKeys?: number
}

/** Creates a quiet log over `log`: a line repeated within the interval is counted, and the next line includes the count. */
export const createQuietLog = (
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
  { intervalMs = 30_000, nowMs = Date.now, maxKeys = 1_000 }: QuietLogOptions = {},
): QuietLog => {
  const logged = new Map<string, { sinceMs: number; loggedAtMs: number; suppressed: number }>()
  const write = (level: 'warn' | 'error', key: string, fields: object, message: string): void => {
    const now = nowMs()
    const last = logged.get(key)
    if (last !== undefined && now - last.loggedAtMs < intervalMs) {
      last.suppressed += 1
      return
    }
    // Deleted and set again, so that the map stays in the order of logging.
    logged.delete(key)
    logged.set(key, { sinceMs: last?.sinceMs ?? now, loggedAtMs: now, suppressed: 0 })
    for (const oldest of logged.keys()) {
      if (logged.size <= maxKeys) break
      logged.delete(oldest)
    }
    log[level]({ ...fields, ...(last !== undefined && last.suppressed > 0 ? { suppressed: last.suppressed } : {}) }, message)
  }
  return {
    warn: (key, fields, message) => write('warn', key, fields, message),
    error: (key, fields, message) => write('error', key, fields, message),
    recovered: (key, message) => {
      const last = logged.get(key)
      if (last === undefined) return
      logged.delete(key)
      log.info({ away_ms: nowMs() - last.sinceMs, ...(last.suppressed > 0 ? { suppressed: last.suppressed } : {}) }, message)
    },
  }
}
