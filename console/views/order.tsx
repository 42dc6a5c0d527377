import { type ComponentChildren, Fragment } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { api, Refused, readAnswer, type Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
import { describePath, differences } from '../lib/json.ts'
import { describeMissing } from '../lib/parcels.ts'
import { useQuery } from '../lib/query.ts'
import { type Address, useAddress, withParameters } from '../lib/router.ts'
import { useAction } from '../parts/action.ts'
import { Attempts } from '../parts/attempts.tsx'
import { CommandState, commandAddress, explainCommand, formatCommand } from '../parts/commands.tsx'
import { EventProblem, EventState, eventAddress } from '../parts/events.tsx'
import { OrderState, UnitsBar } from '../parts/orders.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Rows } from '../parts/table.tsx'
import { Ago, Countdown, Money, None, Raw, Time } from '../parts/text.tsx'
import { PastNotice, readPastTime, VersionSlider } from '../parts/versions.tsx'

type Order = Schemas['Order']
type Buyer = Schemas['Buyer']
type Event = Schemas['ListedEvent']

const maxDifferences = 30

interface TimelineEntry {
  readonly key: string
  readonly at: string
  readonly kind: string
  readonly title: ComponentChildren
  readonly body?: ComponentChildren
}

const buildVersionEntries = ({ history }: Order): readonly TimelineEntry[] =>
  history.versions.map((version, index) => {
    const before = history.versions[index - 1]
    const found = before === undefined ? [] : differences(before.raw, version.raw)
    return {
      key: `version ${version.firstSeenAt} ${index}`,
      at: version.firstSeenAt,
      kind: 'Version',
      title: before === undefined ? 'The oldest version that is kept' : `The marketplace reported ${found.length} changed fields`,
      body: (
        <>
          {found.length > 0 && (
            <Rows
              caption="Changed fields"
              rows={found.slice(0, maxDifferences)}
              buildKey={({ path }) => path}
              columns={[
                { head: 'Field', wraps: true, cell: ({ path }) => describePath(path) },
                { head: 'Before', wraps: true, cell: ({ before: was }) => was ?? <None /> },
                { head: 'After', wraps: true, cell: ({ after }) => after ?? <None /> },
              ]}
            />
          )}
          {found.length > maxDifferences && <p class="faint">The first {maxDifferences} are shown.</p>}
          <Raw summary="The record" value={version.raw} />
        </>
      ),
    }
  })

const buildChangeEntries = ({ history }: Order): readonly TimelineEntry[] =>
  history.changes.map((change) => ({
    key: `change ${change.seq}`,
    at: change.occurredAt,
    kind: 'Change',
    title: `${change.type}${change.lineNumber === null ? '' : `, line ${change.lineNumber}`}`,
    body: <Raw summary="Data" value={change.data} />,
  }))

/** `isPast`: the command as it was then has no link, because its view shows it as it is, and decides on it. */
const buildCommandEntries = ({ commands }: Order, isPast: boolean): readonly TimelineEntry[] =>
  commands.flatMap((command) => [
    {
      key: `command ${command.id}`,
      at: command.createdAt,
      kind: 'Command',
      title: (
        <>
          {isPast ? formatCommand(command) : <a href={commandAddress(command.id)}>{formatCommand(command)}</a>}{' '}
          <CommandState state={command.state} />
        </>
      ),
      body: (
        <>
          {explainCommand(command).length > 0 && <p>{explainCommand(command).join(' ')}</p>}
          {command.attempts.length > 0 && (
            <details>
              <summary>{pluralize(command.attempts.length, 'request')}</summary>
              <Attempts command={command} />
            </details>
          )}
        </>
      ),
    },
    ...command.decisions.map((decision) => ({
      key: `decision ${command.id} ${decision.decidedAt}`,
      at: decision.decidedAt,
      kind: 'Decision',
      title: `${decision.actor} decided on “${formatCommand(command)}”: ${decision.decision}`,
      body: <p>{decision.reason}</p>,
    })),
  ])

const buildEventEntries = (events: readonly Event[]): readonly TimelineEntry[] =>
  events.map((event) => ({
    key: `event ${event.source} ${event.id}`,
    at: event.receivedAt,
    kind: 'Event',
    title: (
      <>
        {event.type}{' '}
        <a href={eventAddress(event)}>
          <span class="whole">{event.id}</span> from {event.source}
        </a>{' '}
        <EventState state={event.state} />
      </>
    ),
    ...(event.problem === null && event.waitsFor === null ? {} : { body: <EventProblem event={event} /> }),
  }))

/** When it was ordered, and the parcels that the marketplace shows. */
const buildStepEntries = (order: Order): readonly TimelineEntry[] => [
  ...(order.orderDate === null ? [] : [{ key: 'ordered', at: order.orderDate, kind: 'Step', title: 'Ordered' }]),
  ...order.lines.flatMap(({ lineNumber, sku, shipments }) =>
    shipments.map(({ shippedAt, quantity, carrier, trackingNumber }) => ({
      key: `parcel ${lineNumber} ${carrier} ${trackingNumber} ${shippedAt}`,
      at: shippedAt ?? order.changedAt,
      kind: 'Step',
      title: (
        <>
          Shipped {quantity} × {sku ?? `line ${lineNumber}`} by {carrier ?? 'an unknown carrier'}
          {trackingNumber !== null && (
            <>
              , <span class="whole">{trackingNumber}</span>
            </>
          )}
        </>
      ),
    })),
  ),
]

/** Events as they were at a time. */
const listPastEvents = (events: readonly Event[], at: string): readonly Event[] => {
  const time = Date.parse(at)
  return events
    .filter(({ receivedAt }) => Date.parse(receivedAt) <= time)
    .map((event) =>
      event.processedAt !== null && Date.parse(event.processedAt) <= time
        ? event
        : { ...event, state: 'received', problem: null, waitsFor: null },
    )
}

const kinds = ['Step', 'Event', 'Command', 'Decision', 'Version', 'Change'] as const

/** Kinds that programs write, hidden until somebody asks for them. */
const recordKinds: readonly string[] = ['Version', 'Change']

const Timeline = ({ order, events }: { readonly order: Order; readonly events: readonly Event[] }) => {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set(recordKinds))
  const entries = [
    ...buildStepEntries(order),
    ...buildEventEntries(events.toReversed()),
    ...buildCommandEntries(order, order.at !== undefined),
    ...buildVersionEntries(order),
    ...buildChangeEntries(order),
  ]
    .filter(({ kind }) => !hidden.has(kind))
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
    // Also what has the same time, as an event and its commands, is shown newest first.
    .reverse()
  const toggle = (kind: string): void => {
    const next = new Set(hidden)
    if (!next.delete(kind)) next.add(kind)
    setHidden(next)
  }
  return (
    <>
      <fieldset class="row">
        <legend class="visually-hidden">Kinds of entries</legend>
        {kinds.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={!hidden.has(kind)} onChange={() => toggle(kind)} /> {kind}s
          </label>
        ))}
      </fieldset>
      <ol class="timeline">
        {entries.map(({ key, at, kind, title, body }) => (
          <li key={key} class={`moment ${kind.toLowerCase()}`}>
            <p>
              <Time at={at} /> <span class="badge plain">{kind}</span> {title}
            </p>
            {body}
          </li>
        ))}
      </ol>
    </>
  )
}

