import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { count, several, span } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { chosen, useAddress } from '../lib/router.ts'
import { ReasonDialog } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters, optionsOf } from '../parts/filters.tsx'
import { syncAddress } from '../parts/syncs.tsx'
import { List } from '../parts/table.tsx'
import { Badge, Countdown, Time, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'
import { Told, useTold } from '../parts/told.tsx'

type Seller = Schemas['Seller']
type ListedSeller = Schemas['ListedSeller']

const states = ['active', 'stopped', 'paused'] as const
const tones: Readonly<Record<Seller['state'], Tone>> = { active: 'good', stopped: 'bad', paused: 'warn' }

const Standing = ({ seller }: { readonly seller: ListedSeller }) => {
  const { state, reason, since, pausedBy, nextProbeAt, served, servedBy, removedAt, removedBy } = seller
  return (
    <div>
      <Badge tone={tones[state]}>{state}</Badge>
      {since !== null && (
        <p>
          since <Time at={since} />
          {pausedBy !== null && ` by ${pausedBy}`}: {reason ?? 'no reason was recorded'}
        </p>
      )}
      {state === 'stopped' && (
        <p>
          Nothing of it runs, and its deadlines go on. Put credentials that work into the settings and have them read again,
          below; it then goes on by itself. If they were right all along, resume it.
          {nextProbeAt !== null && (
            <>
              {' '}
              The ones it has are tried again <Countdown to={nextProbeAt} />.
            </>
          )}
        </p>
      )}
      {state === 'paused' && <p>Nothing of it runs until it is resumed; events are accepted and wait.</p>}
      {removedAt !== null && (
        <p>
          removed <Time at={removedAt} /> by {removedBy}: it is listed again once a process has it in its settings.
        </p>
      )}
      {!served && servedBy.length === 0 && <p class="faint">It is not in the settings of any process: nothing runs for it.</p>}
      {!served && servedBy.length > 0 && (
        <p class="faint">It is not in the settings of the process that answers here; {servedBy.join(', ')} serves it.</p>
      )}
    </div>
  )
}

const Lag = ({ seller }: { readonly seller: ListedSeller }) => {
  const { sellerId, furthestBehind, failingStreams } = seller
  return (
    <div>
      {furthestBehind === null ? (
        <span class="faint">nothing read yet</span>
      ) : (
        <>
          {span(furthestBehind.lagSeconds * 1_000)}{' '}
          <a href={syncAddress(furthestBehind.resource, { sellerId, stream: furthestBehind.stream })}>
            {furthestBehind.resource} {furthestBehind.stream}
          </a>
        </>
      )}
      {failingStreams > 0 && (
        <p>
          <a href={`/console/syncs?${new URLSearchParams({ sellerId, failing: 'true' })}`}>
            {several(failingStreams, 'sync')} failing
          </a>
        </p>
      )}
    </div>
  )
}

const Work = ({ seller }: { readonly seller: ListedSeller }) => {
  const { sellerId, openOrders, lateOrders, heldCommands, openCommands, waitingEvents, quarantined, openAlarms } = seller
  const to = (path: string, more: Readonly<Record<string, string>>): string =>
    `/console/${path}?${new URLSearchParams({ ...more, sellerId })}`
  const parts = [
    [openOrders, 'open order', to('orders', { open: 'true' })],
    [lateOrders, 'late order', to('today', { due: 'late' })],
    [heldCommands, 'held command', to('commands', { state: 'held' })],
    [openCommands, 'command under way', to('commands', {}), 'commands under way'],
    [waitingEvents, 'waiting event', to('events', {})],
    [quarantined, 'record in quarantine', to('quarantine', {}), 'records in quarantine'],
    [openAlarms, 'open alarm', to('alarms', {})],
  ] as const
  const shown = parts.filter(([number]) => number > 0)
  if (shown.length === 0) return <span class="faint">none</span>
  return (
    <ul class="plain">
      {shown.map(([number, one, address, many]) => (
        <li key={one}>
          <a href={address}>{several(number, one, many)}</a>
        </li>
      ))}
    </ul>
  )
}

const Acts = ({ seller, done }: { readonly seller: Seller; readonly done: () => void }) => {
  const [asking, setAsking] = useState(false)
  const { sellerId, state } = seller
  const path = { id: sellerId }
  return (
    <div>
      <button type="button" aria-label={`${state === 'active' ? 'Pause' : 'Resume'} ${sellerId}`} onClick={() => setAsking(true)}>
        {state === 'active' ? 'Pause' : 'Resume'}
      </button>
      {asking && state === 'active' && (
        <ReasonDialog
          title={`Pause ${sellerId}`}
          meaning="Nothing of it runs until it is resumed, across restarts too. Work in progress is completed first; events are accepted and wait; deadlines of its orders go on."
          action="Pause"
          decide={async (because) => {
            await answered(api.POST('/v1/sellers/{id}/pause', { params: { path }, body: because }))
            toast(`${sellerId} is paused.`)
            done()
          }}
          close={() => setAsking(false)}
        />
      )}
      {asking && state !== 'active' && (
        <ReasonDialog
          title={`Resume ${sellerId}`}
          meaning="What waits goes on. Its credentials are tried at once; if the marketplace refuses them repeatedly, it is stopped again."
          action="Resume"
          decide={async (because) => {
            await answered(api.POST('/v1/sellers/{id}/resume', { params: { path }, body: because }))
            toast(`${sellerId} goes on.`)
            done()
          }}
          close={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** For a seller that no process serves: what is served is taken out of the settings first. */
const Remove = ({ seller, done }: { readonly seller: ListedSeller; readonly done: () => void }) => {
  const [asking, setAsking] = useState(false)
  const { sellerId } = seller
  return (
    <div>
      <button type="button" aria-label={`Remove ${sellerId}`} onClick={() => setAsking(true)}>
        Remove
      </button>
      {asking && (
        <ReasonDialog
          title={`Remove ${sellerId}`}
          meaning="A seller without orders, commands, events or other records is deleted. Another one is listed no more; its past stays readable, and it comes back once a process has it in its settings."
          action="Remove"
          decide={async (because) => {
            const { deleted } = await answered(
              api.DELETE('/v1/sellers/{id}', { params: { path: { id: sellerId }, query: because } }),
            )
            toast(deleted ? `${sellerId} is deleted.` : `${sellerId} is removed; its past stays readable.`)
            done()
          }}
          close={() => setAsking(false)}
        />
      )}
    </div>
  )
}

const isRemovable = ({ served, servedBy, removedAt }: ListedSeller): boolean =>
  !served && servedBy.length === 0 && removedAt === null

type Others = Schemas['ReloadedSellers']['others']

/** What keeps the settings of other processes from being read again; null: nothing. */
const faultOfOthers = (others: Others): string | null => {
  if (others === null) return 'The other processes could not be asked; the log has the reason.'
  const faults = others.flatMap(({ process, state, faults: found }) => {
    if (state === 'reread') return []
    return [`${process} goes on as before: ${state === 'faulty' ? found.join('; ') : 'it has not answered yet'}.`]
  })
  return faults.length === 0 ? null : faults.join(' ')
}

const Reload = ({ done }: { readonly done: () => void }) => {
  const { busy, told, tell } = useTold()
  const reload = (): void =>
    tell(async () => {
      const { sellers, added, removed, others } = await answered(api.POST('/v1/sellers/reload'))
      const changed = [
        ...added.map((sellerId) => `${sellerId} is new.`),
        ...removed.map((sellerId) => `${sellerId} is no longer served.`),
      ]
      done()
      const here = `${several(sellers.length, 'seller')} in the settings. ${changed.join(' ')}`
      const fault = faultOfOthers(others)
      if (fault !== null) throw new Error(`${here} ${fault}`)
      return here
    })
  return (
    <section class="card" aria-label="Settings of the sellers">
      <p>
        Sellers and their credentials stand in the settings. After a change there, every process reads its own again. A seller
        that none has in its settings any more can be removed.
      </p>
      <button type="button" disabled={busy} onClick={reload}>
        Read the settings again
      </button>
      <Told told={told} />
    </section>
  )
}

const removedOptions = [
  ['', 'No'],
  ['true', 'Yes'],
] as const

const emptyWord = ({ state, removed }: { readonly state?: string; readonly removed?: string }): string => {
  if (removed !== undefined) return 'No seller has been removed.'
  return state === undefined ? 'No seller is in the settings.' : `No seller is ${state}.`
}

/** Every seller: whether it runs and why not, how far behind it is, and what waits. */
export const Sellers = () => {
  const may = useMay()
  const address = useAddress()
  const query = chosen(address, { state: states, removed: ['true'] as const })
  const sellers = usePage('sellers', address, query, (page) => answered(api.GET('/v1/sellers', { params: { query: page } })), {
    topics: ['seller', 'order', 'command', 'event', 'alarm'],
    everyMs: 10_000,
  })
  const stopped = (sellers.data?.items ?? []).filter((seller) => seller.state === 'stopped')
  return (
    <>
      <h1 tabIndex={-1}>Sellers</h1>
      {stopped.length > 0 && (
        <p class="notice bad" role="alert">
          {count(stopped.length)} stopped: {stopped.map(({ sellerId }) => sellerId).join(', ')}. The marketplace refuses the
          credentials.
        </p>
      )}
      <Filters>
        <ChoiceFilter at={address} name="state" label="State" options={optionsOf(states)} />
        <ChoiceFilter at={address} name="removed" label="Removed" options={removedOptions} />
      </Filters>
      <List
        caption="Sellers"
        query={sellers}
        at={address}
        keyOf={({ sellerId }) => sellerId}
        empty={emptyWord(query)}
        csv={{ path: `/v1/sellers?${new URLSearchParams(query)}`, name: 'sellers' }}
        columns={[
          { head: 'Seller', cell: ({ sellerId }) => <strong>{sellerId}</strong> },
          { head: 'State', cell: (seller) => <Standing seller={seller} /> },
          { head: 'Furthest behind', cell: (seller) => <Lag seller={seller} /> },
          { head: 'Open work', cell: (seller) => <Work seller={seller} /> },
          ...(may('operate')
            ? [
                {
                  head: 'Act',
                  cell: (seller: ListedSeller) => (
                    <>
                      {seller.removedAt === null && <Acts seller={seller} done={sellers.reload} />}
                      {may('operate', 'all') && isRemovable(seller) && <Remove seller={seller} done={sellers.reload} />}
                    </>
                  ),
                },
              ]
            : []),
        ]}
      />
      {may('operate', 'all') && <Reload done={sellers.reload} />}
    </>
  )
}
