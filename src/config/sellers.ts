import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { profileNames } from '../clients/marketplace/profiles/index.ts'
import { type QuantityField, quantityFields } from '../clients/marketplace/profiles/profile.ts'
import type { RateLimits } from '../clients/operation.ts'
import { type MovementKind, type ReasonMap, wordsOf } from '../domain/log-reasons.ts'
import { nearestName } from '../domain/nearest.ts'
import type { ColumnNames } from '../domain/reconciliation-report.ts'
import { messageOf } from '../message-of.ts'
import { type Environment, headerPrefix, logReasons, reportColumns } from './environment.ts'
import { text, webUrl } from './parsers.ts'
import { rateLimits } from './rate-limits.ts'
import { sandboxAdvertiserId, sandboxCampaignIds, sandboxSeller } from './sandbox.ts'

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

/** One seller as it stands in `SELLERS_FILE`; where a member is left out, its variable holds. */
export const sellerEntry = z.strictObject({
  sellerId: text.describe('the seller; each once'),
  clientId: text.describe('its client id at the marketplace'),
  clientSecret: text.optional().describe('its client secret'),
  clientSecretFile: text.optional().describe('path of a file that holds it, relative to this one; one of the two is required'),
  profile: z.enum(profileNames).optional().describe('`MARKETPLACE_PROFILE`'),
  headerPrefix: headerPrefix.optional().describe('`HEADER_PREFIX`'),
  quantityField: z.enum(quantityFields).optional().describe('`QUANTITY_FIELD`'),
  tokenPath: z.string().startsWith('/').optional().describe('`TOKEN_PATH`'),
  marketplaceUrl: webUrl.optional().describe('`MARKETPLACE_URL`; one of the two is required'),
  serviceName: text.optional().describe('`SERVICE_NAME`'),
  advertiserId: z.int().positive().optional().describe('`ADVERTISER_ID`'),
  campaignIds: z.array(text).optional().describe('`CAMPAIGN_IDS`, as a list'),
  skus: z.array(text).optional().describe('`INVENTORY_SKUS`, as a list'),
  logReasons: logReasons.optional().describe('`LOG_REASONS`, as an object'),
  reportColumns: reportColumns.optional().describe('`REPORT_COLUMNS`, as an object'),
  rateLimits: rateLimits
    .optional()
    .describe('`RATE_LIMITS`, as an object; operations that are left out have those of the variable'),
})
const sellerList = z.array(sellerEntry).min(1, 'must hold at least one seller')
const sellersDocument = z.strictObject({ sellers: sellerList })

/** `sellers[0].clientId` of a place in the file. */
const placeIn = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (all, key) => (typeof key === 'number' ? `${all}[${key}]` : all === '' ? String(key) : `${all}.${String(key)}`),
    '',
  )

/** The line of the file in which a value stands, or what it should stand in. */
type LineOf = (path: readonly PropertyKey[]) => number

const mostFaultsOfFile = 20

/** What is wrong with a file of sellers, each with its place and line; no value is repeated, it may be a secret. */
const sellersFaults = (error: z.ZodError, lineOf: LineOf): readonly string[] => {
  const at = (path: readonly PropertyKey[]): string => `line ${lineOf(path)}: ${placeIn(path) || 'the document'}`
  const faults = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const known = issue.path.length <= 1 ? ['sellers'] : Object.keys(sellerEntry.shape)
      return issue.keys.map((key) => {
        const near = nearestName(key, known)
        return `${at([...issue.path, key])} is unknown${near === null ? '' : `, ${near} is near`}`
      })
    }
    const missing = issue.code === 'invalid_type' && /received undefined$/.test(issue.message)
    return [`${at(issue.path)} ${missing ? 'is missing' : `is wrong: ${issue.message}`}`]
  })
  return faults.length <= mostFaultsOfFile
    ? faults
    : [...faults.slice(0, mostFaultsOfFile), `and ${faults.length - mostFaultsOfFile} more`]
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
  rateLimits: values.RATE_LIMITS,
})

const readSellersFile = (file: string, values: Environment, faults: string[]): SellerSettings[] => {
  const lines = new LineCounter()
  let document: unknown
  let lineOf: LineOf = () => 1
  try {
    const source = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines })
    const [fault] = source.errors
    if (fault !== undefined) throw fault
    document = source.toJS()
    const inList = Array.isArray(document)
    lineOf = (path) => {
      const place = inList ? path.slice(1) : path
      for (let depth = place.length; depth > 0; depth -= 1) {
        const node = source.getIn(place.slice(0, depth), true)
        if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
      }
      return 1
    }
  } catch (error) {
    faults.push(`SELLERS_FILE: ${file} cannot be read as JSON or YAML (${messageOf(error).split('\n')[0]})`)
    return []
  }
  const parsed = Array.isArray(document)
    ? sellersDocument.safeParse({ sellers: document })
    : sellersDocument.safeParse(document ?? {})
  if (!parsed.success) {
    for (const fault of sellersFaults(parsed.error, lineOf))
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
        rateLimits: { ...defaults.rateLimits, ...entry.rateLimits },
      },
    ]
  })
}

/** The configured sellers: those of the file, the one of the environment, or that of the built-in sandbox. What is wrong joins `faults`. */
export const readSellers = (values: Environment, faults: string[]): SellerSettings[] => {
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