const Buyer = ({ order }: { readonly order: Order }) => {
  const [shown, setShown] = useState<Buyer | null>(null)
  const buyer = shown ?? order
  const { busy, runAction } = useAction()
  const reveal = (): void =>
    runAction(async () => {
      const { purchaseOrderId, sellerId } = order
      setShown(
        await readAnswer(
          api.POST('/v1/orders/{purchaseOrderId}/reveal', { params: { path: { purchaseOrderId } }, body: { sellerId } }),
        ),
      )
    })
  return (
    <section class="card" aria-label="Buyer">
      <h2>Buyer</h2>
      <dl class="facts">
        <dt>Name</dt>
        <dd>{buyer.customerName ?? <None />}</dd>
        <dt>Email</dt>
        <dd>{buyer.customerEmail ?? <None />}</dd>
        <dt>Phone</dt>
        <dd>{buyer.customerPhone ?? <None />}</dd>
        <dt>Address</dt>
        <dd>
          {buyer.shippingAddress === null ? (
            <None />
          ) : (
            Object.values(buyer.shippingAddress)
              .filter((part) => typeof part === 'string' && part !== '')
              .join(', ')
          )}
        </dd>
      </dl>
      {shown === null && order.at === undefined && (
        <p class="row">
          <button type="button" disabled={busy} onClick={reveal}>
            Show the buyer's data
          </button>
          <span class="faint">The audit records this request.</span>
        </p>
      )}
    </section>
  )
}

