import type { QuantityField } from '../clients/marketplace/profiles/profile.ts'
import type { RateLimits } from '../clients/operation.ts'
import { type MovementKind, type ReasonMap, wordsOf } from '../domain/log-reasons.ts'
import type { ColumnNames } from '../domain/reconciliation-report.ts'
import type { Environment } from './environment.ts'
import { sandboxAdvertiserId, sandboxCampaignIds, sandboxSeller } from './sandbox.ts'
import { type CheckedSeller, readSellersFile } from './sellers-file.ts'

/** One seller: who it is at the marketplace and how to speak to it there. */
export interface SellerSettings {
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** Name of the dialect; one of `profileNames`. */
  readonly profile: string
  /** Null: the profile's own. */
  readonly headerPrefix: string | null
  /** Null: the profile's own. */
  readonly quantityField: QuantityField | null
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
  /** Limits that hold in place of the profile's and the operations' own. */
  readonly rateLimits: RateLimits
}

const reasonMap = (reasons: Readonly<Record<string, MovementKind>>): ReasonMap =>
  new Map(Object.entries(reasons).map(([reason, kind]) => [wordsOf(reason), kind]))

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
  rateLimits: values.RATE_LIMITS,
})

const settingsOf = (entry: CheckedSeller, values: Environment): SellerSettings => {
  const defaults = defaultsOf(values)
  return {
    sellerId: entry.sellerId,
    clientId: entry.clientId,
    clientSecret: entry.clientSecret,
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
    rateLimits: { ...defaults.rateLimits, ...entry.rateLimits },
  }
}

/**
 * The configured sellers: those of the file, the one of the environment, or that of the built-in sandbox. Entries of the file may name variables
 * of `source`. What is wrong joins `faults`.
 */
export const readSellers = (
  source: Readonly<Record<string, string | undefined>>,
  values: Environment,
  faults: string[],
): SellerSettings[] => {
  const single = ['SELLER_ID', 'CLIENT_ID', 'CLIENT_SECRET'] as const
  if (values.SELLERS_FILE !== undefined) {
    for (const name of single) {
      if (values[name] !== undefined) faults.push(`${name}: is set beside SELLERS_FILE; accepted: one of the two`)
    }
    const setting = { file: values.SELLERS_FILE, variables: source, hasMarketplaceUrl: values.MARKETPLACE_URL !== undefined }
    return readSellersFile(setting, faults).map((entry) => settingsOf(entry, values))
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
