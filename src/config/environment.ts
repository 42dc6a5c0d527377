import { z } from 'zod'
import { profileNames, specification } from '../clients/marketplace/profiles/index.ts'
import { quantityFields } from '../clients/marketplace/profiles/profile.ts'
import { movementKinds } from '../domain/log-reasons.ts'
import { columnMeanings } from '../domain/reconciliation-report.ts'
import { retentionRules } from '../domain/retention.ts'
import { mostReachDays } from '../domain/windows.ts'
import { readRegularText } from '../regular-file.ts'
import {
  bound,
  certificateFile,
  choice,
  databaseUrl,
  headerText,
  jsonObject,
  nameList,
  oneOf,
  optionalPort,
  port,
  privateKeyFile,
  redisUrls,
  retention,
  rsaPrivateKey,
  sellerIdText,
  storedId,
  text,
  timeSpan,
  timeSpanOrOff,
  webUrl,
} from './parsers.ts'
import { operationNames, rateLimits, rateLimitsAccepted } from './rate-limits.ts'

const roleNames = ['scheduler', 'worker', 'http'] as const
/** What a process does: plan the work, do it, answer HTTP. */
export type Role = (typeof roleNames)[number]

const rolesAccepts = `${roleNames.join(', ')}, separated by commas`
const roles = z
  .string()
  .transform((list) => list.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(roleNames, { error: `is not a list of roles; accepted: ${rolesAccepts}` })).min(1))
  .meta({ accepts: rolesAccepts })
  .default([...roleNames])

const prefixAccepts = 'up to ten letters and digits, such as XX'
/** What the names of the marketplace's own headers begin with. */
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

/** What holds where nothing is set, in words. */
const ofProfile = 'from the profile'
const ofSandbox = 'sandbox values'

/** What headers of the reconciliation report mean. */
export const reportColumns = z.record(text, z.enum(columnMeanings))
/** What reasons of the inventory log mean. */
export const logReasons = z.record(storedId, z.enum(movementKinds))

// Every setting stands here once: its variable, what it accepts, its default and its meaning. Where nothing is set and something holds all the same,
// `unset` says what. `docs/settings.md` is made of it, and the table of README.md is held against it.

const stores = {
  DATABASE_URL: databaseUrl.optional().describe('Postgres 15 or newer. Unset: an embedded one in `DATA_DIR`.'),
  DATABASE_DIRECT_URL: databaseUrl
    .optional()
    .describe(
      'The same database past a pooler in transaction mode, for [what needs a session of its own](scaling.md#connections). Unset: `DATABASE_URL`.',
    ),
  PREPARED_STATEMENTS: oneOf(['on', 'off'], 'on').describe(
    '`off` for a pooler in transaction mode that does not know them (PgBouncer before 1.21, or without `max_prepared_statements`).',
  ),
  REDIS_URL: redisUrls.optional().describe('Redis or Valkey, for the queues. Unset: the queues live in Postgres.'),
  REDIS_CA_FILE: certificateFile
    .optional()
    .meta({ description: 'Authorities that sign the certificates of Redis, for `rediss`.', unset: 'public authorities' }),
  REDIS_CERT_FILE: certificateFile.optional().describe('Certificate of the daemon, where Redis wants one.'),
  REDIS_KEY_FILE: privateKeyFile.optional().describe('Its private key.'),
  DATA_DIR: text.default('.data').describe('Directory of the embedded parts, readable by its owner only.'),
}

