import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseDuration } from './core/duration.ts'

/** The seller and credentials that a fresh sandbox accepts. */
export const defaultSellerId = 'sandbox-seller'
export const defaultClientId = 'sandbox-client'
export const defaultClientSecret = 'sandbox-secret'
const defaultSandboxPort = 8181

export type ProfileName = 'specification' | 'walmart-us'
export type QuantityField = 'quantity' | 'statusQuantity'

/** What differs between the specification and the live service, as far as the sandbox shows it. */
export interface Dialect {
  readonly profile: ProfileName
  /** The company abbreviation at the head of header names: `XX` in `XX_SEC.ACCESS_TOKEN`. */
  readonly headerPrefix: string
  /** Name of the quantity object that ship, cancel and refund requests must carry. */
  readonly quantityField: QuantityField
  /** Whether a refund without units is refused (specification, section 9, rule 5). */
  readonly refundNeedsQuantity: boolean
  /** Whether only the published carriers go by name; the specification publishes no list. */
  readonly closedCarriers: boolean
  /** Whether a refund of a line's whole price gives tax and shipping back as well (public facts, section 3.4). */
  readonly fullPriceRefundsAll: boolean
  /** Whether a correlation id must be a UUID, as the specification says; the live service's own samples use other ones. */
  readonly correlationIdIsUuid: boolean
  /** Whether the operations are there that the specification does not know: token details, refunds through a return. */
  readonly liveOperations: boolean
  /** Whether orders and returns have the fields that only the live service shows (public facts, sections 13 and 15). */
  readonly liveRecordFields: boolean
  /** Whether shipping settings have their second form: methods and no priority (public facts, section 15). */
  readonly settingsWithMethods: boolean
  readonly fulfillment: FulfillmentDialect
}

/** The same for the operations of the fulfilment service (public facts, sections 5.1 and 7.1 to 7.4). */
export interface FulfillmentDialect {
  /** The parameter that identifies the item of the log. */
  readonly logKey: 'sellerSku' | 'gtin'
  /** Whether reports can also be requested by `monthYear`, on a separate path. */
  readonly reportByMonth: boolean
  /** Whether the one report an hour is one of each month. */
  readonly reportBudgetPerMonth: boolean
  /** Whether reports are generated on request; one of the direct paths is then gone. */
  readonly reportRequests: boolean
  /** Names of the lists in the body of a recommendation request. */
  readonly gtinsField: string
  readonly skusField: string
  /** Whether that request must carry the headers of the global operations. */
  readonly recommendationIsGlobal: boolean
  /** Whether the channel details need `partnerId`, and take the market as `wm_mart_id` too. */
  readonly channelsOfPartner: boolean
  /** Whether there is a list of the stock on hand. */
  readonly stockOnHand: boolean
  /** Whether answers hold the fields that only the live service shows. */
  readonly liveFields: boolean
}

const dialects: Readonly<Record<ProfileName, Dialect>> = {
  specification: {
    profile: 'specification',
    headerPrefix: 'XX',
    quantityField: 'quantity',
    refundNeedsQuantity: true,
    closedCarriers: false,
    fullPriceRefundsAll: false,
    correlationIdIsUuid: true,
    liveOperations: false,
    liveRecordFields: false,
    settingsWithMethods: false,
    fulfillment: {
      logKey: 'sellerSku',
      reportByMonth: false,
      reportBudgetPerMonth: true,
      reportRequests: false,
      gtinsField: 'gtins',
      skusField: 'sku',
      recommendationIsGlobal: false,
      channelsOfPartner: false,
      stockOnHand: false,
      liveFields: false,
    },
  },
  'walmart-us': {
    profile: 'walmart-us',
    headerPrefix: 'WM',
    quantityField: 'statusQuantity',
    refundNeedsQuantity: false,
    closedCarriers: true,
    fullPriceRefundsAll: true,
    correlationIdIsUuid: false,
    liveOperations: true,
    liveRecordFields: true,
    settingsWithMethods: true,
    fulfillment: {
      logKey: 'gtin',
      reportByMonth: true,
      reportBudgetPerMonth: false,
      reportRequests: true,
      gtinsField: 'listOfGtins',
      skusField: 'listOfSkus',
      recommendationIsGlobal: true,
      channelsOfPartner: true,
      stockOnHand: true,
      liveFields: true,
    },
  },
}

