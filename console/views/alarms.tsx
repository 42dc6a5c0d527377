import { useId, useState } from 'preact/hooks'
import { api, clocks, readAnswer, type Schemas } from '../lib/api.ts'
import { usePage } from '../lib/page.ts'
import { useMay } from '../lib/rights.ts'
import { flags, readChoices, readParameters, useAddress } from '../lib/router.ts'
import { ReasonDialog } from '../parts/dialog.tsx'
import { buildOptions, ChoiceFilter, Filters, PeriodFilter, SellerFilter, TextFilter } from '../parts/filters.tsx'
import { syncAddress } from '../parts/syncs.tsx'
import { List, sellerColumn } from '../parts/table.tsx'
import { Ago, Badge, Countdown, None, Sentence, Time, type Tone } from '../parts/text.tsx'
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

/** Views of lists whose name differs, or that have no address for one item. */
const views: Readonly<Record<string, string>> = {
  discrepancies: '/console/inventory',
  claims: '/console/money?show=claims',
  'inbound-shipments': '/console/money?show=inbound&state=not-received',
  'stock-differences': '/console/inventory?show=on-hand-differences',
  campaigns: '/console/campaigns',
  webhooks: '/console/webhooks',
  'alarm-channels': '/console/alarm-channels',
}

/** Address of the view for the subject of an alarm; null: the message is complete. */
const buildView = ({ kind, sellerId, subject, list }: Alarm): string | null => {
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

const AlarmState = ({ alarm }: { readonly alarm: Alarm }) => {
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
      meaning="It stays open, but is counted separately and sends no alerts. An alarm of the same kind and subject that opens before that time is silenced too."
      action="Silence"
      decide={async (reasonAndActor) => {
        const body = { ...reasonAndActor, until: new Date(nowMs() + forMs).toISOString() }
        const { silencedUntil } = await readAnswer(
          api.POST('/v1/alarms/{id}/silence', { params: { path: { id: alarm.id } }, body }),
        )
        toast(`“${alarm.title}” is silenced until ${new Date(silencedUntil).toLocaleString()}.`)
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

const Actions = ({ alarm, done }: { readonly alarm: Alarm; readonly done: () => void }) => {
  const [dialog, setDialog] = useState<'silence' | 'end-silence' | 'resolve' | null>(null)
  const { id, title, closes, subject } = alarm
  const close = (): void => setDialog(null)
  const path = { id }
  return (
    <div class="row">
      {isSilenced(alarm) ? (
        <button type="button" aria-label={`End the silence of ${title}, ${subject}`} onClick={() => setDialog('end-silence')}>
          End the silence
        </button>
      ) : (
        <button type="button" aria-label={`Silence ${title}, ${subject}`} onClick={() => setDialog('silence')}>
          Silence
        </button>
      )}
      {closes === 'person' ? (
        <button type="button" aria-label={`Resolve ${title}, ${subject}`} onClick={() => setDialog('resolve')}>
          Resolve
        </button>
      ) : (
        <span class="faint">closes with its cause</span>
      )}
      {dialog === 'silence' && <SilenceDialog alarm={alarm} close={close} done={done} />}
      {dialog === 'end-silence' && (
        <ReasonDialog
          title={`End the silence of “${title}”`}
          meaning="It is counted and sends alerts again, like other alarms."
          action="End the silence"
          decide={async (reasonAndActor) => {
            const body = { ...reasonAndActor, until: new Date(nowMs() - 1_000).toISOString() }
            await readAnswer(api.POST('/v1/alarms/{id}/silence', { params: { path }, body }))
            done()
          }}
          close={close}
        />
      )}
      {dialog === 'resolve' && (
        <ReasonDialog
          title={`Resolve “${title}”`}
          meaning="It reports a past event and is closed permanently: resolve it when its action is done."
          action="Resolve"
          decide={async (reasonAndActor) => {
            await readAnswer(api.POST('/v1/alarms/{id}/resolve', { params: { path }, body: reasonAndActor }))
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
  const { title, message, toDo, count: number, kind, concerns } = alarm
  const view = buildView(alarm)
  return (
    <div>
      <strong>{title}</strong>{' '}
      <span class="faint">
        <span class="whole">{kind}</span>, for the {concerns}
      </span>
      <p>
        <Sentence text={message} />
      </p>
      {alarm.resolvedAt === null && (
        <p class="faint">
          <Sentence text={toDo} />
        </p>
      )}
      {view !== null && <a href={view}>{number === null || number < 2 ? 'Show it' : `Show all ${number}`}</a>}
    </div>
  )
}

/** Alarms: what happened, what to do, and until when they are silenced. */
export const Alarms = () => {
  const may = useMay()
  const address = useAddress()
  const query = {
    ...readParameters(address, ['sellerId', 'kind', 'subject', 'raisedFrom', 'raisedTo']),
    ...readChoices(address, { state: ['all'], severity: severities, silenced: flags }),
  }
  const alarms = usePage('alarms', address, query, (page) => readAnswer(api.GET('/v1/alarms', { params: { query: page } })), {
    topics: ['alarm'],
    everyMs: 15_000,
  })
  return (
    <>
      <h1 tabIndex={-1}>Alarms</h1>
      <p class="faint">
        Conditions that need a person, newest first. Most alarms close automatically with their cause; a person resolves those
        that report a past event.
      </p>
      <Filters at={address}>
        <ChoiceFilter
          at={address}
          name="state"
          label="State"
          options={[
            ['', 'open'],
            ['all', 'open and resolved'],
          ]}
        />
        <ChoiceFilter at={address} name="severity" label="Severity" options={buildOptions(severities)} />
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
        <SellerFilter at={address} />
        <TextFilter at={address} name="subject" label="About" />
        <PeriodFilter at={address} name="raised" label="Opened" />
      </Filters>
      <List
        caption="Alarms"
        query={alarms}
        at={address}
        buildKey={({ id }) => id}
        empty={
          Object.keys(query).length === 0
            ? 'No alarm is open: nothing needs a person now.'
            : 'No alarm matches. Write kinds as command-held.'
        }
        csv={{ path: `/v1/alarms?${new URLSearchParams(query)}`, name: 'alarms' }}
        columns={[
          { head: 'Severity', cell: (alarm) => <Badge tone={tones[alarm.severity]}>{alarm.severity}</Badge> },
          { head: 'Alarm', wraps: true, cell: (alarm) => <About alarm={alarm} /> },
          { head: 'State', wraps: true, cell: (alarm) => <AlarmState alarm={alarm} /> },
          sellerColumn,
          { head: 'Opened', cell: ({ raisedAt }) => <Ago at={raisedAt} /> },
          ...(may('operate')
            ? [
                {
                  head: 'Action',
                  wraps: true,
                  cell: (alarm: Alarm) => (alarm.resolvedAt === null ? <Actions alarm={alarm} done={alarms.reload} /> : <None />),
                },
              ]
            : []),
        ]}
      />
    </>
  )
}
