import { z } from 'zod'
import { operationNames } from '../clients/marketplace/endpoints.ts'
import { profileNames, specification } from '../clients/marketplace/profiles/index.ts'
import { quantityFields } from '../clients/marketplace/profiles/profile.ts'
import { claimWindows } from '../domain/inventory/claim-states.ts'
import { movementKinds } from '../domain/inventory/log-reasons.ts'
import { columnMeanings } from '../domain/inventory/reconciliation-report.ts'
import { sellerModes } from '../domain/shadow/mode.ts'
import { maxNotifiedIntervalMs } from '../domain/sync/intervals.ts'
import { retentionRules } from '../domain/sync/retention.ts'
import { maxReachDays } from '../domain/sync/windows.ts'
import { readRegularText } from '../util/regular-file.ts'
import {
  bound,
  certificateFile,
  choice,
  databaseUrl,
  encryptionKeys,
  headerText,
  jsonObject,
  mailbox,
  nameList,
  optionalPort,
  optionalTimeSpan,
  pickOne,
  port,
  privateKeyFile,
  redisUrls,
  retention,
  rsaPrivateKey,
  sellerIdText,
  smtpUrl,
  storedId,
  text,
  timeSpan,
  timeSpanOrOff,
  timeZone,
  webUrl,
} from './parsers.ts'
import { rateLimits, rateLimitsAccepted } from './rate-limits.ts'

const roleNames = ['scheduler', 'worker', 'http'] as const
/** A role of a process: `scheduler` plans the work, `worker` does it, `http` answers requests. */
export type Role = (typeof roleNames)[number]

const rolesAccepts = `${roleNames.join(', ')}, separated by commas`
const roles = z
  .string()
  .transform((list) => list.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(roleNames, { error: `is not a list of roles; accepted: ${rolesAccepts}` })).min(1))
  .meta({ accepts: rolesAccepts })
  .default([...roleNames])

const prefixAccepts = 'up to ten letters and digits, such as XX'
/** The prefix of the names of the marketplace's own headers. */
export const headerPrefix = z
  .string()
  .regex(/^[A-Za-z0-9]{1,10}$/, `is not a header prefix; accepted: ${prefixAccepts}`)
  .meta({ accepts: prefixAccepts })

const advertiserId = z
  .string()
  .regex(/^\d{1,15}$/, 'is not an advertiser id; accepted: a whole number')
  .transform(Number)
  .meta({ accepts: 'a whole number' })

const pathAccepts = 'a path that begins with /, such as /v3/token'
const keyAccepts = 'at least 16 characters'
const whsecAccepts = 'whsec_ and base64, two separated by a comma while rotating'
const notificationsAccepts = 'at least 16 characters; for Basic and OAuth `user:password`'

/** The secret that proves the marketplace's notifications. */
export const notificationsSecret = z
  .string()
  .min(16, `is too short; accepted: ${notificationsAccepts}`)
  .meta({ accepts: notificationsAccepts })

/** Descriptions of the values of unset variables. */
const ofProfile = 'from the profile'
const ofSandbox = 'sandbox values'

/** Meanings of headers of the reconciliation report. */
export const reportColumns = z.record(text, z.enum(columnMeanings))
/** Meanings of reasons of the inventory log. */
export const logReasons = z.record(storedId, z.enum(movementKinds))

// Every setting: its variable, accepted values, default and meaning. `unset` describes the value of an unset variable without a default. `docs/settings.md` is
// generated from it, and a test compares the table of README.md with it.

const stores = {
  DATABASE_URL: databaseUrl.optional().describe('Postgres 15 or newer. Unset: an embedded one in `DATA_DIR`.'),
  DATABASE_DIRECT_URL: databaseUrl
    .optional()
    .describe(
      'The same database without a pooler in transaction mode, for [connections that need a session](scaling.md#connections). Unset: `DATABASE_URL`.',
    ),
  PREPARED_STATEMENTS: pickOne(['on', 'off'], 'on').describe(
    '`off` for a pooler in transaction mode that does not support them (PgBouncer before 1.21, or without `max_prepared_statements`).',
  ),
  REDIS_URL: redisUrls.optional().describe('Redis or Valkey, for the queues. Unset: the queues are in Postgres.'),
  REDIS_CA_FILE: certificateFile
    .optional()
    .meta({ description: 'Certificate authorities of Redis, for `rediss`.', unset: 'public authorities' }),
  REDIS_CERT_FILE: certificateFile.optional().describe('Client certificate, if Redis requires one.'),
  REDIS_KEY_FILE: privateKeyFile.optional().describe('Its private key.'),
  DATA_DIR: text.default('.data').describe('Directory of the embedded parts, readable only by its owner.'),
}

