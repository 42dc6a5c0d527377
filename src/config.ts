import path from 'node:path'
import { type DisplaySettings, readDisplay } from './config/display.ts'
import { effectiveSettings } from './config/effective.ts'
import { type Environment, environment, type Role, readSecretFiles } from './config/environment.ts'
import { type IntervalValues, intervalEnvironment, readIntervals } from './config/intervals.ts'
import { InvalidConfig } from './config/invalid-config.ts'
import { misspelt, unknownSettings } from './config/near-misses.ts'
import { readSellers, type SellerSettings } from './config/sellers.ts'
import type { RetentionSettings } from './domain/retention.ts'
import type { EffectiveSetting, HttpLimits } from './http/services.ts'
import type { Intervals } from './jobs/sync/intervals.ts'
import { isRedisOverTls, type RedisTls } from './redis-address.ts'
import { readRegularFile } from './regular-file.ts'

export type { DisplaySettings } from './config/display.ts'
export type { Role } from './config/environment.ts'
export { configExitCode, InvalidConfig } from './config/invalid-config.ts'
export { sandboxDisplay, sandboxDisplayKeyFile } from './config/sandbox.ts'
export type { SellerSettings } from './config/sellers.ts'

const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost'])

/** Every setting, checked; durations in milliseconds. */
export interface Config {
  readonly databaseUrl: string | null
  /** The same database where each connection is a session of its own; null: `databaseUrl` is one. */
  readonly databaseDirectUrl: string | null
  /** Whether statements that are sent often stay planned on the server; a pooler in transaction mode may refuse that. */
  readonly preparedStatements: boolean
  readonly redisUrl: string | null
  readonly redisTls: RedisTls
  /** Absolute. */
  readonly dataDir: string
  readonly sandbox: { readonly port: number; readonly demo: boolean } | null
  readonly sellers: readonly SellerSettings[]
  readonly sellersFile: string | null
  /** `sandbox`: that of the built-in sandbox; null: display advertising is off. */
  readonly display: DisplaySettings | 'sandbox' | null
  readonly autoAcknowledge: 'off' | 'on-import'
  /** What a shipment of an order gets that is still Created. */
  readonly shipUnacknowledged: 'acknowledge-first' | 'refuse'
  /** Whether the queue is consumed that other programs add events to. */
  readonly erpEventsQueue: boolean
  readonly http: {
    readonly host: string
    readonly port: number
    /** Where health and metrics are answered without a key, whatever the roles; null: nowhere. */
    readonly healthPort: number | null
    readonly apiKey: string | null
    readonly eventsSecrets: readonly string[]
    readonly limits: HttpLimits
  }
  /** Whether webhooks may go to loopback and private addresses, and over plain HTTP. */
  readonly webhookPrivateAddresses: boolean
  readonly requestTimeoutMs: number
  /** Most records that one answer of the marketplace may hold. */
  readonly maxPageRecords: number
  readonly settleTimeMs: number
  readonly drainTimeoutMs: number
  /** The database was restored: no command is sent before its order has been read. */
  readonly afterRestore: boolean
  readonly roles: readonly Role[]
  readonly log: { readonly level: string; readonly format: 'json' | 'pretty' }
  /** How far before the watermark each window of a sync that follows changes begins. */
  readonly lookBackMs: number
  /** How far back by creation date orders and returns are read again. */
  readonly rereadDepthMs: number
  /** How long BI may leave a transaction idle, in milliseconds. */
  readonly biIdleTransactionMs: number | 'off'
  /** How long data is kept. */
  readonly retention: RetentionSettings
  /** Variables that begin like settings and are none. */
  readonly unknownSettings: readonly string[]
  /** How often each sync runs, by its variable; `off`: never by itself. */
  readonly intervals: Intervals
  /** Every setting as it may be shown: without the values of secrets. */
  readonly shown: readonly EffectiveSetting[]
}

const parseEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
): { values: Environment; intervals: IntervalValues; sellers: SellerSettings[]; display: Config['display'] } => {
  const faults: string[] = [...misspelt(source)]
  const texts = readSecretFiles(source, faults)
  const parsed = environment.safeParse(texts)
  const intervals = intervalEnvironment.safeParse(texts)
  if (!parsed.success || !intervals.success) {
    for (const issue of [...(parsed.error?.issues ?? []), ...(intervals.error?.issues ?? [])])
      faults.push(`${issue.path[0]?.toString() ?? 'environment'}: ${issue.message}`)
    throw new InvalidConfig([...new Set(faults)])
  }
  const values = parsed.data
  const sellers = readSellers(source, values, faults)
  const display = readDisplay(values, sellers, faults)
  // A process without the role http has no interface to protect.
  if (!loopbackHosts.has(values.HOST) && values.ROLES.includes('http')) {
    for (const name of ['API_KEY', 'EVENTS_SECRET'] as const) {
      if (values[name] === undefined)
        faults.push(`${name}: is unset while HOST is ${values.HOST}; accepted: set it, or keep HOST on the loopback interface`)
    }
  }
  if (values.DATABASE_DIRECT_URL !== undefined && values.DATABASE_URL === undefined)
    faults.push('DATABASE_DIRECT_URL: is set while DATABASE_URL is unset; accepted: beside DATABASE_URL')
  if ((values.REDIS_CERT_FILE === undefined) !== (values.REDIS_KEY_FILE === undefined))
    faults.push('REDIS_CERT_FILE, REDIS_KEY_FILE: one of them is set; accepted: both or none')
  // Whoever names an authority takes the connection for a secure one.
  if ((values.REDIS_CA_FILE ?? values.REDIS_CERT_FILE) !== undefined && !isRedisOverTls(values.REDIS_URL ?? ''))
    faults.push(
      'REDIS_CA_FILE, REDIS_CERT_FILE: are set while REDIS_URL is not over TLS; accepted: beside rediss://… or rediss+sentinel://…',
    )
  if (values.SETTLE_TIME <= values.REQUEST_TIMEOUT) {
    faults.push(
      'SETTLE_TIME: is not longer than REQUEST_TIMEOUT; accepted: longer than a request can live, so that its effect has shown by then',
    )
  }
  if (faults.length > 0) throw new InvalidConfig(faults)
  return { values, intervals: intervals.data, sellers, display }
}

