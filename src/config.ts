import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { type MovementKind, movementKinds, type ReasonMap, wordsOf } from './domain/log-reasons.ts'
import { nearestName } from './domain/nearest.ts'
import { type ColumnNames, columnMeanings } from './domain/reconciliation-report.ts'
import { longestRetentionMs, type RetentionRule, type RetentionSettings, retentionRules } from './domain/retention.ts'
import { parseDurationMs } from './duration.ts'
import type { HttpLimits } from './http/services.ts'

/** Exit code of a start with invalid settings (EX_CONFIG of sysexits). */
export const configExitCode = 78

/** Settings are invalid; one line a fault, each naming the variable, what was wrong and what is accepted. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost'])

const duration = (
  accepts: string,
  { minMs = 1, maxMs = Number.POSITIVE_INFINITY, off = false }: { minMs?: number; maxMs?: number; off?: boolean } = {},
) =>
  z.string().transform((text, context): number | 'off' => {
    if (off && text === 'off') return 'off'
    const durationMs = parseDurationMs(text)
    if (durationMs !== null && durationMs >= minMs && durationMs <= maxMs) return durationMs
    context.addIssue({ code: 'custom', message: `is not a duration; accepted: ${accepts}` })
    return z.NEVER
  })

/** Farther back nothing is read, whatever is asked for. */
const longestReread = 3_650 * 86_400_000

const timeSpan = (fallbackMs: number, minMs = 1, maxMs?: number) =>
  duration(
    `a number with its unit, such as 500ms, 90s, 5m, 1h or 2d${maxMs === undefined ? '' : `, up to ${Math.round(maxMs / 86_400_000)}d`}`,
    { minMs, ...(maxMs === undefined ? {} : { maxMs }) },
  )
    .pipe(z.number())
    .default(fallbackMs)

/** How long a kind of data is kept. */
const retention = ({ defaultMs, leastMs, because }: RetentionRule) => {
  const least = because === null ? '' : ` of at least ${Math.round(leastMs / 86_400_000)}d (${because})`
  const accepted = `a number with its unit${least}, such as 90d or 500d, up to ${Math.round(longestRetentionMs / 86_400_000)}d; or forever`
  return z
    .string()
    .transform((text, context): number | 'forever' => {
      if (text === 'forever') return 'forever'
      const durationMs = parseDurationMs(text)
      if (durationMs !== null && durationMs >= leastMs && durationMs <= longestRetentionMs) return durationMs
      context.addIssue({
        code: 'custom',
        message: `is ${durationMs === null ? 'not a duration' : durationMs < leastMs ? 'too short' : 'too long'}; accepted: ${accepted}`,
      })
      return z.NEVER
    })
    .default(defaultMs)
}

const interval = () =>
  duration('a number with its unit of at least 1s, such as 90s, 5m or 1h; or off', { minMs: 1_000, off: true }).optional()

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'is not a port; accepted: 0 (any free one) to 65535')
    .transform(Number)
    .refine((value) => value <= 65_535, 'is not a port; accepted: 0 (any free one) to 65535')
    .default(fallback)

/** A bound: a whole number between two others. */
const bound = (fallback: number, least: number, most: number) => {
  const accepted = `is not a bound; accepted: a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,12}$/, accepted)
    .transform(Number)
    .refine((value) => value >= least && value <= most, accepted)
    .default(fallback)
}

const url = (protocols: readonly string[]) =>
  z.string().refine(
    (text) => {
      const parsed = URL.canParse(text) ? new URL(text) : null
      return parsed !== null && protocols.includes(parsed.protocol)
    },
    `is not an address; accepted: one that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  )

const redisUrls = z.string().refine(
  (text) =>
    text.split(',').every((part) => {
      const address = part.trim()
      return URL.canParse(address) && ['redis:', 'rediss:'].includes(new URL(address).protocol)
    }),
  'is not a Redis address; accepted: redis://… or rediss://…, or several of them with commas for a cluster',
)

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values, fallback: Values[number]) =>
  z.enum(values, { error: `is none of the accepted values: ${values.join(', ')}` }).default(() => fallback)

