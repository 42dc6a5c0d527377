import type { ColumnNames } from '../../domain/inventory/reconciliation-report.ts'
import type { Profile, QuantityField } from './profiles/profile.ts'

/** The connection of one seller to the marketplace. Other credentials need another client, since a client remembers refusals of its own. */
export interface SellerConnection {
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** The access of a solution provider to this seller (public facts, section 15); null, absent: tokens are requested with the client id and secret alone. */
  readonly refreshToken?: string | null
  /** The id of the seller at the marketplace, for its partner header; null, absent: `sellerId`. */
  readonly partnerId?: string | null
  readonly profile: Profile
  /** `{base_url}` of the specification; may have a path. */
  readonly marketplaceUrl: string
  /** Display advertising; null while it is off. */
  readonly display: DisplayConnection | null
  /** These four overrule the profile. */
  readonly headerPrefix: string
  readonly quantityField: QuantityField
  readonly serviceName: string
  readonly tokenPath: string
  /** Timeout of one HTTP request, from its start to the last byte of the answer. */
  readonly requestTimeoutMs: number
  /** The meaning of unknown headers of the reconciliation report. */
  readonly reportColumns?: ColumnNames
}

/** The connection to display advertising (specification, Authentication; public facts, section 1.3). */
export interface DisplayConnection {
  /** `{display_base_url}`; may have a path. */
  readonly url: string
  readonly consumerId: string
  readonly authToken: string
  /** RSA key that signs each request, PEM (PKCS#8). */
  readonly privateKey: string
  readonly keyVersion: string
  readonly advertiserId: number
}
