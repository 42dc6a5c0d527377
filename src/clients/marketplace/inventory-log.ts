import type { Caller } from '../caller.ts'
import { wireInventoryLogPage } from '../contract/inventory-log.ts'
import type { InventoryLogClient, InventoryLogQuery } from '../interface.ts'
import type { Profile } from '../profiles/profile.ts'
import { ENTRIES_AT, inventoryLogReader, ownedRecord } from './inventory-log-record.ts'
import { listCall, queryString, readPage, wireDate } from './paging.ts'
import type { OnUnknownValue } from './record.ts'
import { textOf } from './record.ts'

const PATH = '/v3/fulfillment/inventory-log'

function target(query: InventoryLogQuery, { keyParameter, dates, pageSize }: Profile['inventoryLog']): string {
  const key = keyParameter === 'gtin' ? query.gtin : query.sku
  if (key === null) throw new RangeError('this marketplace is asked for a log by GTIN, and the SKU has none')
  const date = (instant: Date, edge: 'from' | 'to'): string =>
    dates === 'date' ? instant.toISOString().slice(0, 'yyyy-mm-dd'.length) : wireDate(instant, edge)
  return (
    PATH +
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
export function createInventoryLogClient(
  caller: Caller,
  { inventoryLog }: Profile,
  onUnknownValue: OnUnknownValue,
): InventoryLogClient {
  return {
    keyedBy: inventoryLog.keyParameter === 'gtin' ? 'gtin' : 'sku',
    precision: inventoryLog.dates === 'date' ? 'day' : 'second',
    async page(query, options) {
      const call = listCall('inventory-log.list', target(query, inventoryLog), ENTRIES_AT)
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
