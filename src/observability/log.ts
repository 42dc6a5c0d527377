import {
  type DestinationStream,
  type LoggerOptions as LoggerOptionsOfPino,
  type Logger as PinoLogger,
  pino,
  stdTimeFunctions,
} from 'pino'
import { build as prettyStream } from 'pino-pretty'
import { harmless, harmlessOnceParsed } from './harmless.ts'
import { type Hiding, hiding, scrub } from './log-secrets.ts'
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
  /** The state of something that is away which an error tells of, as a sentence; null: it tells of none. Each state is one line, whoever notices it. */
  readonly outageOf?: (error: unknown) => string | null
  /** Names of headers that carry secrets, beside those of any program. */
  readonly secretHeaders?: readonly string[]
}

// Names under which secrets and personal data of buyers travel in our own objects and in the marketplace's records.
const secretNames = [
  'authorization',
  'token',
  'accessToken',
  'access_token',
  'clientSecret',
  'client_secret',
  'password',
  'secret',
  'secrets',
  'apiKey',
  'api_key',
  'signature',
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
const usualSecretHeaders = ['webhook-signature', 'set-cookie']

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
/** As every field of the log is spelt: members of errors are in camel case. */
const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const deepestCause = 5

/** Converts any thrown value for the log: type, message, stack, codes and causes; no request, no response, no row values. */
export const describeError = (thrown: unknown, depth = 0): LoggedError => {
  if (!(thrown instanceof Error)) return describeOther(thrown)
  const entries = new Map<string, unknown>(Object.entries(thrown))
  const fields = errorFields.flatMap((name): [string, unknown][] => {
    const value = entries.get(name)
    const field = inSnakeCase(name)
    if (typeof value === 'string') return [[field, scrub(value)]]
    return typeof value === 'number' || typeof value === 'boolean' || value instanceof Date ? [[field, value]] : []
  })
  const deeper = depth < deepestCause
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

/** A state is over when nobody has noticed it for so long; whoever waits for Postgres asks more often. */
const outageOverMs = 30_000

const errorOf = (fields: unknown): unknown =>
  typeof fields === 'object' && fields !== null && 'err' in fields ? fields.err : undefined

/** Lets one line of each outage pass, without its stack: every job, request and look that fails meanwhile fails for the same reason. */
const onceForEachOutage = (outageOf: (error: unknown) => string | null): OfLine => {
  const noticedAtMs = new Map<string, number>()
  return (args, level) => {
    const error = errorOf(args[0])
    const outage = error === undefined || level < levels.warn || level > levels.error ? null : outageOf(error)
    if (outage === null) return args
    const now = performance.now()
    const last = noticedAtMs.get(outage)
    noticedAtMs.set(outage, now)
    if (last !== undefined && now - last < outageOverMs) return null
    return [{ first_noticed: String(args[1] ?? '') }, `${outage}; what needs it waits, and further lines about it are left out`]
  }
}
const levels = { warn: 40, error: 50 } as const

/** What is logged with these arguments of a method of the log; null: nothing. */
type OfLine = (args: LogArguments, level: number) => LogArguments | null
type LogArguments = Parameters<LogMethod>[0]
type LogMethod = NonNullable<NonNullable<LoggerOptionsOfPino['hooks']>['logMethod']>

/** pino shows the fields of a line to a formatter, but not what all lines of a child carry. */
const hidingInChildren = (logger: Logger, hide: Hiding): Logger => {
  const { child, setBindings } = logger
  return Object.defineProperties(logger, {
    child: {
      value(this: Logger, bindings: object, ...options: readonly unknown[]) {
        return Reflect.apply(child, this, [hide.fields(bindings), ...options])
      },
    },
    setBindings: {
      value(this: Logger, bindings: object) {
        return Reflect.apply(setBindings, this, [hide.fields(bindings)])
      },
    },
  })
}

/** Creates the daemon's log: ISO time, level as a word, errors without bodies, secrets and personal data redacted, trace ids added. */
export const createLogger = ({ level, format, destination, outageOf, secretHeaders = [] }: LoggerOptions): Logger => {
  const hide = hiding(new Set([...secretNames, ...usualSecretHeaders, ...secretHeaders]), (error) => describeError(error))
  const ofLine: OfLine = outageOf === undefined ? (args) => args : onceForEachOutage(outageOf)
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      // pino's own redaction takes whole paths, of each depth, and a twentieth of a command's time.
      formatters: { level: (label) => ({ level: label }), log: hide.fields },
      serializers: { err: (thrown: unknown) => describeError(thrown) },
      mixin: activeTraceIds,
      hooks: {
        // Both are read at terminals too; one format prints texts unchanged, the other as JSON.
        streamWrite: format === 'pretty' ? harmlessOnceParsed : harmless,
        logMethod(args, method, methodLevel) {
          const [first, ...inMessage] = ofLine(args, methodLevel) ?? []
          if (first !== undefined) Reflect.apply(method, this, [first, ...inMessage.map(hide.value)])
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
  return hidingInChildren(logger, hide)
}

/** A log for faults that repeat while something is away: each key at most once an interval. */
export interface QuietLog {
  warn(key: string, fields: object, message: string): void
  error(key: string, fields: object, message: string): void
  /** The fault of `key` is over: logs it once, if the fault was logged. The next fault is logged at once. */
  recovered(key: string, message: string): void
}

/** Settings of a quiet log. */
export interface QuietLogOptions {
  /** Shortest time between two lines of one key, in milliseconds. */
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
  const told = new Map<string, { sinceMs: number; toldAtMs: number; suppressed: number }>()
  const tell = (level: 'warn' | 'error', key: string, fields: object, message: string): void => {
    const now = nowMs()
    const last = told.get(key)
    if (last !== undefined && now - last.toldAtMs < intervalMs) {
      last.suppressed += 1
      return
    }
    // Deleted and set again, so that the map stays in the order of logging.
    told.delete(key)
    told.set(key, { sinceMs: last?.sinceMs ?? now, toldAtMs: now, suppressed: 0 })
    for (const oldest of told.keys()) {
      if (told.size <= maxKeys) break
      told.delete(oldest)
    }
    log[level]({ ...fields, ...(last !== undefined && last.suppressed > 0 ? { suppressed: last.suppressed } : {}) }, message)
  }
  return {
    warn: (key, fields, message) => tell('warn', key, fields, message),
    error: (key, fields, message) => tell('error', key, fields, message),
    recovered: (key, message) => {
      const last = told.get(key)
      if (last === undefined) return
      told.delete(key)
      log.info({ away_ms: nowMs() - last.sinceMs, ...(last.suppressed > 0 ? { suppressed: last.suppressed } : {}) }, message)
    },
  }
}
