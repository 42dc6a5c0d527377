import type { InventoryLogEntry } from '../../domain/inventory/inventory-log.ts'
import { normalSku } from '../../domain/values/text.ts'
import { wireInventoryLogPage } from '../contract/inventory-log.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { perMinute } from '../http/operation.ts'
import type { Page } from '../http/record.ts'
import { parseSku, toText } from '../http/record.ts'
import { endpoint, type Host } from './endpoint.ts'
import { entriesAt, inventoryLogReader, parseInventoryLogEntry, toStandaloneRecords } from './inventory-log-record.ts'
import { buildListCall, queryString, readPage, wireDate } from './paging.ts'
import type { Profile } from './profiles/profile.ts'

/** The log of one SKU between two times. Both are always sent, since by default the marketplace returns 90 days (public facts, section 7.1). */
export interface InventoryLogQuery {
  readonly sku: string
  /** The marketplace's spelling; default: `sku`. */
  readonly marketplaceSku?: string | null
  readonly gtin: string | null
  readonly from: Date
  readonly to: Date
  /** Entries of a page; the profile may limit it. */
  readonly limit: number
  /** Entries to skip. */
  readonly offset: number
}

/** One page of a SKU's log. `totalCount` counts the whole log between the two times; null if the answer has no count. */
export interface InventoryLogPage extends Page<InventoryLogEntry> {
  /** The GTIN of the answer, otherwise of the query. */
  readonly gtin: string | null
  readonly productName: string | null
}

/** Movements of stock at the fulfilment service, by SKU. */
export interface InventoryLogClient {
  /** The key of a query. With `gtin`, a SKU without a GTIN cannot be queried. */
  readonly keyedBy: 'sku' | 'gtin'
  /** The precision of the times of a query; `day`: their days in UTC. */
  readonly precision: 'second' | 'day'
  /**
   * One page; empty if the marketplace has nothing for the SKU. Keys of its records consist of the SKU and the entry.
   *
   * @throws MarketplaceFailure; RangeError if the log is queried by GTIN and the query has none
   */
  page(query: InventoryLogQuery, options: CallOptions): Promise<InventoryLogPage>
}

/** Limit: public facts, section 5.1. */
const operations = {
  list: { name: 'inventory-log.list', limit: perMinute(500), payloadKeys: ['payload'] },
} as const satisfies Operations

const path = '/v3/fulfillment/inventory-log'

const target = (query: InventoryLogQuery, { keyParameter, dates, pageSize }: Profile['inventoryLog']): string => {
  const key = keyParameter === 'gtin' ? query.gtin : (query.marketplaceSku ?? query.sku)
  if (key === null) throw new RangeError('this marketplace requires a GTIN for a log, and the SKU has none')
  const date = (instant: Date, edge: 'from' | 'to'): string =>
    dates === 'date' ? instant.toISOString().slice(0, 'yyyy-mm-dd'.length) : wireDate(instant, edge)
  return (
    path +
    queryString({
      [keyParameter]: key,
      startDate: date(query.from, 'from'),
      endDate: date(query.to, 'to'),
      limit: Math.min(query.limit, pageSize),
      offset: query.offset,
    })
  )
}

/** A GTIN has 14 digits, with leading zeros (public facts, section 7.3), which a number has lost. */
const formatGtin = (value: string | number | null | undefined): string | null =>
  typeof value === 'number' ? String(value).padStart(14, '0') : toText(value)

/** The inventory log of the specification, section 7, for one seller. */
const createInventoryLogClient = ({ caller, connection, onUnknownValue }: Host): InventoryLogClient => {
  const { inventoryLog } = connection.profile
  return {
    keyedBy: inventoryLog.keyParameter === 'gtin' ? 'gtin' : 'sku',
    precision: inventoryLog.dates === 'date' ? 'day' : 'second',
    async page(query, options) {
      const call = buildListCall(operations.list, target(query, inventoryLog), entriesAt)
      const answer = await caller.call(call, options)
      const { data } = wireInventoryLogPage.safeParse(answer.envelope)
      // The answer may contain the GTIN in place of the SKU.
      const own = [query.sku, query.gtin].flatMap((name) => (name == null ? [] : [normalSku(name).toLowerCase()]))
      const isOfAnother = (sku: string | number | null | undefined): boolean =>
        inventoryLog.keyParameter === 'gtin' && !own.includes((parseSku(sku) ?? query.sku).toLowerCase())
      const owner = { sku: query.sku, gtin: formatGtin(data?.payload?.gtin) ?? query.gtin }
      const page = await readPage(
        caller,
        call,
        answer,
        inventoryLogReader(owner),
        // Without a payload and headers it is another document. A GTIN may belong to another SKU: then it is the log of that SKU.
        () =>
          data === undefined || (data.payload === undefined && data.headers === undefined) || isOfAnother(data.payload?.vendorSku)
            ? null
            : { totalCount: data.headers?.totalCount, nextCursor: null },
        onUnknownValue,
      )
      return {
        ...page,
        records: toStandaloneRecords(owner, page.records),
        gtin: owner.gtin,
        productName: toText(data?.payload?.productName),
      }
    },
  }
}

/** The inventory log (specification, section 7). */
export const inventoryLogEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseInventoryLogEntry,
  create: createInventoryLogClient,
})
