import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, formatDuration, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { type Address, listFilters, readChoices, readParameters, useAddress, withParameters } from '../lib/router.ts'
import { useShadowed } from '../lib/shared-queries.ts'
import { commandAddress } from '../parts/commands.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../parts/filters.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { ModeAction } from '../parts/shadow.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { type Column, List, Rows, sellerColumn } from '../parts/table.tsx'
import { Badge, Time, type Tone } from '../parts/text.tsx'

type Order = Schemas['ShadowOrder']
type Verdict = Order['verdict']
type Command = Order['commands'][number]
type Difference = Command['differences'][number]
type ListedSeller = Schemas['ListedSeller']

const verdicts = ['difference', 'missing', 'unpredicted', 'pending', 'agreement'] as const satisfies readonly Verdict[]
const kinds = [
  'acknowledge',
  'ship',
  'cancel',
  'refund',
  'refund-return',
  'correct-shipment',
] as const satisfies readonly Command['kind'][]
const differenceKinds = [
  'units',
  'twice',
  'cancelled',
  'shipped',
  'tracking',
  'carrier',
  'money',
] as const satisfies readonly Difference['kind'][]

const verdictTexts: Readonly<Record<Verdict, readonly [text: string, tone: Tone]>> = {
  difference: ['differs', 'bad'],
  missing: ['missing', 'bad'],
  unpredicted: ['without an event', 'bad'],
  pending: ['pending', 'warn'],
  agreement: ['agrees', 'good'],
}
const kindTexts: Readonly<Record<Command['kind'], string>> = {
  acknowledge: 'Acknowledge',
  ship: 'Ship',
  cancel: 'Cancel',
  refund: 'Refund',
  'refund-return': 'Refund through a return',
  'correct-shipment': 'Correct a tracking number',
  'create-shipping-settings': 'Create shipping settings',
}
const differenceTexts: Readonly<Record<Difference['kind'], string>> = {
  units: 'another number of units',
  twice: 'at least twice the units',
  cancelled: 'cancelled instead',
  shipped: 'shipped instead',
  tracking: 'another tracking number',
  carrier: 'another carrier',
  money: 'another amount',
}
const doneTexts = { ship: 'shipped', cancel: 'cancelled', refund: 'refunded' } as const

/** Maximum number of sellers whose orders are counted at once. */
const maxCountedSellers = 10
/** Interval at which the orders are compared and counted again, in milliseconds. */
const countEveryMs = 300_000
const listEveryMs = 60_000

const VerdictBadge = ({ verdict }: { readonly verdict: Verdict }) => {
  const [text, tone] = verdictTexts[verdict]
  return <Badge tone={tone}>{text}</Badge>
}

/** The number of orders of a seller by verdict; each leads to its orders. */
const Counts = ({ sellerId, at }: { readonly sellerId: string; readonly at: Address }) => {
  const counts = useQuery(
    `shadow counts ${sellerId}`,
    () => readAnswer(api.GET('/v1/shadow/counts', { params: { query: { sellerId } } })),
    { everyMs: countEveryMs },
  )
  return (
    <Loaded query={counts}>
      {(data) => {
        const shown = verdicts.filter((verdict) => data[verdict] > 0)
        if (shown.length === 0) return <span class="faint">none to compare yet</span>
        return (
          <>
            <ul class="plain">
              {shown.map((verdict) => (
                <li key={verdict}>
                  <a href={withParameters({ ...at, parameters: new URLSearchParams() }, { sellerId, verdict })}>
                    {pluralize(data[verdict], 'order')}
                  </a>{' '}
                  <VerdictBadge verdict={verdict} />
                </li>
              ))}
            </ul>
            {!data.complete && <p class="faint">The first orders are counted.</p>}
          </>
        )
      }}
    </Loaded>
  )
}

const formatLater = (seconds: number): string =>
  seconds === 0 ? 'at the same time' : `${formatDuration(seconds * 1_000)} ${seconds < 0 ? 'earlier' : 'later'}`

const formatUnits = ({ lineNumber, quantity, shown, amount }: Command['units'][number]): string =>
  `line ${lineNumber}: ${shown} of ${pluralize(quantity, 'unit')}${amount === null ? '' : `, ${amount} to refund`}`

const ComparedCommand = ({ command }: { readonly command: Command }) => {
  const { commandId, kind, verdict, predictedAt, laterSeconds, units, differences } = command
  return (
    <li>
      <a href={commandAddress(commandId)}>{kindTexts[kind]}</a> <VerdictBadge verdict={verdict} /> predicted{' '}
      <Time at={predictedAt} />
      {laterSeconds !== null && `, the other system ${formatLater(laterSeconds)}`}
      {units.length > 0 && <div class="faint">shown of {units.map(formatUnits).join('; ')}</div>}
      {differences.map(({ kind: what, lineNumber, predicted, shown }) => (
        <div key={JSON.stringify([what, lineNumber, predicted, shown])}>
          line {lineNumber}, {differenceTexts[what]}: predicted <span class="whole">{predicted}</span>, shown{' '}
          <span class="whole">{shown}</span>
        </div>
      ))}
    </li>
  )
}

