import { api, readAnswer } from '../lib/api.ts'
import { useMarketplaceNow } from '../lib/clock.ts'
import { findDayEnd, formatLocal, pluralize } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { readChoice, readParameters, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, SellerFilter } from '../parts/filters.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Rows, sellerColumn } from '../parts/table.tsx'
import { None, Time } from '../parts/text.tsx'

/** Units to take from the shelf, by SKU. */
export const PickList = () => {
  const at = useAddress()
  const now = new Date(useMarketplaceNow())
  const until = readChoice(at, 'until', ['tomorrow', 'all']) ?? 'today'
  const shipBefore = until === 'all' ? {} : { shipBefore: findDayEnd(now, until === 'tomorrow' ? 1 : 0).toISOString() }
  const query = { ...readParameters(at, ['sellerId']), ...shipBefore }
  const picks = useQuery(
    `pick list ${JSON.stringify(query)}`,
    () => readAnswer(api.GET('/v1/pick-list', { params: { query } })),
    { topics: ['order', 'command'], everyMs: 60_000 },
  )
  return (
    <>
      <p class="back no-print">
        <a href="/console/today">Today</a>
      </p>
      <h1 tabIndex={-1}>Pick list</h1>
      <p class="faint">
        Units of open orders that you ship, also late ones. Units that the ERP has already shipped or cancelled are left out. As
        of {formatLocal(now, new Date(0))}.
      </p>
      <Filters at={at}>
        <ChoiceFilter
          at={at}
          name="until"
          label="To be shipped"
          options={[
            ['', 'by the end of today'],
            ['tomorrow', 'by the end of tomorrow'],
            ['all', 'at any time'],
          ]}
        />
        <SellerFilter at={at} />
      </Filters>
      <Loaded query={picks}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              There is nothing to pick.{' '}
              {until !== 'all' && <a href="/console/pick-list?until=all">Show what can be shipped later</a>}
            </Empty>
          ) : (
            <>
              <Rows
                caption="Pick list"
                rows={items}
                buildKey={({ sellerId, sku }) => `${sellerId}/${sku ?? ''}`}
                columns={[
                  {
                    head: 'SKU',
                    cell: ({ sellerId, sku }) =>
                      sku === null ? (
                        <None />
                      ) : (
                        <>
                          <span class="print-only" />{' '}
                          <a href={`/console/today?${new URLSearchParams({ sku, sellerId })}`}>{sku}</a>
                        </>
                      ),
                  },
                  sellerColumn,
                  { head: 'Product', wraps: true, cell: ({ productName }) => productName ?? <None /> },
                  { head: 'Units', number: true, cell: ({ units }) => units },
                  { head: 'Orders', number: true, cell: ({ orders }) => orders },
                  { head: 'Ship by', cell: ({ shipBy }) => <Time at={shipBy} /> },
                ]}
              />
              <div class="under">
                <p class="faint">
                  {pluralize(
                    items.reduce((sum, { units }) => sum + units, 0),
                    'unit',
                  )}{' '}
                  of {pluralize(items.length, 'SKU')}
                </p>
                <button type="button" class="no-print" onClick={() => print()}>
                  Print
                </button>
              </div>
            </>
          )
        }
      </Loaded>
    </>
  )
}