const marketplace = {
  MARKETPLACE_URL: webUrl.optional().describe('Address of the marketplace. Unset: the built-in sandbox.'),
  MARKETPLACE_PROFILE: oneOf(profileNames, specification.name).describe('Its dialect.'),
  HEADER_PREFIX: headerPrefix
    .optional()
    .meta({ description: "What the names of the marketplace's own headers begin with.", unset: ofProfile }),
  QUANTITY_FIELD: choice(quantityFields)
    .optional()
    .meta({ description: 'Name of the object that carries the units of a request.', unset: ofProfile }),
  TOKEN_PATH: z
    .string()
    .startsWith('/', `is not what is accepted: ${pathAccepts}`)
    .meta({ accepts: pathAccepts })
    .optional()
    .meta({ description: 'Path of the token operation.', unset: ofProfile }),
  SERVICE_NAME: headerText.default('Tallyman').describe('Name sent to the marketplace in the service header.'),
  RATE_LIMITS: jsonObject(rateLimits, rateLimitsAccepted, `; operations: ${operationNames.join(', ')}`)
    .default({})
    .describe('Limits in place of the published ones.'),
  REQUEST_TIMEOUT: timeSpan(30_000, 100).describe('Time-out of a request to the marketplace.'),
  SETTLE_TIME: timeSpan(120_000, 200).describe(
    'How long after an unanswered write its effect may still appear; longer than `REQUEST_TIMEOUT`.',
  ),
  MAX_PAGE_RECORDS: bound(10_000, 200, 1_000_000).describe(
    'Most records in one answer of the marketplace; a larger one is rejected, and smaller pages are requested.',
  ),
}

const sellers = {
  SELLER_ID: sellerIdText.optional().meta({ description: 'The seller, where there is one only.', unset: ofSandbox }),
  CLIENT_ID: text.optional().meta({ description: 'Its client id at the marketplace.', unset: ofSandbox }),
  CLIENT_SECRET: text.optional().meta({ description: 'Its client secret.', unset: ofSandbox }),
  SELLERS_FILE: text.optional().describe('Path of a file with several sellers, [below](#the-file-of-sellers).'),
  INVENTORY_SKUS: nameList.default([]).describe('SKUs whose inventory is read in addition to those of orders and reports.'),
  REPORT_COLUMNS: jsonObject(
    reportColumns,
    `header -> meaning, such as {"Stock at start": "beginning"}; meanings: ${columnMeanings.join(', ')}`,
  )
    .default({})
    .describe('What headers of the reconciliation report mean that nobody knows.'),
  LOG_REASONS: jsonObject(logReasons, `reason -> kind, such as {"Q7": "lost"}; kinds: ${movementKinds.join(', ')}`)
    .default({})
    .describe('What reasons of the inventory log mean, by code or description.'),
}

const display = {
  DISPLAY_URL: webUrl.optional().describe('Address of display advertising. Unset while `MARKETPLACE_URL` is set: off.'),
  DISPLAY_CONSUMER_ID: text.optional().describe('Consumer id, shared by all advertisers.'),
  DISPLAY_AUTH_TOKEN: text.optional().describe('Token, shared by all advertisers.'),
  DISPLAY_PRIVATE_KEY: rsaPrivateKey.optional().describe('Key that signs each request; line breaks may be written as `\\n`.'),
  DISPLAY_KEY_VERSION: text.default('1').describe('Version of that key.'),
  ADVERTISER_ID: advertiserId.optional().describe('Advertiser id of the seller.'),
  CAMPAIGN_IDS: nameList.default([]).describe('Campaigns to watch, beside those that were added while running.'),
}

const erp = {
  AUTO_ACKNOWLEDGE: oneOf(['off', 'on-import'], 'off').describe(
    '`on-import`: each new order is acknowledged as soon as it is stored.',
  ),
  SHIP_UNACKNOWLEDGED: oneOf(['acknowledge-first', 'refuse'], 'acknowledge-first').describe(
    'How a shipment of an order that is still Created is handled; `refuse`: 422.',
  ),
  EVENTS_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/=]{16,}([ ,]+whsec_[A-Za-z0-9+/=]{16,})*$/, `is not a signing secret; accepted: ${whsecAccepts}`)
    .meta({ accepts: whsecAccepts })
    .optional()
    .describe('Standard Webhooks secret that signs incoming events; required when `HOST` is not a loopback address.'),
  ERP_EVENTS_QUEUE: oneOf(['on', 'off'], 'on').describe(
    'Whether processes with the role worker take [events by BullMQ job](events.md#by-bullmq-job) from the queue `erp-events`.',
  ),
  WEBHOOK_PRIVATE_ADDRESSES: oneOf(['refuse', 'allow'], 'refuse').describe(
    '`allow`: webhooks may go to loopback and private addresses, and over `http://`.',
  ),
}

