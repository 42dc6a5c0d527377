import { api, readAnswer } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { flags, listFilters, readChoice, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { buildOptions, ChoiceFilter, Filters, PeriodFilter, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { OrderLink, OrderState, Skus } from '../parts/orders.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Countdown, Money, None, Time } from '../parts/text.tsx'

const texts = ['q', 'sku', 'trackingNumber', 'city', 'sellerId', 'createdFrom', 'createdTo'] as const

const outcomes = ['shipped', 'cancelled', 'refunded'] as const

/** Search for orders. */
export const Orders = () => {
  const address = useAddress()
  const query = {
    ...readParameters(address, texts),
    ...readChoices(address, { open: flags, outcome: outcomes, fulfilledBySeller: flags }),
    sort: readChoice(address, 'sort', ['shipBy', 'acknowledgeBy']) ?? ('-orderDate' as const),
  }
  const orders = usePage('orders', address, query, (page) => readAnswer(api.GET('/v1/orders', { params: { query: page } })), {
    topics: ['order'],
  })
  return (
    <>
      <h1 tabIndex={-1}>Orders</h1>
      <Filters at={address}>
        <TextFilter at={address} name="q" label="Search" placeholder="Order, SKU, tracking number" />
        <TextFilter at={address} name="city" label="City" />
        <TextFilter at={address} name="sku" label="SKU" />
        <TextFilter at={address} name="trackingNumber" label="Tracking number" />
        <SellerFilter at={address} />
        <ChoiceFilter
          at={address}
          name="open"
          label="State"
          options={[
            ['', 'All'],
            ['true', 'Open'],
            ['false', 'Done'],
          ]}
        />
        <ChoiceFilter
          at={address}
          name="fulfilledBySeller"
          label="Shipped by"
          options={[
            ['', 'All'],
            ['true', 'You'],
            ['false', 'The marketplace'],
          ]}
        />
        <ChoiceFilter at={address} name="outcome" label="Outcome" options={buildOptions(outcomes)} />
        <PeriodFilter at={address} name="created" label="Ordered" />
      </Filters>
      <List
        caption="Orders"
        query={orders}
        at={address}
        buildKey={({ sellerId, purchaseOrderId }) => `${sellerId}/${purchaseOrderId}`}
        empty={
          listFilters(address).length === 0
            ? 'No order has been read yet.'
            : 'No order matches the filters. Fields other than Search compare ids, SKUs and tracking numbers as a whole.'
        }
        csv={{ path: `/v1/orders?${new URLSearchParams(query)}`, name: 'orders' }}
        columns={[
          { head: 'Order', cell: (order) => <OrderLink {...order} /> },
          { head: 'Customer order', cell: ({ customerOrderId }) => customerOrderId ?? <None /> },
          sellerColumn,
          { head: 'Ordered', sort: { by: '-orderDate', ascending: false }, cell: ({ orderDate }) => <Time at={orderDate} /> },
          { head: 'State', cell: (order) => <OrderState order={order} /> },
          { head: 'Units', wraps: true, cell: ({ lines }) => <Skus lines={lines} /> },
          {
            head: 'Ship',
            sort: { by: 'shipBy', ascending: true },
            cell: ({ open: isOpen, fulfilledBySeller, estimatedShipDate, sellerId }) =>
              isOpen && fulfilledBySeller ? (
                <Countdown to={estimatedShipDate} sellerId={sellerId} />
              ) : (
                <Time at={estimatedShipDate} />
              ),
          },
          {
            head: 'Total',
            number: true,
            cell: ({ totalAmount, currency }) => <Money amount={totalAmount} currency={currency} />,
          },
        ]}
      />
    </>
  )
}
