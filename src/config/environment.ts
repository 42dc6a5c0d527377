import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { profileNames, specification } from '../clients/marketplace/profiles/index.ts'
import { quantityFields } from '../clients/marketplace/profiles/profile.ts'
import { movementKinds } from '../domain/log-reasons.ts'
import { columnMeanings } from '../domain/reconciliation-report.ts'
import { retentionRules } from '../domain/retention.ts'
import { mostReachDays } from '../domain/windows.ts'
import {
  bound,
  jsonObject,
  nameList,
  oneOf,
  optionalPort,
  port,
  redisUrls,
  retention,
  rsaPrivateKey,
  text,
  timeSpan,
  url,
} from './parsers.ts'
import { rateLimits, rateLimitsAccepted } from './rate-limits.ts'

const roleNames = ['scheduler', 'worker', 'http'] as const
/** What a process does: plan the work, do it, answer HTTP. */
export type Role = (typeof roleNames)[number]

const roles = z
  .string()
  .transform((list) => list.split(',').map((name) => name.trim()))
  .pipe(
    z
      .array(z.enum(roleNames, { error: `is not a list of roles; accepted: ${roleNames.join(', ')}, separated by commas` }))
      .min(1),
  )
  .default([...roleNames])

/** What the names of the marketplace's own headers begin with. */
export const headerPrefix = z
  .string()
  .regex(/^[A-Za-z0-9]{1,10}$/, 'is not a header prefix; accepted: up to ten letters and digits, such as XX')

const advertiserId = z
  .string()
  .regex(/^\d{1,15}$/, 'is not an advertiser id; accepted: a whole number')
  .transform(Number)

/** What headers of the reconciliation report mean. */
export const reportColumns = z.record(text, z.enum(columnMeanings))
/** What reasons of the inventory log mean. */
export const logReasons = z.record(text, z.enum(movementKinds))

/** Every variable, with what it accepts and its default. */
export const environment = z.object({
  DATABASE_URL: url(['postgres:', 'postgresql:']).optional(),
  PREPARED_STATEMENTS: oneOf(['on', 'off'], 'on'),
  REDIS_URL: redisUrls.optional(),
  DATA_DIR: text.default('.data'),
  MARKETPLACE_URL: url(['http:', 'https:']).optional(),
  MARKETPLACE_PROFILE: oneOf(profileNames, specification.name),
  HEADER_PREFIX: headerPrefix.optional(),
  TOKEN_PATH: z.string().startsWith('/', 'is not a path; accepted: one that begins with /, such as /v3/token').optional(),
  SELLER_ID: text.optional(),
  CLIENT_ID: text.optional(),
  CLIENT_SECRET: text.optional(),
  SELLERS_FILE: text.optional(),
  SERVICE_NAME: text.default('Tallyman'),
  QUANTITY_FIELD: z.enum(quantityFields, { error: `is none of the accepted values: ${quantityFields.join(', ')}` }).optional(),
  AUTO_ACKNOWLEDGE: oneOf(['off', 'on-import'], 'off'),
  ERP_EVENTS_QUEUE: oneOf(['on', 'off'], 'on'),
  SHIP_UNACKNOWLEDGED: oneOf(['acknowledge-first', 'refuse'], 'acknowledge-first'),
  HOST: text.default('127.0.0.1'),
  PORT: port(8080),
  HEALTH_PORT: optionalPort(),
  API_KEY: z.string().min(16, 'is too short; accepted: at least 16 characters').optional(),
  EVENTS_SECRET: z
    .string()
    .regex(
      /^whsec_[A-Za-z0-9+/=]{16,}([ ,]+whsec_[A-Za-z0-9+/=]{16,})*$/,
      'is not a signing secret; accepted: whsec_ and base64, two separated by a comma while rotating',
    )
    .optional(),
  WEBHOOK_PRIVATE_ADDRESSES: oneOf(['refuse', 'allow'], 'refuse'),
  LOOK_BACK: timeSpan(1_800_000, 1_000),
  REREAD_DEPTH: timeSpan(45 * 86_400_000, 3_600_000, mostReachDays * 86_400_000),
  REQUEST_TIMEOUT: timeSpan(30_000, 100),
  SETTLE_TIME: timeSpan(120_000, 200),
  DRAIN_TIMEOUT: timeSpan(15_000, 100),
  AFTER_RESTORE: oneOf(['on', 'off'], 'off'),
  RETAIN_RUNS: retention(retentionRules.runs),
  RETAIN_ATTEMPTS: retention(retentionRules.attempts),
  RETAIN_VERSIONS: retention(retentionRules.versions),
  RETAIN_CHANGES: retention(retentionRules.changes),
  RETAIN_EVENTS: retention(retentionRules.events),
  RETAIN_ALARMS: retention(retentionRules.alarms),
  RETAIN_QUARANTINE: retention(retentionRules.quarantine),
  RETAIN_DELIVERIES: retention(retentionRules.deliveries),
  RETAIN_LOG_ENTRIES: retention(retentionRules['log-entries']),
  MAX_BODY_BYTES: bound(1_048_576, 1_024, 16_777_216),
  MAX_BATCH_EVENTS: bound(1_000, 1, 1_000),
  MAX_PAGE_RECORDS: bound(10_000, 200, 1_000_000),
  MAX_CONNECTIONS: bound(500, 1, 100_000),
  MAX_STREAMS: bound(100, 0, 100_000),
  MAX_FAULTS_TOLD: bound(100, 1, 10_000),
  SANDBOX_PORT: port(8181),
  DEMO: oneOf(['on', 'off'], 'on'),
  ROLES: roles,
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info'),
  LOG_FORMAT: z.enum(['json', 'pretty'], { error: 'is none of the accepted values: json, pretty' }).optional(),
  DISPLAY_URL: url(['http:', 'https:']).optional(),
  DISPLAY_CONSUMER_ID: text.optional(),
  DISPLAY_AUTH_TOKEN: text.optional(),
  DISPLAY_PRIVATE_KEY: rsaPrivateKey.optional(),
  DISPLAY_KEY_VERSION: text.default('1'),
  ADVERTISER_ID: advertiserId.optional(),
  CAMPAIGN_IDS: nameList.default([]),
  INVENTORY_SKUS: nameList.default([]),
  REPORT_COLUMNS: jsonObject(
    reportColumns,
    `header -> meaning, such as {"Stock at start": "beginning"}; meanings: ${columnMeanings.join(', ')}`,
  ).default({}),
  RATE_LIMITS: jsonObject(rateLimits, rateLimitsAccepted).default({}),
  LOG_REASONS: jsonObject(logReasons, `reason -> kind, such as {"Q7": "lost"}; kinds: ${movementKinds.join(', ')}`).default({}),
})

/** Variables whose value may stand in a file, named by the variable with `_FILE`. */
export const secrets = [
  'DATABASE_URL',
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
    try {
      values[name] = readFileSync(file, 'utf8').trim()
    } catch (error) {
      faults.push(
        `${name}_FILE: ${file} cannot be read (${error instanceof Error ? error.message : String(error)}); accepted: the path of a readable file`,
      )
    }
  }
  return values
}
