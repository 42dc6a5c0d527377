import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { listFilters, readParameters, useAddress } from '../lib/router.ts'
import { useOverview } from '../lib/shared-queries.ts'
import { EventProblem, EventState, eventAddress, RejectEvent } from '../parts/events.tsx'
import { ChoiceFilter, Filters, PeriodFilter, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { None, Time } from '../parts/text.tsx'

const kinds = {
  '': { query: { state: 'received' }, empty: 'No event waits: all received events are decided.' },
  rejected: { query: { state: 'rejected' }, empty: 'No event is rejected.' },
  accepted: { query: { state: 'accepted' }, empty: 'No event matches.' },
  all: { query: {}, empty: 'No event matches.' },
} as const

const isKind = (text: string): text is keyof typeof kinds => Object.hasOwn(kinds, text)

/** Events of the ERP; by default those that wait. */
export const Events = () => {
  const may = useMay()
  const address = useAddress()
  const chosen = address.parameters.get('state') ?? ''
  const kind = kinds[isKind(chosen) ? chosen : '']
  const query = {
    ...kind.query,
    ...readParameters(address, ['type', 'sellerId', 'purchaseOrderId', 'source', 'id', 'receivedFrom', 'receivedTo']),
  }
  const events = usePage('events', address, query, (page) => readAnswer(api.GET('/v1/events', { params: { query: page } })), {
    topics: ['event', 'command'],
    everyMs: 15_000,
  })
  const overview = useOverview()
  return (
    <>
      <h1 tabIndex={-1}>Events</h1>
      <p class="faint">
        Events of the ERP, newest first. A waiting event is decided automatically when its cause of waiting ends. A rejected event
        created no command: correct it in the ERP and send it with a new id.
      </p>
      {overview.data !== undefined && (
        <ul class="tiles">
          <li class={`tile ${overview.data.waitingEvents > 0 ? 'warn' : ''}`}>
            <a href="/console/events">
              <strong>{count(overview.data.waitingEvents)}</strong> <span>waiting</span>
            </a>
          </li>
          <li class={`tile ${overview.data.needsPerson.eventsRejected > 0 ? 'bad' : ''}`}>
            <a href="/console/events?state=rejected">
              <strong>{count(overview.data.needsPerson.eventsRejected)}</strong> <span>rejected, alarm open</span>
            </a>
          </li>
        </ul>
      )}
      <Filters at={address}>
        <ChoiceFilter
          at={address}
          name="state"
          label="State"
          options={[
            ['', 'waiting'],
            ['rejected', 'rejected'],
            ['accepted', 'accepted'],
            ['all', 'All'],
          ]}
        />
        <TextFilter at={address} name="type" label="Type" />
        <TextFilter at={address} name="purchaseOrderId" label="Order" />
        <SellerFilter at={address} />
        <TextFilter at={address} name="source" label="Source" />
        <TextFilter at={address} name="id" label="Id" />
        <PeriodFilter at={address} name="received" label="Received" />
      </Filters>
      <List
        caption="Events"
        query={events}
        at={address}
        buildKey={({ sequence }) => sequence}
        empty={listFilters(address).some((name) => name !== 'state') ? 'No event matches the filters.' : kind.empty}
        csv={{ path: `/v1/events?${new URLSearchParams(query)}`, name: 'events' }}
        columns={[
          {
            head: 'Event',
            wraps: true,
            cell: (event) => (
              <>
                {event.type}
                <br />
                <a href={eventAddress(event)}>
                  <span class="whole">{event.id}</span>
                </a>
              </>
            ),
          },
          { head: 'State', cell: ({ state }) => <EventState state={state} /> },
          { head: 'Problem', wraps: true, cell: (event) => <EventProblem event={event} /> },
          {
            head: 'Order',
            cell: ({ sellerId, purchaseOrderId }) =>
              purchaseOrderId === null ? (
                <None />
              ) : sellerId === null ? (
                purchaseOrderId
              ) : (
                <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />
              ),
          },
          sellerColumn,
          { head: 'Source', cell: ({ source }) => source },
          { head: 'Received', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
          ...(may('operate')
            ? [
                {
                  head: 'Action',
                  cell: (event: Schemas['ListedEvent']) =>
                    event.state === 'received' ? <RejectEvent event={event} done={events.reload} /> : <None />,
                },
              ]
            : []),
        ]}
      />
    </>
  )
}