const marketplace = {
  MARKETPLACE_URL: webUrl.optional().describe('Address of the marketplace. Unset: the built-in sandbox.'),
  MARKETPLACE_PROFILE: pickOne(profileNames, specification.name).describe('Dialect of the marketplace.'),
  HEADER_PREFIX: headerPrefix
    .optional()
    .meta({ description: "Prefix of the names of the marketplace's own headers.", unset: ofProfile }),
  QUANTITY_FIELD: choice(quantityFields)
    .optional()
    .meta({ description: 'Name of the object with the units of a request.', unset: ofProfile }),
  TOKEN_PATH: z
    .string()
    .startsWith('/', `is not a path; accepted: ${pathAccepts}`)
    .meta({ accepts: pathAccepts })
    .optional()
    .meta({ description: 'Path of the token operation.', unset: ofProfile }),
  SERVICE_NAME: headerText.default('Tallyman').describe('Name sent to the marketplace in the service header.'),
  RATE_LIMITS: jsonObject(rateLimits, rateLimitsAccepted, `; operations: ${operationNames.join(', ')}`)
    .default({})
    .describe('Rate limits that replace the published ones.'),
  REQUEST_TIMEOUT: timeSpan(30_000, 100).describe('Timeout of a request to the marketplace.'),
  SETTLE_TIME: timeSpan(120_000, 200).describe(
    'Time after an unanswered write in which its effect may appear; longer than `REQUEST_TIMEOUT`.',
  ),
  MAX_PAGE_RECORDS: bound(10_000, 200, 1_000_000).describe(
    'Maximum number of records in one answer of the marketplace. A larger answer is rejected, and smaller pages are requested.',
  ),
}

const sellers = {
  SELLER_ID: sellerIdText.optional().meta({ description: 'The seller, if there is only one.', unset: ofSandbox }),
  CLIENT_ID: text.optional().meta({ description: 'Its client id at the marketplace.', unset: ofSandbox }),
  CLIENT_SECRET: text.optional().meta({ description: 'Its client secret.', unset: ofSandbox }),
  REFRESH_TOKEN: text
    .optional()
    .describe(
      'The access of a solution provider to this seller ([how to connect it](connecting-a-marketplace.md#sellers-of-a-solution-provider)).',
    ),
  PARTNER_ID: headerText
    .optional()
    .meta({ description: 'Its id at the marketplace, for the partner header.', unset: 'the seller id' }),
  TOKEN_ENCRYPTION_KEY: encryptionKeys
    .optional()
    .describe(
      'Encrypts the refresh tokens that the marketplace replaces; the same in all processes. Unset: none is stored, and an alarm reports a replaced one.',
    ),
  SELLERS_FILE: text.optional().describe('Path of a file with several sellers, [below](#the-file-of-sellers).'),
  NOTIFICATIONS_SECRET: notificationsSecret
    .optional()
    .describe(
      "Proves the marketplace's [notifications](notifications.md), by HMAC, Basic or OAuth; required when `HOST` is not a loopback address.",
    ),
  INVENTORY_SKUS: nameList.default([]).describe('SKUs whose inventory is read in addition to those of orders and reports.'),
  REPORT_COLUMNS: jsonObject(
    reportColumns,
    `header -> meaning, such as {"Stock at start": "beginning"}; meanings: ${columnMeanings.join(', ')}`,
  )
    .default({})
    .describe('Meanings of unknown headers of the reconciliation report.'),
  LOG_REASONS: jsonObject(logReasons, `reason -> kind, such as {"Q7": "lost"}; kinds: ${movementKinds.join(', ')}`)
    .default({})
    .describe('Meanings of reasons of the inventory log, by code or description.'),
}

const display = {
  DISPLAY_URL: webUrl.optional().describe('Address of display advertising. Unset while `MARKETPLACE_URL` is set: off.'),
  DISPLAY_CONSUMER_ID: text.optional().describe('Consumer id, shared by all advertisers.'),
  DISPLAY_AUTH_TOKEN: text.optional().describe('Token, shared by all advertisers.'),
  DISPLAY_PRIVATE_KEY: rsaPrivateKey.optional().describe('Key that signs each request; line breaks may be written as `\\n`.'),
  DISPLAY_KEY_VERSION: text.default('1').describe('Version of that key.'),
  ADVERTISER_ID: advertiserId.optional().describe('Advertiser id of the seller.'),
  CAMPAIGN_IDS: nameList.default([]).describe('Campaigns to watch, in addition to those that were added at run time.'),
}

