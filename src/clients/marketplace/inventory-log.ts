import type { InventoryLogEntry } from '../../domain/inventory-log.ts'
import type { CallOptions } from '../call-options.ts'
import { wireInventoryLogPage } from '../contract/inventory-log.ts'
import type { Operations } from '../endpoint.ts'
import { perMinute } from '../operation.ts'
import type { Page } from '../record.ts'
import { textOf } from '../record.ts'
import { endpoint, type Host } from './endpoint.ts'
import { entriesAt, inventoryLogReader, ownedRecord, parseInventoryLogEntry } from './inventory-log-record.ts'
import { listCall, queryString, readPage, wireDate } from './paging.ts'
import type { Profile } from './profiles/profile.ts'

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

/** Limit: public facts, section 5.1. */
const operations = {
  list: { name: 'inventory-log.list', limit: perMinute(500), payloadKeys: ['payload'] },
} as const satisfies Operations

const path = '/v3/fulfillment/inventory-log'

const target = (query: InventoryLogQuery, { keyParameter, dates, pageSize }: Profile['inventoryLog']): string => {
  const key = keyParameter === 'gtin' ? query.gtin : query.sku
  if (key === null) throw new RangeError('this marketplace is asked for a log by GTIN, and the SKU has none')
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

/** A GTIN has 14 digits, zeros in front included (public facts, section 7.3), which a number would have lost. */
const gtinOf = (value: string | number | null | undefined): string | null =>
  typeof value === 'number' ? String(value).padStart(14, '0') : textOf(value)

/** The inventory log of the specification, section 7, for one seller. */
const createInventoryLogClient = ({ caller, connection, onUnknownValue }: Host): InventoryLogClient => {
  const { inventoryLog } = connection.profile
  return {
    keyedBy: inventoryLog.keyParameter === 'gtin' ? 'gtin' : 'sku',
    precision: inventoryLog.dates === 'date' ? 'day' : 'second',
    async page(query, options) {
      const call = listCall(operations.list, target(query, inventoryLog), entriesAt)
      const answer = await caller.call(call, options)
      const { data } = wireInventoryLogPage.safeParse(answer.envelope)
      // Where the answer repeats the GTIN in place of a SKU, it names nobody else.
      const own = [query.sku, query.gtin].flatMap((name) => (name == null ? [] : [name.trim().toLowerCase()]))
      const isOfAnother = (sku: string | number | null | undefined): boolean =>
        inventoryLog.keyParameter === 'gtin' && !own.includes((textOf(sku) ?? query.sku).trim().toLowerCase())
      const owner = { sku: query.sku, gtin: gtinOf(data?.payload?.gtin) ?? query.gtin }
      const page = await readPage(
        caller,
        call,
        answer,
        inventoryLogReader(owner),
        // Neither entries nor a remark about them: this is some other document; and a GTIN may be that of another SKU, which the log is of then.
        () =>
          data === undefined || (data.payload === undefined && data.headers === undefined) || isOfAnother(data.payload?.vendorSku)
            ? null
            : { totalCount: data.headers?.totalCount, nextCursor: null },
        onUnknownValue,
      )
      return {
        ...page,
        records: page.records.map((record) => ownedRecord(owner, record)),
        gtin: owner.gtin,
        productName: textOf(data?.payload?.productName),
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
