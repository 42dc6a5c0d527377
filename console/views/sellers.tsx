import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { count, formatDuration, pluralize } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { readChoices, useAddress } from '../lib/router.ts'
import { ReasonDialog } from '../parts/dialog.tsx'
import { buildOptions, ChoiceFilter, Filters } from '../parts/filters.tsx'
import { OutcomeNotice, useOutcome } from '../parts/outcome.tsx'
import { ModeAction } from '../parts/shadow.tsx'
import { syncAddress } from '../parts/syncs.tsx'
import { List } from '../parts/table.tsx'
import { Badge, Countdown, Time, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Seller = Schemas['Seller']
type ListedSeller = Schemas['ListedSeller']

const states = ['active', 'stopped', 'paused'] as const
const tones: Readonly<Record<Seller['state'], Tone>> = { active: 'good', stopped: 'bad', paused: 'warn' }

const SellerState = ({ seller }: { readonly seller: ListedSeller }) => {
  const { state, reason, since, pausedBy, nextProbeAt, served, servedBy, removedAt, removedBy, mode, modeSince } = seller
  return (
    <div>
      <Badge tone={tones[state]}>{state}</Badge>
      {mode === 'shadow' && (
        <p>
          <Badge tone="warn">shadow</Badge> since <Time at={modeSince} />: nothing is written to the marketplace.
        </p>
      )}
      {since !== null && (
        <p>
          since <Time at={since} />
          {pausedBy !== null && ` by ${pausedBy}`}: {reason ?? 'no reason was recorded'}
        </p>
      )}
      {state === 'stopped' && (
        <p>
          Nothing of it runs, and its deadlines continue. Correct the credentials in the settings and reload them below; it then
          continues automatically. If the credentials are correct, resume it.
          {nextProbeAt !== null && (
            <>
              {' '}
              The current credentials are tried again <Countdown to={nextProbeAt} />.
            </>
          )}
        </p>
      )}
      {state === 'paused' && <p>Nothing of it runs until it is resumed; events are accepted and wait.</p>}
      {removedAt !== null && (
        <p>
          removed <Time at={removedAt} /> by {removedBy}: it is listed again when a process has it in its settings.
        </p>
      )}
      {!served && servedBy.length === 0 && <p class="faint">It is not in the settings of any process: nothing runs for it.</p>}
      {!served && servedBy.length > 0 && (
        <p class="faint">It is not in the settings of the answering process; {servedBy.join(', ')} serves it.</p>
      )}
    </div>
  )
}

const OrdersRead = ({ seller }: { readonly seller: ListedSeller }) => {
  const { sellerId, ordersLagSeconds, failingStreams } = seller
  return (
    <div>
      {ordersLagSeconds === null ? (
        <span class="faint">not read yet</span>
      ) : (
        <a href={syncAddress('orders', { sellerId })}>{formatDuration(ordersLagSeconds * 1_000)} ago</a>
      )}
      {failingStreams > 0 && (
        <p>
          <a href={`/console/syncs?${new URLSearchParams({ sellerId, failing: 'true' })}`}>
            {pluralize(failingStreams, 'sync')} failing
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
    [openCommands, 'open command', to('commands', {}), 'open commands'],
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
          <a href={address}>{pluralize(number, one, many)}</a>
        </li>
      ))}
    </ul>
  )
}

const Actions = ({ seller, done }: { readonly seller: Seller; readonly done: () => void }) => {
  const [dialog, setDialog] = useState(false)
  const { sellerId, state } = seller
  const path = { id: sellerId }
  return (
    <div>
      <button type="button" aria-label={`${state === 'active' ? 'Pause' : 'Resume'} ${sellerId}`} onClick={() => setDialog(true)}>
        {state === 'active' ? 'Pause' : 'Resume'}
      </button>
      {dialog && state === 'active' && (
        <ReasonDialog
          title={`Pause ${sellerId}`}
          meaning="Nothing of it runs until it is resumed, also after a restart. Work in progress is completed first; events are accepted and wait; deadlines of its orders continue."
          action="Pause"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/sellers/{id}/pause', { params: { path }, body: reasonAndActor }))
            toast(`${sellerId} is paused.`)
            done()
          }}
          close={() => setDialog(false)}
        />
      )}
      {dialog && state !== 'active' && (
        <ReasonDialog
          title={`Resume ${sellerId}`}
          meaning="Waiting work continues. Its credentials are tried immediately; if the marketplace refuses them repeatedly, it is stopped again."
          action="Resume"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/sellers/{id}/resume', { params: { path }, body: reasonAndActor }))
            toast(`${sellerId} is resumed.`)
            done()
          }}
          close={() => setDialog(false)}
        />
      )}
    </div>
  )
}