const countReserved = ({ ledger }: Order['lines'][number]): number => {
  if (ledger === null) return 0
  const { reserved, inFlight } = ledger
  return reserved.ship + reserved.cancel + (inFlight !== null && inFlight.kind !== 'refund' ? inFlight.quantity : 0)
}

type Payout = NonNullable<Order['payouts']>[number]

const payoutParts = [
  ['paid', 'Paid for the units'],
  ['netTax', 'Taxes, less those withheld'],
  ['commission', 'Commission'],
  ['fees', 'Fees'],
  ['refunds', 'Refunds'],
  ['other', 'Other'],
] as const satisfies readonly (readonly [keyof Payout, string])[]

/** What the order earned by the settlement reports so far. */
const Earnings = ({ payouts }: { readonly payouts: readonly Payout[] }) => (
  <section aria-label="Earned">
    <h2>Earned</h2>
    <div class="card">
      {payouts.every(({ lastPostedOn }) => lastPostedOn === null) && (
        <p class="faint">No settlement report that was read names the order.</p>
      )}
      {payouts.map(({ currency, payout, openAmount, lastPostedOn, ...parts }) => (
        <dl key={currency} class="facts">
          {lastPostedOn !== null && (
            <>
              {payoutParts.map(
                ([part, label]) =>
                  Number(parts[part]) !== 0 && (
                    <Fragment key={part}>
                      <dt>{label}</dt>
                      <dd>
                        <Money amount={parts[part]} currency={currency} />
                      </dd>
                    </Fragment>
                  ),
              )}
              <dt>Payout, as of {lastPostedOn}</dt>
              <dd>
                <strong>
                  <Money amount={payout} currency={currency} />
                </strong>
              </dd>
            </>
          )}
          {Number(openAmount) !== 0 && (
            <>
              <dt>Not paid yet, before commission</dt>
              <dd>
                <Money amount={openAmount} currency={currency} />
              </dd>
            </>
          )}
        </dl>
      ))}
    </div>
  </section>
)

/** A deadline: the time that is left, or the time itself for an order of the past. */
const Deadline = ({ order, to }: { readonly order: Order; readonly to: string | null }) =>
  order.at === undefined ? <Countdown to={to} sellerId={order.sellerId} /> : <Time at={to} />

const OrderDetails = ({ order, events }: { readonly order: Order; readonly events: readonly Event[] }) => (
  <>
    <div class="grid">
      <section class="card" aria-label="Facts">
        <h2>
          <OrderState order={order} />
        </h2>
        <dl class="facts">
          <dt>Customer order</dt>
          <dd>
            {order.customerOrderId === null ? (
              <None />
            ) : (
              <a href={`/console/orders?q=${encodeURIComponent(order.customerOrderId)}`}>{order.customerOrderId}</a>
            )}
          </dd>
          <dt>Seller</dt>
          <dd>
            <span class="whole">{order.sellerId}</span>
          </dd>
          <dt>Ordered</dt>
          <dd>
            <Time at={order.orderDate} />
          </dd>
          <dt>Changed</dt>
          <dd>{order.at === undefined ? <Ago at={order.changedAt} /> : <Time at={order.changedAt} />}</dd>
          <dt>Acknowledge</dt>
          <dd>{order.acknowledgeBy === null ? 'done' : <Deadline order={order} to={order.acknowledgeBy} />}</dd>
          <dt>Ship</dt>
          <dd>
            <Time at={order.estimatedShipDate} />
            {order.at === undefined && order.open && order.estimatedShipDate !== null && (
              <>
                {' '}
                (<Countdown to={order.estimatedShipDate} sellerId={order.sellerId} />)
              </>
            )}
          </dd>
          <dt>Automatic cancellation</dt>
          <dd>
            <Deadline order={order} to={order.autoCancelAt} />
          </dd>
          <dt>Total</dt>
          <dd>
            <Money amount={order.totalAmount} currency={order.currency} />
          </dd>
        </dl>
      </section>
      <Buyer order={order} />
    </div>
    <h2>Lines</h2>
    {order.lines.map((line) => (
      <section key={line.lineNumber} class="card" aria-label={`Line ${line.lineNumber}`}>
        <p>
          <strong class="whole">
            {line.ordered} × {line.sku ?? 'unknown SKU'}
          </strong>{' '}
          {line.productName} <span class="faint">line {line.lineNumber}</span>
          {line.intentToCancel && <span class="badge warn">the buyer asks to cancel</span>}
        </p>
        <UnitsBar line={line} reserved={countReserved(line)} />
        <ul class="plain">
          {line.shipments.map(({ trackingNumber, carrier, quantity, shownQuantity, shippedAt }) => (
            <li key={`${carrier} ${trackingNumber} ${shippedAt}`}>
              {quantity} by {carrier ?? 'an unknown carrier'},{' '}
              {trackingNumber === null ? 'no tracking number' : 'tracking number '}
              {trackingNumber !== null && <span class="whole">{trackingNumber}</span>}, <Time at={shippedAt} />
              {shownQuantity < quantity && (
                <span class="faint">; {describeMissing(line, { quantity, shownQuantity }, order.at !== undefined)}</span>
              )}
            </li>
          ))}
        </ul>
      </section>
    ))}
    {order.payouts?.some(({ state }) => state !== 'nothing-due') === true && <Earnings payouts={order.payouts} />}
    <h2>Timeline</h2>
    <Timeline order={order} events={events} />
  </>
)

