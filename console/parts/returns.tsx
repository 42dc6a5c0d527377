import { Fragment } from 'preact'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useQuery } from '../lib/query.ts'
import { type Address, listFilters, readChoices, readParameters, withParameters } from '../lib/router.ts'
import { OrderLink } from './orders.tsx'
import { type Column, List, Rows, sellerColumn } from './table.tsx'
import { Countdown, None, Time } from './text.tsx'

type LateReturn = Schemas['LateReturn']

/** Number of returns among the orders. */
const maxNamed = 5
const freshness = { topics: ['return', 'command'], everyMs: 60_000 } as const

const columns: readonly Column<LateReturn>[] = [
  { head: 'Return', cell: ({ returnOrderId }) => returnOrderId },
  sellerColumn,
  {
    head: 'Order',
    cell: ({ sellerId, lines }) => {
      const orders = new Set(lines.map(({ purchaseOrderId }) => purchaseOrderId))
      return [...orders].map((purchaseOrderId) =>
        purchaseOrderId === null ? (
          <None key="none" />
        ) : (
          <Fragment key={purchaseOrderId}>
            <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />{' '}
          </Fragment>
        ),
      )
    },
  },
  {
    head: 'Units to refund',
    wraps: true,
    cell: ({ lines }) =>
      lines.map(({ returnLineNumber, units, sku, exceptionItemType }, index) => (
        <Fragment key={returnLineNumber}>
          <span class="whole">
            {units} × {sku ?? 'unknown'}
            {exceptionItemType === null && index < lines.length - 1 && ','}
          </span>{' '}
          {exceptionItemType !== null && `(${exceptionItemType}: through the order)${index < lines.length - 1 ? ', ' : ''}`}
        </Fragment>
      )),
  },
  { head: 'Arrived', cell: ({ lines }) => <Time at={lines.map(({ arrivedAt }) => arrivedAt).sort()[0]} /> },
  { head: 'Refund', cell: ({ refundBy, sellerId }) => <Countdown to={refundBy} sellerId={sellerId} /> },
]

const buildKey = ({ sellerId, returnOrderId }: LateReturn): string => `${sellerId}/${returnOrderId}`

const Explanation = () => (
  <p class="faint">
    Returned units that have arrived and are not refunded, if the refund is late or due within 12 hours. Refund them in the ERP,
    which sends <code>erp.return.refunded</code>; after the deadline the marketplace refunds them itself.
  </p>
)

const readList = (query: { readonly limit: number; readonly sellerId?: string; readonly sku?: string }) =>
  readAnswer(api.GET('/v1/late-returns', { params: { query } }))

/** The first returns to refund, above the open orders; nothing if there are none. */
export const FirstLateReturns = ({ at }: { readonly at: Address }) => {
  const query = { ...readParameters(at, ['sellerId', 'sku']), limit: maxNamed }
  const { data } = useQuery(`first late returns ${JSON.stringify(query)}`, () => readList(query), freshness)
  if (data === undefined || data.items.length === 0) return null
  return (
    <section aria-label="Returns to refund">
      <h2>Returns to refund</h2>
      <Explanation />
      <Rows caption="Returns to refund" rows={data.items} buildKey={buildKey} columns={columns} />
      {data.nextCursor !== null && (
        <p class="faint">
          The first {pluralize(maxNamed, 'return')}.{' '}
          <a href={withParameters(at, { due: 'returns', cursor: '', sort: '', q: '' })}>All returns to refund</a>
        </p>
      )}
    </section>
  )
}

/** All returns to refund, the earliest deadline first. */
export const LateReturns = ({ at }: { readonly at: Address }) => {
  const query = {
    ...readParameters(at, ['sellerId', 'sku', 'returnOrderId', 'purchaseOrderId']),
    ...readChoices(at, { state: ['late', 'soon'] }),
  }
  const returns = usePage(
    'late returns',
    at,
    query,
    (page) => readAnswer(api.GET('/v1/late-returns', { params: { query: page } })),
    freshness,
  )
  const isFiltered = listFilters(at).some((name) => name !== 'due')
  return (
    <>
      <Explanation />
      <List
        caption="Returns to refund"
        query={returns}
        at={at}
        buildKey={buildKey}
        empty={
          isFiltered
            ? 'No return to refund matches the filters.'
            : 'No refund is late or due within 12 hours. Only marketplaces that set a deadline for refunds have returns here.'
        }
        filtered={isFiltered}
        csv={{ path: `/v1/late-returns?${new URLSearchParams(query)}`, name: 'returns-to-refund' }}
        columns={columns}
      />
    </>
  )
}