const erp = {
  MODE: pickOne(sellerModes, 'live').describe(
    '`shadow`: sellers start in [shadow mode](shadow-mode.md): everything is read and decided, nothing is written.',
  ),
  AUTO_ACKNOWLEDGE: pickOne(['off', 'on-import'], 'off').describe(
    '`on-import`: each new order is acknowledged as soon as it is stored.',
  ),
  SHIP_UNACKNOWLEDGED: pickOne(['acknowledge-first', 'refuse'], 'acknowledge-first').describe(
    'What happens to a shipment of an order that is still Created; `refuse`: 422.',
  ),
  EVENTS_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/=]{16,}([ ,]+whsec_[A-Za-z0-9+/=]{16,})*$/, `is not a signing secret; accepted: ${whsecAccepts}`)
    .meta({ accepts: whsecAccepts })
    .optional()
    .describe('Standard Webhooks secret that signs incoming events; required when `HOST` is not a loopback address.'),
  ERP_EVENTS_QUEUE: pickOne(['on', 'off'], 'on').describe(
    'Whether processes with the role worker take [events by BullMQ job](events.md#by-bullmq-job) from the queue `erp-events`.',
  ),
  WEBHOOK_PRIVATE_ADDRESSES: pickOne(['refuse', 'allow'], 'refuse').describe(
    '`allow`: webhooks may use loopback and private addresses, and `http://`.',
  ),
}

const alarms = {
  SMTP_URL: smtpUrl
    .optional()
    .describe(
      'Mail server of [channels for alarms](alarm-channels.md), with user and password if it requires them. `smtp://`: STARTTLS, required with a password.',
    ),
  SMTP_FROM: mailbox.optional().describe('Sender of these e-mails; required with `SMTP_URL`.'),
  CONSOLE_URL: webUrl
    .optional()
    .meta({ description: 'Address at which people open the console, for the link in messages about alarms.', unset: 'no link' }),
}

const http = {
  HOST: text.default('127.0.0.1').describe('Address that the HTTP server listens on.'),
  PORT: port(8080).describe('Port of the HTTP server.'),
  HEALTH_PORT: optionalPort().describe(
    'A second port for `/livez`, `/readyz` and `/metrics`, without a key and with any `ROLES`, for probes and scrapes.',
  ),
  API_KEY: z
    .string()
    .min(16, `is too short; accepted: ${keyAccepts}`)
    .meta({ accepts: keyAccepts })
    .optional()
    .describe(
      'Bearer key of the operator API and the console, required when `HOST` is not a loopback address. It can create [others](keys.md).',
    ),
  MAX_BODY_BYTES: bound(1_048_576, 1_024, 16_777_216).describe('Maximum size of a request body.'),
  MAX_BATCH_EVENTS: bound(1_000, 1, 1_000).describe('Maximum number of events in a batch.'),
  MAX_CONNECTIONS: bound(500, 1, 100_000).describe('Maximum number of HTTP connections; above it 503 with `Retry-After`.'),
  MAX_STREAMS: bound(100, 0, 100_000).describe(
    'Maximum number of readers that wait for changes; above it 503 with `Retry-After`.',
  ),
  MAX_FAULTS_TOLD: bound(100, 1, 10_000).describe('Maximum number of faults in one answer.'),
}

const reading = {
  LOOK_BACK: timeSpan(1_800_000, 1_000).describe('Time before the watermark at which each window of an incremental sync begins.'),
  REREAD_DEPTH: timeSpan(45 * 86_400_000, 3_600_000, maxReachDays * 86_400_000).describe(
    'Age by creation date up to which orders and returns are read again.',
  ),
  POLL_ORDERS_NOTIFIED: optionalTimeSpan(1_000, maxNotifiedIntervalMs).meta({
    description:
      "A longer interval in place of `POLL_ORDERS` while the seller's notifications of orders [arrive](notifications.md#rarer-polls).",
    unset: 'as `POLL_ORDERS`',
  }),
  CLAIM_WINDOW: timeSpan(claimWindows.inventoryMs, 86_400_000, maxReachDays * 86_400_000).describe(
    'How long [claims](syncs.md#claims) for lost, damaged and missing units can be filed, from the end of their month.',
  ),
  CLAIM_WINDOW_RETURNS: timeSpan(claimWindows.returnsMs, 86_400_000, maxReachDays * 86_400_000).describe(
    'The same for units that came back from customers and that the report does not count, from the first day of the difference.',
  ),
  CLAIM_WAIT_INBOUND: timeSpan(claimWindows.inboundFromMs, 0, maxReachDays * 86_400_000).describe(
    'How long after the delivery of an inbound shipment units that were not received [become a claim](syncs.md#claims).',
  ),
  CLAIM_WINDOW_INBOUND: timeSpan(claimWindows.inboundMs, 86_400_000, maxReachDays * 86_400_000).describe(
    'How long claims for units of inbound shipments that were not received can be filed, from the delivery.',
  ),
}