/** The order as it was known at a time. The previous time stays until the next one is loaded, so that the page does not jump under the slider. */
const PastOrder = ({
  order,
  events,
  address,
  at,
}: {
  readonly order: Order
  readonly events: readonly Event[]
  readonly address: Address
  readonly at: string
}) => {
  const { sellerId, purchaseOrderId, history } = order
  const past = useQuery(`order ${sellerId} ${purchaseOrderId} at ${at}`, () =>
    readAnswer(
      api.GET('/v1/orders/{purchaseOrderId}', {
        params: { path: { purchaseOrderId }, query: { sellerId, masked: 'true', at } },
      }),
    ),
  )
  const previous = useRef<Order | null>(null)
  if (past.data !== undefined) previous.current = past.data
  const { data = past.loading ? (previous.current ?? undefined) : undefined, error } = past
  if (data !== undefined)
    return (
      <div aria-busy={past.loading}>
        <OrderDetails order={data} events={listPastEvents(events, data.at ?? at)} />
      </div>
    )
  const oldest = history.versions[0]?.firstSeenAt
  if (error instanceof Refused && error.status === 404 && oldest !== undefined)
    return (
      <Empty>
        {error.message} <a href={withParameters(address, { at: oldest })}>Show the oldest version that is listed</a>
      </Empty>
    )
  return <Loaded query={past}>{() => null}</Loaded>
}

/** One order with its timeline, now or at the time in the address. */
export const OrderView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const { sellerId = '', purchaseOrderId = '' } = parts
  const address = useAddress()
  const at = readPastTime(address)
  const order = useQuery(
    `order ${sellerId} ${purchaseOrderId}`,
    () =>
      readAnswer(
        api.GET('/v1/orders/{purchaseOrderId}', { params: { path: { purchaseOrderId }, query: { sellerId, masked: 'true' } } }),
      ),
    { topics: ['order', 'command'] },
  )
  const events = useQuery(
    `events of ${sellerId} ${purchaseOrderId}`,
    () => readAnswer(api.GET('/v1/events', { params: { query: { purchaseOrderId, sellerId, limit: 200 } } })),
    { topics: ['event', 'command'] },
  )
  const known = events.data?.items ?? []
  return (
    <Loaded query={order} heading={`Order ${purchaseOrderId}`}>
      {(data) => (
        <>
          <h1 tabIndex={-1}>Order {data.purchaseOrderId}</h1>
          {at !== null && <PastNotice address={address} at={at} />}
          <VersionSlider address={address} versions={data.history.versions} />
          {at === null ? (
            <OrderDetails order={data} events={known} />
          ) : (
            <PastOrder order={data} events={known} address={address} at={at} />
          )}
        </>
      )}
    </Loaded>
  )
}
