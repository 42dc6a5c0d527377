import type { Schemas } from '../lib/api.ts'
import { several, span } from '../lib/format.ts'
import { PartsBar } from './charts.tsx'
import type { Column } from './table.tsx'
import { Badge, None, Time } from './text.tsx'

type Seller = Schemas['Seller']
type Sync = Schemas['Sync']

/** A name for a stream of a seller that no other has. */
export const syncKey = ({ sellerId, resource, stream }: Pick<Sync, 'sellerId' | 'resource' | 'stream'>): string =>
  `${sellerId}/${resource}/${stream}`

/** Whether a stream reads a stretch of the past once, and then never again. */
export const isBackfill = ({ stream }: Pick<Sync, 'stream'>): boolean => stream.startsWith('backfill:')

/** Address of a resource's view, of one stream where one is named. */
export const syncAddress = (resource: string, only: { readonly sellerId?: string; readonly stream?: string } = {}): string => {
  const query = new URLSearchParams({ ...only }).toString()
  return `/console/syncs/${encodeURIComponent(resource)}${query === '' ? '' : `?${query}`}`
}

/** How a stream stands, in a word. `resting`: its seller is stopped or paused, and nothing of it runs. */
const SyncState = ({ sync, resting }: { readonly sync: Sync; readonly resting: string | null }) => {
  if (resting !== null) return <Badge tone="bad">seller {resting}</Badge>
  if (sync.notEnrolled !== null) return <Badge>not enrolled</Badge>
  if (sync.failures > 0) return <Badge tone="bad">failed {several(sync.failures, 'time')}</Badge>
  if (sync.running) return <Badge tone="good">running</Badge>
  if (sync.windowsPending > 0) return <Badge tone="warn">to be continued</Badge>
  if (sync.lastSuccessAt === null) return <Badge tone="warn">not read yet</Badge>
  return <Badge tone="good">{isBackfill(sync) ? 'done' : 'up to date'}</Badge>
}

/** Time since a stream last read everything; a backfill has none. */
const Lag = ({ sync }: { readonly sync: Sync }) => {
  if (isBackfill(sync)) return <None />
  if (sync.lagMs === null) return <span class="faint">not read yet</span>
  return <span class="number">{span(sync.lagMs)}</span>
}

/** What a stream reads now or next. */
const Reads = ({ sync }: { readonly sync: Sync }) => {
  const { windowFrom, windowTo, windowsPending, pages, watermark } = sync
  if (windowsPending > 0) {
    return (
      <>
        {windowFrom === null || windowTo === null ? (
          'what is left'
        ) : (
          <>
            <Time at={windowFrom} /> to <Time at={windowTo} />
          </>
        )}
        {pages > 0 && `, after ${several(pages, 'page')}`}
        {windowsPending > 1 && `; then ${several(windowsPending - 1, 'more part')}`}
      </>
    )
  }
  if (isBackfill(sync)) return <None />
  if (watermark === null) return <>the whole list</>
  return (
    <>
      what changed since <Time at={watermark} />
    </>
  )
}

/** How far a stream has come with what it was given to read; nothing where that is one part only. */
const Progress = ({ sync }: { readonly sync: Sync }) => {
  const { windowsTotal, windowsDone } = sync.totals
  if (windowsTotal < 2 || (sync.windowsPending === 0 && !isBackfill(sync))) return null
  const done = sync.windowsPending === 0 ? windowsTotal : Math.min(windowsDone, windowsTotal)
  return (
    <PartsBar
      label="Parts read"
      whole={windowsTotal}
      parts={[{ label: `of ${windowsTotal} parts read:`, value: done, tone: 'b' }]}
    />
  )
}

/** Why a stream does not run, or what went wrong, in the words of the daemon. */
const SyncTrouble = ({ sync }: { readonly sync: Sync }) => {
  const { skipped, outOfReachBefore } = sync.totals
  return (
    <>
      {sync.notEnrolled !== null && <span>{sync.notEnrolled} </span>}
      {sync.lastError !== null && <span>{sync.lastError} </span>}
      {skipped > 0 && (
        <a
          href={`/console/quarantine?${new URLSearchParams({ resource: sync.resource, sellerId: sync.sellerId, skipped: 'true' })}`}
        >
          {several(skipped, 'part')} skipped
        </a>
      )}
      {outOfReachBefore !== null && (
        <span class="faint">
          {' '}
          before <Time at={outOfReachBefore} /> the marketplace serves nothing
        </span>
      )}
      {sync.notEnrolled === null && sync.lastError === null && skipped === 0 && outOfReachBefore === null && <None />}
    </>
  )
}

/** How far streams are, for tables of them; the seller's state says whether they can go on. */
export const standingColumns = (sellers: readonly Pick<Seller, 'sellerId' | 'state'>[]): readonly Column<Sync>[] => {
  const restOf = (sellerId: string): string | null => {
    const state = sellers.find((seller) => seller.sellerId === sellerId)?.state ?? 'active'
    return state === 'active' ? null : state
  }
  return [
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
  ]
}

/** What stands in a stream's way, for tables of them. */
export const troubleColumn: Column<Sync> = {
  head: 'Trouble',
  cell: (sync) => (
    <div>
      <SyncTrouble sync={sync} />
    </div>
  ),
}
