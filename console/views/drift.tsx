import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { listFilters, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { buildOptions, ChoiceFilter, Filters, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { type Column, List, sellerColumn } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'

const kinds = ['field', 'value', 'type', 'header', 'status'] as const satisfies readonly Schemas['Drift']['kind'][]

const columns: readonly Column<Schemas['Drift']>[] = [
  { head: 'Operation', cell: ({ operation }) => operation },
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'Place', wraps: true, cell: ({ path }) => (path === '' ? 'the record' : path) },
  { head: 'Found', wraps: true, cell: ({ example }) => example },
  { head: 'Times', number: true, cell: ({ count: times }) => count(times) },
  { head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
  { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  sellerColumn,
]

/** Differences between the marketplace's answers and what is published. */
export const Drift = () => {
  const address = useAddress()
  const query = { ...readParameters(address, ['sellerId', 'operation']), ...readChoices(address, { kind: kinds }) }
  const places = usePage('drift', address, query, (page) => readAnswer(api.GET('/v1/drift', { params: { query: page } })), {
    topics: ['alarm'],
    everyMs: 60_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Drift</h1>
      <p class="faint">
        Places of the marketplace's answers that are not published: unknown fields, values and types, headers that announce an
        end, and unknown statuses. The records are stored as received; each new place opens one alarm.
      </p>
      <Filters at={address}>
        <ChoiceFilter at={address} name="kind" label="Kind" options={buildOptions(kinds)} />
        <TextFilter at={address} name="operation" label="Operation" placeholder="orders.list" />
        <SellerFilter at={address} />
      </Filters>
      <List
        caption="Drift"
        query={places}
        at={address}
        buildKey={({ id }) => id}
        empty={
          listFilters(address).length === 0
            ? "The marketplace's answers are as published, as far as they were compared."
            : 'No place matches the filters. Write operations as orders.list.'
        }
        csv={{ path: `/v1/drift?${new URLSearchParams(query)}`, name: 'drift' }}
        columns={columns}
      />
    </>
  )
}
