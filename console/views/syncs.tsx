import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { flags, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { useResources, useSellers } from '../lib/shared-queries.ts'
import { useAction } from '../parts/action.ts'
import { buildOptions, ChoiceFilter, Filters, SellerFilter } from '../parts/filters.tsx'
import { isBackfill, problemColumn, stateColumns, syncAddress, syncKey } from '../parts/syncs.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { toast } from '../parts/toasts.tsx'

const RunNow = ({ sync, done }: { readonly sync: Schemas['Sync']; readonly done: () => void }) => {
  const { busy, runAction } = useAction()
  const { resource, sellerId } = sync
  const run = (): void =>
    runAction(async () => {
      await readAnswer(api.POST('/v1/syncs/{resource}/run', { params: { path: { resource } }, body: { sellerId } }))
      toast(`${resource} of ${sellerId} runs now.`)
      done()
    })
  return (
    <button type="button" disabled={busy} aria-label={`Run now: ${resource} of ${sellerId}`} onClick={run}>
      Run now
    </button>
  )
}

const stateFilters = { running: flags, failing: flags, behind: flags, unread: flags } as const

/** Every sync of every seller: its state, its progress, and its problem. */
export const Syncs = () => {
  const may = useMay()
  const address = useAddress()
  const query = { ...readParameters(address, ['sellerId', 'resource']), ...readChoices(address, stateFilters) }
  const syncs = usePage('syncs', address, query, (page) => readAnswer(api.GET('/v1/syncs', { params: { query: page } })), {
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
        Data that are read from the marketplace, stream by stream. The name links to the runs of a sync, and to backfills.{' '}
        <a href="/console/completeness">Orders that other records name</a> shows whether any are missing.
      </p>
      <Filters at={address}>
        <ChoiceFilter
          at={address}
          name="resource"
          label="Sync"
          options={buildOptions((resources.data?.items ?? []).map(({ resource }) => resource))}
        />
        <SellerFilter at={address} />
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
        buildKey={syncKey}
        empty={
          isFiltered
            ? 'No sync matches. A sync appears here when it has run.'
            : 'No sync has run yet. The first ones begin when the daemon starts, unless their interval is off.'
        }
        csv={{ path: `/v1/syncs?${new URLSearchParams(query)}`, name: 'syncs' }}
        columns={[
          {
            head: 'Sync',
            wraps: true,
            cell: ({ resource, stream, sellerId }) => (
              <a href={syncAddress(resource, { sellerId, stream })}>
                {resource} {stream}
              </a>
            ),
          },
          sellerColumn,
          ...stateColumns(sellers.data?.items ?? []),
          problemColumn,
          ...(may('operate')
            ? [
                {
                  head: 'Action',
                  cell: (sync: Schemas['Sync']) => !isBackfill(sync) && <RunNow sync={sync} done={syncs.reload} />,
                },
              ]
            : []),
        ]}
      />
      {resources.data !== undefined && (
        <p>
          All resources:{' '}
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
