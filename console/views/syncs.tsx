import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { useQuery } from '../lib/query.ts'
import { given, oneOf, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, TextFilter } from '../parts/filters.tsx'
import { isBackfill, Lag, Progress, Reads, SyncState, SyncTrouble, syncAddress, syncKey } from '../parts/syncs.tsx'
import { List } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

const flags = ['true', 'false'] as const

const RunNow = ({ sync, done }: { readonly sync: Schemas['Sync']; readonly done: () => void }) => {
  const [busy, setBusy] = useState(false)
  const { resource, sellerId } = sync
  const run = async (): Promise<void> => {
    setBusy(true)
    try {
      await answered(api.POST('/v1/syncs/{resource}/run', { params: { path: { resource } }, body: { sellerId } }))
      toast(`${resource} of ${sellerId} runs now.`)
      done()
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'bad')
    }
    setBusy(false)
  }
  return (
    <button type="button" disabled={busy} aria-label={`Run now: ${resource} of ${sellerId}`} onClick={() => void run()}>
      Run now
    </button>
  )
}

/** Every sync of every seller: what is read, how far, and what is in its way. */
export const Syncs = () => {
  const address = useAddress()
  const [running, failing] = [oneOf(address, 'running', flags), oneOf(address, 'failing', flags)]
  const query = {
    ...given(address, ['sellerId', 'resource']),
    ...(running === undefined ? {} : { running }),
    ...(failing === undefined ? {} : { failing }),
  }
  const asked = { ...query, ...given(address, ['cursor']), limit: 100 }
  const syncs = useQuery(`syncs ${JSON.stringify(asked)}`, () => answered(api.GET('/v1/syncs', { params: { query: asked } })), {
    everyMs: 5_000,
  })
  const sellers = useQuery('sellers', () => answered(api.GET('/v1/sellers', { params: { query: { limit: 1_000 } } })))
  const resources = useQuery('resources', () => answered(api.GET('/v1/resources')), { everyMs: 600_000 })
  const restOf = (sellerId: string): string | null => {
    const state = sellers.data?.items.find((seller) => seller.sellerId === sellerId)?.state ?? 'active'
    return state === 'active' ? null : state
  }
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
          options={[['', 'All'], ...(resources.data?.items ?? []).map(({ resource }) => [resource, resource] as const)]}
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
          { head: 'State', cell: (sync) => <SyncState sync={sync} resting={restOf(sync.sellerId)} /> },
          { head: 'Lag', number: true, cell: (sync) => <Lag sync={sync} /> },
          { head: 'Read up to', cell: ({ watermark }) => <Time at={watermark} /> },
          {
            head: 'Reads next',
            cell: (sync) => (
              <div>
                <Reads sync={sync} />
                <Progress sync={sync} />
              </div>
            ),
          },
          {
            head: 'Trouble',
            cell: (sync) => (
              <div>
                <SyncTrouble sync={sync} />
              </div>
            ),
          },
          { head: 'Act', cell: (sync) => !isBackfill(sync) && <RunNow sync={sync} done={syncs.reload} /> },
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
