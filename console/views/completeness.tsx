import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, pluralize } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { listFilters, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, SellerFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { type Column, Rows, sellerColumn } from '../parts/table.tsx'
import { Badge, None } from '../parts/text.tsx'

type NamedDay = Schemas['NamedDay']
type Source = NamedDay['source']

const sources: Readonly<Record<Source, string>> = {
  returns: 'Returns',
  'inventory-log': 'Inventory log',
  settlements: 'Settlement reports',
  events: 'ERP events',
  notifications: 'Notifications',
}
const sourceNames = ['returns', 'inventory-log', 'settlements', 'events', 'notifications'] as const satisfies readonly Source[]
const periods = ['7', '180', '365'] as const

const Missing = ({ missing, missingIds }: NamedDay) =>
  missing === 0 ? (
    <None />
  ) : (
    <details>
      <summary>
        <Badge tone="warn">{count(missing)}</Badge>
      </summary>
      <p>{missingIds.join(', ')}</p>
      {missing > missingIds.length && <p class="faint">The first {missingIds.length} are shown.</p>}
    </details>
  )

const Explained = ({ explained, explanations }: NamedDay) =>
  explained === 0 ? (
    <None />
  ) : (
    <details>
      <summary>{count(explained)}</summary>
      <ul>
        {explanations.map(({ purchaseOrderId, reason }) => (
          <li key={purchaseOrderId}>
            {purchaseOrderId}: {reason}
          </li>
        ))}
      </ul>
      {explained > explanations.length && <p class="faint">The first {explanations.length} are shown.</p>}
    </details>
  )

const columns: readonly Column<NamedDay>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => day },
  sellerColumn,
  { head: 'Named by', cell: ({ source }) => sources[source] },
  { head: 'Named', number: true, cell: ({ named }) => count(named) },
  { head: 'Stored', number: true, cell: ({ stored }) => count(stored) },
  { head: 'Missing', wraps: true, cell: Missing },
  { head: 'Explained', wraps: true, cell: Explained },
]

const sum = (items: readonly NamedDay[], of: (day: NamedDay) => number): number =>
  items.reduce((total, day) => total + of(day), 0)

/** Orders that other records than the lists of orders name: which are stored, which are missing, and why. */
export const Completeness = () => {
  const at = useAddress()
  const { days, ...choices } = readChoices(at, { source: sourceNames, days: periods })
  const query = { ...readParameters(at, ['sellerId']), ...choices, ...(days === undefined ? {} : { days: Number(days) }) }
  const answer = useQuery(
    `completeness ${JSON.stringify(query)}`,
    () => readAnswer(api.GET('/v1/completeness', { params: { query } })),
    { everyMs: 60_000 },
  )
  return (
    <>
      <p class="back">
        <a href="/console/syncs">All syncs</a>
      </p>
      <h1 tabIndex={-1}>Orders that other records name</h1>
      <p class="faint">
        Returns, the inventory log, settlement reports, ERP events and notifications name orders. One that is not stored is
        requested by its id within a minute. An explained order is not stored for a known reason.
      </p>
      <Filters at={at}>
        <ChoiceFilter
          at={at}
          name="source"
          label="Named by"
          options={[['', 'All'], ...sourceNames.map((source) => [source, sources[source]] as const)]}
        />
        <SellerFilter at={at} />
        <ChoiceFilter
          at={at}
          name="days"
          label="Period"
          options={[['', '45 days'], ...periods.map((period) => [period, `${period} days`] as const)]}
        />
      </Filters>
      <Loaded query={answer}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              {listFilters(at).length === 0
                ? 'No record has named an order in this time.'
                : 'No named order matches the filters.'}
            </Empty>
          ) : (
            <>
              <p>
                {pluralize(
                  sum(items, ({ named }) => named),
                  'order',
                )}{' '}
                named, {count(sum(items, ({ missing }) => missing))} missing.
              </p>
              <Rows
                caption="Named orders"
                columns={columns}
                rows={items}
                buildKey={({ sellerId, source, day }) => JSON.stringify([sellerId, source, day])}
              />
            </>
          )
        }
      </Loaded>
    </>
  )
}
