import { useId, useState } from 'preact/hooks'
import { answered, api, clocks, type Schemas } from '../lib/api.ts'
import { several } from '../lib/format.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { chosen, flags, given, useAddress } from '../lib/router.ts'
import { ReasonDialog } from '../parts/dialog.tsx'
import { ChoiceFilter, Filters, optionsOf, PeriodFilter, TextFilter } from '../parts/filters.tsx'
import { syncAddress } from '../parts/syncs.tsx'
import { List } from '../parts/table.tsx'
import { Ago, Badge, Countdown, None, Time, type Tone } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Alarm = Schemas['Alarm']

const severities = ['critical', 'warning', 'notice'] as const
const tones: Readonly<Record<Alarm['severity'], Tone>> = { critical: 'bad', warning: 'warn', notice: 'plain' }

const hourMs = 3_600_000
const silences = [
  [hourMs, 'an hour'],
  [4 * hourMs, 'four hours'],
  [24 * hourMs, 'a day'],
  [7 * 24 * hourMs, 'a week'],
  [30 * 24 * hourMs, '30 days'],
] as const

/** Views of lists of the interface that are named otherwise, or have no address for one of them. */
const views: Readonly<Record<string, string>> = {
  discrepancies: '/console/inventory',
  campaigns: '/console/campaigns',
  webhooks: '/console/webhooks',
}

/** The view of what an alarm is about; null: its message says all. */
const viewOf = ({ kind, sellerId, subject, list }: Alarm): string | null => {
  if (kind.startsWith('sync-')) {
    const [resource = '', ...stream] = subject.split('/')
    return syncAddress(resource, { sellerId, stream: stream.join('/') })
  }
  if (list === null) return null
  const [, name = ''] = /^\/v1\/([^/?]+)/.exec(list) ?? []
  return views[name] ?? list.replace('/v1/', '/console/')
}

const nowMs = (): number => Date.now() + clocks.get().aheadMs

const isSilenced = ({ silencedUntil }: Alarm): boolean => silencedUntil !== null && Date.parse(silencedUntil) > nowMs()

const Standing = ({ alarm }: { readonly alarm: Alarm }) => {
  const { resolvedAt, resolvedBy, resolvedReason, silencedUntil, silencedBy, silencedReason, dueAt, sellerId } = alarm
  if (resolvedAt !== null) {
    return (
      <div>
        <Badge tone="good">resolved</Badge>
        <p>
          <Time at={resolvedAt} />
          {resolvedBy === null ? ', with its cause' : ` by ${resolvedBy}`}
          {resolvedReason !== null && `: ${resolvedReason}`}
        </p>
      </div>
    )
  }
  return (
    <div>
      {isSilenced(alarm) ? <Badge>silenced</Badge> : <Badge tone={tones[alarm.severity]}>open</Badge>}
      {isSilenced(alarm) && (
        <p>
          until <Time at={silencedUntil} /> by {silencedBy}: {silencedReason}
        </p>
      )}
      {dueAt !== null && (
        <p>
          due <Countdown to={dueAt} sellerId={sellerId} />
        </p>
      )}
    </div>
  )
}

const SilenceDialog = ({
  alarm,
  close,
  done,
}: {
  readonly alarm: Alarm
  readonly close: () => void
  readonly done: () => void
}) => {
  const id = useId()
  const [forMs, setForMs] = useState<number>(4 * hourMs)
  return (
    <ReasonDialog
      title={`Silence “${alarm.title}”`}
      meaning="It stays open, but counts apart, and alerts no one. One of the same kind about the same thing that opens before then is silent too."
      action="Silence"
      decide={async (because) => {
        const body = { ...because, until: new Date(nowMs() + forMs).toISOString() }
        const { silencedUntil } = await answered(
          api.POST('/v1/alarms/{id}/silence', { params: { path: { id: alarm.id } }, body }),
        )
        toast(`“${alarm.title}” is silent until ${new Date(silencedUntil).toLocaleString()}.`)
        done()
      }}
      close={close}
    >
      <div class="field">
        <label for={id}>For how long</label>
        <select id={id} value={forMs} onChange={(change) => setForMs(Number(change.currentTarget.value))}>
          {silences.map(([ms, text]) => (
            <option key={ms} value={ms}>
              {text}
            </option>
          ))}
        </select>
      </div>
    </ReasonDialog>
  )
}

