import type { ColumnNames } from '../../domain/reconciliation-report.ts'
import type { Profile, QuantityField } from './profiles/profile.ts'

/** How to reach the marketplace for one seller. Other credentials mean another client: a client remembers that its own were refused. */
export interface SellerConnection {
  readonly sellerId: string
  readonly clientId: string
  readonly clientSecret: string
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
  /** Longest life of one HTTP request, from its start to the last byte of the answer. */
  readonly requestTimeoutMs: number
  /** What headers of the reconciliation report mean, for those that nobody knows. */
  readonly reportColumns?: ColumnNames
}

/** How to reach display advertising (specification, Authentication; public facts, section 1.3). */
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
