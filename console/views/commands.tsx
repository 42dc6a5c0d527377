import { useMemo } from 'preact/hooks'
import { api, readAnswer } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { listFilters, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { CommandState, commandAddress, explainCommand, formatCommand } from '../parts/commands.tsx'
import { buildOptions, ChoiceFilter, Filters, PeriodFilter, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'

const states = ['pending', 'sending', 'verifying', 'held', 'confirmed', 'rejected', 'predicted', 'withdrawn'] as const
const kinds = [
  'acknowledge',
  'ship',
  'cancel',
  'refund',
  'refund-return',
  'correct-shipment',
  'create-shipping-settings',
] as const
const texts = [
  'q',
  'purchaseOrderId',
  'sku',
  'trackingNumber',
  'sellerId',
  'eventId',
  'createdFrom',
  'createdTo',
  'settledFrom',
  'settledTo',
] as const

const dayMs = 86_400_000

/** Commands with their states. */
export const Commands = () => {
  const address = useAddress()
  const settled = address.parameters.get('settled')
  const settledFrom = useMemo(() => (settled === 'day' ? new Date(Date.now() - dayMs).toISOString() : null), [settled])
  const query = {
    ...readParameters(address, texts),
    ...readChoices(address, { state: states, kind: kinds }),
    ...(settledFrom === null ? {} : { settledFrom }),
  }
  const commands = usePage(
    'commands',
    address,
    query,
    (page) => readAnswer(api.GET('/v1/commands', { params: { query: page } })),
    {
      topics: ['command'],
    },
  )
  return (
    <>
      <h1 tabIndex={-1}>Commands</h1>
      <p class="faint">
        Requests of the ERP to the marketplace, newest first. A held command waits for a decision; a rejected one was not applied.
      </p>
      <Filters at={address}>
        <ChoiceFilter at={address} name="state" label="State" options={buildOptions(states)} />
        <ChoiceFilter at={address} name="kind" label="Kind" options={buildOptions(kinds)} />
        <TextFilter at={address} name="q" label="Search" placeholder="Order, SKU, tracking number" />
        <TextFilter at={address} name="purchaseOrderId" label="Order" />
        <TextFilter at={address} name="sku" label="SKU" />
        <TextFilter at={address} name="trackingNumber" label="Tracking number" />
        <SellerFilter at={address} />
        <ChoiceFilter
          at={address}
          name="settled"
          label="Settled"
          options={[
            ['', 'At any time'],
            ['day', 'In the last 24 hours'],
          ]}
        />
        <PeriodFilter at={address} name="created" label="Accepted" />
      </Filters>
      <List
        caption="Commands"
        query={commands}
        at={address}
        buildKey={({ id }) => id}
        empty={
          query.state === 'held' && listFilters(address).length === 1
            ? 'No command is held: nothing waits for a decision.'
            : listFilters(address).length === 0
              ? 'There is no command yet: the ERP has sent no event.'
              : 'No command matches the filters. Fields other than Search compare ids, SKUs and tracking numbers as a whole.'
        }
        csv={{ path: `/v1/commands?${new URLSearchParams(query)}`, name: 'commands' }}
        columns={[
          { head: 'Command', wraps: true, cell: (command) => <a href={commandAddress(command.id)}>{formatCommand(command)}</a> },
          { head: 'State', cell: (command) => <CommandState state={command.state} /> },
          {
            head: 'Order',
            cell: ({ sellerId, purchaseOrderId }) =>
              purchaseOrderId === null ? (
                'shipping settings'
              ) : (
                <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />
              ),
          },
          sellerColumn,
          { head: 'Why', wraps: true, cell: (command) => explainCommand(command).join(' ') },
          { head: 'Accepted', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { head: 'Settled', cell: ({ settledAt }) => <Time at={settledAt} /> },
        ]}
      />
    </>
  )
}