const Acts = ({ alarm, done }: { readonly alarm: Alarm; readonly done: () => void }) => {
  const [asking, setAsking] = useState<'silence' | 'speak' | 'resolve' | null>(null)
  const { id, title, closes, subject } = alarm
  const close = (): void => setAsking(null)
  const path = { id }
  return (
    <div class="row">
      {isSilenced(alarm) ? (
        <button type="button" aria-label={`End the silence of ${title}, ${subject}`} onClick={() => setAsking('speak')}>
          End the silence
        </button>
      ) : (
        <button type="button" aria-label={`Silence ${title}, ${subject}`} onClick={() => setAsking('silence')}>
          Silence
        </button>
      )}
      {closes === 'person' ? (
        <button type="button" aria-label={`Resolve ${title}, ${subject}`} onClick={() => setAsking('resolve')}>
          Resolve
        </button>
      ) : (
        <span class="faint">closes with its cause</span>
      )}
      {asking === 'silence' && <SilenceDialog alarm={alarm} close={close} done={done} />}
      {asking === 'speak' && (
        <ReasonDialog
          title={`End the silence of “${title}”`}
          meaning="It counts and alerts again, as all others do."
          action="End the silence"
          decide={async (because) => {
            const body = { ...because, until: new Date(nowMs() - 1_000).toISOString() }
            await answered(api.POST('/v1/alarms/{id}/silence', { params: { path }, body }))
            done()
          }}
          close={close}
        />
      )}
      {asking === 'resolve' && (
        <ReasonDialog
          title={`Resolve “${title}”`}
          meaning="It tells of something past, and is closed for good: resolve it when what it asks for is done."
          action="Resolve"
          decide={async (because) => {
            await answered(api.POST('/v1/alarms/{id}/resolve', { params: { path }, body: because }))
            toast(`“${title}” is resolved.`)
            done()
          }}
          close={close}
        />
      )}
    </div>
  )
}

const About = ({ alarm }: { readonly alarm: Alarm }) => {
  const { title, message, toDo, count: number } = alarm
  const view = viewOf(alarm)
  return (
    <div>
      <strong>{title}</strong>
      <p>{message}</p>
      {alarm.resolvedAt === null && <p class="faint">{toDo}</p>}
      {view !== null && (
        <a href={view}>{number === null || number < 2 ? 'Look at it' : `Look at ${several(number, 'of them', 'of them')}`}</a>
      )}
    </div>
  )
}

/** What needs a person: what it is, what to do, and until when it is silent. */
export const Alarms = () => {
  const may = useMay()
  const address = useAddress()
  const query = {
    ...given(address, ['sellerId', 'kind', 'subject', 'raisedFrom', 'raisedTo']),
    ...chosen(address, { state: ['all'], severity: severities, silenced: flags }),
  }
  const alarms = usePage('alarms', address, query, (page) => answered(api.GET('/v1/alarms', { params: { query: page } })), {
    topics: ['alarm'],
    everyMs: 15_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Alarms</h1>
      <p class="faint">
        What needs a person, newest first. Most close by themselves once their cause is gone; one that tells of something past is
        resolved by a person.
      </p>
      <Filters>
        <ChoiceFilter
          at={address}
          name="state"
          label="State"
          options={[
            ['', 'open'],
            ['all', 'open and resolved'],
          ]}
        />
        <ChoiceFilter at={address} name="severity" label="Severity" options={optionsOf(severities)} />
        <ChoiceFilter
          at={address}
          name="silenced"
          label="Silenced"
          options={[
            ['', 'All'],
            ['false', 'not silenced'],
            ['true', 'silenced'],
          ]}
        />
        <TextFilter at={address} name="kind" label="Kind" placeholder="command-held" />
        <TextFilter at={address} name="sellerId" label="Seller" />
        <TextFilter at={address} name="subject" label="About" />
        <PeriodFilter at={address} name="raised" label="Opened" />
      </Filters>
      <List
        caption="Alarms"
        query={alarms}
        at={address}
        keyOf={({ id }) => id}
        empty={
          Object.keys(query).length === 0
            ? 'No alarm is open: nothing needs a person now.'
            : 'No alarm fits. Kinds are written as command-held.'
        }
        csv={{ path: `/v1/alarms?${new URLSearchParams(query)}`, name: 'alarms' }}
        columns={[
          { head: 'Severity', cell: (alarm) => <Badge tone={tones[alarm.severity]}>{alarm.severity}</Badge> },
          { head: 'Alarm', cell: (alarm) => <About alarm={alarm} /> },
          { head: 'State', cell: (alarm) => <Standing alarm={alarm} /> },
          { head: 'For', cell: ({ concerns }) => concerns },
          { head: 'Seller', cell: ({ sellerId }) => (sellerId === '' ? <None /> : sellerId) },
          { head: 'Kind', cell: ({ kind }) => kind },
          { head: 'Opened', cell: ({ raisedAt }) => <Ago at={raisedAt} /> },
          ...(may('operate')
            ? [
                {
                  head: 'Act',
                  cell: (alarm: Alarm) => (alarm.resolvedAt === null ? <Acts alarm={alarm} done={alarms.reload} /> : <None />),
                },
              ]
            : []),
        ]}
      />
    </>
  )
}