const Compared = ({ commands, unpredicted }: Order) => (
  <ul class="plain">
    {commands.map((command) => (
      <ComparedCommand key={command.commandId} command={command} />
    ))}
    {unpredicted.map(({ lineNumber, kind, quantity }) => (
      <li key={JSON.stringify([lineNumber, kind])}>
        <VerdictBadge verdict="unpredicted" /> line {lineNumber}: {pluralize(quantity, 'unit')} {doneTexts[kind]}
      </li>
    ))}
  </ul>
)

const columns: readonly Column<Order>[] = [
  { head: 'Order', cell: ({ sellerId, purchaseOrderId }) => <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} /> },
  { head: 'State', cell: ({ verdict }) => <VerdictBadge verdict={verdict} /> },
  { head: 'Predicted, and what the order shows', wraps: true, cell: Compared },
  { head: 'Read', cell: ({ observedAt }) => <Time at={observedAt} /> },
  sellerColumn,
]

const buildChoices = <Value extends string>(values: readonly Value[], texts: (value: Value) => string) =>
  [['', 'All'], ...values.map((value) => [value, texts(value)] as const)] as const

/** The sellers in shadow mode with the number of their orders by verdict, and the act of going live. */
const ShadowedSellers = ({
  sellers,
  at,
  done,
}: {
  readonly sellers: readonly ListedSeller[]
  readonly at: Address
  readonly done: () => void
}) => {
  const may = useMay()
  const shown = sellers.slice(0, maxCountedSellers)
  return (
    <>
      <Rows
        caption="Sellers in shadow mode"
        rows={shown}
        buildKey={({ sellerId }) => sellerId}
        columns={[
          { head: 'Seller', cell: ({ sellerId }) => <strong>{sellerId}</strong> },
          { head: 'Since', cell: ({ modeSince }) => <Time at={modeSince} /> },
          { head: 'Orders', wraps: true, cell: ({ sellerId }) => <Counts sellerId={sellerId} at={at} /> },
          ...(may('operate')
            ? [
                {
                  head: 'Action',
                  wraps: true,
                  cell: (seller: ListedSeller) => <ModeAction seller={seller} done={done} />,
                },
              ]
            : []),
        ]}
      />
      {sellers.length > shown.length && (
        <p class="faint">
          {count(shown.length)} of {pluralize(sellers.length, 'seller')} are shown. Choose a seller to see another one.
        </p>
      )}
    </>
  )
}

const describeEmpty = (at: Address, more: boolean): string => {
  if (more) return 'None of the orders that were compared matches the filters. The next page compares others.'
  return listFilters(at).length === 0
    ? 'There is no order to compare yet: no command was predicted, and no order was processed since shadow mode began.'
    : 'No order matches the filters.'
}

/** What was predicted for the sellers in shadow mode, beside what the other system did. */
export const Shadow = () => {
  const at = useAddress()
  const query = {
    ...readParameters(at, ['sellerId', 'purchaseOrderId']),
    ...readChoices(at, { verdict: verdicts, kind: kinds, difference: differenceKinds }),
  }
  const shadowed = useShadowed()
  const orders = usePage('shadow', at, query, (page) => readAnswer(api.GET('/v1/shadow', { params: { query: page } })), {
    topics: ['seller'],
    everyMs: listEveryMs,
  })
  return (
    <>
      <h1 tabIndex={-1}>Shadow</h1>
      <p class="faint">
        What was predicted, beside what the other system did. Nothing of these sellers is written to the marketplace. An order is
        missing if it shows nothing of a prediction after 24 hours.
      </p>
      <Loaded query={shadowed}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              No seller is in shadow mode. The setting MODE begins it, or the action on the page{' '}
              <a href="/console/sellers">Sellers</a>.
            </Empty>
          ) : (
            <>
              <Filters at={at}>
                <ChoiceFilter
                  at={at}
                  name="sellerId"
                  label="Seller"
                  options={buildChoices(
                    items.map(({ sellerId }) => sellerId),
                    (sellerId) => sellerId,
                  )}
                />
                <ChoiceFilter
                  at={at}
                  name="verdict"
                  label="State"
                  options={buildChoices(verdicts, (one) => verdictTexts[one][0])}
                />
                <ChoiceFilter at={at} name="kind" label="Command" options={buildChoices(kinds, (kind) => kindTexts[kind])} />
                <ChoiceFilter
                  at={at}
                  name="difference"
                  label="Difference"
                  options={buildChoices(differenceKinds, (kind) => differenceTexts[kind])}
                />
                <TextFilter at={at} name="purchaseOrderId" label="Order" />
              </Filters>
              <ShadowedSellers
                sellers={items.filter(({ sellerId }) => query.sellerId === undefined || query.sellerId === sellerId)}
                at={at}
                done={shadowed.reload}
              />
              <h2>Orders</h2>
              <List
                caption="Compared orders"
                query={orders}
                at={at}
                buildKey={({ sellerId, purchaseOrderId }) => JSON.stringify([sellerId, purchaseOrderId])}
                empty={describeEmpty(at, (orders.data?.nextCursor ?? null) !== null)}
                csv={{ path: `/v1/shadow?${new URLSearchParams(query)}`, name: 'shadow' }}
                columns={columns}
              />
            </>
          )
        }
      </Loaded>
    </>
  )
}
