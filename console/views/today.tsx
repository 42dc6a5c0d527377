import { answered, api } from '../lib/api.ts'
import { useMarketplaceNow } from '../lib/clock.ts'
import { usePage } from '../lib/page.ts'
import { chosen, given, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, TextFilter } from '../parts/filters.tsx'
import { OrderLink, OrderState, Skus } from '../parts/orders.tsx'
import { List } from '../parts/table.tsx'
import { Countdown } from '../parts/text.tsx'

const dayMs = 86_400_000
/** What is not shipped so long after its time is cancelled by the marketplace; the server says the exact time for each order. */
const autoCancelMs = 4 * dayMs
const minuteMs = 60_000

const at = (moment: number): string => new Date(Math.floor(moment / minuteMs) * minuteMs).toISOString()

type Due = Partial<Record<'late' | 'unacknowledged', 'true'>> &
  Partial<Record<'shipByFrom' | 'shipByTo', string>> & { readonly sort: 'shipBy' | 'acknowledgeBy' }

/** Parameters of the list for a choice of what is due. */
const dueQuery = (due: string, now: number): Due => {
  switch (due) {
    case 'late':
      return { late: 'true', sort: 'shipBy' }
    case 'soon':
      return { shipByFrom: at(now), shipByTo: at(now + dayMs), sort: 'shipBy' }
    case 'acknowledge':
      return { unacknowledged: 'true', sort: 'acknowledgeBy' }
    case 'cancel':
      return { shipByFrom: at(now - autoCancelMs), shipByTo: at(now - autoCancelMs + dayMs), sort: 'shipBy' }
    default:
      return { sort: 'shipBy' }
  }
}

/** Open orders by what must be done first. */
export const Today = () => {
  const address = useAddress()
  const { parameters } = address
  const now = useMarketplaceNow(parameters.get('sellerId') ?? undefined)
  const query = {
    open: 'true' as const,
    ...dueQuery(parameters.get('due') ?? '', now),
    ...chosen(address, { sort: ['shipBy', 'acknowledgeBy'] }),
    ...given(address, ['sellerId', 'sku', 'shipNodeType']),
  }
  const orders = usePage('today', address, query, (page) => answered(api.GET('/v1/orders', { params: { query: page } })), {
    topics: ['order'],
  })
  return (
    <>
      <h1 tabIndex={-1}>To do today</h1>
      <p class="faint">Open orders, the earliest deadline first. Times left are by the marketplace's clock.</p>
      <Filters>
        <ChoiceFilter
          at={address}
          name="due"
          label="What is due"
          options={[
            ['', 'All open orders'],
            ['acknowledge', 'To acknowledge'],
            ['late', 'Late to ship'],
            ['soon', 'To ship within 24 hours'],
            ['cancel', 'Cancelled within 24 hours'],
          ]}
        />
        <TextFilter at={address} name="sku" label="SKU" />
        <TextFilter at={address} name="sellerId" label="Seller" />
        <TextFilter at={address} name="shipNodeType" label="Shipped by" placeholder="SellerFulfilled" />
      </Filters>
      <List
        caption="Open orders by deadline"
        query={orders}
        at={address}
        keyOf={({ sellerId, purchaseOrderId }) => `${sellerId}/${purchaseOrderId}`}
        empty="No open order has this deadline. That is good news."
        csv={{ path: `/v1/orders?${new URLSearchParams(query)}`, name: 'orders-to-do' }}
        columns={[
          { head: 'Order', cell: (order) => <OrderLink {...order} /> },
          { head: 'Seller', cell: ({ sellerId }) => sellerId },
          { head: 'State', cell: (order) => <OrderState order={order} /> },
          { head: 'Units', cell: ({ lines }) => <Skus lines={lines} /> },
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
            head: 'Cancelled by itself',
            cell: ({ autoCancelAt, sellerId }) => <Countdown to={autoCancelAt} sellerId={sellerId} />,
          },
        ]}
      />
    </>
  )
}
