import type { RateLimits } from '../clients/http/operation.ts'
import type { QuantityField } from '../clients/marketplace/profiles/profile.ts'
import { type MovementKind, normalizeWords, type ReasonMap } from '../domain/inventory/log-reasons.ts'
import type { ColumnNames } from '../domain/inventory/reconciliation-report.ts'
import type { SellerMode } from '../domain/shadow/mode.ts'
import type { Environment } from './environment.ts'
import { partnerIdFault } from './partner-id.ts'
import { sandboxAdvertiserId, sandboxCampaignIds, sandboxSeller } from './sandbox.ts'
import { type CheckedSeller, readSellersFile } from './sellers-file.ts'

/** One seller: its identity and its connection to the marketplace. */
export interface SellerSettings {
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** The access of a solution provider to it; null: tokens are requested with the client id and secret alone. */
  readonly refreshToken: string | null
  /** Proves the marketplace's notifications about it; null: none is set. */
  readonly notificationsSecret: string | null
  /** Its id at the marketplace, for the partner header; null: `sellerId`. */
  readonly partnerId: string | null
  /** How it starts: `shadow`, so that nothing can be written, or `live`. */
  readonly mode: SellerMode
  /** Name of the profile; one of `profileNames`. */
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
  /** The id in display advertising; null: none. */
  readonly advertiserId: number | null
  /** Campaigns to watch, in addition to those that were added at run time. */
  readonly campaignIds: readonly string[]
  /** SKUs whose inventory is read, in addition to those of orders and reports. */
  readonly skus: readonly string[]
  /** Meanings of reasons of the inventory log, by their normalised text. */
  readonly logReasons: ReasonMap
  /** Meanings of unknown headers of the reconciliation report. */
  readonly reportColumns: ColumnNames
  /** Rate limits that replace those of the profile and the operations. */
  readonly rateLimits: RateLimits
}

const buildReasonMap = (reasons: Readonly<Record<string, MovementKind>>): ReasonMap =>
  new Map(Object.entries(reasons).map(([reason, kind]) => [normalizeWords(reason), kind]))

const buildDefaults = (values: Environment) => ({
  mode: values.MODE,
  profile: values.MARKETPLACE_PROFILE,
  headerPrefix: values.HEADER_PREFIX ?? null,
  quantityField: values.QUANTITY_FIELD ?? null,
  tokenPath: values.TOKEN_PATH ?? null,
  notificationsSecret: values.NOTIFICATIONS_SECRET ?? null,
  marketplaceUrl: values.MARKETPLACE_URL?.replace(/\/+$/, '') ?? null,
  serviceName: values.SERVICE_NAME,
  advertiserId: values.ADVERTISER_ID ?? null,
  campaignIds: values.CAMPAIGN_IDS,
  skus: values.INVENTORY_SKUS,
  logReasons: buildReasonMap(values.LOG_REASONS),
  reportColumns: values.REPORT_COLUMNS,
  rateLimits: values.RATE_LIMITS,
})

const buildSellerSettings = (entry: CheckedSeller, values: Environment): SellerSettings => {
  const defaults = buildDefaults(values)
  return {
    sellerId: entry.sellerId,
    clientId: entry.clientId,
    clientSecret: entry.clientSecret,
    refreshToken: entry.refreshToken,
    notificationsSecret: entry.notificationsSecret ?? defaults.notificationsSecret,
    partnerId: entry.partnerId ?? null,
    mode: entry.mode ?? defaults.mode,
    profile: entry.profile ?? defaults.profile,
    headerPrefix: entry.headerPrefix ?? defaults.headerPrefix,
    quantityField: entry.quantityField ?? defaults.quantityField,
    tokenPath: entry.tokenPath ?? defaults.tokenPath,
    marketplaceUrl: entry.marketplaceUrl?.replace(/\/+$/, '') ?? defaults.marketplaceUrl,
    serviceName: entry.serviceName ?? defaults.serviceName,
    advertiserId: entry.advertiserId ?? defaults.advertiserId,
    campaignIds: entry.campaignIds ?? defaults.campaignIds,
    skus: entry.skus ?? defaults.skus,
    logReasons: entry.logReasons === undefined ? defaults.logReasons : buildReasonMap(entry.logReasons),
    reportColumns: entry.reportColumns ?? defaults.reportColumns,
    rateLimits: { ...defaults.rateLimits, ...entry.rateLimits },
  }
}

/**
 * The configured sellers: those of the file, the seller of the environment, or that of the built-in sandbox. Entries of the file may name variables of `source`.
 * Adds errors to `faults`.
 */
export const readSellers = (
  source: Readonly<Record<string, string | undefined>>,
  values: Environment,
  faults: string[],
): SellerSettings[] => {
  const required = ['SELLER_ID', 'CLIENT_ID', 'CLIENT_SECRET'] as const
  const single = [...required, 'REFRESH_TOKEN', 'PARTNER_ID'] as const
  if (values.SELLERS_FILE !== undefined) {
    for (const name of single) {
      if (values[name] !== undefined) faults.push(`${name}: is set beside SELLERS_FILE; accepted: one of the two`)
    }
    const setting = { file: values.SELLERS_FILE, variables: source, hasMarketplaceUrl: values.MARKETPLACE_URL !== undefined }
    return readSellersFile(setting, faults).map((entry) => buildSellerSettings(entry, values))
  }
  if (values.MARKETPLACE_URL === undefined) {
    for (const name of single) {
      if (values[name] !== undefined)
        faults.push(
          `MARKETPLACE_URL: is unset while ${name} is set; accepted: the address of the marketplace (the built-in sandbox has its own credentials)`,
        )
    }
    const campaignIds = values.CAMPAIGN_IDS.length === 0 ? sandboxCampaignIds : values.CAMPAIGN_IDS
    const advertiserId = values.ADVERTISER_ID ?? sandboxAdvertiserId
    return [{ ...buildDefaults(values), advertiserId, campaignIds, ...sandboxSeller, refreshToken: null, partnerId: null }]
  }
  for (const name of required) {
    if (values[name] === undefined)
      faults.push(`${name}: is unset while MARKETPLACE_URL is set; accepted: the seller's own, or SELLERS_FILE`)
  }
  const { SELLER_ID: sellerId = '', CLIENT_ID: clientId = '', CLIENT_SECRET: clientSecret = '' } = values
  const { REFRESH_TOKEN: refreshToken = null, PARTNER_ID: partnerId = null } = values
  const fault = partnerIdFault({ sellerId, partnerId, refreshToken })
  if (fault !== null) faults.push(`PARTNER_ID: ${fault}`)
  return [{ ...buildDefaults(values), sellerId, clientId, clientSecret, refreshToken, partnerId }]
}
