import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { count, several } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { type Address, chosen, filtersOf, flags, given, oneOf, setParameters, useAddress } from '../lib/router.ts'
import { useAct } from '../parts/act.ts'
import { Columns } from '../parts/charts.tsx'
import { ChoiceFilter, Filters, optionsOf, TextFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { List, Rows } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Badge, Money, None, Time } from '../parts/text.tsx'
import { Waterfall } from '../parts/waterfall.tsx'

type Discrepancy = Schemas['InventoryDiscrepancy']
type Claim = Schemas['InventoryClaim']
type StockMonth = Schemas['StockMonth']

const kinds = ['balance', 'carry-over', 'row', 'sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const
const kindOptions = optionsOf(kinds)
const states = ['resolved', 'all'] as const
const stateOptions = [
  ['', 'Open'],
  ['resolved', 'Resolved'],
  ['all', 'All'],
] as const

const skuAddress = (sellerId: string, sku: string, month: string): string =>
  `/console/inventory/${encodeURIComponent(sellerId)}/${encodeURIComponent(sku)}?month=${month}`

const SkuLink = ({ sellerId, sku, month }: { readonly sellerId: string; readonly sku: string; readonly month: string }) => (
  <a href={skuAddress(sellerId, sku, month)}>{sku}</a>
)

/** What a difference says, in a sentence. */
const sentence = ({ kind, reportUnits, expectedUnits, log }: Discrepancy): string => {
  if (kind === 'balance')
    return `Beginning and movements make ${count(expectedUnits)}, the report ends with ${count(reportUnits)}.`
  if (kind === 'carry-over')
    return `The month before ended with ${count(expectedUnits)}, this one begins with ${count(reportUnits)}.`
  if (kind === 'row') return `The report no longer lists the SKU, which stood at ${count(expectedUnits)}.`
  const counted = `The report counts ${count(reportUnits)} ${kind}, the log ${count(expectedUnits)}.`
  if (log === null) return counted
  return log.verdict === 'missing'
    ? `${counted} The log lacks units.`
    : `${counted} Entries of the log may be extra (${log.certainty}).`
}

const Entries = ({ log }: { readonly log: Discrepancy['log'] }) => {
  if (log === null || log.entries.length === 0) return <None />
  return (
    <details>
      <summary>{several(log.entryCount, 'entry', 'entries')}</summary>
      <ul class="plain">
        {log.entries.map(({ id, transactionTime, changedUnits, fcName, shipmentId }) => (
          <li key={id}>
            {count(changedUnits)} units, <Time at={transactionTime} />
            {fcName === null ? '' : `, ${fcName}`}
            {shipmentId === null ? '' : `, shipment ${shipmentId}`} <span class="faint">({id})</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

const Differences = ({
  at,
  fixed,
}: {
  readonly at: Address
  /** Of one SKU; it then shows resolved ones too. */
  readonly fixed?: { readonly sellerId: string; readonly sku: string }
}) => {
  const named = fixed === undefined ? given(at, ['sellerId', 'month', 'sku', 'gtin']) : { ...fixed, state: 'all' as const }
  const query = { ...named, ...chosen(at, { kind: kinds, state: states }) }
  const isFiltered = fixed === undefined && filtersOf(at).length > 0
  const found = usePage(
    'discrepancies',
    at,
    query,
    (page) => answered(api.GET('/v1/discrepancies', { params: { query: page } })),
    { topics: ['inventory', 'reconciliation'], everyMs: 60_000 },
  )
  return (
    <List
      caption="Differences of the inventory"
      query={found}
      at={at}
      keyOf={({ id }) => id}
      empty={
        fixed !== undefined
          ? 'Report, month before and inventory log agree about this SKU.'
          : isFiltered
            ? 'No difference fits the filters.'
            : 'There is no difference: report, month before and inventory log agree as far as they have been compared.'
      }
      filtered={isFiltered}
      csv={{ path: `/v1/discrepancies?${new URLSearchParams(query)}`, name: 'discrepancies' }}
      columns={[
        { head: 'SKU', cell: (row) => <SkuLink {...row} /> },
        { head: 'Month', cell: ({ month }) => month },
        { head: 'Seller', cell: ({ sellerId }) => sellerId },
        { head: 'What differs', cell: sentence },
        { head: 'Units', number: true, cell: ({ difference }) => (difference > 0 ? `+${count(difference)}` : count(difference)) },
        { head: 'Value', number: true, cell: ({ value, currency }) => <Money amount={value} currency={currency} /> },
        { head: 'Entries', cell: ({ log }) => <Entries log={log} /> },
        { head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
        {
          head: 'State',
          cell: ({ state: stands, resolution, resolvedAt }) =>
            stands === 'open' ? (
              <Badge tone="warn">open</Badge>
            ) : (
              <>
                <Badge tone="good">{resolution === 'withdrawn' ? 'no longer listed' : 'agrees again'}</Badge>{' '}
                <Time at={resolvedAt} />
              </>
            ),
        },
      ]}
    />
  )
}

const claimParts = [
  ['lost', 'Lost'],
  ['damaged', 'Damaged'],
  ['unexplained', 'Unexplained'],
  ['total', 'Total'],
  ['found', 'Found'],
  ['net', 'Less found ones'],
  ['uncertain', 'Uncertain'],
] as const

const Claimed = ({ part }: { readonly part: Claim['lost'] }) => (
  <>
    {several(part.units, 'unit')}
    {part.values.map(({ amount, currency }) => (
      <span key={currency}>
        , <Money amount={amount} currency={currency} />
      </span>
    ))}
    {part.unpricedUnits > 0 && <span class="faint"> ({count(part.unpricedUnits)} without a price)</span>}
  </>
)

/** The month before this one, `YYYY-MM`: the newest whose report is complete. */
const monthBefore = (now: Date): string => new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1, 1)).toISOString().slice(0, 7)

const isMonth = (text: string | undefined): text is string => text !== undefined && /^20\d{2}-(0[1-9]|1[0-2])$/.test(text)

const Claims = ({ at }: { readonly at: Address }) => {
  const named = given(at, ['sellerId', 'month'])
  const month = isMonth(named.month) ? named.month : monthBefore(new Date())
  const query = { month, ...given(at, ['sellerId']) }
  const claims = usePage('claims', at, query, (page) => answered(api.GET('/v1/claims', { params: { query: page } })), {
    topics: ['inventory', 'reconciliation'],
    everyMs: 60_000,
  })
  const evidence = (sellerId: string, more: string): string =>
    `/console/inventory?${more}month=${month}&sellerId=${encodeURIComponent(sellerId)}`
  return (
    <>
      <p class="faint">
        What each seller could claim for {month}: units that were lost or damaged, or are missing without a reason. Saved as CSV
        it is a table for the claim; the evidence is behind the links.
      </p>
      <List
        caption={`Claims for ${month}`}
        query={claims}
        at={at}
        keyOf={({ sellerId }) => sellerId}
        empty={`No report of ${month} has been imported.`}
        csv={{ path: `/v1/claims?${new URLSearchParams(query)}`, name: `claims-${month}` }}
        columns={[
          { head: 'Seller', cell: ({ sellerId }) => sellerId },
          ...claimParts.map(([part, head]) => ({ head, cell: (claim: Claim) => <Claimed part={claim[part]} /> })),
          { head: 'SKUs compared', cell: ({ skus, skusCompared }) => `${count(skusCompared)} of ${count(skus)}` },
          {
            head: 'Evidence',
            cell: ({ sellerId }) => (
              <>
                <a href={evidence(sellerId, 'state=all&')}>differences</a>,{' '}
                <a href={evidence(sellerId, 'show=stock&adjusted=true&')}>SKUs with losses</a>
              </>
            ),
          },
        ]}
      />
    </>
  )
}

const Stock = ({ at }: { readonly at: Address }) => {
  const query = { ...given(at, ['sellerId', 'month', 'sku', 'gtin']), ...chosen(at, { adjusted: flags }) }
  const rows = usePage('stock', at, query, (page) => answered(api.GET('/v1/reconciliation', { params: { query: page } })), {
    topics: ['reconciliation'],
    everyMs: 60_000,
  })
  return (
    <List
      caption="Monthly reports"
      query={rows}
      at={at}
      keyOf={({ sellerId, month, sku }) => `${sellerId}/${month}/${sku}`}
      empty={
        filtersOf(at).length === 0
          ? 'No report has been imported yet.'
          : 'No row of an imported report fits the filters. SKUs and GTINs are compared as a whole.'
      }
      csv={{ path: `/v1/reconciliation?${new URLSearchParams(query)}`, name: 'stock' }}
      columns={[
        { head: 'SKU', cell: (row) => <SkuLink {...row} /> },
        { head: 'GTIN', cell: ({ gtin }) => gtin ?? <None /> },
        { head: 'Month', cell: ({ month }) => month },
        { head: 'Seller', cell: ({ sellerId }) => sellerId },
        { head: 'Beginning', number: true, cell: ({ beginningQuantity }) => count(beginningQuantity) },
        { head: 'Sold', number: true, cell: ({ sold }) => count(sold) },
        { head: 'Returned', number: true, cell: ({ returned }) => count(returned) },
        { head: 'Lost', number: true, cell: ({ lost }) => count(lost) },
        { head: 'Found', number: true, cell: ({ found }) => count(found) },
        { head: 'Damaged', number: true, cell: ({ damaged }) => count(damaged) },
        { head: 'Other', number: true, cell: ({ otherAdjustments }) => count(otherAdjustments) },
        { head: 'Ending', number: true, cell: ({ endingQuantity }) => count(endingQuantity) },
      ]}
    />
  )
}

const tabs = [
  ['differences', 'Differences'],
  ['claims', 'Claims'],
  ['stock', 'Stock by month'],
] as const

/** Inventory: where report and log differ, what could be claimed, and the monthly reports. */
export const Inventory = () => {
  const at = useAddress()
  const shown = oneOf(at, 'show', ['claims', 'stock']) ?? 'differences'
  return (
    <>
      <h1 tabIndex={-1}>Inventory</h1>
      <Tabs at={at} label="Parts of the inventory" tabs={tabs} shown={shown} />
      {shown === 'differences' && (
        <p class="faint">
          Where the marketplace's monthly report contradicts itself, the month before or the inventory log. A difference closes by
          itself when a later report or log agrees.
        </p>
      )}
      <Filters>
        <TextFilter at={at} name="month" label="Month" placeholder="2026-03" />
        <TextFilter at={at} name="sellerId" label="Seller" />
        {shown !== 'claims' && <TextFilter at={at} name="sku" label="SKU" />}
        {shown !== 'claims' && <TextFilter at={at} name="gtin" label="GTIN" />}
        {shown === 'differences' && <ChoiceFilter at={at} name="kind" label="Kind" options={kindOptions} />}
        {shown === 'differences' && <ChoiceFilter at={at} name="state" label="State" options={stateOptions} />}
        {shown === 'stock' && (
          <ChoiceFilter
            at={at}
            name="adjusted"
            label="Losses"
            options={[
              ['', 'All SKUs'],
              ['true', 'Lost, damaged or found'],
              ['false', 'None'],
            ]}
          />
        )}
      </Filters>
      {shown === 'differences' ? <Differences at={at} /> : shown === 'claims' ? <Claims at={at} /> : <Stock at={at} />}
    </>
  )
}

/** The report of a GTIN for the running month, asked for now. */
const Running = ({ sellerId, gtin }: { readonly sellerId: string; readonly gtin: string }) => {
  const [report, setReport] = useState<Schemas['GtinReport'] | null>(null)
  const { busy, act } = useAct()
  const ask = (): void =>
    act(async () =>
      setReport(await answered(api.GET('/v1/reconciliation/{gtin}', { params: { path: { gtin }, query: { sellerId } } }))),
    )
  return (
    <section class="card" aria-label="The running month">
      <h2>The running month</h2>
      <p class="row">
        <button type="button" disabled={busy} onClick={ask}>
          {busy ? 'Asking…' : 'Ask the marketplace now'}
        </button>
        <span class="faint">It counts as one of the few requests an hour that the marketplace allows.</span>
      </p>
      {report !== null && report.rows.length === 0 && <Empty>There is no report of {report.month} with this GTIN yet.</Empty>}
      {report?.rows.map((row) => (
        <div key={row.sku}>
          <Waterfall title={`${row.sku} in ${report.month}`} row={row} />
          <p class="faint">
            Movements are counted before <Time at={report.coveredUntil} />.{' '}
            {row.differences.length > 0
              ? row.differences
                  .map(
                    ({ kind, reportUnits, expectedUnits }) => `${kind}: ${reportUnits} in the report, ${expectedUnits} expected`,
                  )
                  .join('; ')
              : row.compared
                ? 'Report and log agree.'
                : 'The log has not been read far enough to compare it.'}
          </p>
        </div>
      ))}
    </section>
  )
}

const Months = ({ at, rows }: { readonly at: Address; readonly rows: readonly StockMonth[] }) => {
  const wanted = at.parameters.get('month')
  const shown = rows.find(({ month }) => month === wanted) ?? rows.at(-1)
  if (shown === undefined) return <Empty>No imported report lists this SKU.</Empty>
  return (
    <>
      <div class="grid">
        <div class="card">
          <div class="field">
            <label for="month-of-sku">Month</label>
            <select
              id="month-of-sku"
              value={shown.month}
              onChange={(change) => setParameters(at, { month: change.currentTarget.value })}
            >
              {rows.map(({ month }) => (
                <option key={month} value={month}>
                  {month}
                </option>
              ))}
            </select>
          </div>
          <Waterfall title={`From beginning to ending of ${shown.month}`} row={shown} />
          {shown.coveredUntil !== null && (
            <p class="faint">
              Movements are counted before <Time at={shown.coveredUntil} />.
            </p>
          )}
        </div>
        <div class="card">
          <Columns
            title="Stock at the end of each month"
            steps={rows.map(({ month }) => month)}
            series={[{ label: 'units', tone: 'a', values: rows.map(({ endingQuantity }) => Math.max(0, endingQuantity)) }]}
            unit="state"
          />
        </div>
      </div>
      <Rows
        caption="Months of this SKU"
        rows={[...rows].reverse()}
        keyOf={({ month }) => month}
        columns={[
          { head: 'Month', cell: ({ month }) => month },
          { head: 'Beginning', number: true, cell: ({ beginningQuantity }) => count(beginningQuantity) },
          { head: 'Ending', number: true, cell: ({ endingQuantity }) => count(endingQuantity) },
          { head: 'Changed', cell: ({ changedAt }) => <Time at={changedAt} /> },
        ]}
      />
    </>
  )
}

/** One SKU: a month as a waterfall, its stock over time, its differences. */
export const InventorySku = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const at = useAddress()
  const may = useMay()
  const { sellerId = '', sku = '' } = parts
  const query = { sellerId, sku, limit: 1_000 }
  const months = useQuery(
    `stock ${JSON.stringify(query)}`,
    () => answered(api.GET('/v1/reconciliation', { params: { query } })),
    { topics: ['reconciliation'], everyMs: 60_000 },
  )
  const gtin = months.data?.items.findLast((row) => row.gtin !== null)?.gtin ?? null
  return (
    <>
      <h1 tabIndex={-1}>{sku}</h1>
      <p class="faint">
        Of {sellerId}
        {gtin === null ? '' : `, GTIN ${gtin}`}. <a href="/console/inventory">All of the inventory</a>
      </p>
      <Loaded query={months}>{({ items }) => <Months at={at} rows={items} />}</Loaded>
      {may('operate') && gtin !== null && /^\d{8,14}$/.test(gtin) && <Running sellerId={sellerId} gtin={gtin} />}
      <h2>Differences</h2>
      <Differences at={at} fixed={{ sellerId, sku }} />
    </>
  )
}