const retentions = {
  RETAIN_RUNS: retention(retentionRules.runs).describe('Runs of syncs.'),
  RETAIN_ATTEMPTS: retention(retentionRules.attempts).describe('Attempts of settled commands.'),
  RETAIN_VERSIONS: retention(retentionRules.versions).describe('Superseded versions of records.'),
  RETAIN_CHANGES: retention(retentionRules.changes).describe('The change feed.'),
  RETAIN_EVENTS: retention(retentionRules.events).describe('Data of decided events.'),
  RETAIN_ALARMS: retention(retentionRules.alarms).describe('Resolved alarms.'),
  RETAIN_QUARANTINE: retention(retentionRules.quarantine).describe('Settled quarantine records.'),
  RETAIN_DELIVERIES: retention(retentionRules.deliveries).describe('Settled webhook deliveries.'),
  RETAIN_NOTIFICATIONS: retention(retentionRules.notifications).describe('Notifications of the marketplace that were read.'),
  RETAIN_LOG_ENTRIES: retention(retentionRules['log-entries']).describe('Inventory log entries.'),
}

const processes = {
  ROLES: roles.describe('Roles of this process: plan the work, do it, answer HTTP.'),
  BI_IDLE_TRANSACTION_TIMEOUT: timeSpanOrOff(600_000, 1_000).describe(
    'Timeout of an idle transaction of the role `tallyman_bi`. Then its [session is ended](operations.md#postgres-roles), if the daemon is allowed to.',
  ),
  BI_TIME_ZONE: timeZone
    .default('UTC')
    .describe(
      'Time zone of the days in the [views for BI](bi.md). All processes have the same: the last one that starts sets it.',
    ),
  DRAIN_TIMEOUT: timeSpan(15_000, 100).describe('Maximum time that a shutdown waits for running work.'),
  AFTER_RESTORE: pickOne(['on', 'off'], 'off').describe(
    '`on` after a [restore](backup.md): each order is read before its first command is sent.',
  ),
  LOG_LEVEL: pickOne(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info').describe('Minimum level of a log line.'),
  LOG_FORMAT: choice(['json', 'pretty'])
    .optional()
    .meta({ description: 'Format of the log.', unset: '`json` (`pretty` on a terminal)' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe(
      'Address of an [OpenTelemetry](telemetry.md) collector for traces, metrics and logs. Unset: none. The SDK reads the other `OTEL_…` variables.',
    ),
  SANDBOX_PORT: port(8181).describe('Port of the built-in sandbox.'),
  DEMO: pickOne(['on', 'off'], 'on').describe(
    'Whether the built-in sandbox has past orders and a new one every few seconds, and the demonstration ERP handles them.',
  ),
}

/** The settings in parts, each under its heading of `docs/settings.md`. */
export const settingParts = {
  'Postgres, Redis, files': stores,
  'The marketplace': marketplace,
  Sellers: sellers,
  'Advertising and campaigns': display,
  'Your ERP': erp,
  Alarms: alarms,
  'The HTTP server': http,
  'How far back is read': reading,
  'How long data is kept': retentions,
  'The process': processes,
} as const

/** Every variable except those of the intervals, with its accepted values and its default. */
export const environment = z.object({
  ...stores,
  ...marketplace,
  ...sellers,
  ...display,
  ...erp,
  ...alarms,
  ...http,
  ...reading,
  ...retentions,
  ...processes,
})

/** Variables whose value may be in a file, with its path in the variable with `_FILE`. */
export const secrets = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'REFRESH_TOKEN',
  'TOKEN_ENCRYPTION_KEY',
  'API_KEY',
  'EVENTS_SECRET',
  'NOTIFICATIONS_SECRET',
  'SMTP_URL',
  'DISPLAY_CONSUMER_ID',
  'DISPLAY_AUTH_TOKEN',
  'DISPLAY_PRIVATE_KEY',
] as const

/** The validated environment. */
export type Environment = z.infer<typeof environment>

/** The set variables, those of secret files included. Adds errors of these files to `faults`. */
export const readSecretFiles = (
  source: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Record<string, string> => {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(source)) if (value !== undefined && value !== '') values[name] = value
  for (const name of secrets) {
    const file = values[`${name}_FILE`]
    if (file === undefined) continue
    if (values[name] !== undefined) {
      faults.push(`${name} and ${name}_FILE: both are set; accepted: one of the two`)
      continue
    }
    const read = readRegularText(file)
    if (read.ok) values[name] = read.content.trim()
    // The value may be the secret itself, so it is not repeated.
    else faults.push(`${name}_FILE: the file cannot be read: ${read.why}; accepted: the path of a regular file`)
  }
  return values
}