export interface Settings {
  /** 0 takes any free port. */
  readonly port: number
  readonly host: string
  /** The sandbox's own folder, `sandbox` inside `DATA_DIR`. */
  readonly dataDir: string
  readonly dialect: Dialect
  /** Decides what the generator makes up and where faults strike. */
  readonly seed: string
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** Interval of random orders, in real time; `null`: none. */
  readonly orderIntervalMs: number | null
  /** Number of orders in a new world, with their history; some are marketplace-fulfilled. */
  readonly pastOrders: number
}

/** The environment is wrong; one line a fault, ready to print. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const text = z.string().min(1, 'must not be empty')

const environment = z.object({
  SANDBOX_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port, 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port, 0 to 65535')
    .default(defaultSandboxPort),
  HOST: text.default('127.0.0.1'),
  DATA_DIR: text.default('.data'),
  MARKETPLACE_PROFILE: z
    .enum(['specification', 'walmart-us'], { error: 'must be specification or walmart-us' })
    .default('specification'),
  HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z]{1,8}$/, 'must be 1 to 8 letters')
    .optional(),
  QUANTITY_FIELD: z.enum(['quantity', 'statusQuantity'], { error: 'must be quantity or statusQuantity' }).optional(),
  SANDBOX_SEED: text.default('1'),
  SANDBOX_CLIENT_ID: text.default(defaultClientId),
  SANDBOX_CLIENT_SECRET: text.default(defaultClientSecret),
  SANDBOX_ORDER_INTERVAL: z
    .string()
    .refine(
      (value) => value === 'off' || (parseDuration(value) ?? 0) >= 100,
      'must be off or a duration of at least 100ms, such as 5s',
    )
    .transform((value) => (value === 'off' ? null : parseDuration(value)))
    .default(null),
  SANDBOX_PAST_ORDERS: z
    .string()
    .regex(/^\d{1,6}$/, 'must be a number of orders, 0 to 999999')
    .transform(Number)
    .default(0),
})

/** Reads the environment. Empty values count as unset. Throws `InvalidSettings` naming every fault at once. */
export const readSettings = (env: Readonly<Record<string, string | undefined>>): Settings => {
  const given = withSecretFile(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    throw new InvalidSettings(parsed.error.issues.map((issue) => faultLine(String(issue.path[0]), issue.message, given)))
  }
  const values = parsed.data
  return {
    port: values.SANDBOX_PORT,
    host: values.HOST,
    dataDir: join(values.DATA_DIR, 'sandbox'),
    dialect: buildDialect(values.MARKETPLACE_PROFILE, values.HEADER_PREFIX, values.QUANTITY_FIELD),
    seed: values.SANDBOX_SEED,
    sellerId: defaultSellerId,
    clientId: values.SANDBOX_CLIENT_ID,
    clientSecret: values.SANDBOX_CLIENT_SECRET,
    orderIntervalMs: values.SANDBOX_ORDER_INTERVAL,
    pastOrders: values.SANDBOX_PAST_ORDERS,
  }
}

const faultLine = (name: string, message: string, given: Readonly<Record<string, string | undefined>>): string => {
  const shown = given[name] === undefined || name.includes('SECRET') ? '' : ` (given: ${JSON.stringify(given[name])})`
  return `${name}: ${message}${shown}`
}

/** A secret may be given as a path to it, `SANDBOX_CLIENT_SECRET_FILE`. */
const withSecretFile = (given: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> => {
  const path = given['SANDBOX_CLIENT_SECRET_FILE']
  if (path === undefined) return given
  try {
    return { ...given, SANDBOX_CLIENT_SECRET: readFileSync(path, 'utf8').trim() }
  } catch (error) {
    throw new InvalidSettings([
      `SANDBOX_CLIENT_SECRET_FILE: cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    ])
  }
}

/** A profile's dialect, with single choices replaced. */
export const buildDialect = (profile: ProfileName, headerPrefix?: string, quantityField?: QuantityField): Dialect => {
  const dialect = dialects[profile]
  return {
    ...dialect,
    headerPrefix: headerPrefix ?? dialect.headerPrefix,
    quantityField: quantityField ?? dialect.quantityField,
  }
}
