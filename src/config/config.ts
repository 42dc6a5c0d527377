import path from 'node:path'
import type { ClaimWindows } from '../domain/inventory/claim-states.ts'
import type { Intervals } from '../domain/sync/intervals.ts'
import type { RetentionSettings } from '../domain/sync/retention.ts'
import { isRedisOverTls, type RedisTls } from '../util/net/redis-address.ts'
import { readRegularFile } from '../util/regular-file.ts'
import { type DisplaySettings, readDisplay } from './display.ts'
import { type EffectiveSetting, effectiveSettings } from './effective-settings.ts'
import { type Environment, environment, type Role, readSecretFiles } from './environment.ts'
import { type IntervalValues, intervalEnvironment, readIntervals } from './intervals.ts'
import { listMisspelt, listUnknownSettings } from './misspelt-settings.ts'
import { readSellers, type SellerSettings } from './sellers.ts'
import { parseSmtpAddress, type SmtpSettings } from './smtp.ts'

export type { DisplaySettings } from './display.ts'
export type { Role } from './environment.ts'
export { sandboxDisplay, sandboxDisplayKeyFile } from './sandbox.ts'
export type { SellerSettings } from './sellers.ts'

/** Exit code of a start with invalid settings (EX_CONFIG of sysexits). */
export const configExitCode = 78

/** Invalid settings: one line for each fault, with the variable, the error and the accepted values. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost'])

/** Limits of the HTTP server. */
export interface HttpLimits {
  /** Largest body, in bytes. */
  readonly bodyBytes: number
  /** Maximum number of events in a batch: all of them are decided in one transaction. */
  readonly batchEvents: number
  /** Concurrent connections. */
  readonly connections: number
  /** Concurrent waiting readers of the change feed, by server-sent events or long poll. */
  readonly streams: number
  /** Maximum number of faults in one answer. */
  readonly maxReportedFaults: number
}

/** Every setting, checked; durations in milliseconds. */
export interface Config {
  readonly databaseUrl: string | null
  /** The same database where each connection is a session of its own; null: `databaseUrl` is one. */
  readonly databaseDirectUrl: string | null
  /** Whether frequent statements are prepared on the server; a pooler in transaction mode may refuse it. */
  readonly preparedStatements: boolean
  readonly redisUrl: string | null
  readonly redisTls: RedisTls
  /** Absolute. */
  readonly dataDir: string
  readonly sandbox: { readonly port: number; readonly demo: boolean } | null
  readonly sellers: readonly SellerSettings[]
  readonly sellersFile: string | null
  /** Keys of 32 bytes that decrypt stored refresh tokens; the first one encrypts. Empty: none is stored. */
  readonly tokenEncryptionKeys: readonly Uint8Array[]
  /** `sandbox`: that of the built-in sandbox; null: display advertising is off. */
  readonly display: DisplaySettings | 'sandbox' | null
  readonly autoAcknowledge: 'off' | 'on-import'
  /** What happens to a shipment of an order that is still Created. */
  readonly shipUnacknowledged: 'acknowledge-first' | 'refuse'
  /** Whether the queue to which other programs add events is consumed. */
  readonly erpEventsQueue: boolean
  readonly http: {
    readonly host: string
    readonly port: number
    /** The port for health and metrics without a key, with any roles; null: none. */
    readonly healthPort: number | null
    readonly apiKey: string | null
    readonly eventsSecrets: readonly string[]
    readonly limits: HttpLimits
  }
  /** Whether webhooks may go to loopback and private addresses, and over plain HTTP. */
  readonly webhookPrivateAddresses: boolean
  /** The mail server of alarms; null: none. */
  readonly smtp: SmtpSettings | null
  /** Address of the console for people; null: it is not known. */
  readonly consoleUrl: string | null
  readonly requestTimeoutMs: number
  /** Maximum number of records in one answer of the marketplace. */
  readonly maxPageRecords: number
  readonly settleTimeMs: number
  readonly drainTimeoutMs: number
  /** The database was restored: no command is sent before its order has been read. */
  readonly afterRestore: boolean
  readonly roles: readonly Role[]
  readonly log: { readonly level: string; readonly format: 'json' | 'pretty' }
  /** Whether traces, metrics and logs are exported to an OpenTelemetry collector. */
  readonly exportsTelemetry: boolean
  /** Time before the watermark at which each window of an incremental sync begins. */
  readonly lookBackMs: number
  /** Age by creation date up to which orders and returns are read again. */
  readonly rereadDepthMs: number
  /** Interval of the polls of orders while notifications of the seller arrive; null: the ordinary one. */
  readonly notifiedIntervalMs: number | null
  /** How long claims for inventory can be filed. */
  readonly claimWindows: ClaimWindows
  /** Time zone of the days in views for BI. */
  readonly biTimeZone: string
  /** Timeout of an idle transaction of BI, in milliseconds. */
  readonly biIdleTransactionMs: number | 'off'
  /** Retention of data. */
  readonly retention: RetentionSettings
  /** Variables that begin like settings but are unknown. */
  readonly unknownSettings: readonly string[]
  /** The interval of each sync, by its variable; `off`: only on request. */
  readonly intervals: Intervals
  /** Every setting for display, without the values of secrets. */
  readonly shown: readonly EffectiveSetting[]
}

const parseEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
): { values: Environment; intervals: IntervalValues; sellers: SellerSettings[]; display: Config['display'] } => {
  const faults: string[] = [...listMisspelt(source)]
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
    if (sellers.some(({ notificationsSecret }) => notificationsSecret === null))
      faults.push(
        `NOTIFICATIONS_SECRET: is unset while HOST is ${values.HOST}; accepted: set it, or notificationsSecret of each seller, or keep HOST on the loopback interface`,
      )
  }
  if (values.DATABASE_DIRECT_URL !== undefined && values.DATABASE_URL === undefined)
    faults.push('DATABASE_DIRECT_URL: is set while DATABASE_URL is unset; accepted: beside DATABASE_URL')
  if ((values.SMTP_URL === undefined) !== (values.SMTP_FROM === undefined))
    faults.push('SMTP_URL, SMTP_FROM: one of them is set; accepted: both or none')
  if ((values.REDIS_CERT_FILE === undefined) !== (values.REDIS_KEY_FILE === undefined))
    faults.push('REDIS_CERT_FILE, REDIS_KEY_FILE: one of them is set; accepted: both or none')
  // With a certificate authority, the operator assumes a secure connection.
  if ((values.REDIS_CA_FILE ?? values.REDIS_CERT_FILE) !== undefined && !isRedisOverTls(values.REDIS_URL ?? ''))
    faults.push(
      'REDIS_CA_FILE, REDIS_CERT_FILE: are set while REDIS_URL is not over TLS; accepted: beside rediss://… or rediss+sentinel://…',
    )
  if (values.SETTLE_TIME <= values.REQUEST_TIMEOUT) {
    faults.push(
      'SETTLE_TIME: is not longer than REQUEST_TIMEOUT; accepted: longer than the timeout of a request, so that its effect is visible by then',
    )
  }
  if (faults.length > 0) throw new InvalidConfig(faults)
  return { values, intervals: intervals.data, sellers, display }
}

const readPem = (name: string, file: string): string => {
  const read = readRegularFile(file)
  if (!read.ok) throw new InvalidConfig([`${name}: the file cannot be read: ${read.why}; accepted: the path of a PEM file`])
  return read.content.toString('utf8')
}

// The files are read at the start: a renewed certificate is used after the next start.
const readRedisTls = ({ REDIS_CA_FILE: ca, REDIS_CERT_FILE: cert, REDIS_KEY_FILE: key }: Environment): RedisTls => ({
  ...(ca === undefined ? {} : { ca: readPem('REDIS_CA_FILE', ca) }),
  ...(cert === undefined ? {} : { cert: readPem('REDIS_CERT_FILE', cert) }),
  ...(key === undefined ? {} : { key: readPem('REDIS_KEY_FILE', key) }),
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
    tokenEncryptionKeys: values.TOKEN_ENCRYPTION_KEY ?? [],
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
        maxReportedFaults: values.MAX_FAULTS_TOLD,
      },
    },
    lookBackMs: values.LOOK_BACK,
    rereadDepthMs: values.REREAD_DEPTH,
    notifiedIntervalMs: values.POLL_ORDERS_NOTIFIED ?? null,
    claimWindows: {
      ...{ inventoryMs: values.CLAIM_WINDOW, returnsMs: values.CLAIM_WINDOW_RETURNS },
      ...{ inboundFromMs: values.CLAIM_WAIT_INBOUND, inboundMs: values.CLAIM_WINDOW_INBOUND },
    },
    biTimeZone: values.BI_TIME_ZONE,
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
      notifications: values.RETAIN_NOTIFICATIONS,
      'log-entries': values.RETAIN_LOG_ENTRIES,
    },
    webhookPrivateAddresses: values.WEBHOOK_PRIVATE_ADDRESSES === 'allow',
    smtp:
      values.SMTP_URL === undefined || values.SMTP_FROM === undefined
        ? null
        : parseSmtpAddress(values.SMTP_URL, values.SMTP_FROM),
    consoleUrl: values.CONSOLE_URL ?? null,
    requestTimeoutMs: values.REQUEST_TIMEOUT,
    maxPageRecords: values.MAX_PAGE_RECORDS,
    settleTimeMs: values.SETTLE_TIME,
    drainTimeoutMs: values.DRAIN_TIMEOUT,
    afterRestore: values.AFTER_RESTORE === 'on',
    roles: values.ROLES,
    log: { level: values.LOG_LEVEL, format: logFormat },
    exportsTelemetry: values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
    unknownSettings: listUnknownSettings(source),
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