/** Removes a seller that no process serves. A served seller must first be removed from the settings. */
const Remove = ({ seller, done }: { readonly seller: ListedSeller; readonly done: () => void }) => {
  const [dialog, setDialog] = useState(false)
  const { sellerId } = seller
  return (
    <div>
      <button type="button" aria-label={`Remove ${sellerId}`} onClick={() => setDialog(true)}>
        Remove
      </button>
      {dialog && (
        <ReasonDialog
          title={`Remove ${sellerId}`}
          meaning="A seller without orders, commands, events or other records is deleted. Any other seller is hidden: its records stay readable, and it is listed again when a process has it in its settings."
          action="Remove"
          decide={async (reasonAndActor) => {
            const { deleted } = await readAnswer(
              api.DELETE('/v1/sellers/{id}', { params: { path: { id: sellerId }, query: reasonAndActor } }),
            )
            toast(deleted ? `${sellerId} is deleted.` : `${sellerId} is removed; its records stay readable.`)
            done()
          }}
          close={() => setDialog(false)}
        />
      )}
    </div>
  )
}

const isRemovable = ({ served, servedBy, removedAt }: ListedSeller): boolean =>
  !served && servedBy.length === 0 && removedAt === null

type Others = Schemas['ReloadedSellers']['others']

/** Why other processes have not reloaded their settings; null: all have. */
const describeOthers = (others: Others): string | null => {
  if (others === null) return 'The other processes could not be reached; the log has the reason.'
  const faults = others.flatMap(({ process, state, faults: found }) => {
    if (state === 'reread') return []
    return [`${process} is unchanged: ${state === 'faulty' ? found.join('; ') : 'it has not answered yet'}.`]
  })
  return faults.length === 0 ? null : faults.join(' ')
}

const Reload = ({ done }: { readonly done: () => void }) => {
  const { busy, outcome, runAction } = useOutcome()
  const reload = (): void =>
    runAction(async () => {
      const { sellers, added, removed, others } = await readAnswer(api.POST('/v1/sellers/reload'))
      const changed = [
        ...added.map((sellerId) => `${sellerId} is new.`),
        ...removed.map((sellerId) => `${sellerId} is no longer served.`),
      ]
      done()
      const here = `${pluralize(sellers.length, 'seller')} in the settings. ${changed.join(' ')}`
      const fault = describeOthers(others)
      if (fault !== null) throw new Error(`${here} ${fault}`)
      return here
    })
  return (
    <section class="card" aria-label="Settings of the sellers">
      <p>
        Sellers and their credentials are defined in the settings. After a change, every process can reload its own settings. A
        seller that is in the settings of no process can be removed.
      </p>
      <button type="button" disabled={busy} onClick={reload}>
        Reload the settings
      </button>
      <OutcomeNotice outcome={outcome} />
    </section>
  )
}

const removedOptions = [
  ['', 'No'],
  ['true', 'Yes'],
] as const

const describeEmpty = ({ state, removed }: { readonly state?: string; readonly removed?: string }): string => {
  if (removed !== undefined) return 'No seller has been removed.'
  return state === undefined ? 'No seller is in the settings.' : `No seller is ${state}.`
}

/** Every seller: its state and the reason, its lag, and its open work. */
export const Sellers = () => {
  const may = useMay()
  const address = useAddress()
  const query = readChoices(address, { state: states, removed: ['true'] as const })
  const sellers = usePage('sellers', address, query, (page) => readAnswer(api.GET('/v1/sellers', { params: { query: page } })), {
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
      <Filters at={address}>
        <ChoiceFilter at={address} name="state" label="State" options={buildOptions(states)} />
        <ChoiceFilter at={address} name="removed" label="Removed" options={removedOptions} />
      </Filters>
      <List
        caption="Sellers"
        query={sellers}
        at={address}
        buildKey={({ sellerId }) => sellerId}
        empty={describeEmpty(query)}
        csv={{ path: `/v1/sellers?${new URLSearchParams(query)}`, name: 'sellers' }}
        columns={[
          { head: 'Seller', cell: ({ sellerId }) => <strong>{sellerId}</strong> },
          { head: 'State', wraps: true, cell: (seller) => <SellerState seller={seller} /> },
          { head: 'Orders read', wraps: true, cell: (seller) => <OrdersRead seller={seller} /> },
          { head: 'Open work', wraps: true, cell: (seller) => <Work seller={seller} /> },
          ...(may('operate')
            ? [
                {
                  head: 'Action',
                  wraps: true,
                  cell: (seller: ListedSeller) => (
                    <div class="row">
                      {seller.removedAt === null && <Actions seller={seller} done={sellers.reload} />}
                      {seller.removedAt === null && <ModeAction seller={seller} done={sellers.reload} />}
                      {may('operate', 'all') && isRemovable(seller) && <Remove seller={seller} done={sellers.reload} />}
                    </div>
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