const http = {
  HOST: text.default('127.0.0.1').describe('Address that the HTTP server listens on.'),
  PORT: port(8080).describe('Port of the HTTP server.'),
  HEALTH_PORT: optionalPort().describe(
    'A second port for `/livez`, `/readyz` and `/metrics`, without a key and with any `ROLES`: for probes and scrapes.',
  ),
  API_KEY: z
    .string()
    .min(16, `is too short; accepted: ${keyAccepts}`)
    .meta({ accepts: keyAccepts })
    .optional()
    .describe(
      'Bearer key of the operator API and the console, required when `HOST` is not a loopback address. It gives out [others](keys.md).',
    ),
  MAX_BODY_BYTES: bound(1_048_576, 1_024, 16_777_216).describe('Longest body of a request.'),
  MAX_BATCH_EVENTS: bound(1_000, 1, 1_000).describe('Most events in a batch.'),
  MAX_CONNECTIONS: bound(500, 1, 100_000).describe('Most HTTP connections; above that 503 with `Retry-After`.'),
  MAX_STREAMS: bound(100, 0, 100_000).describe('Most readers that wait for changes; above that 503 with `Retry-After`.'),
  MAX_FAULTS_TOLD: bound(100, 1, 10_000).describe('Most faults that one answer lists.'),
}

const reading = {
  LOOK_BACK: timeSpan(1_800_000, 1_000).describe('How far before the watermark each window of an incremental sync begins.'),
  REREAD_DEPTH: timeSpan(45 * 86_400_000, 3_600_000, mostReachDays * 86_400_000).describe(
    'How far back by creation date orders and returns are read again.',
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
  RETAIN_LOG_ENTRIES: retention(retentionRules['log-entries']).describe('Inventory log entries.'),
}

const processes = {
  ROLES: roles.describe('What this process does: plan the work, do it, answer HTTP.'),
  BI_IDLE_TRANSACTION_TIMEOUT: timeSpanOrOff(600_000, 1_000).describe(
    'How long a login with the role `tallyman_bi` may leave a transaction idle; then its [session is ended](operations.md#postgres-roles), if the daemon may.',
  ),
  DRAIN_TIMEOUT: timeSpan(15_000, 100).describe('How long a shutdown waits for running work.'),
  AFTER_RESTORE: oneOf(['on', 'off'], 'off').describe(
    '`on` after a [restore](backup.md): each order is read before its first command is sent.',
  ),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info').describe('Least level of a log line.'),
  LOG_FORMAT: choice(['json', 'pretty'])
    .optional()
    .meta({ description: 'How the log is written.', unset: '`json` (`pretty` on a terminal)' }),
  SANDBOX_PORT: port(8181).describe('Port of the built-in sandbox.'),
  DEMO: oneOf(['on', 'off'], 'on').describe('Whether the demonstration ERP runs beside the built-in sandbox.'),
}

/** The settings in parts, each under its heading of `docs/settings.md`. */
export const settingParts = {
  'Postgres, Redis, files': stores,
  'The marketplace': marketplace,
  Sellers: sellers,
  'Advertising and campaigns': display,
  'Your ERP': erp,
  'The HTTP server': http,
  'How far back is read': reading,
  'How long data is kept': retentions,
  'The process': processes,
} as const

/** Every variable but those of the intervals, with what it accepts and its default. */
export const environment = z.object({
  ...stores,
  ...marketplace,
  ...sellers,
  ...display,
  ...erp,
  ...http,
  ...reading,
  ...retentions,
  ...processes,
})

/** Variables whose value may stand in a file, named by the variable with `_FILE`. */
export const secrets = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'API_KEY',
  'EVENTS_SECRET',
  'DISPLAY_CONSUMER_ID',
  'DISPLAY_AUTH_TOKEN',
  'DISPLAY_PRIVATE_KEY',
] as const

/** The environment, checked. */
export type Environment = z.infer<typeof environment>

/** The variables that are set, those of secret files included; what is wrong with these files joins `faults`. */
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
    // What stands there may be the secret itself.
    else faults.push(`${name}_FILE: what it names cannot be read: ${read.why}; accepted: the path of a regular file`)
  }
  return values
}
