import { Fragment } from 'preact'
import type { Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
import { PartsBar } from './charts.tsx'
import { Badge } from './text.tsx'

type Summary = Schemas['OrderSummary']

/** Address of an order's view. */
export const orderAddress = (sellerId: string, purchaseOrderId: string): string =>
  `/console/orders/${encodeURIComponent(sellerId)}/${encodeURIComponent(purchaseOrderId)}`

/** A link to an order. */
export const OrderLink = ({ sellerId, purchaseOrderId }: { readonly sellerId: string; readonly purchaseOrderId: string }) => (
  <a href={orderAddress(sellerId, purchaseOrderId)}>{purchaseOrderId}</a>
)

/** State of an order. */
export const OrderState = ({
  order,
}: {
  readonly order: Pick<Summary, 'open' | 'fulfilledBySeller' | 'acknowledgeBy' | 'lines'>
}) => {
  const sum = (of: 'ordered' | 'shipped' | 'cancelled' | 'refunded'): number =>
    order.lines.reduce((all, line) => all + line[of], 0)
  if (order.open) {
    if (!order.fulfilledBySeller) return <Badge>not yours to ship</Badge>
    if (order.acknowledgeBy !== null) return <Badge tone="warn">to acknowledge</Badge>
    return <Badge tone="warn">{sum('shipped') > 0 ? 'partly shipped' : 'to ship'}</Badge>
  }
  if (sum('refunded') > 0) return <Badge>refunded</Badge>
  return sum('shipped') > 0 ? <Badge tone="good">shipped</Badge> : <Badge>cancelled</Badge>
}

/** The SKUs of an order, each with its units. */
export const Skus = ({ lines }: { readonly lines: Summary['lines'] }) => (
  <>
    {lines.map(({ lineNumber, sku, ordered }, index) => (
      <Fragment key={lineNumber}>
        <span class="whole">
          {ordered} × {sku ?? 'unknown'}
          {index < lines.length - 1 && ','}
        </span>{' '}
      </Fragment>
    ))}
  </>
)

/** Units of a line by state. A refunded unit is also a shipped one. */
export const UnitsBar = ({
  line,
  reserved,
}: {
  readonly line: Pick<Summary['lines'][number], 'lineNumber' | 'ordered' | 'shipped' | 'cancelled' | 'refunded'>
  /** Units that open commands have reserved. */
  readonly reserved: number
}) => {
  const { ordered, shipped, cancelled, refunded, lineNumber } = line
  return (
    <PartsBar
      label={`Line ${lineNumber}, ${pluralize(ordered, 'unit')} ordered`}
      whole={Math.max(ordered, shipped + cancelled)}
      rest="not shipped yet"
      parts={[
        { label: 'shipped', value: Math.max(0, shipped - refunded), tone: 'b' },
        { label: 'refunded', value: Math.min(shipped, refunded), tone: 'e' },
        { label: 'cancelled', value: cancelled, tone: 'c' },
        { label: 'reserved', value: Math.max(0, Math.min(reserved, ordered - shipped - cancelled)), tone: 'd' },
      ]}
    />
  )
}
