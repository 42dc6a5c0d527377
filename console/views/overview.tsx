import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, formatDuration, formatRate, pluralize } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { useAddress } from '../lib/router.ts'
import { useOverview } from '../lib/shared-queries.ts'
import { Columns, PartsBar } from '../parts/charts.tsx'
import { Demonstration } from '../parts/demonstration.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { syncAddress } from '../parts/syncs.tsx'
import { Rows } from '../parts/table.tsx'
import { Badge, Countdown, None, Time } from '../parts/text.tsx'
import { Trends } from '../parts/trends.tsx'

/** Number of days whose orders are counted by state. */
const days = 7
/** Operations that are shown without expanding. */
const maxOperations = 10
/** Rate limits of an operation that are shown. */
const maxLimits = 20

/** A number of things, and the address of their list. */
interface Figure {
  readonly label: string
  readonly value: number
  readonly to: string
  /** How urgent it is that somebody looks. */
  readonly tone?: 'bad' | 'warn'
}

/** The figures that are not zero; with none of them the text. */
const Tiles = ({
  title,
  figures,
  none,
}: {
  readonly title: string
  readonly figures: readonly Figure[]
  readonly none?: string
}) => {
  const shown = figures.filter(({ value }) => value > 0)
  if (shown.length === 0 && none === undefined) return null
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {shown.length === 0 ? (
        <p class="notice good">{none}</p>
      ) : (
        <ul class="tiles">
          {shown.map(({ label, value, to, tone = '' }) => (
            <li key={label} class={`tile ${tone}`}>
              <a href={to}>
                <strong>{count(value)}</strong> <span>{label}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

type Counts = Schemas['Overview']

/** What somebody should look at, the most urgent first. */
const listExceptions = ({ orders, returns, commands, needsPerson, quarantined, discrepancies }: Counts): readonly Figure[] => [
  { label: 'late to ship', value: orders.late, to: '/console/today?due=late', tone: 'bad' },
  { label: 'late to acknowledge', value: orders.acknowledgeOverdue, to: '/console/today?due=overdue', tone: 'bad' },
  {
    label: 'cancelled by the marketplace within 24 hours',
    value: orders.autoCancelSoon,
    to: '/console/today?due=cancel',
    tone: 'bad',
  },
  { label: 'returns late to refund', value: returns.late, to: '/console/today?due=returns&state=late', tone: 'bad' },
  {
    label: 'commands held: a person must decide',
    value: commands['held'] ?? 0,
    to: '/console/commands?state=held',
    tone: 'bad',
  },
  { label: 'events rejected', value: needsPerson.eventsRejected, to: '/console/alarms?kind=event-rejected', tone: 'bad' },
  { label: 'sellers stopped', value: needsPerson.sellersStopped, to: '/console/sellers?state=stopped', tone: 'bad' },
  {
    label: 'to acknowledge within an hour',
    value: orders.acknowledgeSoon,
    to: '/console/today?due=acknowledge-soon',
    tone: 'warn',
  },
  { label: 'to ship within 24 hours', value: orders.shipSoon, to: '/console/today?due=soon', tone: 'warn' },
  {
    label: 'returns to refund within 12 hours',
    value: returns.refundSoon,
    to: '/console/today?due=returns&state=soon',
    tone: 'warn',
  },
  {
    label: 'commands rejected in 24 hours',
    value: commands['rejected'] ?? 0,
    to: '/console/commands?state=rejected&settled=day',
    tone: 'warn',
  },
  { label: 'in quarantine', value: quarantined, to: '/console/quarantine?state=open', tone: 'warn' },
  { label: 'inventory differences', value: discrepancies, to: '/console/inventory', tone: 'warn' },
]

/** Commands and events that are in progress, and those that are done. */
const listWork = ({ commands, waitingEvents }: Counts): readonly Figure[] => [
  { label: 'commands pending', value: commands['pending'] ?? 0, to: '/console/commands?state=pending' },
  { label: 'being sent', value: commands['sending'] ?? 0, to: '/console/commands?state=sending' },
  { label: 'being verified', value: commands['verifying'] ?? 0, to: '/console/commands?state=verifying' },
  { label: 'confirmed in 24 hours', value: commands['confirmed'] ?? 0, to: '/console/commands?state=confirmed&settled=day' },
  { label: 'events that wait', value: waitingEvents, to: '/console/events' },
]

/** The open orders, and what they wait for: the parts add up to the whole. */
const OpenOrders = ({ orders: { open, toAcknowledge, toShip } }: Counts) => {
  if (open === 0)
    return (
      <p class="notice">
        No order is open. Orders appear here as soon as the marketplace reports them; the first import may take a while: see{' '}
        <a href="/console/syncs">the syncs</a>.
      </p>
    )
  const others = Math.max(0, open - toAcknowledge - toShip)
  const parts = [
    { label: 'to acknowledge', value: toAcknowledge, tone: 'd', to: '/console/today?due=acknowledge' },
    { label: 'to ship', value: toShip, tone: 'a', to: '/console/today?due=ship' },
    { label: 'not yours to ship', value: others, tone: 'f', to: '/console/orders?open=true&fulfilledBySeller=false' },
  ]
  return (
    <section class="card" aria-label="Open orders">
      <h2>
        <a href="/console/orders?open=true">{pluralize(open, 'open order')}</a>
      </h2>
      <PartsBar label="Open orders" whole={open} parts={parts} />
    </section>
  )
}

/** Whether the orders are current, in one line. */
const Verdict = ({ alarms }: { readonly alarms: number }) => {
  const lags = useQuery('lags', () => readAnswer(api.GET('/v1/lags')), { everyMs: 15_000 }).data
  if (lags === undefined) return null
  const orders = lags.items.find(({ resource }) => resource === 'orders')
  const { tone, text } = describeOrders(orders)
  return (
    <p class={`verdict ${alarms > 0 && tone === 'good' ? 'warn' : tone}`}>
      <strong>{text}</strong>{' '}
      {alarms === 0 ? 'Nothing needs a person.' : <a href="/console/alarms">{pluralize(alarms, 'open alarm')}</a>}
    </p>
  )
}

const describeOrders = (
  lag: Schemas['ResourceLag'] | undefined,
): { readonly tone: 'good' | 'warn' | 'bad'; readonly text: string } => {
  if (lag === undefined || (lag.lagMs === null && lag.failing === 0))
    return { tone: 'warn', text: 'Orders have not been read yet.' }
  const age = lag.lagMs === null ? '' : `, ${formatDuration(lag.lagMs)} ago`
  if (lag.failing > 0) return { tone: 'bad', text: `Orders cannot be read: ${pluralize(lag.failing, 'stream')} failing${age}.` }
  return lag.behind > 0 ? { tone: 'warn', text: `Orders behind${age}.` } : { tone: 'good', text: `Orders current${age}.` }
}

const hourMs = 3_600_000

/** A period as parameters of a list; `hours` null: without an end. */
const period = (name: string, from: string, hours: number | null): Readonly<Record<string, string>> => ({
  [`${name}From`]: from,
  ...(hours === null ? {} : { [`${name}To`]: new Date(Date.parse(from) + hours * hourMs).toISOString() }),
})

const listRows = (view: string, parameters: Readonly<Record<string, string>>): string =>
  `/console/${view}?${new URLSearchParams(parameters)}`

/** Orders of the last days by state. */
const OrderStates = () => {
  const states = useQuery('order-states', () => readAnswer(api.GET('/v1/order-states', { params: { query: { days } } })), {
    everyMs: 60_000,
  })
  return (
    <Loaded query={states}>
      {({ from, ordered, open, shipped, cancelled, refunded }) => {
        const to = (more: Readonly<Record<string, string>>): string => listRows('orders', { createdFrom: from, ...more })
        return (
          <Tiles
            title={`Orders of the last ${days} days`}
            figures={[
              { label: 'ordered', value: ordered, to: to({}) },
              { label: 'still open', value: open, to: to({ open: 'true' }) },
              { label: 'shipped', value: shipped, to: to({ outcome: 'shipped' }) },
              { label: 'cancelled', value: cancelled, to: to({ outcome: 'cancelled' }) },
              { label: 'refunded, in part or in full', value: refunded, to: to({ outcome: 'refunded' }) },
            ]}
          />
        )
      }}
    </Loaded>
  )
}

const Throughput = () => {
  const work = useQuery('throughput', () => readAnswer(api.GET('/v1/throughput')), {
    topics: ['order', 'command'],
    everyMs: 60_000,
  })
  return (
    <Loaded query={work}>
      {({ items }) => {
        const steps = items.map(({ from }) =>
          new Date(from).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }),
        )
        const ordered = (step: number, hours: number): string =>
          listRows('orders', period('created', items[step]?.orderedFrom ?? '', hours))
        const settled = (step: number, hours: number, more: Readonly<Record<string, string>> = {}): string =>
          listRows('commands', { ...more, ...period('settled', items[step]?.from ?? '', hours) })
        return (
          <div class="grid">
            <div class="card">
              <Columns
                title="Orders of the last 24 hours"
                steps={steps}
                to={(step) => ordered(step, 1)}
                series={[
                  { label: 'ordered', tone: 'a', values: items.map((hour) => hour.ordered), to: ordered(0, items.length) },
                ]}
              />
            </div>
            <div class="card">
              <Columns
                title="Commands of the last 24 hours"
                steps={steps}
                to={(step) => settled(step, 1)}
                series={(['confirmed', 'rejected'] as const).map((state) => ({
                  label: state,
                  tone: state === 'confirmed' ? 'b' : 'c',
                  values: items.map((hour) => hour[state]),
                  to: settled(0, items.length, { state }),
                }))}
              />
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

const ResourceLag = ({ lag }: { readonly lag: Schemas['ResourceLag'] }) => {
  const { resource, lagMs, furthest, failing, behind, unread } = lag
  const rows = (more: Readonly<Record<string, string>>): string => listRows('syncs', { resource, ...more })
  const tone = failing > 0 ? 'bad' : behind > 0 ? 'warn' : 'good'
  return (
    <li>
      <a class="what" href={rows({})}>
        {resource}
      </a>
      {failing > 0 && <a href={rows({ failing: 'true' })}>{count(failing)} failing</a>}
      {behind > 0 && <a href={rows({ behind: 'true' })}>{count(behind)} behind</a>}
      {unread > 0 && <a href={rows({ unread: 'true' })}>{count(unread)} not read yet</a>}
      {lagMs !== null && furthest !== null && (
        <a href={syncAddress(resource, furthest)}>
          <Badge tone={tone}>{formatDuration(lagMs)}</Badge>
        </a>
      )}
    </li>
  )
}

const Lags = () => {
  const lags = useQuery('lags', () => readAnswer(api.GET('/v1/lags')), { everyMs: 15_000 })
  return (
    <Loaded query={lags}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>No sync has run yet.</Empty>
        ) : (
          <>
            <p class="faint">
              Maximum age of the newest data of each sync, over all sellers. Slower streams, such as a daily reread, count only if
              they fail or are behind. <a href="/console/syncs">All streams</a>.
            </p>
            <ul class="lines" aria-label="Lag of each sync">
              {items.map((lag) => (
                <ResourceLag key={lag.resource} lag={lag} />
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  )
}

const Until = ({ at }: { readonly at: string | null }) =>
  at === null ? null : (
    <span>
      until <Time at={at} /> (<Countdown to={at} />)
    </span>
  )

const buildLimits = (operation: string): string => `/?${new URLSearchParams({ limits: operation })}`

const Limits = ({ items }: { readonly items: readonly Schemas['OperationBudget'][] }) => (
  <ul class="lines">
    {items.map(({ operation, limits, usedUp, least }) => (
      <li key={operation}>
        <a class="what" href={buildLimits(operation)}>
          {operation}
        </a>
        <a href={buildLimits(operation)}>
          {count(Math.floor(least.available))} left of {formatRate(least.perMinute)}
          {limits > 1 && `, ${least.sellerId}`}
        </a>
        {limits > 1 && usedUp > 0 && <Badge tone="warn">{`${count(usedUp)} of ${count(limits)} used up`}</Badge>}
        <Until at={least.blockedUntil} />
      </li>
    ))}
  </ul>
)

/** The rate limits of an operation, by seller. */
const OperationLimits = ({ operation }: { readonly operation: string }) => {
  const query = { operation, limit: maxLimits }
  const budget = useQuery(`budget ${operation}`, () => readAnswer(api.GET('/v1/budget', { params: { query } })), {
    everyMs: 15_000,
  })
  return (
    <section class="card" aria-label={`Rate limits of ${operation}`}>
      <h3>{operation}</h3>
      <Loaded query={budget}>
        {({ items }) => (
          <>
            <Rows
              caption={`Rate limits of ${operation}`}
              rows={items}
              buildKey={({ sellerId, scope }) => `${sellerId}/${scope}`}
              columns={[
                { head: 'Seller', cell: ({ sellerId, scope }) => (scope === null ? sellerId : `${sellerId} ${scope}`) },
                { head: 'Left now', number: true, cell: ({ available }) => count(Math.floor(available)) },
                { head: 'Rate', number: true, cell: ({ perMinute }) => formatRate(perMinute) },
                { head: 'Blocked', cell: ({ blockedUntil }) => (blockedUntil === null ? <None /> : <Until at={blockedUntil} />) },
              ]}
            />
            {items.length === maxLimits && <p class="faint">The {maxLimits} with the fewest remaining requests.</p>}
          </>
        )}
      </Loaded>
      <a href="/">Close</a>
    </section>
  )
}

const Budget = () => {
  const budget = useQuery('budget', () => readAnswer(api.GET('/v1/budget/operations')), { everyMs: 15_000 })
  const operation = useAddress().parameters.get('limits')
  return (
    <>
      {operation !== null && <OperationLimits operation={operation} />}
      <Loaded query={budget}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>There were no recent requests to the marketplace.</Empty>
          ) : (
            <>
              <p class="faint">
                Remaining requests of each operation, for the seller with the fewest. The name links to all sellers.
              </p>
              <Limits items={items.slice(0, maxOperations)} />
              {items.length > maxOperations && (
                <details>
                  <summary>{pluralize(items.length - maxOperations, 'more operation')}</summary>
                  <Limits items={items.slice(maxOperations)} />
                </details>
              )}
            </>
          )
        }
      </Loaded>
    </>
  )
}

/** Whether all is well, what is not, and the main numbers, each with a link to its rows. */
export const Overview = () => {
  const overview = useOverview()
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      <Demonstration />
      <Loaded query={overview}>
        {(data) => (
          <>
            <Verdict alarms={data.alarms} />
            <Tiles title="To look at" figures={listExceptions(data)} none="Nothing is late, held, rejected or in quarantine." />
            <OpenOrders {...data} />
            <Tiles title="Commands and events" figures={listWork(data)} />
          </>
        )}
      </Loaded>
      <OrderStates />
      <h2>Throughput</h2>
      <Throughput />
      <h2>
        <a href="/console/trends">Trends</a>
      </h2>
      <Trends days={30} only={['orders', 'on-time', 'seconds-to-confirm']} />
      <h2>Lag of the syncs</h2>
      <Lags />
      <h2>Rate limits</h2>
      <Budget />
    </>
  )
}
