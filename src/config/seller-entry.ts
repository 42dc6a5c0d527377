import { z } from 'zod'
import { profileNames } from '../clients/marketplace/profiles/index.ts'
import { quantityFields } from '../clients/marketplace/profiles/profile.ts'
import { sellerModes } from '../domain/shadow/mode.ts'
import { headerPrefix, logReasons, notificationsSecret, reportColumns } from './environment.ts'
import { headerText, sellerIdText, storedId, text, variableName, webUrl } from './parsers.ts'
import { rateLimits } from './rate-limits.ts'

/** One seller of `SELLERS_FILE`. The default of a member is its variable. */
export const sellerEntry = z.strictObject({
  sellerId: sellerIdText.describe('the seller; unique'),
  clientId: text.optional().describe('its client id at the marketplace'),
  clientIdFile: text.optional().describe('path of a file that contains it, relative to this file'),
  clientIdEnv: variableName.optional().describe('name of a variable that contains it; one of the three is required'),
  clientSecret: text.optional().describe('its client secret'),
  clientSecretFile: text.optional().describe('path of a file that contains it, relative to this file'),
  clientSecretEnv: variableName.optional().describe('name of a variable that contains it; one of the three is required'),
  refreshToken: text.optional().describe('the access of a solution provider to it; `REFRESH_TOKEN`, for each seller'),
  refreshTokenFile: text.optional().describe('path of a file that contains it, relative to this file'),
  refreshTokenEnv: variableName.optional().describe('name of a variable that contains it; at most one of the three'),
  notificationsSecret: notificationsSecret
    .optional()
    .describe('its own secret of notifications; default: `NOTIFICATIONS_SECRET`'),
  notificationsSecretFile: text.optional().describe('path of a file that contains it, relative to this file'),
  notificationsSecretEnv: variableName.optional().describe('name of a variable that contains it; at most one of the three'),
  partnerId: headerText.optional().describe('its id at the marketplace, for the partner header; default: `sellerId`'),
  mode: z.enum(sellerModes).optional().describe('`MODE`'),
  profile: z.enum(profileNames).optional().describe('`MARKETPLACE_PROFILE`'),
  headerPrefix: headerPrefix.optional().describe('`HEADER_PREFIX`'),
  quantityField: z.enum(quantityFields).optional().describe('`QUANTITY_FIELD`'),
  tokenPath: z.string().startsWith('/').optional().describe('`TOKEN_PATH`'),
  marketplaceUrl: webUrl.optional().describe('`MARKETPLACE_URL`; one of the two is required'),
  serviceName: headerText.optional().describe('`SERVICE_NAME`'),
  advertiserId: z.int().positive().optional().describe('`ADVERTISER_ID`'),
  campaignIds: z.array(storedId).optional().describe('`CAMPAIGN_IDS`, as a list'),
  skus: z.array(storedId).optional().describe('`INVENTORY_SKUS`, as a list'),
  logReasons: logReasons.optional().describe('`LOG_REASONS`, as an object'),
  reportColumns: reportColumns.optional().describe('`REPORT_COLUMNS`, as an object'),
  rateLimits: rateLimits
    .optional()
    .describe('`RATE_LIMITS`, as an object; the default of an operation is the limit of the variable'),
})
/** See {@link sellerEntry}. */
export type SellerEntry = z.infer<typeof sellerEntry>

/** The whole of `SELLERS_FILE`. */
export const sellersDocument = z.strictObject({ sellers: z.array(sellerEntry).min(1, 'must contain at least one seller') })
