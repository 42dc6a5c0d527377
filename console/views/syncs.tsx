import { answered, api, type Schemas } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { useResources, useSellers } from '../lib/questions.ts'
import { useMay } from '../lib/rights.ts'
import { chosen, flags, given, useAddress } from '../lib/router.ts'
import { useAct } from '../parts/act.ts'
import { ChoiceFilter, Filters, optionsOf, TextFilter } from '../parts/filters.tsx'
import { isBackfill, standingColumns, syncAddress, syncKey, troubleColumn } from '../parts/syncs.tsx'
import { List } from '../parts/table.tsx'
import { toast } from '../parts/toasts.tsx'

const RunNow = ({ sync, done }: { readonly sync: Schemas['Sync']; readonly done: () => void }) => {
  const { busy, act } = useAct()
  const { resource, sellerId } = sync
  const run = (): void =>
    act(async () => {
      await answered(api.POST('/v1/syncs/{resource}/run', { params: { path: { resource } }, body: { sellerId } }))
      toast(`${resource} of ${sellerId} runs now.`)
      done()
    })
  return (
    <button type="button" disabled={busy} aria-label={`Run now: ${resource} of ${sellerId}`} onClick={run}>
      Run now
    </button>
  )
}

const standings = { running: flags, failing: flags, behind: flags, unread: flags } as const

/** Every sync of every seller: what is read, how far, and what is in its way. */
export const Syncs = () => {
  const may = useMay()
  const address = useAddress()
  const query = { ...given(address, ['sellerId', 'resource']), ...chosen(address, standings) }
  const syncs = usePage('syncs', address, query, (page) => answered(api.GET('/v1/syncs', { params: { query: page } })), {
    limit: 100,
    everyMs: 5_000,
  })
  const sellers = useSellers()
  const resources = useResources()
  const isFiltered = Object.keys(query).length > 0
  return (
    <>
      <h1 tabIndex={-1}>Syncs</h1>
      <p class="faint">
        What is read from the marketplace, stream by stream. The name leads to the runs of a sync, and to reading its past again.
      </p>
      <Filters>
        <ChoiceFilter
          at={address}
          name="resource"
          label="Sync"
          options={optionsOf((resources.data?.items ?? []).map(({ resource }) => resource))}
        />
        <TextFilter at={address} name="sellerId" label="Seller" />
        <ChoiceFilter
          at={address}
          name="failing"
          label="Failing"
          options={[
            ['', 'All'],
            ['true', 'failing'],
            ['false', 'not failing'],
          ]}
        />
        <ChoiceFilter
          at={address}
          name="behind"
          label="Behind"
          options={[
            ['', 'All'],
            ['true', 'behind'],
            ['false', 'not behind'],
          ]}
        />
        <ChoiceFilter
          at={address}
          name="unread"
          label="Read"
          options={[
            ['', 'All'],
            ['true', 'not read yet'],
            ['false', 'read'],
          ]}
        />
        <ChoiceFilter
          at={address}
          name="running"
          label="Running"
          options={[
            ['', 'All'],
            ['true', 'running now'],
            ['false', 'not running'],
          ]}
        />
      </Filters>
      <List
        caption="Syncs"
        query={syncs}
        at={address}
        keyOf={syncKey}
        empty={
          isFiltered
            ? 'No sync fits. A sync appears here once it has run.'
            : 'No sync has run yet. The first ones begin when the daemon starts, unless their interval is off.'
        }
        csv={{ path: `/v1/syncs?${new URLSearchParams(query)}`, name: 'syncs' }}
        columns={[
          {
            head: 'Sync',
            cell: ({ resource, stream, sellerId }) => (
              <a href={syncAddress(resource, { sellerId, stream })}>
                {resource} {stream}
              </a>
            ),
          },
          { head: 'Seller', cell: ({ sellerId }) => sellerId },
          ...standingColumns(sellers.data?.items ?? []),
          troubleColumn,
          ...(may('operate')
            ? [
                {
                  head: 'Act',
                  cell: (sync: Schemas['Sync']) => !isBackfill(sync) && <RunNow sync={sync} done={syncs.reload} />,
                },
              ]
            : []),
        ]}
      />
      {resources.data !== undefined && (
        <p>
          All that can be read:{' '}
          {resources.data.items.map(({ resource }, index) => (
            <span key={resource}>
              {index > 0 && ', '}
              <a href={syncAddress(resource)}>{resource}</a>
            </span>
          ))}
        </p>
      )}
    </>
  )
}
