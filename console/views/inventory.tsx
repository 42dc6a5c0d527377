import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import {
  type Address,
  flags,
  listFilters,
  readChoice,
  readChoices,
  readParameters,
  setParameters,
  useAddress,
} from '../lib/router.ts'
import { useAction } from '../parts/action.ts'
import { Columns } from '../parts/charts.tsx'
import { buildOptions, ChoiceFilter, Filters, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { List, Rows, sellerColumn } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Badge, Money, None, Time } from '../parts/text.tsx'
import { Waterfall } from '../parts/waterfall.tsx'
import { ClaimItems, claimKindOptions, claimStateOptions, findPreviousMonth, MonthFilter, monthPattern } from './claims.tsx'
import { StockDifferences, StockOnHand } from './stock.tsx'

type Discrepancy = Schemas['InventoryDiscrepancy']
type Claim = Schemas['InventoryClaim']
type StockMonth = Schemas['StockMonth']

const kinds = ['balance', 'carry-over', 'row', 'sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const
const kindOptions = buildOptions(kinds)
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

/** A difference as a sentence. */
const describeDifference = ({ kind, reportUnits, expectedUnits, log }: Discrepancy): string => {
  if (kind === 'balance')
    return `Beginning and movements make ${count(expectedUnits)}, the report ends with ${count(reportUnits)}.`
  if (kind === 'carry-over')
    return `The previous month ended with ${count(expectedUnits)}, this one begins with ${count(reportUnits)}.`
  if (kind === 'row') return `The report no longer lists the SKU, whose last stock was ${count(expectedUnits)}.`
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
      <summary>{pluralize(log.entryCount, 'entry', 'entries')}</summary>
      <ul class="plain">
        {log.entries.map(({ id, transactionTime, changedUnits, fcName, shipmentId }) => (
          <li key={id}>
            {count(changedUnits)} units, <Time at={transactionTime} />
            {fcName === null ? '' : `, ${fcName}`}
            {shipmentId === null ? '' : `, shipment ${shipmentId}`} <span class="faint whole">({id})</span>
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
  /** Only differences of this SKU, including resolved ones. */
  readonly fixed?: { readonly sellerId: string; readonly sku: string }
}) => {
  const named =
    fixed === undefined ? readParameters(at, ['sellerId', 'month', 'sku', 'gtin']) : { ...fixed, state: 'all' as const }
  const query = { ...named, ...readChoices(at, { kind: kinds, state: states }) }
  const isFiltered = fixed === undefined && listFilters(at).length > 0
  const reports = useQuery('any report', () => readAnswer(api.GET('/v1/reconciliation', { params: { query: { limit: 1 } } })), {
    topics: ['reconciliation'],
    everyMs: 60_000,
  })
  const found = usePage(
    'discrepancies',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/discrepancies', { params: { query: page } })),
    { topics: ['inventory', 'reconciliation'], everyMs: 60_000 },
  )
  return (
    <List
      caption="Differences of the inventory"
      query={found}
      at={at}
      buildKey={({ id }) => id}
      empty={
        fixed !== undefined
          ? 'There is no difference of this SKU: report, previous month and inventory log agree as far as they have been compared.'
          : isFiltered
            ? 'No difference matches the filters.'
            : reports.data?.items.length === 0
              ? 'No report has been read yet: there is nothing to compare.'
              : 'There is no difference: report, previous month and inventory log agree as far as they have been compared.'
      }
      filtered={isFiltered}
      csv={{ path: `/v1/discrepancies?${new URLSearchParams(query)}`, name: 'discrepancies' }}
      columns={[
        { head: 'SKU', cell: (row) => <SkuLink {...row} /> },
        { head: 'Month', cell: ({ month }) => month },
        sellerColumn,
        { head: 'Difference', wraps: true, cell: describeDifference },
        { head: 'Units', number: true, cell: ({ difference }) => (difference > 0 ? `+${count(difference)}` : count(difference)) },
        { head: 'Value', number: true, cell: ({ value, currency }) => <Money amount={value} currency={currency} /> },
        { head: 'Entries', wraps: true, cell: ({ log }) => <Entries log={log} /> },
        { head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
        {
          head: 'State',
          wraps: true,
          cell: ({ state, resolution, resolvedAt }) =>
            state === 'open' ? (
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
  ['net', 'Net of found'],
  ['uncertain', 'Uncertain'],
] as const

const Claimed = ({ part }: { readonly part: Claim['lost'] }) => (
  <>
    <span class="whole">{pluralize(part.units, 'unit')}</span>
    {part.values.map(({ amount, currency }) => (
      <span key={currency}>
        , <Money amount={amount} currency={currency} />
      </span>
    ))}
    {part.unpricedUnits > 0 && <span class="faint"> ({count(part.unpricedUnits)} without a price)</span>}
  </>
)

const isMonth = (text: string | undefined): text is string => text !== undefined && new RegExp(`^${monthPattern}$`).test(text)

const Claims = ({ at }: { readonly at: Address }) => {
  const named = readParameters(at, ['sellerId', 'month'])
  const month = isMonth(named.month) ? named.month : findPreviousMonth(new Date())
  const query = { month, ...readParameters(at, ['sellerId']) }
  const claims = usePage('claims', at, query, (page) => readAnswer(api.GET('/v1/claims', { params: { query: page } })), {
    topics: ['inventory', 'reconciliation'],
    everyMs: 60_000,
  })
  const evidence = (sellerId: string, more: string): string =>
    `/console/inventory?${more}month=${month}&sellerId=${encodeURIComponent(sellerId)}`
  return (
    <>
      <p class="faint">
        Possible claims of each seller for {month}: units that were lost or damaged, or are missing without a reason. The CSV is a
        table for the claim; the links lead to the evidence.
      </p>
      <List
        caption={`Claims for ${month}`}
        query={claims}
        at={at}
        buildKey={({ sellerId }) => sellerId}
        empty={`No report of ${month} has been imported.`}
        csv={{ path: `/v1/claims?${new URLSearchParams(query)}`, name: `claims-${month}` }}
        columns={[
          sellerColumn,
          ...claimParts.map(([part, head]) => ({ head, wraps: true, cell: (claim: Claim) => <Claimed part={claim[part]} /> })),
          { head: 'SKUs compared', cell: ({ skus, skusCompared }) => `${count(skusCompared)} of ${count(skus)}` },
          {
            head: 'Evidence',
            wraps: true,
            cell: ({ sellerId }) => (
              <>
                <a href={evidence(sellerId, 'show=to-claim&')}>claims to file</a>,{' '}
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
  const query = { ...readParameters(at, ['sellerId', 'month', 'sku', 'gtin']), ...readChoices(at, { adjusted: flags }) }
  const rows = usePage('stock', at, query, (page) => readAnswer(api.GET('/v1/reconciliation', { params: { query: page } })), {
    topics: ['reconciliation'],
    everyMs: 60_000,
  })
  return (
    <List
      caption="Monthly reports"
      query={rows}
      at={at}
      buildKey={({ sellerId, month, sku }) => `${sellerId}/${month}/${sku}`}
      empty={
        listFilters(at).length === 0
          ? 'No report has been imported yet.'
          : 'No row of an imported report matches the filters. SKUs and GTINs are compared as a whole.'
      }
      csv={{ path: `/v1/reconciliation?${new URLSearchParams(query)}`, name: 'stock' }}
      columns={[
        { head: 'SKU', cell: (row) => <SkuLink {...row} /> },
        { head: 'GTIN', cell: ({ gtin }) => gtin ?? <None /> },
        { head: 'Month', cell: ({ month }) => month },
        sellerColumn,
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
  ['to-claim', 'To claim'],
  ['claims', 'Claims by month'],
  ['stock', 'Stock by month'],
  ['on-hand', 'Stock on hand'],
  ['on-hand-differences', 'Stock and log'],
] as const

/** Inventory: differences between report and log, possible claims, the monthly reports, and the stock on hand. */
export const Inventory = () => {
  const at = useAddress()
  const shown = readChoice(at, 'show', ['to-claim', 'claims', 'stock', 'on-hand', 'on-hand-differences']) ?? 'differences'
  const hasMonths = shown === 'differences' || shown === 'to-claim' || shown === 'claims' || shown === 'stock'
  const hasStates = shown === 'differences' || shown === 'on-hand-differences'
  return (
    <>
      <h1 tabIndex={-1}>Inventory</h1>
      <Tabs at={at} label="Parts of the inventory" tabs={tabs} shown={shown} />
      {shown === 'differences' && (
        <p class="faint">
          Contradictions within the marketplace's monthly report, with the previous month, or with the inventory log. A difference
          closes automatically when a later report or log agrees.
        </p>
      )}
      {shown === 'to-claim' && (
        <p class="faint">
          Units that can be claimed from the marketplace, net of units that were found again. The evidence is a page to print, or
          a table: the arithmetic in words, the rows of the reports as they came, and the entries of the log.
        </p>
      )}
      {shown === 'on-hand-differences' && (
        <p class="faint">
          Units on hand, compared with the ending of the last monthly report and the movements of the inventory log since, up to
          the same time. A difference closes automatically when both agree.
        </p>
      )}
      <Filters at={at}>
        {hasMonths && <MonthFilter at={at} />}
        <SellerFilter at={at} />
        {shown !== 'claims' && <TextFilter at={at} name="sku" label="SKU" />}
        {(shown === 'differences' || shown === 'stock' || shown === 'on-hand') && <TextFilter at={at} name="gtin" label="GTIN" />}
        {shown === 'differences' && <ChoiceFilter at={at} name="kind" label="Kind" options={kindOptions} />}
        {shown === 'to-claim' && <ChoiceFilter at={at} name="kind" label="Kind" options={claimKindOptions} />}
        {shown === 'to-claim' && <ChoiceFilter at={at} name="state" label="State" options={claimStateOptions} />}
        {hasStates && <ChoiceFilter at={at} name="state" label="State" options={stateOptions} />}
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
      {shown === 'differences' && <Differences at={at} />}
      {shown === 'to-claim' && <ClaimItems at={at} />}
      {shown === 'claims' && <Claims at={at} />}
      {shown === 'stock' && <Stock at={at} />}
      {shown === 'on-hand' && <StockOnHand at={at} />}
      {shown === 'on-hand-differences' && <StockDifferences at={at} />}
    </>
  )
}

/** The report of a GTIN for the current month, requested on demand. */
const CurrentMonth = ({ sellerId, gtin }: { readonly sellerId: string; readonly gtin: string }) => {
  const [report, setReport] = useState<Schemas['GtinReport'] | null>(null)
  const { busy, runAction } = useAction()
  const request = (): void =>
    runAction(async () =>
      setReport(await readAnswer(api.GET('/v1/reconciliation/{gtin}', { params: { path: { gtin }, query: { sellerId } } }))),
    )
  return (
    <section class="card" aria-label="The current month">
      <h2>The current month</h2>
      <p class="row">
        <button type="button" disabled={busy} onClick={request}>
          {busy ? 'Requesting…' : 'Request the report now'}
        </button>
        <span class="faint">It counts as one of the few requests per hour that the marketplace allows.</span>
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
  const requested = at.parameters.get('month')
  const shown = rows.find(({ month }) => month === requested) ?? rows.at(-1)
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
              onChange={(change) => setParameters({ month: change.currentTarget.value })}
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
        buildKey={({ month }) => month}
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
    () => readAnswer(api.GET('/v1/reconciliation', { params: { query } })),
    { topics: ['reconciliation'], everyMs: 60_000 },
  )
  const gtin = months.data?.items.findLast((row) => row.gtin !== null)?.gtin ?? null
  return (
    <>
      <h1 tabIndex={-1}>{sku}</h1>
      <p class="faint">
        Of {sellerId}
        {gtin === null ? '' : `, GTIN ${gtin}`}. <a href="/console/inventory">All inventory</a>
      </p>
      <Loaded query={months}>{({ items }) => <Months at={at} rows={items} />}</Loaded>
      {may('operate') && gtin !== null && /^\d{8,14}$/.test(gtin) && <CurrentMonth sellerId={sellerId} gtin={gtin} />}
      <h2>Differences</h2>
      <Differences at={at} fixed={{ sellerId, sku }} />
    </>
  )
}