const pemOf = (name: string, file: string): string => {
  const read = readRegularFile(file)
  if (!read.ok) throw new InvalidConfig([`${name}: what it names cannot be read: ${read.why}; accepted: the path of a PEM file`])
  return read.content.toString('utf8')
}

// As files that are read at the start: a renewed certificate is used from the next start on.
const readRedisTls = ({ REDIS_CA_FILE: ca, REDIS_CERT_FILE: cert, REDIS_KEY_FILE: key }: Environment): RedisTls => ({
  ...(ca === undefined ? {} : { ca: pemOf('REDIS_CA_FILE', ca) }),
  ...(cert === undefined ? {} : { cert: pemOf('REDIS_CERT_FILE', cert) }),
  ...(key === undefined ? {} : { key: pemOf('REDIS_KEY_FILE', key) }),
})

/**
 * Reads the environment once.
 * @throws InvalidConfig with every fault found
 */
export const readConfig = (source: Readonly<Record<string, string | undefined>>, terminal: boolean): Config => {
  const { values, intervals, sellers, display } = parseEnvironment(source)
  const sandbox = sellers.some((seller) => seller.marketplaceUrl === null)
    ? { port: values.SANDBOX_PORT, demo: values.DEMO === 'on' }
    : null
  const everyMs = readIntervals(intervals, sandbox?.demo === true)
  const logFormat = values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json')
  return Object.freeze({
    databaseUrl: values.DATABASE_URL ?? null,
    databaseDirectUrl: values.DATABASE_DIRECT_URL ?? null,
    preparedStatements: values.PREPARED_STATEMENTS === 'on',
    redisUrl: values.REDIS_URL ?? null,
    redisTls: readRedisTls(values),
    dataDir: path.resolve(values.DATA_DIR),
    sandbox,
    sellers,
    sellersFile: values.SELLERS_FILE ?? null,
    display,
    autoAcknowledge: values.AUTO_ACKNOWLEDGE,
    shipUnacknowledged: values.SHIP_UNACKNOWLEDGED,
    erpEventsQueue: values.ERP_EVENTS_QUEUE === 'on',
    http: {
      host: values.HOST,
      port: values.PORT,
      healthPort: values.HEALTH_PORT ?? null,
      apiKey: values.API_KEY ?? null,
      eventsSecrets: values.EVENTS_SECRET?.split(/[ ,]+/).filter(Boolean) ?? [],
      limits: {
        bodyBytes: values.MAX_BODY_BYTES,
        batchEvents: values.MAX_BATCH_EVENTS,
        connections: values.MAX_CONNECTIONS,
        streams: values.MAX_STREAMS,
        faultsTold: values.MAX_FAULTS_TOLD,
      },
    },
    lookBackMs: values.LOOK_BACK,
    rereadDepthMs: values.REREAD_DEPTH,
    biIdleTransactionMs: values.BI_IDLE_TRANSACTION_TIMEOUT,
    retention: {
      runs: values.RETAIN_RUNS,
      attempts: values.RETAIN_ATTEMPTS,
      versions: values.RETAIN_VERSIONS,
      changes: values.RETAIN_CHANGES,
      events: values.RETAIN_EVENTS,
      alarms: values.RETAIN_ALARMS,
      quarantine: values.RETAIN_QUARANTINE,
      deliveries: values.RETAIN_DELIVERIES,
      'log-entries': values.RETAIN_LOG_ENTRIES,
    },
    webhookPrivateAddresses: values.WEBHOOK_PRIVATE_ADDRESSES === 'allow',
    requestTimeoutMs: values.REQUEST_TIMEOUT,
    maxPageRecords: values.MAX_PAGE_RECORDS,
    settleTimeMs: values.SETTLE_TIME,
    drainTimeoutMs: values.DRAIN_TIMEOUT,
    afterRestore: values.AFTER_RESTORE === 'on',
    roles: values.ROLES,
    log: { level: values.LOG_LEVEL, format: logFormat },
    unknownSettings: unknownSettings(source),
    intervals: everyMs,
    shown: effectiveSettings(source, values, { logFormat, intervals: everyMs }),
  })
}

/**
 * Reads the sellers again, for SIGHUP; everything else keeps the values of the start.
 * @throws InvalidConfig with every fault found
 */
export const readSellersAgain = (source: Readonly<Record<string, string | undefined>>): readonly SellerSettings[] =>
  parseEnvironment(source).sellers