const text = z.string().trim().min(1)

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

const profiles = ['specification', 'walmart-us'] as const
const quantityFields = ['quantity', 'statusQuantity'] as const

const headerPrefix = z
  .string()
  .regex(/^[A-Za-z0-9]{1,10}$/, 'is not a header prefix; accepted: up to ten letters and digits, such as XX')

/** A PEM, whose line breaks an environment file may hold as `\\n`. */
const rsaPrivateKey = z
  .string()
  .transform((pem) => pem.replaceAll('\\n', '\n'))
  .refine((pem) => {
    try {
      return createPrivateKey(pem).asymmetricKeyType === 'rsa'
    } catch {
      return false
    }
  }, 'is not an RSA private key; accepted: a PEM, such as one that begins with -----BEGIN PRIVATE KEY-----')

const advertiserId = z
  .string()
  .regex(/^\d{1,15}$/, 'is not an advertiser id; accepted: a whole number')
  .transform(Number)

const nameList = z.string().transform((list) => [
  ...new Set(
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
])

/** A JSON object in a variable, held against a schema. */
const jsonObject = <Schema extends z.ZodType>(schema: Schema, accepts: string) =>
  z.string().transform((source, context): z.output<Schema> => {
    const fault = (): never => {
      context.addIssue({ code: 'custom', message: `is not what is accepted: a JSON object of ${accepts}` })
      return z.NEVER
    }
    let value: unknown
    try {
      value = JSON.parse(source)
    } catch {
      return fault()
    }
    const parsed = schema.safeParse(value)
    return parsed.success ? parsed.data : fault()
  })

const reportColumns = z.record(text, z.enum(columnMeanings))
const logReasons = z.record(text, z.enum(movementKinds))

const reasonMap = (reasons: Readonly<Record<string, MovementKind>>): ReasonMap =>
  new Map(Object.entries(reasons).map(([reason, kind]) => [wordsOf(reason), kind]))

const hourMs = 3_600_000
const dayMs = 24 * hourMs

// Interval of each sync: its variable, and its default; whoever watches the demonstration does not want to wait a minute for each step.
const polls = {
  orders: { variable: 'POLL_ORDERS', ordinary: 60_000, demonstration: 5_000 },
  orderSweep: { variable: 'POLL_ORDER_SWEEP', ordinary: dayMs, demonstration: dayMs },
  returns: { variable: 'POLL_RETURNS', ordinary: 900_000, demonstration: 30_000 },
  taxonomies: { variable: 'POLL_TAXONOMIES', ordinary: dayMs, demonstration: 300_000 },
  'contextual-targets': { variable: 'POLL_CONTEXTUAL_TARGETS', ordinary: dayMs, demonstration: 300_000 },
  'behavioral-audiences': { variable: 'POLL_BEHAVIORAL_AUDIENCES', ordinary: dayMs, demonstration: 300_000 },
  campaigns: { variable: 'POLL_CAMPAIGNS', ordinary: 900_000, demonstration: 60_000 },
  'shipping-settings': { variable: 'POLL_SHIPPING_SETTINGS', ordinary: dayMs, demonstration: 120_000 },
  replenishment: { variable: 'POLL_REPLENISHMENT', ordinary: dayMs, demonstration: 120_000 },
  'inventory-log': { variable: 'POLL_INVENTORY_LOG', ordinary: hourMs, demonstration: 30_000 },
  reconciliation: { variable: 'POLL_RECONCILIATION', ordinary: 900_000, demonstration: 60_000 },
  'sales-channels': { variable: 'POLL_SALES_CHANNELS', ordinary: dayMs, demonstration: 120_000 },
} as const
/** A sync with an interval of its own: a resource, or the sweep of open orders. */
export type PollName = keyof typeof polls
const pollNames = Object.keys(polls).filter((name): name is PollName => Object.hasOwn(polls, name))
type PollVariable = (typeof polls)[PollName]['variable']

const environment = z.object({
  DATABASE_URL: url(['postgres:', 'postgresql:']).optional(),
  REDIS_URL: redisUrls.optional(),
  DATA_DIR: text.default('.data'),
  MARKETPLACE_URL: url(['http:', 'https:']).optional(),
  MARKETPLACE_PROFILE: oneOf(profiles, 'specification'),
  HEADER_PREFIX: headerPrefix.optional(),
  TOKEN_PATH: z.string().startsWith('/', 'is not a path; accepted: one that begins with /, such as /v3/token').optional(),
  SELLER_ID: text.optional(),
  CLIENT_ID: text.optional(),
  CLIENT_SECRET: text.optional(),
  SELLERS_FILE: text.optional(),
  SERVICE_NAME: text.default('Tallyman'),
  QUANTITY_FIELD: z.enum(quantityFields, { error: `is none of the accepted values: ${quantityFields.join(', ')}` }).optional(),
  AUTO_ACKNOWLEDGE: oneOf(['off', 'on-import'], 'off'),
  SHIP_UNACKNOWLEDGED: oneOf(['acknowledge-first', 'refuse'], 'acknowledge-first'),
  HOST: text.default('127.0.0.1'),
  PORT: port(8080),
  API_KEY: z.string().min(16, 'is too short; accepted: at least 16 characters').optional(),
  EVENTS_SECRET: z
    .string()
    .regex(
      /^whsec_[A-Za-z0-9+/=]{16,}([ ,]+whsec_[A-Za-z0-9+/=]{16,})*$/,
      'is not a signing secret; accepted: whsec_ and base64, two separated by a comma while rotating',
    )
    .optional(),
  LOOK_BACK: timeSpan(1_800_000, 1_000),
  REREAD_EVERY: interval(),
  REREAD_DEPTH: timeSpan(45 * 86_400_000, 3_600_000, longestReread),
  REQUEST_TIMEOUT: timeSpan(30_000, 100),
  SETTLE_TIME: timeSpan(120_000, 200),
  DRAIN_TIMEOUT: timeSpan(15_000, 100),
  RETAIN_RUNS: retention(retentionRules.runs),
  RETAIN_ATTEMPTS: retention(retentionRules.attempts),
  RETAIN_VERSIONS: retention(retentionRules.versions),
  RETAIN_CHANGES: retention(retentionRules.changes),
  RETAIN_EVENTS: retention(retentionRules.events),
  RETAIN_ALARMS: retention(retentionRules.alarms),
  RETAIN_QUARANTINE: retention(retentionRules.quarantine),
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
  LOG_REASONS: jsonObject(logReasons, `reason -> kind, such as {"Q7": "lost"}; kinds: ${movementKinds.join(', ')}`).default({}),
  ...pollIntervals(),
})

function pollIntervals() {
  const variables = pollNames.map((name) => polls[name].variable)
  return Object.fromEntries(variables.map((variable) => [variable, interval()])) as Record<
    PollVariable,
    ReturnType<typeof interval>
  >
}

const secrets = [
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

/** One seller: who it is at the marketplace and how to speak to it there. */
export interface SellerSettings {
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly profile: (typeof profiles)[number]
  /** Null: the profile's own. */
  readonly headerPrefix: string | null
  /** Null: the profile's own. */
  readonly quantityField: (typeof quantityFields)[number] | null
  /** Null: the profile's own. */
  readonly tokenPath: string | null
  /** Null: the built-in sandbox, whose address is known once it runs. */
  readonly marketplaceUrl: string | null
  readonly serviceName: string
  /** In display advertising; null: this seller has none there. */
  readonly advertiserId: number | null
  /** Campaigns to watch, beside those that were added while running. */
  readonly campaignIds: readonly string[]
  /** Stock keys whose inventory is followed, beside those that orders and reports name. */
  readonly skus: readonly string[]
  /** What reasons of the inventory log mean, by their words. */
  readonly logReasons: ReasonMap
  /** What headers of the reconciliation report mean, for those that nobody knows. */
  readonly reportColumns: ColumnNames
}

/** How the daemon speaks to display advertising; one identity for all advertisers (specification, Authentication). */
export interface DisplaySettings {
  readonly url: string
  readonly consumerId: string
  readonly authToken: string
  /** PEM. */
  readonly privateKey: string
  readonly keyVersion: string
}

/** Credentials of the built-in sandbox, used when `MARKETPLACE_URL` is unset. */
export const sandboxSeller = { sellerId: 'sandbox-seller', clientId: 'sandbox-client', clientSecret: 'sandbox-secret' } as const
/** Identity at the display advertising of the built-in sandbox, which makes the key itself. */
export const sandboxDisplay = { consumerId: 'sandbox-consumer', authToken: 'sandbox-display-token', keyVersion: '1' } as const
/** Where the built-in sandbox keeps the key that signs requests to its display advertising; it makes one at its first start. */
export const sandboxDisplayKeyFile = (dataDir: string): string => path.join(dataDir, 'sandbox', 'display-private-key.pem')
const sandboxAdvertiserId = 10_001
/** Campaigns that a fresh sandbox has, one in each kind of state. */
const sandboxCampaignIds = Array.from({ length: 9 }, (_, index) => `SEM-${1_001 + index}`)

/** Every setting, checked; durations in milliseconds. */
export interface Config {
  readonly databaseUrl: string | null
  readonly redisUrl: string | null
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
  readonly http: {
    readonly host: string
    readonly port: number
    readonly apiKey: string | null
    readonly eventsSecrets: readonly string[]
    readonly limits: HttpLimits
  }
  readonly requestTimeoutMs: number
  /** Most records that one answer of the marketplace may hold. */
  readonly maxPageRecords: number
  readonly settleTimeMs: number
  readonly drainTimeoutMs: number
  readonly roles: readonly Role[]
  readonly log: { readonly level: string; readonly format: 'json' | 'pretty' }
  /** How far before the watermark each window of a sync that follows changes begins. */
  readonly lookBackMs: number
  /** How often, and how far back by creation date, orders and returns are read again. */
  readonly reread: { readonly everyMs: number | 'off'; readonly depthMs: number }
  /** How long data is kept. */
  readonly retention: RetentionSettings
  /** Variables that begin like settings and are none. */
  readonly unknownSettings: readonly string[]
  /** Interval of each sync; `off`: never by itself. */
  readonly poll: Readonly<Record<PollName, number | 'off'>>
}

const sellerEntry = z.strictObject({
  sellerId: text,
  clientId: text,
  clientSecret: text.optional(),
  clientSecretFile: text.optional(),
  profile: z.enum(profiles).optional(),
  headerPrefix: headerPrefix.optional(),
  quantityField: z.enum(quantityFields).optional(),
  tokenPath: z.string().startsWith('/').optional(),
  marketplaceUrl: url(['http:', 'https:']).optional(),
  serviceName: text.optional(),
  advertiserId: z.int().positive().optional(),
  campaignIds: z.array(text).optional(),
  skus: z.array(text).optional(),
  logReasons: logReasons.optional(),
  reportColumns: reportColumns.optional(),
})
const sellerList = z.array(sellerEntry).min(1, 'must hold at least one seller')
const sellersDocument = z.strictObject({ sellers: sellerList })

/** `sellers[0].clientId` of a place in the file. */
const placeIn = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (all, key) => (typeof key === 'number' ? `${all}[${key}]` : all === '' ? String(key) : `${all}.${String(key)}`),
    '',
  )

const mostFaultsOfFile = 20

/** What is wrong with a file of sellers, each with its place; no value is repeated, it may be a secret. */
const sellersFaults = (error: z.ZodError): readonly string[] => {
  const faults = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const known = issue.path.length <= 1 ? ['sellers'] : Object.keys(sellerEntry.shape)
      return issue.keys.map((key) => {
        const near = nearestName(key, known)
        return `${placeIn([...issue.path, key])} is unknown${near === null ? '' : `, ${near} is near`}`
      })
    }
    const missing = issue.code === 'invalid_type' && /received undefined$/.test(issue.message)
    return [`${placeIn(issue.path) || 'the document'} ${missing ? 'is missing' : `is wrong: ${issue.message}`}`]
  })
  return faults.length <= mostFaultsOfFile
    ? faults
    : [...faults.slice(0, mostFaultsOfFile), `and ${faults.length - mostFaultsOfFile} more`]
}

