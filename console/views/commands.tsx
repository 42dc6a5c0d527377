import { useMemo } from 'preact/hooks'
import { answered, api } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { chosen, filtersOf, given, useAddress } from '../lib/router.ts'
import { CommandState, commandAddress, doing, sentences } from '../parts/commands.tsx'
import { ChoiceFilter, Filters, optionsOf, PeriodFilter, TextFilter } from '../parts/filters.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { List } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'

const states = ['pending', 'sending', 'verifying', 'held', 'confirmed', 'rejected'] as const
const kinds = ['acknowledge', 'ship', 'cancel', 'refund', 'create-shipping-settings'] as const
const texts = [
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

/** Commands with what has become of them. */
export const Commands = () => {
  const address = useAddress()
  const settled = address.parameters.get('settled')
  const settledFrom = useMemo(() => (settled === 'day' ? new Date(Date.now() - dayMs).toISOString() : null), [settled])
  const query = {
    ...given(address, texts),
    ...chosen(address, { state: states, kind: kinds }),
    ...(settledFrom === null ? {} : { settledFrom }),
  }
  const commands = usePage('commands', address, query, (page) => answered(api.GET('/v1/commands', { params: { query: page } })), {
    topics: ['command'],
  })
  return (
    <>
      <h1 tabIndex={-1}>Commands</h1>
      <p class="faint">
        What the ERP asked for, newest first. A held one waits for a decision; a rejected one was not carried out.
      </p>
      <Filters>
        <ChoiceFilter at={address} name="state" label="State" options={optionsOf(states)} />
        <ChoiceFilter at={address} name="kind" label="Kind" options={optionsOf(kinds)} />
        <TextFilter at={address} name="purchaseOrderId" label="Order" />
        <TextFilter at={address} name="sku" label="SKU" />
        <TextFilter at={address} name="trackingNumber" label="Tracking number" />
        <TextFilter at={address} name="sellerId" label="Seller" />
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
        keyOf={({ id }) => id}
        empty={
          query.state === 'held' && filtersOf(address).length === 1
            ? 'No command is held: nothing waits for a decision.'
            : filtersOf(address).length === 0
              ? 'There is no command yet: the ERP has asked for nothing.'
              : 'No command fits the filters. Ids, SKUs and tracking numbers are compared as a whole.'
        }
        csv={{ path: `/v1/commands?${new URLSearchParams(query)}`, name: 'commands' }}
        columns={[
          { head: 'Command', cell: (command) => <a href={commandAddress(command.id)}>{doing(command)}</a> },
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
          { head: 'Seller', cell: ({ sellerId }) => sellerId },
          { head: 'Why', cell: (command) => sentences(command).join(' ') },
          { head: 'Accepted', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { head: 'Settled', cell: ({ settledAt }) => <Time at={settledAt} /> },
        ]}
      />
    </>
  )
}
