import type { Schemas } from '../lib/api.ts'
import { formatDuration, pluralize } from '../lib/format.ts'
import { PartsBar } from './charts.tsx'
import type { Column } from './table.tsx'
import { Badge, None, Time } from './text.tsx'

type Seller = Schemas['Seller']
type Sync = Schemas['Sync']

/** A unique key of a stream of a seller. */
export const syncKey = ({ sellerId, resource, stream }: Pick<Sync, 'sellerId' | 'resource' | 'stream'>): string =>
  `${sellerId}/${resource}/${stream}`

/** Whether a stream is a backfill, which reads a period once. */
export const isBackfill = ({ stream }: Pick<Sync, 'stream'>): boolean => stream.startsWith('backfill:')

/** Address of a resource's view, or of one of its streams. */
export const syncAddress = (resource: string, only: { readonly sellerId?: string; readonly stream?: string } = {}): string => {
  const query = new URLSearchParams({ ...only }).toString()
  return `/console/syncs/${encodeURIComponent(resource)}${query === '' ? '' : `?${query}`}`
}

/** State of a stream. `sellerState`: `stopped` or `paused`; null: its seller is active. */
const SyncState = ({ sync, sellerState }: { readonly sync: Sync; readonly sellerState: string | null }) => {
  if (sellerState !== null) return <Badge tone="bad">seller {sellerState}</Badge>
  if (sync.notEnrolled !== null) return <Badge>not enrolled</Badge>
  if (sync.failures > 0) return <Badge tone="bad">failed {pluralize(sync.failures, 'time')}</Badge>
  if (sync.running) return <Badge tone="good">running</Badge>
  if (sync.windowsPending > 0) return <Badge tone="warn">to be continued</Badge>
  if (sync.lastSuccessAt === null) return <Badge tone="warn">not read yet</Badge>
  return <Badge tone="good">{isBackfill(sync) ? 'done' : 'up to date'}</Badge>
}

/** Time since a stream last read everything; a backfill has none. */
const Lag = ({ sync }: { readonly sync: Sync }) => {
  if (isBackfill(sync)) return <None />
  if (sync.lagMs === null) return <span class="faint">not read yet</span>
  return <span class="number">{formatDuration(sync.lagMs)}</span>
}

/** The part that a stream reads now or next. */
const Reads = ({ sync }: { readonly sync: Sync }) => {
  const { windowFrom, windowTo, windowsPending, pages, watermark } = sync
  if (windowsPending > 0) {
    return (
      <>
        {windowFrom === null || windowTo === null ? (
          'the remaining parts'
        ) : (
          <>
            <Time at={windowFrom} /> to <Time at={windowTo} />
          </>
        )}
        {pages > 0 && `, after ${pluralize(pages, 'page')}`}
        {windowsPending > 1 && `; then ${pluralize(windowsPending - 1, 'more part')}`}
      </>
    )
  }
  if (isBackfill(sync)) return <None />
  if (watermark === null) return <>the whole list</>
  return (
    <>
      changes since <Time at={watermark} />
    </>
  )
}

/** Progress of a stream over its parts; nothing if there is only one part. */
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

/** Why a stream does not run, or its last error, in the daemon's text. */
const SyncProblem = ({ sync }: { readonly sync: Sync }) => {
  const { skipped, outOfReachBefore } = sync.totals
  return (
    <>
      {sync.notEnrolled !== null && <span>{sync.notEnrolled} </span>}
      {sync.lastError !== null && <span>{sync.lastError} </span>}
      {skipped > 0 && (
        <a
          href={`/console/quarantine?${new URLSearchParams({ resource: sync.resource, sellerId: sync.sellerId, skipped: 'true' })}`}
        >
          {pluralize(skipped, 'part')} skipped
        </a>
      )}
      {outOfReachBefore !== null && (
        <span class="faint">
          {' '}
          the marketplace serves nothing before <Time at={outOfReachBefore} />
        </span>
      )}
      {sync.notEnrolled === null && sync.lastError === null && skipped === 0 && outOfReachBefore === null && <None />}
    </>
  )
}

/** Columns with the state and progress of streams; the state of the seller decides whether they run. */
export const stateColumns = (sellers: readonly Pick<Seller, 'sellerId' | 'state'>[]): readonly Column<Sync>[] => {
  const findSellerState = (sellerId: string): string | null => {
    const state = sellers.find((seller) => seller.sellerId === sellerId)?.state ?? 'active'
    return state === 'active' ? null : state
  }
  return [
    { head: 'State', cell: (sync) => <SyncState sync={sync} sellerState={findSellerState(sync.sellerId)} /> },
    { head: 'Lag', number: true, cell: (sync) => <Lag sync={sync} /> },
    { head: 'Read up to', cell: ({ watermark }) => <Time at={watermark} /> },
    {
      head: 'Reads next',
      wraps: true,
      cell: (sync) => (
        <div>
          <Reads sync={sync} />
          <Progress sync={sync} />
        </div>
      ),
    },
  ]
}

/** Column with the problem of a stream. */
export const problemColumn: Column<Sync> = {
  head: 'Problem',
  wraps: true,
  cell: (sync) => (
    <div>
      <SyncProblem sync={sync} />
    </div>
  ),
}