type Environment = z.infer<typeof environment>

const settingNames: readonly string[] = [...Object.keys(environment.shape), ...secrets.map((name) => `${name}_FILE`)]
/** Variables of the command line, which may stand beside the daemon's. */
const commandLineNames: readonly string[] = ['SANDBOX_URL', 'TALLYMAN_URL']
/** First words that nobody else's variables have: what begins like this is meant for us. */
const ownWords: ReadonlySet<string> = new Set([
  'POLL',
  'REREAD',
  'MARKETPLACE',
  'SELLERS',
  'DISPLAY',
  'SANDBOX',
  'CAMPAIGN',
  'INVENTORY',
  'QUANTITY',
  'SETTLE',
  'EVENTS',
  'ADVERTISER',
  'SHIP',
  'LOOK',
  'MAX',
  'RETAIN',
])
const firstWord = (name: string): string => name.split('_')[0] ?? ''

/** Variables that are nearly a setting: a setting that is ignored does something else than what was meant. */
const misspelt = (source: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.keys(source).flatMap((name) => {
    if (settingNames.includes(name) || commandLineNames.includes(name) || (source[name] ?? '') === '') return []
    const near = nearestName(name, settingNames)
    return near !== null && ownWords.has(firstWord(near)) && firstWord(name).toUpperCase() === firstWord(near)
      ? [`${name}: is no setting; accepted: ${near}, which is near`]
      : []
  })

/** Variables that begin like settings and are none, for a warning: an earlier version may not know them yet, and others may set them. */
const unknownSettings = (source: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.keys(source).filter(
    (name) => /^(POLL|REREAD|RETAIN)_/.test(name) && !settingNames.includes(name) && (source[name] ?? '') !== '',
  )

const readSecretFiles = (source: Readonly<Record<string, string | undefined>>, faults: string[]): Record<string, string> => {
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

const defaultsOf = (values: Environment) => ({
  profile: values.MARKETPLACE_PROFILE,
  headerPrefix: values.HEADER_PREFIX ?? null,
  quantityField: values.QUANTITY_FIELD ?? null,
  tokenPath: values.TOKEN_PATH ?? null,
  marketplaceUrl: values.MARKETPLACE_URL?.replace(/\/+$/, '') ?? null,
  serviceName: values.SERVICE_NAME,
  advertiserId: values.ADVERTISER_ID ?? null,
  campaignIds: values.CAMPAIGN_IDS,
  skus: values.INVENTORY_SKUS,
  logReasons: reasonMap(values.LOG_REASONS),
  reportColumns: values.REPORT_COLUMNS,
})

const readSellersFile = (file: string, values: Environment, faults: string[]): SellerSettings[] => {
  let document: unknown
  try {
    document = parseYaml(readFileSync(file, 'utf8'))
  } catch (error) {
    faults.push(
      `SELLERS_FILE: ${file} cannot be read as JSON or YAML (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`,
    )
    return []
  }
  const parsed = Array.isArray(document)
    ? sellersDocument.safeParse({ sellers: document })
    : sellersDocument.safeParse(document ?? {})
  if (!parsed.success) {
    for (const fault of sellersFaults(parsed.error))
      faults.push(
        `SELLERS_FILE: ${file}: ${fault}; accepted: sellers, each with sellerId, clientId, and clientSecret or clientSecretFile`,
      )
    return []
  }
  const entries = parsed.data.sellers
  const seen = new Set<string>()
  return entries.flatMap((entry): SellerSettings[] => {
    if (seen.has(entry.sellerId))
      faults.push(`SELLERS_FILE: seller ${entry.sellerId} stands in it twice; accepted: each seller once`)
    seen.add(entry.sellerId)
    let clientSecret = entry.clientSecret
    if (clientSecret === undefined && entry.clientSecretFile !== undefined) {
      try {
        clientSecret = readFileSync(path.resolve(path.dirname(file), entry.clientSecretFile), 'utf8').trim()
      } catch {
        faults.push(
          `SELLERS_FILE: clientSecretFile of seller ${entry.sellerId} cannot be read; accepted: the path of a readable file`,
        )
        return []
      }
    }
    if (clientSecret === undefined) {
      faults.push(`SELLERS_FILE: seller ${entry.sellerId} has no secret; accepted: clientSecret or clientSecretFile`)
      return []
    }
    const defaults = defaultsOf(values)
    return [
      {
        sellerId: entry.sellerId,
        clientId: entry.clientId,
        clientSecret,
        profile: entry.profile ?? defaults.profile,
        headerPrefix: entry.headerPrefix ?? defaults.headerPrefix,
        quantityField: entry.quantityField ?? defaults.quantityField,
        tokenPath: entry.tokenPath ?? defaults.tokenPath,
        marketplaceUrl: entry.marketplaceUrl?.replace(/\/+$/, '') ?? defaults.marketplaceUrl,
        serviceName: entry.serviceName ?? defaults.serviceName,
        advertiserId: entry.advertiserId ?? defaults.advertiserId,
        campaignIds: entry.campaignIds ?? defaults.campaignIds,
        skus: entry.skus ?? defaults.skus,
        logReasons: entry.logReasons === undefined ? defaults.logReasons : reasonMap(entry.logReasons),
        reportColumns: entry.reportColumns ?? defaults.reportColumns,
      },
    ]
  })
}

const readSellers = (values: Environment, faults: string[]): SellerSettings[] => {
  const single = ['SELLER_ID', 'CLIENT_ID', 'CLIENT_SECRET'] as const
  if (values.SELLERS_FILE !== undefined) {
    for (const name of single) {
      if (values[name] !== undefined) faults.push(`${name}: is set beside SELLERS_FILE; accepted: one of the two`)
    }
    const sellers = readSellersFile(values.SELLERS_FILE, values, faults)
    if (sellers.some((seller) => seller.marketplaceUrl === null)) {
      faults.push(
        'MARKETPLACE_URL: is unset while SELLERS_FILE is set; accepted: the address of the marketplace, there or with each seller',
      )
    }
    return sellers
  }
  if (values.MARKETPLACE_URL === undefined) {
    for (const name of single) {
      if (values[name] !== undefined)
        faults.push(
          `MARKETPLACE_URL: is unset while ${name} is set; accepted: the address of the marketplace (the built-in sandbox has credentials of its own)`,
        )
    }
    const campaignIds = values.CAMPAIGN_IDS.length === 0 ? sandboxCampaignIds : values.CAMPAIGN_IDS
    const advertiserId = values.ADVERTISER_ID ?? sandboxAdvertiserId
    return [{ ...defaultsOf(values), advertiserId, campaignIds, ...sandboxSeller }]
  }
  for (const name of single) {
    if (values[name] === undefined)
      faults.push(`${name}: is unset while MARKETPLACE_URL is set; accepted: the seller's own, or SELLERS_FILE`)
  }
  const { SELLER_ID: sellerId = '', CLIENT_ID: clientId = '', CLIENT_SECRET: clientSecret = '' } = values
  return [{ ...defaultsOf(values), sellerId, clientId, clientSecret }]
}

const readDisplay = (values: Environment, sellers: readonly SellerSettings[], faults: string[]): Config['display'] => {
  const needed = ['DISPLAY_CONSUMER_ID', 'DISPLAY_AUTH_TOKEN', 'DISPLAY_PRIVATE_KEY'] as const
  if (values.DISPLAY_URL === undefined) {
    for (const name of needed) {
      if (values[name] !== undefined)
        faults.push(`DISPLAY_URL: is unset while ${name} is set; accepted: the address of display advertising`)
    }
    return sellers.some((seller) => seller.marketplaceUrl === null) ? 'sandbox' : null
  }
  for (const name of needed) {
    if (values[name] === undefined)
      faults.push(`${name}: is unset while DISPLAY_URL is set; accepted: what the marketplace issued at onboarding`)
  }
  if (sellers.length > 0 && sellers.every((seller) => seller.advertiserId === null)) {
    faults.push(
      'ADVERTISER_ID: is unset while DISPLAY_URL is set; accepted: a whole number, there or as advertiserId of a seller',
    )
  }
  const { DISPLAY_CONSUMER_ID: consumerId, DISPLAY_AUTH_TOKEN: authToken, DISPLAY_PRIVATE_KEY: privateKey } = values
  if (consumerId === undefined || authToken === undefined || privateKey === undefined) return null
  return {
    url: values.DISPLAY_URL.replace(/\/+$/, ''),
    consumerId,
    authToken,
    privateKey,
    keyVersion: values.DISPLAY_KEY_VERSION,
  }
}

const parseEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
): { values: Environment; sellers: SellerSettings[]; display: Config['display'] } => {
  const faults: string[] = [...misspelt(source)]
  const parsed = environment.safeParse(readSecretFiles(source, faults))
  if (!parsed.success) {
    for (const issue of parsed.error.issues) faults.push(`${issue.path[0]?.toString() ?? 'environment'}: ${issue.message}`)
    throw new InvalidConfig([...new Set(faults)])
  }
  const values = parsed.data
  const sellers = readSellers(values, faults)
  const display = readDisplay(values, sellers, faults)
  if (!loopbackHosts.has(values.HOST)) {
    for (const name of ['API_KEY', 'EVENTS_SECRET'] as const) {
      if (values[name] === undefined)
        faults.push(`${name}: is unset while HOST is ${values.HOST}; accepted: set it, or keep HOST on the loopback interface`)
    }
  }
  if (values.SETTLE_TIME <= values.REQUEST_TIMEOUT) {
    faults.push(
      'SETTLE_TIME: is not longer than REQUEST_TIMEOUT; accepted: longer than a request can live, so that its effect has shown by then',
    )
  }
  if (faults.length > 0) throw new InvalidConfig(faults)
  return { values, sellers, display }
}

/**
 * Reads the environment once.
 * @throws InvalidConfig with every fault found
 */
export const readConfig = (source: Readonly<Record<string, string | undefined>>, terminal: boolean): Config => {
  const { values, sellers, display } = parseEnvironment(source)
  const sandbox = sellers.some((seller) => seller.marketplaceUrl === null)
    ? { port: values.SANDBOX_PORT, demo: values.DEMO === 'on' }
    : null
  const pace = sandbox?.demo === true ? 'demonstration' : 'ordinary'
  const poll = Object.fromEntries(
    pollNames.map((name): [PollName, number | 'off'] => [name, values[polls[name].variable] ?? polls[name][pace]]),
  ) as Record<PollName, number | 'off'>
  return Object.freeze({
    databaseUrl: values.DATABASE_URL ?? null,
    redisUrl: values.REDIS_URL ?? null,
    dataDir: path.resolve(values.DATA_DIR),
    sandbox,
    sellers,
    sellersFile: values.SELLERS_FILE ?? null,
    display,
    autoAcknowledge: values.AUTO_ACKNOWLEDGE,
    shipUnacknowledged: values.SHIP_UNACKNOWLEDGED,
    http: {
      host: values.HOST,
      port: values.PORT,
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
    reread: { everyMs: values.REREAD_EVERY ?? dayMs, depthMs: values.REREAD_DEPTH },
    retention: {
      runs: values.RETAIN_RUNS,
      attempts: values.RETAIN_ATTEMPTS,
      versions: values.RETAIN_VERSIONS,
      changes: values.RETAIN_CHANGES,
      events: values.RETAIN_EVENTS,
      alarms: values.RETAIN_ALARMS,
      quarantine: values.RETAIN_QUARANTINE,
      'log-entries': values.RETAIN_LOG_ENTRIES,
    },
    requestTimeoutMs: values.REQUEST_TIMEOUT,
    maxPageRecords: values.MAX_PAGE_RECORDS,
    settleTimeMs: values.SETTLE_TIME,
    drainTimeoutMs: values.DRAIN_TIMEOUT,
    roles: values.ROLES,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json') },
    unknownSettings: unknownSettings(source),
    poll,
  })
}

/**
 * Reads the sellers again, for SIGHUP; everything else keeps the values of the start.
 * @throws InvalidConfig with every fault found
 */
export const readSellersAgain = (source: Readonly<Record<string, string | undefined>>): readonly SellerSettings[] =>
  parseEnvironment(source).sellers
