import { api, readAnswer } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { type Address, listFilters, readChoices, readParameters } from '../lib/router.ts'
import { List, sellerColumn } from '../parts/table.tsx'
import { Badge, Money, None, Time } from '../parts/text.tsx'

const states = ['resolved', 'all'] as const

const Units = ({ units }: { readonly units: number | null }) => (units === null ? <None /> : count(units))

/** The stock on hand at the fulfillment service. */
export const StockOnHand = ({ at }: { readonly at: Address }) => {
  const query = readParameters(at, ['sellerId', 'sku', 'gtin'])
  const stock = usePage('stock on hand', at, query, (page) => readAnswer(api.GET('/v1/stock', { params: { query: page } })), {
    topics: ['stock'],
    everyMs: 60_000,
  })
  return (
    <List
      caption="Stock on hand"
      query={stock}
      at={at}
      buildKey={({ sellerId, sku }) => `${sellerId}/${sku}`}
      empty={
        listFilters(at).length === 0
          ? 'No stock on hand has been imported. Only some marketplaces list it, and only for sellers that their fulfillment service serves.'
          : 'No stock matches the filters. SKUs and GTINs are compared as a whole.'
      }
      csv={{ path: `/v1/stock?${new URLSearchParams(query)}`, name: 'stock-on-hand' }}
      columns={[
        { head: 'SKU', cell: ({ sku }) => sku },
        { head: 'Item', wraps: true, cell: ({ itemName }) => itemName ?? <None /> },
        sellerColumn,
        { head: 'Available', number: true, cell: ({ availableUnits }) => count(availableUnits) },
        { head: 'Reserved', number: true, cell: ({ reservedUnits }) => <Units units={reservedUnits} /> },
        { head: 'On hand', number: true, cell: ({ onHandUnits }) => <Units units={onHandUnits} /> },
        { head: 'Inbound', number: true, cell: ({ inboundUnits }) => <Units units={inboundUnits} /> },
        { head: 'Status', cell: ({ stockStatus }) => stockStatus ?? <None /> },
        { head: 'Changed', cell: ({ changedAt }) => <Time at={changedAt} /> },
      ]}
    />
  )
}

/** Differences between the stock on hand and the inventory log. */
export const StockDifferences = ({ at }: { readonly at: Address }) => {
  const query = { ...readParameters(at, ['sellerId', 'sku']), ...readChoices(at, { state: states }) }
  const differences = usePage(
    'stock differences',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/stock-differences', { params: { query: page } })),
    { topics: ['stock'], everyMs: 60_000 },
  )
  const isFiltered = listFilters(at).length > 0
  return (
    <List
      caption="Differences between stock and log"
      query={differences}
      at={at}
      buildKey={({ id }) => id}
      empty={
        isFiltered
          ? 'No difference matches the filters.'
          : 'There is no difference: stock on hand and inventory log agree as far as they have been compared.'
      }
      filtered={isFiltered}
      csv={{ path: `/v1/stock-differences?${new URLSearchParams(query)}`, name: 'stock-differences' }}
      columns={[
        { head: 'SKU', cell: ({ sku }) => sku },
        sellerColumn,
        { head: 'On hand', number: true, cell: ({ countedUnits }) => count(countedUnits) },
        { head: 'By the log', number: true, cell: ({ balanceUnits }) => count(balanceUnits) },
        { head: 'Units', number: true, cell: ({ difference }) => (difference > 0 ? `+${count(difference)}` : count(difference)) },
        { head: 'Value', number: true, cell: ({ value, currency }) => <Money amount={value} currency={currency} /> },
        { head: 'As of', cell: ({ asOf }) => <Time at={asOf} /> },
        { head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
        {
          head: 'State',
          wraps: true,
          cell: ({ state, resolution, resolvedAt }) =>
            state === 'open' ? (
              <Badge tone="warn">open</Badge>
            ) : (
              <>
                <Badge tone="good">{resolution === 'withdrawn' ? 'no longer compared' : 'agrees again'}</Badge>{' '}
                <Time at={resolvedAt} />
              </>
            ),
        },
      ]}
    />
  )
}
