import type { Campaign } from '../domain/campaign.ts'
import type { InventoryLogEntry } from '../domain/inventory-log.ts'
import type { DecimalText, PurchaseOrder, ShipNodeType } from '../domain/order.ts'
import type { ColumnNames } from '../domain/reconciliation-report.ts'
import type { ReplenishmentRecommendation } from '../domain/replenishment.ts'
import type { ReturnOrder } from '../domain/return.ts'
import type { SalesChannel } from '../domain/sales-channel.ts'
import type { AccountSettings, ShippingSettings } from '../domain/shipping-settings.ts'
import type { BehavioralAudience, ContextualTarget } from '../domain/targeting.ts'
import type { TaxonomyNode } from '../domain/taxonomy.ts'
import type { Grant, RateBudget, Wait } from './budget.ts'
import type { FailureKind, MarketplaceFailure } from './errors.ts'
import type { OperationName, Profile, QuantityField, WriteOperationName } from './profiles/profile.ts'

/** Anything JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

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

/** The part of a pino logger that the clients use. */
export interface ClientLog {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** One HTTP request as it ended: `outcome` is `ok`, `none` (404 that means "none there") or the class of the failure. */
export interface RequestReport {
  readonly sellerId: string
  readonly operation: OperationName
  readonly outcome: 'ok' | 'none' | FailureKind
  /** HTTP status, null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
}

/** A value outside the known set, kept as it came. */
export interface UnknownValueReport {
  /** Such as `order`, `return`, `campaign`. */
  readonly resource: string
  readonly field: string
  readonly value: string
}

/** What the clients tell to whoever counts. A hook must not throw. */
export interface ClientHooks {
  readonly onRequest?: (report: RequestReport) => void
  readonly onUnknownValue?: (report: UnknownValueReport) => void
}

/** What a client is built from, beside the connection. */
export interface ClientParts {
  readonly budget: RateBudget
  readonly log: ClientLog
  readonly hooks?: ClientHooks
  /** Bound of an answer, both on the wire and unpacked; default 32 MiB. */
  readonly maxBodyBytes?: number
  /** Most records of one answer; default 10,000. */
  readonly maxRecords?: number
  /** Our own clock, epoch ms. */
  readonly now?: () => number
}

/** How one call is made. Without a grant the call takes one itself and fails with `Throttled` when there is none. */
export interface CallOptions {
  readonly signal: AbortSignal
  readonly correlationId?: string
  readonly grant?: Grant
  /** Asked right before the first byte of a write leaves; false: nothing is sent, and the call fails as never sent. */
  readonly mayLeave?: () => boolean
}

/** How a write is sent: its correlation id was stored with the intent, so it is given. */
export type SendOptions = CallOptions & { readonly correlationId: string }

/** A write as it will go over the wire; JSON through and through, so that it can be stored as the intent. */
export interface WireRequest {
  readonly operation: WriteOperationName
  readonly purchaseOrderId: string
  readonly path: string
  readonly body: JsonValue | null
}

/** One record of an answer: understood, or kept as the text that it was. `rawText` is the marketplace's own JSON, byte for byte. */
export type ParsedRecord<T> =
  | { readonly ok: true; readonly key: string; readonly value: T; readonly rawText: string }
  | { readonly ok: false; readonly key: string | null; readonly fault: string; readonly rawText: string }

/** One record with when it was true, on the marketplace's clock: for a read when it was asked, for a write when it was answered. */
export interface Observed<T> {
  readonly record: ParsedRecord<T>
  readonly observedAt: Date
  readonly correlationId: string
  readonly httpStatus: number
}

/** One page of records. `totalCount` counts the first page's view only; `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly records: readonly ParsedRecord<T>[]
  readonly totalCount: number | null
  readonly nextCursor: string | null
  readonly observedAt: Date
  readonly marketplaceNow: Date
  readonly correlationId: string
}

/** Orders by creation and, optionally, last change. `createdFrom` is always sent: without it the marketplace cuts at seven days. */
export interface OrderListQuery {
  readonly shipNodeType: ShipNodeType
  readonly createdFrom: Date
  readonly createdTo?: Date
  readonly lastModifiedFrom?: Date
  readonly lastModifiedTo?: Date
  readonly limit: number
}

/** Orders that wait to be acknowledged, by creation; the operation knows no filter by last change. */
export interface ReleasedOrderQuery {
  readonly createdFrom: Date
  readonly createdTo: Date
  readonly shipNodeType?: ShipNodeType
  readonly limit: number
}

/** Returns by last change or by creation. Both ends are always sent: half a window is refused. */
export type ReturnListQuery =
  | { readonly lastModifiedFrom: Date; readonly lastModifiedTo: Date; readonly limit: number }
  | { readonly createdFrom: Date; readonly createdTo: Date; readonly limit: number }

/** So many units of a line that left in one parcel. */
export interface Shipment {
  readonly quantity: number
  readonly carrier: string
  readonly trackingNumber: string
  readonly trackingUrl: string | null
  readonly methodCode: string | null
  readonly shippedAt: Date
  /** Ships although the buyer has asked to cancel the line; counts for the line wherever one of its shipments says so. */
  readonly intentToCancelOverride?: boolean | undefined
}

/** Units to report as shipped, one shipment for each line of each parcel. */
export interface ShipRequest {
  readonly purchaseOrderId: string
  readonly lines: readonly { readonly lineNumber: string; readonly shipments: readonly Shipment[] }[]
}

/** Units to cancel. */
export interface CancelRequest {
  readonly purchaseOrderId: string
  readonly lines: readonly { readonly lineNumber: string; readonly quantity: number; readonly reason: string }[]
}

interface RefundTax {
  readonly taxName: string
  readonly amount: DecimalText
  readonly currency: string
}

/** Money of one charge to give back: negative decimals. */
export interface RefundCharge {
  readonly chargeType: string
  readonly chargeName: string
  readonly amount: DecimalText
  readonly currency: string
  readonly tax: RefundTax | null
  readonly taxAndOtherFees?: RefundTax | undefined
}

/** Units to refund, with the money of exactly those units. */
export interface RefundRequest {
  readonly purchaseOrderId: string
  readonly lines: readonly {
    readonly lineNumber: string
    readonly quantity: number
    readonly reason: string
    readonly charges: readonly RefundCharge[]
  }[]
}

/** Writes of a purchase order as wire requests. Pure; a quantity below 1 or an amount that is no exact JSON number throws RangeError. */
export interface OrderRequests {
  acknowledge(purchaseOrderId: string): WireRequest
  ship(request: ShipRequest): WireRequest
  cancel(request: CancelRequest): WireRequest
  refund(request: RefundRequest): WireRequest
}

/** Orders of one seller. Every method but `prepare` throws a `MarketplaceFailure`. */
export interface OrdersClient {
  list(query: OrderListQuery, options: CallOptions): Promise<Page<PurchaseOrder>>
  listReleased(query: ReleasedOrderQuery, options: CallOptions): Promise<Page<PurchaseOrder>>
  /** The next page: the cursor is appended to the address as it is. A 400 here means that the cursor died: restart the window. */
  continue(cursor: string, which: 'list' | 'released', options: CallOptions): Promise<Page<PurchaseOrder>>
  /** All pages, one after another. A cursor that comes back a second time throws `Malformed`. */
  pages(query: OrderListQuery, options: CallOptions): AsyncGenerator<Page<PurchaseOrder>, void, undefined>
  /** One order, or null when the marketplace has none by that id. */
  get(purchaseOrderId: string, options: CallOptions): Promise<Observed<PurchaseOrder> | null>
  readonly prepare: OrderRequests
  /**
   * Sends a write, in one request and no other. `Unavailable` with `staleToken` means: not looked at, and the next one gets a new token.
   * `Unknown` means: read back before anything is sent again. A record of the answer that does not parse comes as `ok: false`.
   */
  send(request: WireRequest, options: SendOptions): Promise<Observed<PurchaseOrder>>
}

/** Returns of one seller. Every method throws a `MarketplaceFailure`. */
export interface ReturnsClient {
  list(query: ReturnListQuery, options: CallOptions): Promise<Page<ReturnOrder>>
  continue(cursor: string, options: CallOptions): Promise<Page<ReturnOrder>>
  pages(query: ReturnListQuery, options: CallOptions): AsyncGenerator<Page<ReturnOrder>, void, undefined>
}

/** A creation of shipping settings as it will go over the wire; JSON through and through, so that it can be stored as the intent. */
export interface ShippingSettingsRequest {
  readonly operation: 'shipping-settings.create'
  readonly path: string
  readonly body: JsonValue
}

/** The account-level shipping settings of one seller. Every method but `prepare` throws a `MarketplaceFailure`. */
export interface ShippingSettingsClient {
  /** Pure. */
  prepare(settings: ShippingSettings): ShippingSettingsRequest
  /**
   * Sends a creation, in one request and no other, as an order's writes are sent. Errors in the body are a
   * refusal, whatever the HTTP status (specification, Errors); `Unknown` means: read back before anything is sent again.
   */
  send(request: ShippingSettingsRequest, options: SendOptions): Promise<Observed<AccountSettings>>
  /** The settings that exist, or null when there are none. A refusal with 404 means that the marketplace does not offer this read. */
  get(options: CallOptions): Promise<Observed<AccountSettings> | null>
}

/** Search-engine-marketing campaigns of one seller. */
export interface CampaignsClient {
  /**
   * One campaign, or null when the marketplace has none by that id. A record that does not parse comes as `ok: false`.
   *
   * @throws MarketplaceFailure
   */
  get(campaignId: string, options: CallOptions): Promise<Observed<Campaign> | null>
}

/** Sales channels of one seller in multichannel fulfilment. */
export interface SalesChannelsClient {
  /**
   * All of them, on one page; null when the marketplace answers that there is nothing of the kind for this seller, who is then not
   * enrolled.
   *
   * @throws MarketplaceFailure, also for an answer of 200 whose `status` is not OK
   */
  list(options: CallOptions): Promise<Page<SalesChannel> | null>
}

/** Items to ask a recommendation for, by SKU or by GTIN; at most as many as the profile allows in one request. */
export type ReplenishmentQuery = { readonly skus: readonly string[] } | { readonly gtins: readonly string[] }

/** What the marketplace recommends to send to the fulfilment service. */
export interface ReplenishmentClient {
  /**
   * Recommendations on one page; items that have none are left out of it.
   *
   * @throws MarketplaceFailure; RangeError when no key, or more than one request may carry, is given
   */
  recommend(query: ReplenishmentQuery, options: CallOptions): Promise<Page<ReplenishmentRecommendation>>
  /** Most keys that one request may carry. */
  readonly mostKeys: number
}

/** The log of one SKU between two moments; both are always sent, since the marketplace cuts at 90 days by itself (public facts, section 7.1). */
export interface InventoryLogQuery {
  readonly sku: string
  readonly gtin: string | null
  readonly from: Date
  readonly to: Date
  /** Entries of a page; the profile may allow fewer. */
  readonly limit: number
  /** Entries to pass over. */
  readonly offset: number
}

/** One page of a SKU's log. `totalCount` counts the whole log between the two moments, null when the answer does not say. */
export interface InventoryLogPage extends Page<InventoryLogEntry> {
  /** As the answer names it, otherwise as it was asked for. */
  readonly gtin: string | null
  readonly productName: string | null
}

/** Movements of stock at the fulfilment service, SKU by SKU. */
export interface InventoryLogClient {
  /** What a log is asked by: a SKU without a GTIN cannot be asked for by GTIN. */
  readonly keyedBy: 'sku' | 'gtin'
  /** How exactly a query names its moments; a `day` is the one that they fall on in UTC. */
  readonly precision: 'second' | 'day'
  /**
   * One page; empty when the marketplace has nothing for the SKU. Keys of its records name the SKU and the entry.
   *
   * @throws MarketplaceFailure; RangeError when the log is asked for by GTIN and none is given
   */
  page(query: InventoryLogQuery, options: CallOptions): Promise<InventoryLogPage>
}

/** Which report is asked for: a month (`YYYY-MM`) or days (`YYYY-MM-DD`, both included), all Pacific; of one GTIN in the current month only. */
export type ReportQuery = ({ readonly month: string } | { readonly from: string; readonly to: string }) & {
  readonly gtin?: string
}

/** A report on its way. Times are on the marketplace's clock. */
export interface ReportDownload {
  readonly fileName: string | null
  /** When the report was made, as its file name says; null when that says nothing. */
  readonly generatedAt: Date | null
  /** When it was asked for. */
  readonly observedAt: Date
  readonly answeredAt: Date
  readonly correlationId: string
  /** The CSV file in pieces. It must be read to its end or given up (`break`): it throws a `MarketplaceFailure` when it does not come whole. */
  readonly body: AsyncIterable<Uint8Array>
}

/** The inventory reconciliation report of one seller. */
export interface ReconciliationClient {
  /** What the seller has said about headers of the file. */
  readonly columnNames: ColumnNames
  /**
   * Asks for a report; null when the marketplace says that there is none.
   *
   * @throws MarketplaceFailure, also for JSON or HTML in place of the file; RangeError for a GTIN outside of the current month, and for days of
   * several months where reports are asked for by month
   */
  download(query: ReportQuery, options: CallOptions): Promise<ReportDownload | null>
}

/** A stretch of a listing, by position: `count` rows from `startIndex` (from 0) on. */
export interface IndexRange {
  readonly startIndex: number
  readonly count: number
}

/** Only what fits these names; several narrow it down together. Too many at once are refused (specification, Errors). */
export interface TaxonomyFilters {
  readonly brandName?: readonly string[]
  readonly department?: readonly string[]
  readonly category?: readonly string[]
  readonly subCategory?: readonly string[]
}

/** Taxonomy nodes of one level; of level 3 when none is given. */
export interface TaxonomyQuery extends IndexRange {
  readonly level?: 1 | 2 | 3
  readonly filters?: TaxonomyFilters
}

/** Contextual targets: all, or those with these ids or this text. */
export interface ContextualQuery extends IndexRange {
  readonly ids?: readonly string[]
  readonly searchText?: string
}

/** Behavioral audiences of a type and attribute, in any case; neither is needed with ids or text, no attribute with `CUSTOM`. */
export interface BehavioralQuery extends ContextualQuery {
  readonly audienceType?: string
  readonly attribute?: string
}

/** Taxonomies of one advertiser. The `nextCursor` of a page is the `startIndex` of the next one. */
export interface TaxonomiesClient {
  /** @throws MarketplaceFailure; RangeError, before anything is sent, for a query that breaks the rules */
  list(query: TaxonomyQuery, options: CallOptions): Promise<Page<TaxonomyNode>>
}

/** Targets of one advertiser. The `nextCursor` of a page is the `startIndex` of the next one. */
export interface TargetingClient {
  /** @throws MarketplaceFailure; RangeError, before anything is sent, for a query that breaks the rules */
  contextual(query: ContextualQuery, options: CallOptions): Promise<Page<ContextualTarget>>
  /** @throws as `contextual`; the RangeError of an illegal pair of audience type and attribute names the pair */
  behavioral(query: BehavioralQuery, options: CallOptions): Promise<Page<BehavioralAudience>>
}

/** Display advertising as one advertiser sees it. Times of its pages are on the display host's clock. */
export interface DisplayClient {
  readonly taxonomies: TaxonomiesClient
  readonly targeting: TargetingClient
}

/** What the token operation says of the credentials. `failure` tells what it answered. */
export type CredentialsAnswer =
  | { readonly accepted: true }
  /** `refused`: by the marketplace's own word; otherwise nothing is known. */
  | { readonly accepted: false; readonly refused: boolean; readonly failure: MarketplaceFailure }

/** The credentials of one seller, as the token operation sees them. */
export interface CredentialsClient {
  /** Asks for a token now, whatever was answered before, out of the budget; one that is granted serves all calls. Never throws. */
  ask(signal: AbortSignal): Promise<CredentialsAnswer>
  /** Forgets that they were refused: the next call asks for a token. */
  forgive(): void
}

/** The marketplace as one seller sees it. */
export interface MarketplaceClient {
  readonly sellerId: string
  readonly credentials: CredentialsClient
  /** The marketplace's time, estimated from its answers; our own until the first one. */
  clock(): { now(): Date }
  readonly orders: OrdersClient
  readonly returns: ReturnsClient
  readonly campaigns: CampaignsClient
  readonly salesChannels: SalesChannelsClient
  readonly replenishment: ReplenishmentClient
  readonly inventoryLog: InventoryLogClient
  readonly reconciliation: ReconciliationClient
  readonly shippingSettings: ShippingSettingsClient
  /** Null while display advertising is off. */
  readonly display: DisplayClient | null
  readonly budget: { take(operation: OperationName): Promise<Grant | Wait> }
  /** Aborts what is under way and closes idle connections. */
  close(): Promise<void>
}
