import type { ComponentChildren } from 'preact'
import { answered, api, type Schemas } from '../lib/api.ts'
import { count, span } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { useOverview, useSyncs } from '../lib/questions.ts'
import { Columns } from '../parts/charts.tsx'
import { Demonstration } from '../parts/demonstration.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Rows } from '../parts/table.tsx'
import { Badge, Countdown, None, Time } from '../parts/text.tsx'

const Tile = ({
  label,
  value,
  to,
  tone = '',
}: {
  readonly label: string
  readonly value: number
  readonly to: string
  /** Colour when there is any. */
  readonly tone?: string
}) => (
  <li class={`tile ${value > 0 ? tone : ''}`}>
    <a href={to}>
      <strong>{count(value)}</strong> <span>{label}</span>
    </a>
  </li>
)

const Group = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section aria-label={title}>
    <h2>{title}</h2>
    <ul class="tiles">{children}</ul>
  </section>
)

const Figures = ({ overview }: { readonly overview: Schemas['Overview'] }) => {
  const { orders, commands, needsPerson } = overview
  return (
    <>
      <Group title="Deadlines">
        <Tile label="late to ship" value={orders.late} to="/console/today?due=late" tone="bad" />
        <Tile label="late to acknowledge" value={orders.acknowledgeOverdue} to="/console/today?due=overdue" tone="bad" />
        <Tile
          label="to acknowledge within an hour"
          value={orders.acknowledgeSoon}
          to="/console/today?due=acknowledge-soon"
          tone="warn"
        />
        <Tile label="to ship within 24 hours" value={orders.shipSoon} to="/console/today?due=soon" tone="warn" />
        <Tile
          label="cancelled by the marketplace within 24 hours"
          value={orders.autoCancelSoon}
          to="/console/today?due=cancel"
          tone="bad"
        />
      </Group>
      <Group title="Orders">
        <Tile label="open" value={orders.open} to="/console/orders?open=true" />
        <Tile label="to acknowledge" value={orders.toAcknowledge} to="/console/today?due=acknowledge" />
        <Tile label="to ship" value={Math.max(0, orders.open - orders.toAcknowledge)} to="/console/today?due=ship" />
      </Group>
      <Group title="Commands">
        <Tile label="held: a person must decide" value={commands['held'] ?? 0} to="/console/commands?state=held" tone="bad" />
        <Tile
          label="rejected in 24 hours"
          value={commands['rejected'] ?? 0}
          to="/console/commands?state=rejected&settled=day"
          tone="warn"
        />
        <Tile label="pending" value={commands['pending'] ?? 0} to="/console/commands?state=pending" />
        <Tile label="being sent" value={commands['sending'] ?? 0} to="/console/commands?state=sending" />
        <Tile label="being verified" value={commands['verifying'] ?? 0} to="/console/commands?state=verifying" />
        <Tile
          label="confirmed in 24 hours"
          value={commands['confirmed'] ?? 0}
          to="/console/commands?state=confirmed&settled=day"
        />
      </Group>
      <Group title="Needs a person">
        <Tile label="open alarms" value={overview.alarms} to="/console/alarms" tone="warn" />
        <Tile label="events that wait" value={overview.waitingEvents} to="/console/events" />
        <Tile label="events rejected" value={needsPerson.eventsRejected} to="/console/events?state=rejected" tone="bad" />
        <Tile label="sellers stopped" value={needsPerson.sellersStopped} to="/console/sellers" tone="bad" />
        <Tile label="in quarantine" value={overview.quarantined} to="/console/quarantine?state=open" tone="warn" />
        <Tile label="inventory differences" value={overview.discrepancies} to="/console/inventory" tone="warn" />
      </Group>
    </>
  )
}

