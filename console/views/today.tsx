import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { useMarketplaceNow } from '../lib/clock.ts'
import { findDayEnd, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useQuery } from '../lib/query.ts'
import { type Address, listFilters, readChoices, readParameters, useAddress, withParameters } from '../lib/router.ts'
import { ChoiceFilter, Filters, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { OrderLink, OrderState, Skus } from '../parts/orders.tsx'
import { FirstLateReturns, LateReturns } from '../parts/returns.tsx'
import { List, Rows, sellerColumn } from '../parts/table.tsx'
import { Countdown } from '../parts/text.tsx'

/** Parameters of the list for each kind of deadline. */
const choices = {
  '': { sort: 'shipBy' },
  acknowledge: { unacknowledged: 'true', sort: 'acknowledgeBy' },
  overdue: { acknowledgeOverdue: 'true', sort: 'acknowledgeBy' },
  'acknowledge-soon': { acknowledgeSoon: 'true', sort: 'acknowledgeBy' },
  ship: { unacknowledged: 'false', sort: 'shipBy' },
  late: { late: 'true', sort: 'shipBy' },
  soon: { shipSoon: 'true', sort: 'shipBy' },
  cancel: { autoCancelSoon: 'true', sort: 'shipBy' },
} as const

const isChoice = (text: string): text is keyof typeof choices => Object.hasOwn(choices, text)

/** When an order must be shipped, in the viewer's zone. */
const nameDay = (shipBy: string | null, now: number): string => {
  if (shipBy === null) return 'Without a date'
  const time = Date.parse(shipBy)
  const endOfDay = (days: number): number => findDayEnd(new Date(now), days).getTime()
  if (time < now) return 'Overdue'
  if (time < endOfDay(0)) return 'Today'
  return time < endOfDay(1) ? 'Tomorrow' : 'Later'
}

const OpenOrders = ({ at, due }: { readonly at: Address; readonly due: keyof typeof choices }) => {
  const query = {
    open: 'true' as const,
    fulfilledBySeller: 'true' as const,
    ...choices[due],
    ...readChoices(at, { sort: ['shipBy', 'acknowledgeBy'] }),
    ...readParameters(at, ['q', 'sellerId', 'sku']),
  }
  const orders = usePage('today', at, query, (page) => readAnswer(api.GET('/v1/orders', { params: { query: page } })), {
    topics: ['order'],
  })
  const now = useMarketplaceNow()
  const groupBy = query.sort === 'shipBy' ? (order: Schemas['OrderSummary']) => nameDay(order.estimatedShipDate, now) : undefined
  return (
    <List
      caption="Open orders by deadline"
      groupBy={groupBy}
      query={orders}
      at={at}
      buildKey={({ sellerId, purchaseOrderId }) => `${sellerId}/${purchaseOrderId}`}
      empty={
        listFilters(at).length === 0 ? 'No order is open: there is nothing to ship today.' : 'No open order matches the filters.'
      }
      csv={{ path: `/v1/orders?${new URLSearchParams(query)}`, name: 'orders-to-do' }}
      columns={[
        { head: 'Order', cell: (order) => <OrderLink {...order} /> },
        sellerColumn,
        { head: 'State', cell: (order) => <OrderState order={order} /> },
        { head: 'Units', wraps: true, cell: ({ lines }) => <Skus lines={lines} /> },
        {
          head: 'Acknowledge',
          sort: { by: 'acknowledgeBy', ascending: true },
          cell: ({ acknowledgeBy, sellerId }) => <Countdown to={acknowledgeBy} sellerId={sellerId} />,
        },
        {
          head: 'Ship',
          sort: { by: 'shipBy', ascending: true },
          cell: ({ estimatedShipDate, sellerId }) => <Countdown to={estimatedShipDate} sellerId={sellerId} />,
        },
        {
          head: 'Automatic cancellation',
          cell: ({ autoCancelAt, sellerId }) => <Countdown to={autoCancelAt} sellerId={sellerId} />,
        },
      ]}
    />
  )
}

/** Number of orders to acknowledge above the open orders. */
const maxToAcknowledge = 5
const hourMs = 3_600_000

/** The first orders to acknowledge within an hour, or late: the groups of the open orders are by the time of shipping. Nothing if there are none. */
const FirstToAcknowledge = ({ at }: { readonly at: Address }) => {
  const query = {
    open: 'true' as const,
    fulfilledBySeller: 'true' as const,
    ...choices.acknowledge,
    ...readParameters(at, ['q', 'sellerId', 'sku']),
    limit: maxToAcknowledge + 1,
  }
  const { data } = useQuery(
    `first to acknowledge ${JSON.stringify(query)}`,
    () => readAnswer(api.GET('/v1/orders', { params: { query } })),
    { topics: ['order'] },
  )
  const now = useMarketplaceNow()
  const due = (data?.items ?? []).filter(
    ({ acknowledgeBy }) => acknowledgeBy !== null && Date.parse(acknowledgeBy) < now + hourMs,
  )
  if (due.length === 0) return null
  return (
    <section aria-label="To acknowledge within an hour">
      <h2>To acknowledge within an hour</h2>
      <p class="faint">
        The ERP acknowledges an order with the event <code>erp.order.accepted</code>.
      </p>
      <Rows
        caption="To acknowledge within an hour"
        rows={due.slice(0, maxToAcknowledge)}
        buildKey={({ sellerId, purchaseOrderId }) => `${sellerId}/${purchaseOrderId}`}
        columns={[
          { head: 'Order', cell: (order) => <OrderLink {...order} /> },
          sellerColumn,
          { head: 'Units', wraps: true, cell: ({ lines }) => <Skus lines={lines} /> },
          { head: 'Acknowledge', cell: ({ acknowledgeBy, sellerId }) => <Countdown to={acknowledgeBy} sellerId={sellerId} /> },
          { head: 'Ship', cell: ({ estimatedShipDate, sellerId }) => <Countdown to={estimatedShipDate} sellerId={sellerId} /> },
        ]}
      />
      {due.length > maxToAcknowledge && (
        <p class="faint">
          The first {pluralize(maxToAcknowledge, 'order')}.{' '}
          <a href={withParameters(at, { due: 'acknowledge', cursor: '', sort: '' })}>All orders to acknowledge</a>
        </p>
      )}
    </section>
  )
}

/** Open orders and returns by deadline. */
export const Today = () => {
  const address = useAddress()
  const due = address.parameters.get('due') ?? ''
  return (
    <>
      <h1 tabIndex={-1}>Today</h1>
      <p class="faint">
        Open orders that you ship, and returns that you must refund, the earliest deadline first. Remaining times are by the
        marketplace's clock.
      </p>
      <Filters at={address}>
        <ChoiceFilter
          at={address}
          name="due"
          label="Due"
          options={[
            ['', 'Everything'],
            ['acknowledge', 'To acknowledge'],
            ['overdue', 'Late to acknowledge'],
            ['acknowledge-soon', 'To acknowledge within an hour'],
            ['ship', 'To ship'],
            ['late', 'Late to ship'],
            ['soon', 'To ship within 24 hours'],
            ['cancel', 'Cancelled within 24 hours'],
            ['returns', 'Returns to refund'],
          ]}
        />
        {due !== 'returns' && <TextFilter at={address} name="q" label="Search" placeholder="Order, SKU, tracking number" />}
        {due === 'returns' && (
          <ChoiceFilter
            at={address}
            name="state"
            label="Refund"
            options={[
              ['', 'Late or soon'],
              ['late', 'Late'],
              ['soon', 'Within 12 hours'],
            ]}
          />
        )}
        <TextFilter at={address} name="sku" label="SKU" />
        <SellerFilter at={address} />
      </Filters>
      {due !== 'returns' && (
        <p>
          <a href="/console/pick-list">Pick list by SKU, to print</a>
        </p>
      )}
      {due === '' && <FirstToAcknowledge at={address} />}
      {due === '' && <FirstLateReturns at={address} />}
      {due === '' && <h2>Open orders by the time of shipping</h2>}
      {due === 'returns' ? <LateReturns at={address} /> : <OpenOrders at={address} due={isChoice(due) ? due : ''} />}
    </>
  )
}
