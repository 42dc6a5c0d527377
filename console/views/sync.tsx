import { useId, useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { type Query, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { flags, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { useResources, useSellers } from '../lib/shared-queries.ts'
import { buildOptions, ChoiceFilter, Filters, SellerFilter } from '../parts/filters.tsx'
import { OutcomeNotice, useOutcome } from '../parts/outcome.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { problemColumn, stateColumns, syncKey } from '../parts/syncs.tsx'
import { List, Rows, sellerColumn } from '../parts/table.tsx'
import { Badge, None, Time } from '../parts/text.tsx'

type Seller = Schemas['Seller']
type Sync = Schemas['Sync']

const RunForm = ({
  resource,
  backfill,
  sellers,
  done,
}: {
  readonly resource: string
  /** Whether it supports backfills. */
  readonly backfill: boolean
  readonly sellers: readonly Seller[]
  readonly done: () => void
}) => {
  const id = useId()
  const [chosen, setChosen] = useState('')
  const sellerId = sellers.length === 1 ? (sellers[0]?.sellerId ?? '') : chosen
  const { busy, outcome, runAction } = useOutcome()
  const start = (range: { from?: string; to?: string }): void =>
    runAction(async () => {
      const body = { ...(sellerId === '' ? {} : { sellerId }), ...range }
      const answer = await readAnswer(api.POST('/v1/syncs/{resource}/run', { params: { path: { resource } }, body }))
      const { jobs, range: read, resting } = answer
      const local = (at: string): string => new Date(at).toLocaleString()
      const started =
        read === null
          ? `${count(jobs.length)} of its streams ${jobs.length === 1 ? 'runs' : 'run'} now.`
          : `The time from ${local(read.from)} to ${local(read.to)} is read again${read.clamped ? '; the marketplace does not serve the rest' : ''}.`
      const rest = resting.length === 0 ? '' : ` Nothing runs for ${resting.join(', ')}: stopped or paused.`
      done()
      return `${jobs.length === 0 ? 'Nothing was started: no seller has this sync, or its interval is off.' : started}${rest}`
    })
  const readTime = (form: FormData, name: string): string | undefined => {
    const value = String(form.get(name) ?? '')
    return value === '' ? undefined : new Date(value).toISOString()
  }
  return (
    <section class="card" aria-label="Run it">
      <div class="filters open">
        {sellers.length > 1 && (
          <div class="field">
            <label for={`${id}-seller`}>For seller</label>
            <select id={`${id}-seller`} value={chosen} onChange={(change) => setChosen(change.currentTarget.value)}>
              <option value="">All</option>
              {sellers.map((seller) => (
                <option key={seller.sellerId} value={seller.sellerId}>
                  {seller.sellerId}
                </option>
              ))}
            </select>
          </div>
        )}
        <button type="button" class="primary" disabled={busy} onClick={() => start({})}>
          Run now
        </button>
      </div>
      {backfill ? (
        <form
          class="filters open"
          aria-label="Backfill"
          onSubmit={(submit) => {
            submit.preventDefault()
            const form = new FormData(submit.currentTarget)
            const [from, to] = [readTime(form, 'from'), readTime(form, 'to')]
            if (from !== undefined) start({ from, ...(to === undefined ? {} : { to }) })
          }}
        >
          <div class="field">
            <label for={`${id}-from`}>Read again from</label>
            <input id={`${id}-from`} name="from" type="datetime-local" required />
          </div>
          <div class="field">
            <label for={`${id}-to`}>up to (empty: now)</label>
            <input id={`${id}-to`} name="to" type="datetime-local" />
          </div>
          <button type="submit" disabled={busy}>
            Start the backfill
          </button>
        </form>
      ) : (
        <p class="faint">This sync reads all data each time: it needs no backfill.</p>
      )}
      <OutcomeNotice outcome={outcome} />
    </section>
  )
}

const Streams = ({
  syncs,
  sellers,
}: {
  readonly syncs: Query<{ readonly items: readonly Sync[] }>
  readonly sellers: readonly Seller[]
}) => {
  return (
    <Loaded query={syncs}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>It has not run yet.</Empty>
        ) : (
          <Rows
            caption="Streams"
            rows={items}
            buildKey={syncKey}
            columns={[
              { head: 'Stream', wraps: true, cell: ({ stream }) => stream },
              sellerColumn,
              ...stateColumns(sellers),
              {
                head: 'Records',
                wraps: true,
                cell: ({ totals }) =>
                  `${count(totals.seen)} received, ${count(totals.changed)} written, ${count(totals.quarantined)} in quarantine`,
              },
              problemColumn,
            ]}
          />
        )
      }
    </Loaded>
  )
}

const SyncDetails = ({ resource, backfill }: { readonly resource: string; readonly backfill: boolean }) => {
  const address = useAddress()
  const may = useMay()
  const of = readParameters(address, ['sellerId'])
  const query = { ...readParameters(address, ['sellerId', 'stream']), ...readChoices(address, { failed: flags }) }
  const sellers = useSellers()
  const syncs = useQuery(
    `syncs of ${resource} ${JSON.stringify(of)}`,
    () => readAnswer(api.GET('/v1/syncs', { params: { query: { ...of, resource, limit: 200 } } })),
    { everyMs: 3_000 },
  )
  const runs = usePage(
    `runs of ${resource}`,
    address,
    query,
    (page) => readAnswer(api.GET('/v1/syncs/{resource}/runs', { params: { path: { resource }, query: page } })),
    { everyMs: 5_000 },
  )
  const streams = [...new Set((syncs.data?.items ?? []).map(({ stream }) => stream))]
  return (
    <>
      <p class="back">
        <a href="/console/syncs">All syncs</a>
      </p>
      <h1 tabIndex={-1}>Sync of {resource}</h1>
      {may('operate') && (
        <RunForm
          resource={resource}
          backfill={backfill}
          sellers={(sellers.data?.items ?? []).filter(({ served }) => served)}
          done={() => {
            syncs.reload()
            runs.reload()
          }}
        />
      )}
      <h2>Streams</h2>
      <Streams syncs={syncs} sellers={sellers.data?.items ?? []} />
      <h2>Runs</h2>
      <Filters at={address}>
        <SellerFilter at={address} />
        <ChoiceFilter at={address} name="stream" label="Stream" options={buildOptions(streams)} />
        <ChoiceFilter
          at={address}
          name="failed"
          label="Ended"
          options={[
            ['', 'All'],
            ['true', 'with an error'],
            ['false', 'successfully'],
          ]}
        />
      </Filters>
      <List
        caption="Runs"
        query={runs}
        at={address}
        buildKey={({ id }) => id}
        empty="No run matches. Old runs are removed."
        csv={{ path: `/v1/syncs/${encodeURIComponent(resource)}/runs?${new URLSearchParams(query)}`, name: `${resource}-runs` }}
        columns={[
          { head: 'Began', cell: ({ startedAt }) => <Time at={startedAt} /> },
          { head: 'Ended', cell: ({ finishedAt }) => <Time at={finishedAt} /> },
          { head: 'Stream', wraps: true, cell: ({ stream }) => stream },
          sellerColumn,
          { head: 'Runs', number: true, cell: ({ runs: times }) => count(times) },
          {
            head: 'Read',
            wraps: true,
            cell: ({ windowFrom, windowTo }) =>
              windowFrom === null ? (
                <None />
              ) : (
                <span>
                  <Time at={windowFrom} /> to <Time at={windowTo} />
                </span>
              ),
          },
          { head: 'Pages', number: true, cell: ({ pages }) => count(pages) },
          { head: 'Received', number: true, cell: ({ seen }) => count(seen) },
          { head: 'Written', number: true, cell: ({ changed }) => count(changed) },
          { head: 'Quarantine', number: true, cell: ({ quarantined }) => count(quarantined) },
          {
            head: 'Result',
            wraps: true,
            cell: ({ error }) => (error === null ? <Badge tone="good">success</Badge> : <span>{error}</span>),
          },
        ]}
      />
    </>
  )
}

const Unknown = ({ resource }: { readonly resource: string }) => (
  <>
    <h1 tabIndex={-1}>Sync of {resource}</h1>
    <p class="notice bad" role="alert">
      There is no sync of {resource}. See <a href="/console/syncs">all syncs</a>.
    </p>
  </>
)

/** One resource: its streams, its runs, and forms to run it or to start a backfill. */
export const SyncView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const { resource = '' } = parts
  const resources = useResources()
  return (
    <Loaded query={resources} heading={`Sync of ${resource}`}>
      {({ items }) => {
        const known = items.find((one) => one.resource === resource)
        return known === undefined ? (
          <Unknown resource={resource} />
        ) : (
          <SyncDetails resource={resource} backfill={known.backfill} />
        )
      }}
    </Loaded>
  )
}