const Throughput = () => {
  const work = useQuery('throughput', () => answered(api.GET('/v1/throughput')), {
    topics: ['order', 'command'],
    everyMs: 60_000,
  })
  return (
    <Loaded query={work}>
      {({ items }) => {
        const steps = items.map(({ from }) =>
          new Date(from).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }),
        )
        return (
          <div class="grid">
            <div class="card">
              <Columns
                title="Orders of the last 24 hours"
                steps={steps}
                series={[{ label: 'ordered', tone: 'a', values: items.map(({ ordered }) => ordered) }]}
              />
            </div>
            <div class="card">
              <Columns
                title="Commands of the last 24 hours"
                steps={steps}
                series={[
                  { label: 'confirmed', tone: 'b', values: items.map(({ confirmed }) => confirmed) },
                  { label: 'rejected', tone: 'c', values: items.map(({ rejected }) => rejected) },
                ]}
              />
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

const lagTone = ({ lagMs, failures }: Schemas['Sync']) =>
  failures > 0 ? 'bad' : lagMs === null || lagMs > 3_600_000 ? 'warn' : 'good'

const Syncs = () => {
  const syncs = useSyncs()
  return (
    <Loaded query={syncs}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>No sync has run yet.</Empty>
        ) : (
          <Rows
            caption="Lag of each sync"
            rows={items}
            keyOf={({ sellerId, resource, stream }) => `${sellerId}/${resource}/${stream}`}
            columns={[
              {
                head: 'Sync',
                cell: ({ resource, stream }) => (
                  <a href={`/console/syncs?resource=${encodeURIComponent(resource)}`}>
                    {resource} {stream}
                  </a>
                ),
              },
              { head: 'Seller', cell: ({ sellerId }) => sellerId },
              {
                head: 'Lag',
                number: true,
                cell: (sync) => <Badge tone={lagTone(sync)}>{sync.lagMs === null ? 'not read yet' : span(sync.lagMs)}</Badge>,
              },
              {
                head: 'State',
                cell: ({ running, failures, lastError, notEnrolled }) =>
                  notEnrolled !== null ? 'not enrolled' : failures > 0 ? (lastError ?? 'failing') : running ? 'running' : 'idle',
              },
            ]}
          />
        )
      }
    </Loaded>
  )
}

const Budget = () => {
  const budget = useQuery('budget', () => answered(api.GET('/v1/budget')), { everyMs: 15_000 })
  return (
    <Loaded query={budget}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>This process has asked the marketplace nothing lately.</Empty>
        ) : (
          <Rows
            caption="What is left of the rate limits"
            rows={items}
            keyOf={({ sellerId, operation, scope }) => `${sellerId}/${operation}/${scope}`}
            columns={[
              { head: 'Operation', cell: ({ operation, scope }) => (scope === null ? operation : `${operation} ${scope}`) },
              { head: 'Seller', cell: ({ sellerId }) => sellerId },
              { head: 'Left now', number: true, cell: ({ available }) => count(Math.floor(available)) },
              { head: 'A minute', number: true, cell: ({ perMinute }) => count(Math.round(perMinute)) },
              {
                head: 'Blocked',
                cell: ({ blockedUntil }) =>
                  blockedUntil === null ? (
                    <None />
                  ) : (
                    <>
                      until <Time at={blockedUntil} /> (<Countdown to={blockedUntil} />)
                    </>
                  ),
              },
            ]}
          />
        )
      }
    </Loaded>
  )
}

/** What stands out, in numbers that lead to their rows. */
export const Overview = () => {
  const overview = useOverview()
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      <Demonstration />
      <Loaded query={overview}>
        {(data) => (
          <>
            {data.orders.open === 0 && (
              <p class="notice">
                No order is open. Orders appear here as soon as the marketplace reports them; a first reading of the past may take
                a while, as <a href="/console/syncs">the syncs</a> show.
              </p>
            )}
            <Figures overview={data} />
          </>
        )}
      </Loaded>
      <h2>Throughput</h2>
      <Throughput />
      <h2>Lag of the syncs</h2>
      <Syncs />
      <h2>Rate limits</h2>
      <Budget />
    </>
  )
}
