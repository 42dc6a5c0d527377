import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { useQuery } from '../lib/query.ts'
import { CommandState, commandAddress, formatCommand } from '../parts/commands.tsx'
import { EventProblem, EventState, RejectEvent } from '../parts/events.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { None, Raw, Time } from '../parts/text.tsx'

const EventDetails = ({ event, reload }: { readonly event: Schemas['Event']; readonly reload: () => void }) => (
  <>
    <h1 tabIndex={-1}>Event {event.id}</h1>
    <section class="card" aria-label="Facts">
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <EventState state={event.state} />
        </dd>
        <dt>{event.state === 'received' ? 'Waits for' : 'Problem'}</dt>
        <dd>
          <EventProblem event={event} />
        </dd>
        <dt>Type</dt>
        <dd>{event.type}</dd>
        <dt>Source</dt>
        <dd>{event.source}</dd>
        <dt>Order</dt>
        <dd>
          {event.purchaseOrderId === null ? (
            <None />
          ) : event.sellerId === null ? (
            event.purchaseOrderId
          ) : (
            <OrderLink sellerId={event.sellerId} purchaseOrderId={event.purchaseOrderId} />
          )}
        </dd>
        <dt>Seller</dt>
        <dd>{event.sellerId ?? <None />}</dd>
        <dt>Received</dt>
        <dd>
          <Time at={event.receivedAt} />
        </dd>
        <dt>Decided</dt>
        <dd>
          <Time at={event.processedAt} />
        </dd>
      </dl>
      {event.state === 'rejected' && (
        <p>
          It created no command. Correct it in the ERP, send it with a new id, then{' '}
          <a href="/console/alarms?kind=event-rejected">resolve its alarm</a>.
        </p>
      )}
      {event.state === 'received' && <RejectEvent event={event} done={reload} />}
    </section>
    {event.unreadable === null ? (
      <Raw summary={event.dataRemovedAt === null ? 'Data of the event' : 'Kept data of the event'} value={event.data} />
    ) : (
      <p class="notice warn">{event.unreadable}</p>
    )}
    {event.state !== 'rejected' && (
      <>
        <h2>Commands</h2>
        {event.commands.length === 0 ? (
          <Empty>It created no command.</Empty>
        ) : (
          <ul class="plain">
            {event.commands.map((command) => (
              <li key={command.id}>
                <a href={commandAddress(command.id)}>{formatCommand(command)}</a> <CommandState state={command.state} />
              </li>
            ))}
          </ul>
        )}
      </>
    )}
  </>
)

/** One event: its data, its problem, and its commands. */
export const EventView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const { source = '', id = '' } = parts
  const event = useQuery(
    `event ${source} ${id}`,
    () => readAnswer(api.GET('/v1/events/{source}/{id}', { params: { path: { source, id } } })),
    { topics: ['event', 'command'] },
  )
  return (
    <>
      <p class="back">
        <a href="/console/events">Events</a>
      </p>
      <Loaded query={event} heading={`Event ${id}`}>
        {(data) => <EventDetails event={data} reload={event.reload} />}
      </Loaded>
    </>
  )
}
